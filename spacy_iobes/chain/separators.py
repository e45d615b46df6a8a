"""Inference over mention separators: every label of every sentence is a chain over its gaps.

Two models say what a sequence of separators scores, and answer the same questions. `Edge` adds up
the scores of its separators. `State` also has a score for every two that follow each other; without
any, the two are the same. `codes.separators` tells which mentions separators stand for.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..kernels.separators_numpy import Separators
from .gaps import Gaps
from .separator_answers import Best, Expected, Model, NBest
from .separator_edges import Edge
from .separator_states import LEGAL, State

__all__ = ["LEGAL", "Best", "Edge", "Expected", "Model", "NBest", "State", "loss", "loss_of"]


def loss(model: Model, gaps: Gaps, known: Gaps) -> tuple[Floats, Expected]:
    """The negative log-likelihood of what is known, `[S, L]`, and the gradient of its sum.

    `known` are the gaps limited to what agrees with that: to one separator each (`Gaps.known`), or
    to several where the annotation is not complete. The totals in the gradient are the loss again.
    """
    every, good = model.expect(gaps), model.expect(known)
    values = np.maximum(every.total - good.total, 0.0)
    steps = None if every.steps is None or good.steps is None else every.steps - good.steps
    return values, Expected(values, every.separators - good.separators, steps)


def loss_of(model: Model, gaps: Gaps, separators: Separators) -> tuple[Floats, Expected]:
    """`loss` where everything is known, `separators[G, L]`: the same, and faster."""
    return model.loss(gaps, separators)
