"""The training loss and its gradient: the negative log-likelihood of what is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import kernels
from ..arrays import Floats, Ints, Scores
from .inference import checked_path, require_paths
from .model import Batch, Chain


class Gradient(NamedTuple):
    """Derivatives with respect to `scores[N, K]`, `start[K]`, `step[from, to]` and `stop[K]`."""

    scores: Scores
    start: Floats
    step: Floats
    stop: Floats

    def plus(self, other: Gradient) -> Gradient:
        """The sum of two gradients."""
        return Gradient(
            self.scores + other.scores,
            self.start + other.start,
            self.step + other.step,
            self.stop + other.stop,
        )

    def minus(self, other: Gradient) -> Gradient:
        """The difference of two gradients."""
        return Gradient(
            self.scores - other.scores,
            self.start - other.start,
            self.step - other.step,
            self.stop - other.stop,
        )


def expectation(chain: Chain, batch: Batch) -> tuple[Floats, Gradient]:
    """`total`, and the gradient of its sum: how often every state and step is expected."""
    totals, states, pairs = kernels.expect(*chain.arguments(batch))
    return totals, gathered(batch, states, pairs)


def gathered(batch: Batch, states: Scores, pairs: Floats) -> Gradient:
    """A gradient from that for every state `[N, K]` and for the steps of every variant."""
    start, stop = (states[at].sum(axis=0, dtype=np.float64) for at in batch.edges)
    return Gradient(states, start, pairs[0] if len(pairs) == 1 else pairs.sum(axis=0), stop)


def loss(chain: Chain, batch: Batch, gold: Batch | Ints) -> tuple[Floats, Gradient]:
    """The negative log-likelihood of the gold in each sequence `[S]`, and the gradient of its sum.

    `gold` is the batch limited to the paths that agree with what is known, or, where everything is
    known, one state for each token.
    """
    arguments = chain.arguments(batch)
    totals, states, pairs = kernels.expect(*arguments)
    require_paths(totals)
    if isinstance(gold, Batch):
        known, wanted = expectation(chain, gold)
        gradient = gathered(batch, states, pairs).minus(wanted)
    else:
        path = checked_path(chain, batch, gold)
        known = kernels.follow(path, *arguments, states, pairs)
        gradient = gathered(batch, states, pairs)
    require_paths(known, "no legal path that agrees with the gold")
    return np.maximum(totals - known, 0.0), gradient
