"""Which predicted span answers which gold span, in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..arrays import Ints
from ..codes.span_columns import SpanColumns
from ..errors import AlignmentError, SpanRangeError
from ..span import Span

Rows = tuple[Ints, Ints, Ints, Ints]
Small = NDArray[np.unsignedinteger[Any]]
FURTHEST = np.iinfo(np.int32).max
UNPLACED = 1 << 30
"""Where gold mentions begin that are no spans of tokens: further than any token."""


@dataclass(frozen=True, eq=False)
class Matched:
    """The gold and predicted spans of some sentences, and how they are paired.

    `by_boundary` and `by_label` hold for every prediction the gold span it is paired with, or -1.
    Equal spans are always paired. Then each prediction, in order, takes one of the gold spans that
    are left and share a token with it. By boundary it prefers one with the same boundaries, by
    label the one of its own label whose boundaries are nearest; failing that, both take the
    first.
    """

    labels: tuple[str, ...]
    gold: SpanColumns
    predicted: SpanColumns
    by_boundary: Ints
    by_label: Ints

    def __post_init__(self) -> None:
        for partner in (self.by_boundary, self.by_label):
            partner.setflags(write=False)

    @property
    def same_label(self) -> NDArray[np.bool_]:
        """Of each prediction: paired by boundary with a span of its label."""
        return self._same(self.by_boundary, "label")

    @property
    def same_boundaries(self) -> NDArray[np.bool_]:
        """Of each prediction: paired by boundary with a span of its boundaries."""
        return self._same(self.by_boundary, "start") & self._same(self.by_boundary, "end")

    @property
    def label_found(self) -> NDArray[np.bool_]:
        """Of each prediction: paired by label with a span of its label."""
        return self._same(self.by_label, "label")

    def _same(self, partner: Ints, column: str) -> NDArray[np.bool_]:
        theirs = getattr(self.gold, column)
        if not len(theirs):
            return np.zeros(len(partner), dtype=bool)
        same: NDArray[np.bool_] = getattr(self.predicted, column) == theirs[partner]
        return same & (partner >= 0)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Of each prediction: it is gold."""
        return self.same_label & self.same_boundaries

    def by_sentence(self) -> NDArray[np.int64]:
        """(correct, predicted, gold) of every sentence."""
        exact = self.predicted.sentence[self.right]
        columns = (exact, self.predicted.sentence, self.gold.sentence)
        size = self.gold.sentences
        return np.stack([np.bincount(column, minlength=size) for column in columns], axis=1)


@dataclass(frozen=True, eq=False)
class Kept:
    """What a report keeps of a part, in as few bytes as it takes.

    `tallies` are (correct, predicted, gold) of every sentence; `gold` and `predicted` have the
    starts, ends and labels of the spans in sentences where something is wrong. What sentence they
    are of is in the tallies, and how they are paired is found again when somebody asks.
    """

    labels: tuple[str, ...]
    tallies: Small
    gold: tuple[Small, ...]
    predicted: tuple[Small, ...]

    @classmethod
    def of(cls, matched: Matched) -> Kept:
        """Keep of a matching what mistakes and tests of significance need."""
        tallies = matched.by_sentence()
        wrong = faulty(tallies)
        both = (matched.gold, matched.predicted)
        kept = [np.flatnonzero(wrong[side.sentence]) for side in both]
        sides = (
            tuple(small(column[rows]) for column in _rows(side)[1:])
            for side, rows in zip(both, kept)
        )
        return cls(matched.labels, small(tallies), *sides)

    def matched(self) -> Matched:
        """The spans of the sentences in which something is wrong, paired."""
        sentences = np.flatnonzero(faulty(self.tallies)).astype(np.int32)
        _, predicted, gold = self.tallies[sentences].T
        sides = (
            SpanColumns.trusted(
                (np.repeat(sentences, counts), *(column.astype(np.int32) for column in columns)),
                self.labels,
                len(self.tallies),
            )
            for counts, columns in ((gold, self.gold), (predicted, self.predicted))
        )
        return match(*sides)


