"""The tags of a label set as the states of a chain: what may follow what, and what forms a span."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import bits
from .policy import POLICIES
from .scheme import Scheme, get_scheme
from .tables import gap_table, pack_states
from .tag import tag_names
from .tag_columns import listed
from .transitions import Mask, mask


class States(NamedTuple):
    """K states, one for each tag: `O`, then label by label.

    `legal`: what may follow what. `joins[from, to]`: the two tokens belong to one span.
    `label_of[state]`: the label of the span that the token is in, -1 outside of spans.
    """

    tags: tuple[str, ...]
    labels: tuple[str, ...]
    legal: Mask
    joins: NDArray[np.bool_]
    label_of: NDArray[np.int32]


def states(labels: Iterable[str], scheme: str | Scheme) -> States:
    """Every tag that the labels have in the scheme, as states of a chain."""
    scheme = get_scheme(scheme)
    names = tuple(dict.fromkeys(listed("labels", labels)))
    tags = tag_names(names, scheme)
    legal = mask(tags, scheme)
    packed = pack_states(len(names), scheme)
    symbol, label = packed & 7, packed >> 3
    inside = (symbol >= bits.FIRST) & (symbol < bits.FIRST + len(scheme.inside))
    label_of = np.where(inside, label, -1).astype(np.int32)
    # between two tokens inside spans, a legal gap at which no span starts joins them
    same = (label[:, None] == label[None, :]).astype(np.intp)
    gaps = gap_table(scheme, POLICIES["raise"])[same, symbol[:, None], symbol[None, :]]
    joins = (gaps & (bits.ILLEGAL | bits.START) == 0) & inside[:, None] & inside[None, :]
    return States(tags, names, legal, joins, label_of)
