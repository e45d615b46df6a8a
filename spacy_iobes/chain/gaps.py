"""Scores for the mention separators of many sentences and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Ints, Offsets, Scores, refuse, whole_numbers
from ..errors import ChainError
from ..kernels.separators_numpy import END, GO_ON, KINDS, START, Separators

MENTIONS = (KINDS & START > 0) + 1 * (KINDS & (END | GO_ON) == (END | GO_ON))


@dataclass(frozen=True, eq=False)
class Gaps:
    """`scores[G, L, 8]`: for every gap and label the score of each separator, X S E ES C CS EC ECS.

    Sentences lie end to end; sentence `s` has the gaps `offsets[s]:offsets[s + 1]`, one more than
    it has tokens. Minus infinity forbids a separator.
    """

    scores: Scores
    offsets: Offsets

    @classmethod
    def of(cls, scores: ArrayLike, lengths: Sequence[int] | Ints | Offsets) -> Gaps:
        """Gaps from all their scores and the number of tokens in each sentence."""
        array = np.ascontiguousarray(scores)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
        if array.ndim != 3 or array.shape[2] != len(KINDS):
            raise ChainError(f"scores are (gaps, labels, {len(KINDS)}), not {array.shape}.")
        refuse("scores", array)
        counts = whole_numbers("lengths", lengths)
        if counts.ndim != 1 or (counts < 0).any() or (counts + 1).sum() != len(array):
            raise ChainError(
                f"Sentences of {counts.sum()} tokens have {(counts + 1).sum()} gaps, one more than "
                f"tokens in each, but there are {len(array)} rows."
            )
        return cls(array, np.concatenate([[0], np.cumsum(counts + 1)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.scores.shape[1])

    @cached_property
    def lengths(self) -> Offsets:
        """How many tokens each sentence has."""
        return np.diff(self.offsets) - 1

    def limited(self, allowed: NDArray[np.bool_]) -> Gaps:
        """The same gaps with fewer separators: `allowed[G, L, 8]`."""
        if allowed.shape != self.scores.shape:
            raise ChainError(f"allowed is {allowed.shape}, the scores are {self.scores.shape}.")
        illegal = self.scores.dtype.type(-np.inf)
        scores = np.where(allowed, self.scores, illegal)
        return replace(self, scores=np.ascontiguousarray(scores))

    def known(self, separators: Separators) -> Gaps:
        """The same gaps with one separator each, `[G, L]`."""
        return self.limited(self.checked(separators)[..., None] == KINDS)

    def checked(self, separators: Separators) -> Separators:
        """One separator for each gap and label, as the kernels take them, or they are refused."""
        given = np.asarray(separators)
        array = given if given.dtype == np.uint8 else whole_numbers("separators", given)
        if array.shape != self.scores.shape[:2]:
            raise ChainError(f"Separators are {self.scores.shape[:2]}, not {array.shape}.")
        if array.size and not 0 <= array.min() <= array.max() < len(KINDS):
            raise ChainError(f"Separators lie between 0 and {len(KINDS) - 1}.")
        return np.ascontiguousarray(array, dtype=np.uint8)

    def biased(self, bias: float) -> Gaps:
        """The same gaps with `bias` added for every mention: more of them, or fewer.

        It counts where one starts, and where one ends while others go on. A mention inside another
        that does both within it counts twice.
        """
        if not np.isfinite(bias):
            raise ChainError(f"A bias is a number, not {bias}.")
        scores = self.scores.copy()
        scores += (bias * MENTIONS).astype(scores.dtype)
        return replace(self, scores=scores)
