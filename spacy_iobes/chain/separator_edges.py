"""Separators as edges between two states, inside and outside: each scores for itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..kernels import separators as kernel
from ..kernels.separators_numpy import BEFORE, BEHIND, Separators, places
from .gaps import Gaps
from .inference import require_count
from .separator_answers import Best, Expected, NBest, given, require_sequences
from .separator_mentions import edge_mentions
from .separator_states import State
from .spans import Spans

_AS_STATES = State(np.zeros((8, 8)))


@dataclass(frozen=True)
class Edge:
    """A sequence scores what its separators do: two states, and separators as the edges."""

    def total(self, gaps: Gaps) -> Floats:
        """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""
        return kernel.total(gaps.scores, gaps.offsets)

    def best(self, gaps: Gaps) -> Best:
        """The legal sequences of the highest scores; of several, the lowest separators first."""
        found = Best(*kernel.best(gaps.scores, gaps.offsets))
        require_sequences(found.score)
        return found

    def expect(self, gaps: Gaps) -> Expected:
        """The probability of every separator."""
        totals, separators = kernel.expect(gaps.scores, gaps.offsets)
        require_sequences(totals)
        return Expected(totals, separators)

    def loss(self, gaps: Gaps, separators: Separators) -> tuple[Floats, Expected]:
        """The negative log-likelihood of `separators[G, L]`, `[S, L]`, and its gradient."""
        values, gradient = kernel.loss(gaps.scores, gaps.offsets, gaps.checked(separators))
        require_sequences(np.where(np.isfinite(values), values, -np.inf))
        return values, Expected(values, gradient)

    def nbest(self, gaps: Gaps, n: int) -> NBest:
        """The `n` most probable legal sequences, all different."""
        return _AS_STATES.nbest(gaps, n)

    def sample(self, gaps: Gaps, n: int, random: np.random.Generator) -> Separators:
        """`n` legal sequences drawn from the distribution over all of them, `[n, G, L]`."""
        require_count(n, 0)
        _, behind, _ = self._messages(gaps)
        ways = gaps.scores + behind[:, :, BEHIND]
        sums = np.stack([_cumulated(np.where(state == BEFORE, ways, -np.inf)) for state in (0, 1)])
        found = np.empty((n, *gaps.scores.shape[:2]), dtype=np.uint8)
        label = np.arange(gaps.labels)
        for place, at in enumerate((gaps.offsets[:-1], *places(gaps.offsets))):
            state = BEHIND[found[:, at - 1]] if place else np.zeros((1, 1, 1), dtype=np.intp)
            drawn = random.random((n, len(at), gaps.labels, 1))
            found[:, at] = (drawn >= sums[state, at[:, None], label]).sum(axis=3)
        return found

    def onward(self, gaps: Gaps, before: ArrayLike, kinds: ArrayLike) -> Floats:
        """How probable kinds of separators are behind others, `[G, L, before, kinds]`."""
        _, behind, _ = self._messages(gaps)
        state, to = BEHIND[np.asarray(before)], np.asarray(kinds)
        ways = (gaps.scores + behind[:, :, BEHIND])[:, :, None, to]
        legal = np.where(state[:, None] == BEFORE[to], ways, -np.inf)
        return given(gaps, legal, behind[:, :, state])

    def mentions(self, gaps: Gaps, spans: Spans) -> Floats:
        """The logarithm of the probability that a span may be a mention, `[R]`."""
        spans.check(gaps, gaps.labels)
        return edge_mentions(gaps, *self._messages(gaps), spans)

    def _messages(self, gaps: Gaps) -> tuple[Floats, Floats, Floats]:
        """What leads to the states before every gap, what follows those behind it, and totals."""
        before, behind, totals = kernel.messages(gaps.scores, gaps.offsets)
        require_sequences(totals)
        return before, behind, totals


def _cumulated(ways: Floats) -> Floats:
    """Probabilities of eight that follow, each added to those before it; the last sum is 1."""
    top = ways.max(axis=2, keepdims=True)
    sums = np.cumsum(np.exp(ways - np.where(top == -np.inf, 0.0, top)), axis=2)
    found: Floats = sums / np.where(sums[..., -1:] > 0, sums[..., -1:], 1.0)
    return found
