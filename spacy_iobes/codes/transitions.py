"""Which tag may follow which: as a list for people, as masks for a CRF."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..errors import TagError, UnreadableTagError
from ..kernels import bits
from .policy import POLICIES
from .scheme import OUTSIDE, Scheme, get_scheme
from .tables import gap_table, pack_tags
from .tag import join_tag, split_tag, tag_names
from .tag_columns import listed
from .violation import explain

START, END = "<GO>", "<EOS>"


class Transition(NamedTuple):
    """Two neighbours and whether `target` may follow `source`."""

    source: str
    target: str
    legal: bool


class Mask(NamedTuple):
    """What is legal: `step[from, to]`, `start[tag]` at a sentence start, `stop[tag]` at its end."""

    step: NDArray[np.bool_]
    start: NDArray[np.bool_]
    stop: NDArray[np.bool_]


def mask(tags: Sequence[str], scheme: str | Scheme) -> Mask:
    """Boolean arrays over the given tags, in their order, ready for a CRF.

    A CRF over be has states for what lies between `B-x` and `E-x` and is written `O`: its tags hold
    `I-x` as well, as `transitions` lists them.
    """
    scheme = get_scheme(scheme)
    tags = listed("tags", tags)
    packed = pack_tags(tags, scheme, silent=True).tags
    require_readable(tags, packed, scheme)
    _require_silent(tags, scheme)
    legal = gap_table(scheme, POLICIES["raise"]) & bits.ILLEGAL == 0
    symbol, label = packed & 7, packed >> 3
    same = (label[:, None] == label[None, :]).astype(np.intp)
    step = legal[same, symbol[:, None], symbol[None, :]]
    return Mask(step, legal[0, bits.EDGE, symbol], legal[0, symbol, bits.EDGE])


def require_readable(tags: Sequence[str], packed: Ints, scheme: Scheme) -> None:
    """Refuse the first tag that is packed as one that cannot be read."""
    for index in np.flatnonzero(packed & 7 == bits.UNREADABLE)[:1].tolist():
        tag = tags[index]
        raise UnreadableTagError(f"tag {index}: {explain(scheme, None, tag)[1]}.", tag, 0, index)


def _require_silent(tags: Sequence[str], scheme: Scheme) -> None:
    """Refuse tags without those that are written `O`: a span could only have two tokens then."""
    for prefix in scheme.silent:
        for label in dict.fromkeys(split_tag(tag)[1] for tag in tags if tag != OUTSIDE):
            missing = join_tag(prefix, label)
            if missing not in tags:
                raise TagError(
                    f"In {scheme.name}, the tokens inside a span are written O, but a CRF needs a "
                    f"state of their own for them: add {missing!r} to the tags."
                )


def transitions(
    labels: Iterable[str], scheme: str | Scheme, start: str = START, end: str = END
) -> list[Transition]:
    """Every pair of neighbours with its legality, the sentence edges included.

    An empty sentence is legal, so `start` may be followed by `end`. The `I-x` of be, which is
    written `O`, is a tag of its own here.
    """
    scheme = get_scheme(scheme)
    tags = tag_names(tuple(dict.fromkeys(listed("labels", labels))), scheme)
    step, begins, stops = mask(tags, scheme)
    rows = [Transition(start, tag, bool(ok)) for tag, ok in zip(tags, begins)]
    rows.append(Transition(start, end, True))
    for tag, row, stop in zip(tags, step, stops):
        rows += [Transition(tag, target, bool(ok)) for target, ok in zip(tags, row)]
        rows.append(Transition(tag, end, bool(stop)))
    return rows
