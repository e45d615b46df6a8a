"""Tags that text does not show: put in place where tags are read, left out where they are written.

Only a scheme of several choices has such tags. In be, an `O` between `B-x` and `E-x`, with nothing
but `O` in between, is `I-x`; every other `O` is outside of spans.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Ints, Offsets
from ..kernels import bits
from .scheme import Scheme
from .tables import Packed, pack_tags, silent_table, symbols_of
from .tag import join_tag, read_tag
from .tag_columns import CodedTags


def filled(
    coded: CodedTags, packed: Packed, scheme: Scheme, across: bool = False
) -> tuple[Ints, Ints]:
    """The codes of the sentences with silent tags in place, and what every code is, packed.

    `packed` is what the tags of `coded` are; codes of silent tags come behind these. With `across`,
    what lies between two tags of different labels is filled, too, with the label of the second.
    """
    if not scheme.silent:
        return coded.codes, packed.tags
    (prefix,) = scheme.silent
    symbol = symbols_of(scheme)[prefix]
    more = [bits.pack(label, symbol) for label in range(len(packed.labels))]
    every = np.concatenate([packed.tags, np.array(more, dtype=np.int32)])
    at, label = _between(packed.tags[coded.codes], coded.offsets, scheme, across)
    codes = coded.codes.copy()
    codes[at] = len(packed.tags) + label
    return codes, every


def _between(
    tokens: Ints, offsets: Offsets, scheme: Scheme, across: bool
) -> tuple[Offsets, Offsets]:
    """The tokens that have silent tags, and the labels of these."""
    said = np.flatnonzero(tokens & 7 != bits.OUTSIDE)
    sentence = np.searchsorted(offsets, said, side="right")
    before, behind = tokens[said[:-1]], tokens[said[1:]]
    found = silent_table(scheme)[before & 7, behind & 7] > 0
    found &= sentence[:-1] == sentence[1:]
    if not across:
        found &= before >> 3 == behind >> 3
    first, lengths = said[:-1][found] + 1, np.diff(said)[found] - 1
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(first, lengths) + within, np.repeat(behind[found] >> 3, lengths)


def hushed(states: CodedTags, scheme: Scheme) -> CodedTags:
    """Tags as text has them, from codes of the `tag_names` of some labels."""
    if not scheme.silent:
        return states
    read = [read_tag(tag, scheme) for tag in states.tags]
    kept = np.array([parts is not None for parts in read])
    numbers = np.where(kept, np.cumsum(kept) - 1, 0).astype(np.int32)
    names = tuple(tag for tag, stays in zip(states.tags, kept.tolist()) if stays)
    return CodedTags.trusted(numbers[states.codes], states.offsets, names)


def spoken(tags: list[str], scheme: Scheme) -> list[str]:
    """The tags of one sentence with silent ones in place; `hushed` for a list of str."""
    if not scheme.silent:
        return tags
    names = tuple(dict.fromkeys(tags))
    numbers = {tag: number for number, tag in enumerate(names)}
    codes = np.array([numbers[tag] for tag in tags], dtype=np.int32)
    coded = CodedTags.trusted(codes, np.array([0, len(tags)], dtype=np.int64), names)
    packed = pack_tags(names, scheme)
    (prefix,) = scheme.silent
    found, _ = filled(coded, packed, scheme)
    every = (*names, *(join_tag(prefix, label) for label in packed.labels))
    return [every[code] for code in found.tolist()]
