"""Matrix products of logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..kernels.chain_numpy import logsumexp

RANGE = 300.0  # exp(-RANGE) squared is still a plain number
ROOM = 1 << 22  # how many numbers to hold at once


def log_product(rows: Floats, matrix: Floats) -> Floats:
    """The logarithm of `exp(rows) @ exp(matrix)`, `[R, J]`, whatever the size of the numbers.

    Where a row or the matrix spans too much for one product of plain numbers, the sum is taken in
    logarithms instead.
    """
    top, peak = _top(rows, 1), float(_top(matrix, None).item())
    narrow = bool(_narrow(matrix - peak).all())
    plain = _narrow(rows - top).all(axis=1) & narrow
    found = np.empty((len(rows), matrix.shape[1]))
    with np.errstate(divide="ignore"):
        products = np.exp(rows[plain] - top[plain]) @ np.exp(matrix - peak)
        found[plain] = np.log(products) + top[plain] + peak
    rest = np.flatnonzero(~plain)
    part = max(1, ROOM // matrix.size)
    for at in (rest[i : i + part] for i in range(0, len(rest), part)):
        found[at] = logsumexp(rows[at][:, :, None] + matrix, 1)
    return found


def _top(values: Floats, axis: int | None) -> Floats:
    """The maximum, or 0 where all is minus infinity."""
    top = values.max(axis=axis, keepdims=True)
    found: Floats = np.where(top == -np.inf, 0.0, top)
    return found


def _narrow(below: Floats) -> NDArray[np.bool_]:
    """Whether each number is not too far below 0, or minus infinity."""
    found: NDArray[np.bool_] = (below > -RANGE) | (below == -np.inf)
    return found