def faulty(tallies: NDArray[Any]) -> NDArray[np.bool_]:
    """Of each sentence: not all of its gold spans were found, or others were."""
    correct, predicted, gold = tallies.T
    wrong: NDArray[np.bool_] = (correct < predicted) | (correct < gold)
    return wrong


def small(numbers: NDArray[Any]) -> Small:
    """The same numbers in the smallest type that holds them, for nobody to write to."""
    found = numbers.astype(np.min_scalar_type(numbers.max(initial=0)))
    found.setflags(write=False)
    return found


def match(gold: SpanColumns, predicted: SpanColumns) -> Matched:
    """Pair the spans of two annotations of the same sentences."""
    if gold.sentences != predicted.sentences:
        raise AlignmentError(
            f"{gold.sentences} gold sentences but {predicted.sentences} predicted ones."
        )
    labels = tuple(sorted({side.labels[i] for side in (gold, predicted) for i in _used(side)}))
    gold, predicted = (_sorted(spans, labels) for spans in (gold, predicted))
    by_boundary, _ = kernels.align(_rows(gold), _rows(predicted), False)
    by_label, _ = kernels.align(_rows(gold), _rows(predicted), True)
    return Matched(labels, gold, predicted, by_boundary, by_label)


def _used(spans: SpanColumns) -> list[int]:
    """The labels that spans have; a policy may have lost all the spans of others."""
    return np.flatnonzero(np.bincount(spans.label, minlength=1)).tolist() if spans.total else []


def _rows(spans: SpanColumns) -> Rows:
    return spans.sentence, spans.start, spans.end, spans.label


def _sorted(spans: SpanColumns, labels: tuple[str, ...]) -> SpanColumns:
    """The same spans with other label numbers, in the order of sentence, start, end and label."""
    places = {label: number for number, label in enumerate(labels)}
    numbers = np.array([places.get(label, -1) for label in spans.labels], dtype=np.int32)
    label = numbers[spans.label] if len(numbers) else spans.label
    columns = spans.sentence, spans.start, spans.end, label
    touching = (spans.sentence[1:] == spans.sentence[:-1]) & (spans.start[1:] <= spans.start[:-1])
    if touching.any():  # only nested spans can start at the same token
        order = np.lexsort(columns[::-1])
        columns = tuple(column[order] for column in columns)  # type: ignore[assignment]
    return SpanColumns.trusted(columns, labels, spans.sentences)


def nested_columns(sentences: Iterable[Iterable[Sequence[object]]]) -> SpanColumns:
    """Columns of spans that may overlap; a span given twice counts once."""
    labels: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    count = 0
    for count, members in enumerate(sentences, 1):
        for start, end, label in sorted({checked(member, count - 1) for member in members}):
            rows.append((count - 1, start, end, labels.setdefault(label, len(labels))))
    columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    return SpanColumns.trusted(map(np.ascontiguousarray, columns), tuple(labels), count)


def checked(member: object, sentence: int) -> Span:
    """A span that somebody gave as one: (start, end, label), counted in tokens."""
    if isinstance(member, str):
        raise TypeError(
            f"Sentence {sentence} holds the string {member!r}, not a span (start, end, label). "
            "Tags need their scheme: score(…, scheme='bio', policy='begin'), for example."
        )
    try:
        span = Span(*member)  # type: ignore[misc]
        start, end = index(span.start), index(span.end)
    except TypeError as error:
        raise TypeError(
            f"Sentence {sentence}: a span is (start, end, label) with integers for the tokens, "
            f"not {member!r}."
        ) from error
    if not isinstance(span.label, str):
        raise TypeError(f"Sentence {sentence}: the label of {member!r} is no str.")
    if not 0 <= start < end <= FURTHEST:
        raise SpanRangeError(
            f"Sentence {sentence}: {(start, end, span.label)} is no span, which starts at 0 or "
            "later and ends behind its last token.",
            [span],
            sentence,
        )
    return Span(start, end, span.label)
