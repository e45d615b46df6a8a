"""Chains and batches to work on: random scores, the steps of IOBES tags or any step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_iobes import chain as ours
from spacy_iobes.codes.states import states

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """K states and N tokens: `scores[N, K]`, the gold states `[N]`, and the parts of a chain."""

    scores: NDArray[np.float32]
    lengths: NDArray[np.int64]
    start: Floats
    step: Floats
    stop: Floats
    gold: NDArray[np.int32]

    @property
    def tokens(self) -> int:
        """How many there are in all sequences."""
        return len(self.scores)

    @property
    def chain(self) -> ours.Chain:
        """The chain, made and checked anew."""
        return ours.Chain(self.start, self.step, self.stop)

    @property
    def batch(self) -> ours.Batch:
        """The sequences, checked anew."""
        return ours.Batch.of(self.scores, self.lengths)

    @cached_property
    def padded(self) -> tuple[Any, Any, Any]:
        """Scores, gold and mask as peers want them: `[S, T, K]`, `[S, T]`, `[S, T]`."""
        mask = np.arange(self.lengths.max()) < self.lengths[:, None]
        scores = np.zeros((*mask.shape, self.scores.shape[1]), dtype=np.float32)
        gold = np.zeros(mask.shape, dtype=np.int64)
        scores[mask], gold[mask] = self.scores, self.gold
        return scores, gold, mask


def problem(
    labels: int, lengths: NDArray[np.int64], legal: bool = True, spread: float = 2.0, seed: int = 0
) -> Problem:
    """Random scores for the IOBES tags of some labels; `legal`: only for steps that are."""
    random = np.random.default_rng(seed)
    facts = states(map(str, range(labels)), "iobes")
    size = len(facts.tags)

    def parts(mask: NDArray[np.bool_]) -> Floats:
        return np.where(mask | (not legal), random.normal(size=mask.shape), -np.inf)

    start, step, stop = parts(facts.legal.start), parts(facts.legal.step), parts(facts.legal.stop)
    shape = (int(lengths.sum()), size)
    scores, others = (random.normal(size=shape).astype(np.float32) * spread for _ in range(2))
    gold = ours.best(ours.Chain(start, step, stop), ours.Batch.of(others, lengths)).states
    return Problem(scores.astype(np.float32), lengths, start, step, stop, gold)


def even(sequences: int = 32, length: int = 40) -> NDArray[np.int64]:
    """Sequences of one length."""
    return np.full(sequences, length, dtype=np.int64)


def ragged(sequences: int = 64, mean: float = 15.0, longest: int = 60) -> NDArray[np.int64]:
    """Lengths as sentences have them: many short ones, few long ones."""
    drawn = np.random.default_rng(0).gamma(2.0, mean / 2, sequences)
    return np.clip(np.rint(drawn), 1, longest).astype(np.int64)
