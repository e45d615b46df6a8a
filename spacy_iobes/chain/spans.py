"""Spans as columns, as questions to a chain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Offsets, whole_numbers
from ..errors import ChainError


class Sequences(Protocol):
    """What spans can lie in."""

    def __len__(self) -> int:
        """How many sequences there are."""

    @property
    def lengths(self) -> Offsets:
        """How many tokens each has."""


class Spans(NamedTuple):
    """R spans: the sequence of each, its tokens `start:end` there, the number of its label."""

    sequence: Offsets
    start: Offsets
    end: Offsets
    label: Offsets

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int, int]]) -> Spans:
        """Spans from rows of (sequence, start, end, label)."""
        listed = list(rows)
        if any(len(row) != 4 for row in listed):
            raise ChainError("A span is a row of four: (sequence, start, end, label).")
        return cls(*whole_numbers("parts of spans", listed).reshape(-1, 4).T)

    def at(self, rows: NDArray[np.int64]) -> Spans:
        """Some of the spans."""
        return Spans(*(column[rows] for column in self))

    def check(self, batch: Sequences, labels: int) -> None:
        """Refuse spans that are empty or reach beyond their sequence, and labels without states."""
        known = (self.sequence >= 0) & (self.sequence < len(batch))
        length = batch.lengths[np.where(known, self.sequence, 0)] if len(batch) else 0
        good = known & (self.start >= 0) & (self.start < self.end) & (self.end <= length)
        good &= (self.label >= 0) & (self.label < labels)
        for row in np.flatnonzero(~good)[:1].tolist():
            sequence, start, end, label = (int(column[row]) for column in self)
            raise ChainError(
                f"Span {row} is {start}:{end} of label {label} in sequence {sequence}: "
                f"it must lie in one of {len(batch)} sequences and have one of {labels} labels."
            )
