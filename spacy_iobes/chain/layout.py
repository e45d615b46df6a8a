"""Which states of a chain form spans, so that spans can be asked for, forced and counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..errors import ChainError

# The kinds of step between two tokens. Each is a bit in the limits of a gap.
APART = 0  # no span on either side
ENDS = 1  # a span ends before the second token
BEGINS = 2  # a span begins at the second token
MEETS = 3  # one ends and another begins
JOINS = 4  # both tokens belong to one span

ANY = 0b11111  # every kind
CUT = ANY & ~(1 << JOINS)  # no span across this gap
JOINED = 1 << JOINS  # one span across this gap
NO_BEGIN = ANY & ~(1 << BEGINS | 1 << MEETS)  # no span begins behind this gap
NO_END = ANY & ~(1 << ENDS | 1 << MEETS)  # no span ends before this gap


@dataclass(frozen=True, eq=False)
class Layout:
    """`joins[from, to]`: the step stays in one span. `label_of[K]`: -1 outside of spans."""

    joins: NDArray[np.bool_]
    label_of: Ints

    def __post_init__(self) -> None:
        label_of = np.ascontiguousarray(self.label_of, dtype=np.int32)
        joins = np.ascontiguousarray(self.joins, dtype=np.bool_)
        if label_of.ndim != 1 or joins.shape != (len(label_of), len(label_of)):
            raise ChainError(f"joins is {joins.shape}, label_of {label_of.shape}: not (K, K), (K).")
        same = label_of[:, None] == label_of[None, :]
        if (joins & ~(same & (label_of >= 0))).any():
            raise ChainError("Only states of the same label can join.")
        object.__setattr__(self, "label_of", label_of)
        object.__setattr__(self, "joins", joins)

    @cached_property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.label_of.max(initial=-1)) + 1

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of every step, `[from, to]`."""
        inside = self.label_of >= 0
        apart = ENDS * inside[:, None] + BEGINS * inside[None, :]
        return np.where(self.joins, JOINS, apart).astype(np.uint8)

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """The steps with which a span begins, `[from, to]`."""
        return np.isin(self.kinds, (BEGINS, MEETS))

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """The states of each label, `[L, K]`."""
        return np.equal(self.label_of[None, :], np.arange(self.labels)[:, None])
