"""Begins and ends that were chosen apart, put together to spans by how long spans are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Floats, Offsets
from ..chain.pairing import Pairs, length_scores, match, pair
from ..codes.span_columns import SpanColumns
from .codec import Codec

LEAST = -700.0  # the logarithm of almost nothing
Lengths = Floats
"""The logarithm of how probable each length is for each label, `[labels, lengths]`."""


def lengths_of(gold: SpanColumns) -> Lengths:
    """How long the spans of each label are."""
    return length_scores(gold.label, gold.end - gold.start, len(gold.labels))


def exact_pairs(codec: Codec, logs: Floats, offsets: Offsets, lengths: Lengths) -> SpanColumns:
    """The disjoint spans that are most probable together."""
    return _spans(codec, pair(*_sides(codec, logs), offsets, lengths), offsets)


def greedy_pairs(
    codec: Codec, logs: Floats, offsets: Offsets, lengths: Lengths
) -> tuple[SpanColumns, Floats]:
    """The spans by the rule of the literature, disjoint, and how sure each is of its two ends."""
    begin, end = _sides(codec, logs)
    found = match(begin, end, offsets, lengths, overlap=False)
    first = offsets[found.sentence]
    sure = begin[first + found.start, found.label + 1] + end[first + found.end - 1, found.label + 1]
    return _spans(codec, found, offsets), np.exp(sure)


def _sides(codec: Codec, logs: Floats) -> tuple[Floats, Floats]:
    """What is thought of begins and of ends; nothing has always a chance."""
    begin, end = (
        logs[:, first:last].copy() for first, last in pairwise(codec.classes.bounds.tolist())
    )
    for side in (begin, end):
        np.maximum(side[:, 0], LEAST, out=side[:, 0])
    return begin, end


def _spans(codec: Codec, found: Pairs, offsets: Offsets) -> SpanColumns:
    """The columns of pairs."""
    columns = (found.sentence, found.start, found.end, found.label)
    return SpanColumns.trusted(columns, codec.labels, len(offsets) - 1)
