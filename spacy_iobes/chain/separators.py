"""Inference over mention separators: every label of every sentence is a chain over its gaps.

Two models say what a sequence of separators scores, and answer the same questions. `Edge` adds up
the scores of its separators. `State` also has a score for every two that follow each other; without
any, the two are the same. `codes.separators` tells which mentions separators stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import kernels
from ..errors import ChainError
from ..kernels import separators_numpy as edge
from ..kernels.chain_numpy import Floats, Ints, Offsets, Scores, logsumexp
from ..kernels.separators_numpy import BEFORE, BEHIND, END, GO_ON, KINDS, START, Separators
from .arrays import logarithms, refuse, whole_numbers
from .inference import require_paths
from .spans import Spans

LEGAL = BEHIND[:, None] == BEFORE[None, :]
"""Which separator may follow which, `[from, to]`: both say the same of the token between them."""


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
        return replace(self, scores=np.where(allowed, self.scores, illegal))

    def known(self, separators: Separators) -> Gaps:
        """The same gaps with one separator each, `[G, L]`."""
        if separators.shape != self.scores.shape[:2]:
            raise ChainError(f"Separators are {self.scores.shape[:2]}, not {separators.shape}.")
        return self.limited(separators[..., None] == KINDS)

    def biased(self, bias: float) -> Gaps:
        """The same gaps with `bias` added wherever a mention starts: more of them, or fewer."""
        if not np.isfinite(bias):
            raise ChainError(f"A bias is a number, not {bias}.")
        scores = self.scores.copy()
        scores[:, :, KINDS & START > 0] += bias
        return replace(self, scores=scores)


class Best(NamedTuple):
    """The best separators `[G, L]` and their score `[S, L]`."""

    separators: Separators
    score: Floats


class Expected(NamedTuple):
    """The totals `[S, L]`, and the gradient of their sum: how often things are expected.

    `separators[G, L, 8]` are probabilities; `steps[L, from, to]` count pairs of neighbours, and are
    None where a model has no scores for them.
    """

    total: Floats
    separators: Scores
    steps: Floats | None = None


class Model(Protocol):
    """What can be asked about the separators of many sentences and labels."""

    def total(self, gaps: Gaps) -> Floats:
        """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""

    def best(self, gaps: Gaps) -> Best:
        """The legal sequences of the highest scores."""

    def expect(self, gaps: Gaps) -> Expected:
        """The probability of every separator."""


