"""Inference over mention separators: every label of every sentence is a chain over its gaps.

Two models say what a sequence of separators scores, and answer the same questions. `Edge` adds up
the scores of its separators. `State` also has a score for every two that follow each other; without
any, the two are the same. `codes.separators` tells which mentions separators stand for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from .. import kernels
from ..errors import ChainError
from ..kernels import separators as edge
from ..kernels.chain_numpy import Floats, Ints, Offsets, Scores, logsumexp
from ..kernels.separators_numpy import BEFORE, BEHIND, END, GO_ON, KINDS, START, Separators
from .arrays import logarithms
from .gaps import Gaps
from .inference import require_count, require_paths, sample
from .model import Batch, Chain
from .spans import Spans

LEGAL = BEHIND[:, None] == BEFORE[None, :]
"""Which separator may follow which, `[from, to]`: both say the same of the token between them."""


class Best(NamedTuple):
    """The best separators `[G, L]` and their score `[S, L]`."""

    separators: Separators
    score: Floats


class NBest(NamedTuple):
    """The best separators, best first: `separators[n, G, L]` and `log_probability[n, S, L]`.

    Where a chain has fewer legal sequences, the rest have minus infinity and mean nothing.
    """

    separators: Separators
    log_probability: Floats


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

    def loss(self, gaps: Gaps, separators: Separators) -> tuple[Floats, Expected]:
        """The negative log-likelihood of `separators[G, L]`, `[S, L]`, and its gradient."""

    def nbest(self, gaps: Gaps, n: int) -> NBest:
        """The `n` most probable legal sequences, all different."""

    def sample(self, gaps: Gaps, n: int, random: np.random.Generator) -> Separators:
        """`n` legal sequences drawn from the distribution over all of them, `[n, G, L]`."""


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
        return Best(_by_gap(states[None], gaps)[0], score)

    def expect(self, gaps: Gaps) -> Expected:
        """The probability of every separator, and how often any two follow each other."""
        return self._joined(gaps, [kernels.expect(*found) for found in self._arguments(gaps)])

    def loss(self, gaps: Gaps, separators: Separators) -> tuple[Floats, Expected]:
        """The negative log-likelihood of `separators[G, L]`, `[S, L]`, and its gradient."""
        arguments = self._arguments(gaps)
        known = gaps.checked(separators).T.astype(np.int32).reshape(len(arguments), -1)
        parts = []
        for path, own in zip(known, arguments):
            totals, states, steps = kernels.expect(*own)
            totals -= kernels.follow(np.ascontiguousarray(path), *own, states, steps)
            parts.append((totals, states, steps))
        found = self._joined(gaps, parts)
        return found.total, found

    def _joined(self, gaps: Gaps, parts: list[tuple[Floats, Scores, Floats]]) -> Expected:
        """What the kernels say of all labels, as one."""
        totals, states, steps = (np.concatenate(part) for part in zip(*parts))
        total = _by_sentence(totals, gaps)
        _require_sequences(np.where(np.isfinite(total), total, -np.inf))
        separators = states.reshape(gaps.labels, *gaps.scores[:, 0].shape).transpose(1, 0, 2)
        return Expected(total, separators, steps if self.step.ndim == 3 else steps[0])

    def nbest(self, gaps: Gaps, n: int) -> NBest:
        """The `n` most probable legal sequences, all different."""
        require_count(n, 1)
        parts = [kernels.nbest(*arguments, n) for arguments in self._arguments(gaps)]
        states, scores = (np.concatenate(part, axis=1) for part in zip(*parts))
        totals = self.total(gaps)
        _require_sequences(totals)
        peaks = scores.reshape(n, gaps.labels, len(gaps)).transpose(0, 2, 1)
        return NBest(_by_gap(states, gaps), peaks - totals)

    def sample(self, gaps: Gaps, n: int, random: np.random.Generator) -> Separators:
        """`n` legal sequences drawn from the distribution over all of them, `[n, G, L]`."""
        _require_sequences(self.total(gaps))
        parts = [
            sample(Chain(start, steps[0], stop), Batch(scores, offsets), n, random)
            for scores, offsets, start, steps, stop, _ in self._arguments(gaps)
        ]
        return _by_gap(np.concatenate(parts, axis=1), gaps)

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


@dataclass(frozen=True)
class Edge:
    """A sequence scores what its separators do: two states, and separators as the edges."""

    def total(self, gaps: Gaps) -> Floats:
        """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""
        return edge.total(gaps.scores, gaps.offsets)

    def best(self, gaps: Gaps) -> Best:
        """The legal sequences of the highest scores; of several, the lowest separators first."""
        found = Best(*edge.best(gaps.scores, gaps.offsets))
        _require_sequences(found.score)
        return found

    def expect(self, gaps: Gaps) -> Expected:
        """The probability of every separator."""
        totals, separators = edge.expect(gaps.scores, gaps.offsets)
        _require_sequences(totals)
        return Expected(totals, separators)

    def loss(self, gaps: Gaps, separators: Separators) -> tuple[Floats, Expected]:
        """The negative log-likelihood of `separators[G, L]`, `[S, L]`, and its gradient."""
        values, gradient = edge.loss(gaps.scores, gaps.offsets, gaps.checked(separators))
        _require_sequences(np.where(np.isfinite(values), values, -np.inf))
        return values, Expected(values, gradient)

    def nbest(self, gaps: Gaps, n: int) -> NBest:
        """The `n` most probable legal sequences, all different."""
        return _AS_STATES.nbest(gaps, n)

    def sample(self, gaps: Gaps, n: int, random: np.random.Generator) -> Separators:
        """`n` legal sequences drawn from the distribution over all of them, `[n, G, L]`."""
        return _AS_STATES.sample(gaps, n, random)

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


def _by_gap(states: Ints, gaps: Gaps) -> Separators:
    """`states[n, L * G]`, label after label, as separators `[n, G, L]`."""
    turned = states.reshape(len(states), gaps.labels, len(gaps.scores)).transpose(0, 2, 1)
    found: Separators = np.maximum(turned, 0).astype(np.uint8)  # -1: there is no sequence
    return found


def loss(model: Model, gaps: Gaps, known: Gaps) -> tuple[Floats, Expected]:
    """The negative log-likelihood of what is known, `[S, L]`, and the gradient of its sum.

    `known` are the gaps limited to what agrees with that: to one separator each (`Gaps.known`), or
    to several where the annotation is not complete. The totals in the gradient are the loss again.
    """
    every, good = model.expect(gaps), model.expect(known)
    values = every.total - good.total
    steps = None if every.steps is None or good.steps is None else every.steps - good.steps
    return values, Expected(values, every.separators - good.separators, steps)


def loss_of(model: Model, gaps: Gaps, separators: Separators) -> tuple[Floats, Expected]:
    """`loss` where everything is known, `separators[G, L]`: the same, and faster."""
    return model.loss(gaps, separators)


def _require_sequences(totals: Floats) -> None:
    """Raise if any chain has no legal sequence; the sentence is named."""
    require_paths(totals.min(axis=1, initial=np.inf), "no legal separators")
