"""How many spans are expected in a sequence, as fast as the states of a chain allow."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from .inference import marginals
from .model import Batch, Chain
from .posterior import Posterior


def expected_spans(chain: Chain, batch: Batch) -> Floats:
    """The expected number of spans of each label in each sequence, `[S, L]`.

    Where every state either begins a span or goes on with one, it is a sum of probabilities of
    states, in the precision of the scores; else the steps between them have to be looked at.
    """
    layout = chain.spans
    legal = chain.step > -np.inf
    begins = (legal & layout.begins).any(axis=0) | (
        (chain.start > -np.inf) & (layout.label_of >= 0)
    )
    if (begins & (legal & layout.joins).any(axis=0)).any():
        return Posterior.of(chain, batch).expected_counts()
    states = marginals(chain, batch)
    found = np.zeros((len(states), len(layout.members)), dtype=states.dtype)
    for state in np.flatnonzero(begins & (layout.label_of >= 0)):  # few: no product of matrices
        found[:, layout.label_of[state]] += states[:, state]
    return batch.summed(found)
