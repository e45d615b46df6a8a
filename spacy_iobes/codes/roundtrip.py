"""What becomes of mentions that are written as separators and read back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Offsets
from ..span import Span
from .readings import DEFAULT_READING, Reading, get_reading
from .separator_columns import decode_many, encode_many
from .span_columns import SpanColumns
from .write import sized


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """One row for each sentence and label with mentions: a set, as separators are by label.

    `mentions` is how many there are, `found` how many the reading finds, `kept` how many of those
    are among the mentions. `ambiguous`: another set has the same separators. `before` and `after`
    are all the spans.
    """

    sentence: Ints
    label: Ints
    mentions: Ints
    found: Ints
    kept: Ints
    ambiguous: NDArray[np.bool_]
    before: SpanColumns
    after: SpanColumns

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Which sets do not come back as they were."""
        changed: NDArray[np.bool_] = (self.kept < self.mentions) | (self.kept < self.found)
        return changed

    @property
    def f1(self) -> float:
        """The best F1 that anybody can reach who predicts separators; 1.0 without mentions."""
        both = int(self.mentions.sum()) + int(self.found.sum())
        return 2 * int(self.kept.sum()) / both if both else 1.0

    def members(self, row: int) -> tuple[list[Span], list[Span]]:
        """The mentions of a row as they were, and as they come back."""
        sentence, label = int(self.sentence[row]), int(self.label[row])
        return _members(self.before, sentence, label), _members(self.after, sentence, label)


def _members(spans: SpanColumns, sentence: int, label: int) -> list[Span]:
    """The spans of one label in one sentence."""
    first, last = np.searchsorted(spans.sentence, [sentence, sentence + 1])
    rows = first + np.flatnonzero(spans.label[first:last] == label)
    name = spans.labels[label]
    places = zip(spans.start[rows].tolist(), spans.end[rows].tolist())
    return [Span(start, end, name) for start, end in places]


def roundtrip(
    spans: SpanColumns | Iterable[Iterable[Span]],
    lengths: Iterable[int],
    reading: str | Reading = DEFAULT_READING,
) -> RoundTrip:
    """Write the spans of many sentences as separators and read them back."""
    rule = get_reading(reading)
    before, sizes = sized(spans, lengths)
    separators = encode_many(before, sizes.tolist())
    after = decode_many(separators, rule)
    sets, members = np.unique(_sets(before), return_inverse=True)
    sentence, label = np.divmod(sets, max(len(before.labels), 1))
    kept = np.isin(_keys(before, sizes), _keys(after, sizes))

    def counts(rows: NDArray[np.intp]) -> Ints:
        return np.bincount(rows, minlength=len(sets)).astype(np.int32)

    return RoundTrip(
        sentence.astype(np.int32),
        label.astype(np.int32),
        counts(members),
        counts(np.searchsorted(sets, _sets(after))),
        counts(members[kept]),
        separators.ambiguous()[sentence, label],
        before,
        after,
    )


def _sets(spans: SpanColumns) -> Offsets:
    """A number for the sentence and label of every span."""
    return spans.sentence.astype(np.int64) * max(len(spans.labels), 1) + spans.label


def _keys(spans: SpanColumns, lengths: Offsets) -> Offsets:
    """A number for every span, the same only for equal ones."""
    first = np.cumsum(lengths) - lengths
    place = spans.label.astype(np.int64) * int(lengths.sum()) + first[spans.sentence] + spans.start
    return place * (int(lengths.max(initial=0)) + 1) + spans.end - spans.start
