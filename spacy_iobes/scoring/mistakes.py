"""What is wrong in a prediction: counted in arrays, and built only as far as somebody reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Ints
from ..codes.span_columns import SpanColumns
from .counts import Counts
from .matching import UNPLACED, Matched

ERROR_KINDS = ("label", "boundary", "label and boundary", "missed", "spurious")
"""How a prediction can be wrong; the first three are pairs of a gold span and a prediction."""
LABEL, BOUNDARY, BOTH, MISSED, SPURIOUS = range(5)

Simple = tuple[int, int, str]
"""A span as a plain tuple."""


@dataclass(frozen=True)
class Mistake:
    """A gold span that was not found, a prediction that is not gold, or a pair of both."""

    kind: str
    sentence: int
    gold: Simple | None
    predicted: Simple | None


def kinds_of(counts: Counts) -> dict[str, int]:
    """How many mistakes of each kind there are, of which not one has to be looked at."""
    strict, exact = counts.muc_counts("strict"), counts.muc_counts("exact")
    label = exact.correct - strict.correct
    boundary = int(counts.confusion[:-1, :-1].trace()) - strict.correct
    both = strict.incorrect - label - boundary
    return dict(zip(ERROR_KINDS, (label, boundary, both, strict.missed, strict.spurious)))


def mistakes(matched: Matched, before: int = 0, limit: int | None = None) -> Iterator[Mistake]:
    """The first mistakes of a part whose first sentence is number `before`, in order."""
    kind, sentence, gold, predicted = (column[:limit].tolist() for column in _rows(matched))
    for number, name in enumerate(kind):
        pair = _simple(matched.gold, gold[number]), _simple(matched.predicted, predicted[number])
        yield Mistake(ERROR_KINDS[name], before + sentence[number], *pair)


def _simple(side: SpanColumns, row: int) -> Simple | None:
    """Return a row as a tuple; row -1 is none, and what is no span of tokens has the ends -1."""
    if row < 0:
        return None
    start, end, label = int(side.start[row]), int(side.end[row]), side.labels[side.label[row]]
    return (start, end, label) if start < UNPLACED else (-1, -1, label)


def _rows(matched: Matched) -> tuple[Ints, ...]:
    """Kind, sentence, gold span and prediction (-1 is none) of all mistakes.

    Sorted by sentence, then by start; where two start at one token, a missed gold span goes first.
    """
    partner = matched.by_boundary
    found = np.zeros(matched.gold.total + 1, dtype=bool)  # the last for those without a partner
    found[partner] = True
    missed = np.flatnonzero(~found[:-1])
    wrong = np.flatnonzero(~matched.right)
    same_label, same_boundaries = matched.same_label[wrong], matched.same_boundaries[wrong]
    pair = np.where(same_label, BOUNDARY, np.where(same_boundaries, LABEL, BOTH))
    kind = np.append(np.full(len(missed), MISSED), np.where(partner[wrong] < 0, SPURIOUS, pair))
    gold: Ints = np.append(missed, partner[wrong]).astype(np.int32)
    predicted = np.append(np.full(len(missed), -1), wrong)
    sentence = np.append(matched.gold.sentence[missed], matched.predicted.sentence[wrong])
    starts = (np.append(side.start, 0) for side in (matched.gold, matched.predicted))
    of_gold, of_predicted = (start[row] for start, row in zip(starts, (gold, predicted)))
    start = np.where(gold >= 0, of_gold, of_predicted)
    order = np.lexsort((predicted >= 0, start, sentence))
    return tuple(column[order] for column in (kind, sentence, gold, predicted))
