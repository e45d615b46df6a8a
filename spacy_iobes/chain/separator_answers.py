"""What can be asked of a model of separators, and what it answers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Scores
from ..kernels.separators_numpy import Separators
from .gaps import Gaps
from .inference import require_paths
from .spans import Spans


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

    def onward(self, gaps: Gaps, before: ArrayLike, kinds: ArrayLike) -> Floats:
        """How probable kinds of separators are behind others, `[G, L, before, kinds]`.

        Nothing is before the first gap of a sentence: there it is 0.
        """

    def mentions(self, gaps: Gaps, spans: Spans) -> Floats:
        """The logarithm of the probability that a span may be a mention, `[R]`.

        This is that one starts at its start, one ends at its end, and some go on at all gaps
        between: never less than the probability that it is a mention, and equal to it unless
        sequences in which it is ambiguous are probable.
        """


def require_sequences(totals: Floats) -> None:
    """Raise if any chain has no legal sequence, `[S, L]`; the sentence is named."""
    require_paths(totals.min(axis=1, initial=np.inf), "no legal separators")


def given(gaps: Gaps, ways: Floats, followed: Floats) -> Floats:
    """Probabilities `[G, L, before, kinds]`, of what follows each separator of the gap before.

    `ways` are logarithms: the kinds and all that follows them; `followed[G, L, before]`: all that
    follows those of every gap.
    """
    every = np.full(followed.shape, np.inf)
    every[1:] = np.where(followed[:-1] > -np.inf, followed[:-1], np.inf)
    every[gaps.offsets[:-1]] = np.inf
    found: Floats = np.exp(ways - every[..., None])
    return found
