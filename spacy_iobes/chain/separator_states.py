"""Separators as the eight states of a chain: every two that follow each other have a score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from ..arrays import Floats, Ints, Offsets, Scores, logarithms
from ..errors import ChainError
from ..kernels.separators_numpy import BEFORE, BEHIND, Separators
from .gaps import Gaps
from .inference import require_count, sample
from .model import Batch, Chain
from .separator_answers import Best, Expected, NBest, given, require_sequences
from .separator_mentions import state_mentions
from .spans import Spans

LEGAL = BEHIND[:, None] == BEFORE[None, :]
"""Which separator may follow which, `[from, to]`: both say the same of the token between them."""


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
        require_sequences(score)
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
        require_sequences(np.where(np.isfinite(total), total, -np.inf))
        separators = states.reshape(gaps.labels, *gaps.scores[:, 0].shape).transpose(1, 0, 2)
        return Expected(total, separators, steps if self.step.ndim == 3 else steps[0])

    def nbest(self, gaps: Gaps, n: int) -> NBest:
        """The `n` most probable legal sequences, all different."""
        require_count(n, 1)
        parts = [kernels.nbest(*arguments, n) for arguments in self._arguments(gaps)]
        states, scores = (np.concatenate(part, axis=1) for part in zip(*parts))
        totals = self.total(gaps)
        require_sequences(totals)
        peaks = scores.reshape(n, gaps.labels, len(gaps)).transpose(0, 2, 1)
        return NBest(_by_gap(states, gaps), peaks - totals)

    def sample(self, gaps: Gaps, n: int, random: np.random.Generator) -> Separators:
        """`n` legal sequences drawn from the distribution over all of them, `[n, G, L]`."""
        require_sequences(self.total(gaps))
        parts = [
            sample(Chain(start, steps[0], stop), Batch(scores, offsets), n, random)
            for scores, offsets, start, steps, stop, _ in self._arguments(gaps)
        ]
        return _by_gap(np.concatenate(parts, axis=1), gaps)

    def onward(self, gaps: Gaps, before: ArrayLike, kinds: ArrayLike) -> Floats:
        """How probable kinds of separators are behind others, `[G, L, before, kinds]`."""
        _, backward, _ = self._messages(gaps)
        own, to = np.asarray(before), np.asarray(kinds)
        ways = (gaps.scores + backward)[:, :, None, to] + self._steps(gaps)[:, own[:, None], to]
        return given(gaps, ways, backward[:, :, own])

    def mentions(self, gaps: Gaps, spans: Spans) -> Floats:
        """The logarithm of the probability that a span may be a mention, `[R]`."""
        spans.check(gaps, gaps.labels)
        return state_mentions(gaps, self._steps(gaps), *self._messages(gaps), spans)

    def _messages(self, gaps: Gaps) -> tuple[Floats, Floats, Floats]:
        """What leads to every separator, what follows it, `[G, L, 8]`, and totals."""
        parts = [kernels.messages(*arguments) for arguments in self._arguments(gaps)]
        forward, backward, totals = (np.concatenate(part) for part in zip(*parts))
        total = _by_sentence(totals, gaps)
        require_sequences(total)
        shape = (gaps.labels, *gaps.scores[:, 0].shape)
        turned = (values.reshape(shape).transpose(1, 0, 2) for values in (forward, backward))
        return *turned, total

    def _steps(self, gaps: Gaps) -> Floats:
        """The steps of every label."""
        return np.broadcast_to(self.step, (gaps.labels, 8, 8))

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


def _by_sentence(values: Floats, gaps: Gaps) -> Floats:
    """What the kernels say of every chain, label after label, as `[S, L]`."""
    turned: Floats = values.reshape(gaps.labels, len(gaps)).T
    return turned


def _by_gap(states: Ints, gaps: Gaps) -> Separators:
    """`states[n, L * G]`, label after label, as separators `[n, G, L]`."""
    turned = states.reshape(len(states), gaps.labels, len(gaps.scores)).transpose(0, 2, 1)
    found: Separators = np.maximum(turned, 0).astype(np.uint8)  # -1: there is no sequence
    return found