@dataclass(frozen=True, eq=False)
class State:
    """A sequence also scores what every two neighbours in it do: `step[L, from, to]`.

    One `step[from, to]` is for all labels. What is illegal needs no score.
    """

    step: Floats

    def __post_init__(self) -> None:
        step = np.asarray(self.step, dtype=np.float64)
        shape = (len(step), 8, 8) if step.ndim == 3 else (8, 8)
        legal = np.where(LEGAL, logarithms("step", step, shape), -np.inf)
        object.__setattr__(self, "step", legal)

    def total(self, gaps: Gaps) -> Floats:
        """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""
        parts = [kernels.total(*arguments) for arguments in self._arguments(gaps)]
        return _by_sentence(np.concatenate(parts), gaps)

    def best(self, gaps: Gaps) -> Best:
        """The legal sequences of the highest scores; of several, the lowest separators first."""
        parts = [kernels.best(*arguments) for arguments in self._arguments(gaps)]
        states, peaks = (np.concatenate(part) for part in zip(*parts))
        score = _by_sentence(peaks, gaps)
        _require_sequences(score)
        return Best(states.reshape(gaps.labels, -1).T.astype(np.uint8), score)

    def expect(self, gaps: Gaps) -> Expected:
        """The probability of every separator, and how often any two follow each other."""
        parts = [kernels.expect(*arguments) for arguments in self._arguments(gaps)]
        totals, states, steps = (np.concatenate(part) for part in zip(*parts))
        total = _by_sentence(totals, gaps)
        _require_sequences(total)
        separators = states.reshape(gaps.labels, *gaps.scores[:, 0].shape).transpose(1, 0, 2)
        return Expected(total, separators, steps if self.step.ndim == 3 else steps[0])

    def _arguments(
        self, gaps: Gaps
    ) -> list[tuple[Scores, Offsets, Floats, Floats, Floats, Ints | None]]:
        """What the kernels take: all labels at once if they share their steps, or one by one."""
        start, stop = (np.where(side == 0, 0.0, -np.inf) for side in (BEFORE, BEHIND))
        by_label = np.ascontiguousarray(gaps.scores.transpose(1, 0, 2))  # [L, G, 8]
        if self.step.ndim == 2:
            turns = len(gaps.scores) * np.arange(gaps.labels)[:, None]
            offsets = np.append((turns + gaps.offsets[:-1]).ravel(), by_label[..., 0].size)
            return [(by_label.reshape(-1, 8), offsets, start, self.step[None], stop, None)]
        if len(self.step) != gaps.labels:
            raise ChainError(f"Steps are for {len(self.step)} labels, scores for {gaps.labels}.")
        steps = zip(by_label, self.step)
        return [(own, gaps.offsets, start, step[None], stop, None) for own, step in steps]


_AS_STATES = State(np.zeros((8, 8)))
_COMPILED = kernels.CHAIN_IN_USE == "compiled"


@dataclass(frozen=True)
class Edge:
    """A sequence scores what its separators do: two states, and separators as the edges.

    Compiled chains of eight states without scores for steps are the same, and the faster way to it.
    """

    def total(self, gaps: Gaps) -> Floats:
        """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""
        return _AS_STATES.total(gaps) if _COMPILED else edge.total(gaps.scores, gaps.offsets)

    def best(self, gaps: Gaps) -> Best:
        """The legal sequences of the highest scores; of several, the lowest separators first."""
        if _COMPILED:
            return _AS_STATES.best(gaps)
        found = Best(*edge.best(gaps.scores, gaps.offsets))
        _require_sequences(found.score)
        return found

    def expect(self, gaps: Gaps) -> Expected:
        """The probability of every separator."""
        if _COMPILED:
            return _AS_STATES.expect(gaps)._replace(steps=None)
        totals, separators = edge.expect(gaps.scores, gaps.offsets)
        _require_sequences(totals)
        return Expected(totals, separators)

    def mentions(self, gaps: Gaps, spans: Spans) -> Floats:
        """The logarithm of the probability that a span may be a mention, `[R]`.

        This is that one starts at its start, one ends at its end, and some go on at all gaps
        between: never less than the probability that it is a mention, and equal to it unless
        sequences in which it is ambiguous are probable.
        """
        spans.check(gaps, gaps.labels)
        scores = gaps.scores
        before, behind, totals = edge.messages(scores, gaps.offsets)
        _require_sequences(totals)
        starts = _some(before[:, :, BEFORE] + scores, START)
        ends = _some(scores + behind[:, :, BEHIND], END)
        first, label = gaps.offsets[spans.sequence], spans.label
        found = starts[first + spans.start, label] + ends[first + spans.end, label]
        inner = _between(_some(scores, GO_ON), first + spans.start, first + spans.end, label)
        logs: Floats = found + inner - totals[spans.sequence, label]
        return logs


def _some(values: Scores, bit: int) -> Floats:
    """The sum over the separators with a bit, `[G, L]`."""
    return logsumexp(values[:, :, KINDS & bit > 0].astype(np.float64), 2)


def _between(values: Floats, start: Offsets, end: Offsets, label: Offsets) -> Floats:
    """The sum of `values[G, L]` over the gaps strictly between two, in constant time for each."""
    never = values == -np.inf
    sums = np.cumsum(np.where(never, 0.0, values), axis=0)
    illegal = np.cumsum(never, axis=0)
    through, upto = (end - 1, label), (start, label)
    found = sums[through] - sums[upto]
    return np.where(illegal[through] > illegal[upto], -np.inf, found)


def _by_sentence(values: Floats, gaps: Gaps) -> Floats:
    """What the kernels say of every chain, label after label, as `[S, L]`."""
    turned: Floats = values.reshape(gaps.labels, len(gaps)).T
    return turned


def loss(model: Model, gaps: Gaps, known: Gaps) -> tuple[Floats, Expected]:
    """The negative log-likelihood of what is known, `[S, L]`, and the gradient of its sum.

    `known` are the gaps limited to what agrees with that: to one separator each (`Gaps.known`), or
    to several where the annotation is not complete. The totals in the gradient are the loss again.
    """
    every, good = model.expect(gaps), model.expect(known)
    values = every.total - good.total
    steps = None if every.steps is None or good.steps is None else every.steps - good.steps
    return values, Expected(values, every.separators - good.separators, steps)


def _require_sequences(totals: Floats) -> None:
    """Raise if any chain has no legal sequence; the sentence is named."""
    require_paths(totals.min(axis=1, initial=np.inf), "no legal separators")
