"""Inference over chains: sums over paths, the best of them, and what they say about spans.

A chain scores sequences of states; it knows nothing of tags. `codes.states` tells which states a
scheme has, which may follow which, and which form spans.
"""

from .apart import apart
from .expected import expected_spans
from .inference import Best, NBest, best, count, marginals, nbest, sample, score, total
from .layout import Layout
from .limits import Limits
from .loss import Gradient, expectation, loss
from .model import Batch, Chain
from .posterior import Posterior
from .reject import reject
from .spans import Spans

__all__ = [
    "Batch",
    "Best",
    "Chain",
    "Gradient",
    "Layout",
    "Limits",
    "NBest",
    "Posterior",
    "Spans",
    "apart",
    "best",
    "count",
    "expectation",
    "expected_spans",
    "loss",
    "marginals",
    "nbest",
    "reject",
    "sample",
    "score",
    "total",
]
