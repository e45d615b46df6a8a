"""What inference works on: a chain, and a batch of sequences with their scores and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import (
    Floats,
    Ints,
    Offsets,
    Scores,
    finite_or_illegal,
    logarithms,
    picked,
    whole_numbers,
)
from ..errors import ChainError
from .layout import Layout


class Arguments(NamedTuple):
    """What every kernel takes."""

    scores: Scores
    offsets: Offsets
    start: Floats
    steps: Floats
    stop: Floats
    which: Ints | None


@dataclass(frozen=True, eq=False)
class Chain:
    """Scores over K states: `start[K]`, `step[from, to]`, `stop[K]`; minus infinity is illegal.

    `layout` says which states form spans; without one, gaps cannot be limited.
    """

    start: Floats
    step: Floats
    stop: Floats
    layout: Layout | None = None

    def __post_init__(self) -> None:
        states = len(np.atleast_1d(self.start))
        for name, shape in (("start", (states,)), ("step", (states, states)), ("stop", (states,))):
            object.__setattr__(self, name, logarithms(name, getattr(self, name), shape))
        if self.layout is not None and len(self.layout.label_of) != states:
            raise ChainError(
                f"The chain has {states} states, its layout {len(self.layout.label_of)}."
            )

    @property
    def spans(self) -> Layout:
        """The layout, which must be there."""
        if self.layout is None:
            raise ChainError("This chain does not say which states form spans: give it a layout.")
        return self.layout

    def biased(self, bias: float) -> Chain:
        """The same chain with `bias` added to the score of every span: more of them, or fewer."""
        if not np.isfinite(bias):
            raise ChainError(f"A bias is a number, not {bias}.")
        begins = self.spans.begins
        start = self.start + bias * (self.spans.label_of >= 0)
        return replace(self, start=start, step=self.step + bias * begins)

    def arguments(self, batch: Batch) -> Arguments:
        """What the kernels need; every set of limits on gaps becomes a variant of the steps."""
        if batch.scores.shape[1] != len(self.start):
            raise ChainError(
                f"The chain has {len(self.start)} states, the scores {batch.scores.shape[1]}."
            )
        if batch.gaps is None:
            return Arguments(
                batch.scores, batch.offsets, self.start, self.step[None], self.stop, None
            )
        masks, which = np.unique(batch.gaps, return_inverse=True)
        legal = masks[:, None, None] >> self.spans.kinds & 1 > 0
        steps = np.where(legal, self.step, -np.inf)
        variants = which.astype(np.int32)
        return Arguments(batch.scores, batch.offsets, self.start, steps, self.stop, variants)


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences end to end: `scores[N, K]`, of which sequence `s` has `offsets[s]:offsets[s + 1]`.

    Minus infinity forbids a state. `gaps[N]`, where there are any, are the kinds of step that may
    lead to each token, as bits (see `Layout`); those of first tokens do not matter.
    """

    scores: Scores
    offsets: Offsets
    gaps: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, scores: ArrayLike, lengths: Sequence[int] | Ints | Offsets) -> Batch:
        """A batch from the scores of all tokens and the number of tokens in each sequence."""
        array = finite_or_illegal("scores", scores)
        counts = whole_numbers("lengths", lengths)
        if counts.ndim != 1 or (counts < 0).any() or counts.sum() != len(array):
            raise ChainError(f"The lengths sum to {counts.sum()}, but there are {len(array)} rows.")
        return cls(array, np.concatenate([[0], np.cumsum(counts)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> Offsets:
        """How many tokens each sequence has."""
        return np.diff(self.offsets)

    @cached_property
    def edges(self) -> tuple[Offsets, Offsets]:
        """The first and the last token of every sequence that is not empty."""
        first, last = self.offsets[:-1], self.offsets[1:] - 1
        full = first <= last
        return (first, last) if full.all() else (first[full], last[full])

    @cached_property
    def inner(self) -> Offsets:
        """Every token that is not the first of its sequence."""
        inner = np.ones(len(self.scores), dtype=bool)
        inner[self.edges[0]] = False
        return np.flatnonzero(inner)

    def summed(self, values: Floats) -> Floats:
        """The sum of `values[N, ...]` over the tokens of each sequence, `[S, ...]`."""
        sums = np.zeros((len(self), *values.shape[1:]))
        full = self.lengths > 0
        if full.any():
            sums[full] = np.add.reduceat(values, self.offsets[:-1][full], axis=0)
        return sums

    def limited(
        self, allowed: NDArray[np.bool_] | None = None, gaps: NDArray[np.uint8] | None = None
    ) -> Batch:
        """The same batch with fewer paths: `allowed[N, K]` states, `gaps[N]` kinds of step."""
        scores, merged = self.scores, self.gaps
        if allowed is not None:
            if allowed.shape != scores.shape:
                raise ChainError(f"allowed is {allowed.shape}, the scores are {scores.shape}.")
            scores = np.where(allowed, scores, scores.dtype.type(-np.inf))
        if gaps is not None:
            if gaps.shape != scores.shape[:1]:
                raise ChainError(f"gaps is {gaps.shape}, but there are {len(scores)} tokens.")
            merged = gaps.astype(np.uint8) if merged is None else merged & gaps.astype(np.uint8)
        return replace(self, scores=scores, gaps=merged)

    def repeated(self, sequences: Ints | Offsets) -> Batch:
        """A batch of the chosen sequences, each as often as it is named."""
        tokens = self.tokens(sequences)
        gaps = None if self.gaps is None else self.gaps[tokens]
        return replace(Batch.of(self.scores[tokens], self.lengths[sequences]), gaps=gaps)

    def tokens(self, sequences: Ints | Offsets) -> Offsets:
        """The tokens of the chosen sequences, one after the other."""
        return picked(self.offsets, sequences)[0]
