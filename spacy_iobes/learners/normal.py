"""Scores of classes as probabilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..arrays import Singles


def normalised(scores: Singles, bounds: NDArray[np.int32]) -> Singles:
    """The logarithms of probabilities that add up to one within each choice."""
    found = np.empty_like(scores)
    for a, b in pairwise(bounds.tolist()):
        mine = scores[:, a:b] - scores[:, a:b].max(axis=1, keepdims=True)
        found[:, a:b] = mine - np.log(np.exp(mine).sum(axis=1, keepdims=True))
    return found
