"""What a score says of mentions that overlap: the data in two parts, and which of them are found.

Everything looks at the gold mentions. Two of them overlap if they share a token. One is nested if
another one holds all its tokens and more; that other one contains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codes.span_columns import SpanColumns
from .counts import Figures, figures
from .matching import Matched, match, nested_columns

Rows = NDArray[np.bool_]
"""For every gold mention, or every sentence, whether it is one of those."""
Numbers = NDArray[np.int64]

PARTS = {
    "overlapping": "sentences in which gold mentions overlap",
    "others": "all other sentences",
}
"""The two parts of the data."""
MENTIONS = {
    "nested": "inside another mention",
    "nested_same_label": "inside another mention of the same label",
    "containing": "with another mention inside",
    "same_tokens": "with the same tokens as a mention of another label",
}
"""The kinds of gold mentions whose recall is told; one mention can be of several kinds."""


class Tally(NamedTuple):
    """The spans of some sentences, and how many of these there are."""

    sentences: int = 0
    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def figures(self) -> Figures:
        """Precision, recall and F1 of these sentences alone."""
        return figures(*self[1:])


class Recall(NamedTuple):
    """Some gold mentions, and how many of them are predicted."""

    correct: int = 0
    gold: int = 0

    @property
    def recall(self) -> float | None:
        """The share that is predicted; None without any."""
        return self.correct / self.gold if self.gold else None


@dataclass(frozen=True)
class NestedCounts:
    """The counts of the two `PARTS` of the data and of the kinds of `MENTIONS`; parts add up."""

    overlapping: Tally
    others: Tally
    nested: Recall
    nested_same_label: Recall
    containing: Recall
    same_tokens: Recall

    @classmethod
    def none(cls) -> NestedCounts:
        """The counts of nothing."""
        return cls(Tally(), Tally(), Recall(), Recall(), Recall(), Recall())

    @classmethod
    def of(cls, matched: Matched) -> NestedCounts:
        """Count a matching."""
        if matched.gold.disjoint:
            row = (int(matched.right.sum()), matched.predicted.total, matched.gold.total)
            return replace(cls.none(), others=Tally(matched.gold.sentences, *row))
        gold, found = matched.gold, np.zeros(matched.gold.total, dtype=bool)
        found[matched.by_boundary[matched.right]] = True
        tallies, overlap = matched.by_sentence(), with_overlap(gold)
        parts = (_tally(tallies[rows]) for rows in (overlap, ~overlap))
        kinds = (nested(gold), nested(gold, True), containing(gold), same_tokens(gold))
        counts = (Recall(int((rows & found).sum()), int(rows.sum())) for rows in kinds)
        return cls(*parts, *counts)  # type: ignore[arg-type]

    def __add__(self, other: NestedCounts) -> NestedCounts:
        pairs = zip(vars(self).values(), vars(other).values())
        return NestedCounts(*(type(a)(*map(sum, zip(a, b))) for a, b in pairs))

    @property
    def parts(self) -> Mapping[str, Tally]:
        """The two parts of the data by name."""
        return MappingProxyType({name: getattr(self, name) for name in PARTS})

    @property
    def mentions(self) -> Mapping[str, Recall]:
        """The kinds of gold mentions by name."""
        return MappingProxyType({name: getattr(self, name) for name in MENTIONS})

    def as_dict(self) -> dict[str, Any]:
        """Counts and figures as plain values; None where there is nothing to divide by."""
        parts = {
            name: {**part._asdict(), **part.figures._asdict()} for name, part in self.parts.items()
        }
        kinds = {
            name: {**row._asdict(), "recall": row.recall} for name, row in self.mentions.items()
        }
        return {**parts, **kinds}


def _tally(rows: NDArray[np.int64]) -> Tally:
    return Tally(len(rows), *rows.sum(axis=0).tolist())


def count_nested(
    gold: Iterable[Iterable[Sequence[object]]], predicted: Iterable[Iterable[Sequence[object]]]
) -> NestedCounts:
    """Count lists of spans, one for each sentence; a span given twice counts once."""
    return NestedCounts.of(match(nested_columns(gold), nested_columns(predicted)))


def with_overlap(spans: SpanColumns) -> Rows:
    """Of each sentence: two of its spans share a token."""
    found = np.zeros(spans.sentences, dtype=bool)
    order = np.lexsort((spans.start, spans.sentence))
    sentence, start, end = (c[order] for c in (spans.sentence, spans.start, spans.end))
    found[sentence[start < _furthest(sentence, end)]] = True
    return found


def nested(spans: SpanColumns, same_label: bool = False) -> Rows:
    """Of each span: it is inside another one with more tokens, perhaps only of the same label."""
    return _inside(spans, spans.start, spans.end, same_label)


def containing(spans: SpanColumns) -> Rows:
    """Of each span: another one with fewer tokens is inside it."""
    return _inside(spans, spans.end, spans.start, False)  # mirrored, inside is outside


def same_tokens(spans: SpanColumns) -> Rows:
    """Of each span: another one has the same tokens."""
    rows = np.stack([spans.sentence, spans.start, spans.end])
    _, number, times = np.unique(rows, axis=1, return_inverse=True, return_counts=True)
    several: Rows = times[number.reshape(-1)] > 1
    return several


def _inside(spans: SpanColumns, near: Any, far: Any, same_label: bool) -> Rows:
    """Of each span: another one of its sentence begins no later (`near`) and goes as far or beyond.

    Sorted that way, all those that can hold a span come before it.
    """
    group = spans.sentence.astype(np.int64)
    if same_label:
        group = group * len(spans.labels) + spans.label
    order = np.lexsort((-far.astype(np.int64), near, group))
    group, near, far = (column[order] for column in (group, near, far))
    first = np.ones(len(order), dtype=bool)  # of those with the same tokens
    first[1:] = (np.diff(group) != 0) | (np.diff(near) != 0) | (np.diff(far) != 0)
    inside = far[first] <= _furthest(group[first], far[first])
    found = np.zeros(len(order), dtype=bool)
    found[order] = inside[np.cumsum(first) - 1]
    return found


def _furthest(group: Any, end: Any) -> Numbers:
    """The greatest end before each row within its group, which are sorted; -1 at its beginning."""
    size = int(end.max(initial=0)) + 2
    _, number = np.unique(group, return_inverse=True)
    base = number.reshape(-1) * size
    reached = np.maximum.accumulate(base + end + 1)
    before = np.append(0, reached[:-1])[: len(reached)]
    furthest: Numbers = np.maximum(before - base, 0) - 1
    return furthest
