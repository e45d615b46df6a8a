"""Arrays at the boundary: what kernels trust is checked here."""

from __future__ import annotations

import numpy as np

from ..arrays import Ints, Offsets
from ..errors import ModelError


def own_features(features: Ints, bits: int) -> Ints:
    """A copy of features `[N, F]`, to be changed; numbers that have no place are refused."""
    if features.ndim != 2 or not np.issubdtype(features.dtype, np.integer):
        raise ModelError(
            f"Features are a row of whole numbers for each token, not {features.dtype} of the "
            f"shape {features.shape}."
        )
    if features.size and not -1 <= features.min() <= features.max() < 1 << bits:
        raise ModelError(
            f"Features are numbers from -1 to 2 ** {bits} - 1, and some of these are not: is "
            "'bits' the same in the options of the learner and where features are extracted?"
        )
    return np.array(features, dtype=np.int32, order="C")


def require_units(offsets: Offsets, path: Ints, tokens: int, states: int) -> None:
    """Refuse units that are not all of the tokens, and a path that is not one of states."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != tokens or (np.diff(offsets) < 0).any():
        raise ModelError(f"The offsets of units go up from 0 to {tokens}, the number of tokens.")
    if path.shape != (tokens,):
        raise ModelError(f"There are {tokens} tokens, but the path is {path.shape}.")
    if path.size and not 0 <= path.min() <= path.max() < states:
        raise ModelError(f"The states of a path lie between 0 and {states - 1}.")
