"""How many mentions there are where a model expects some, from what was found in the past."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Floats

FLOOR = 1e-6  # the least that a sentence is taken to be expected to have
SPREAD = np.array([1.0, 0.5])  # how far from 0 and 1 the two numbers are thought to lie
STEPS = 50


class Calibration(NamedTuple):
    """A sentence that is expected to have E mentions has exp(shift) * E ** slope of them.

    Both are fitted by Poisson regression to sentences whose expectation was known before they were
    read. Without any, they are 0 and 1; a few move them little.
    """

    shift: float = 0.0
    slope: float = 1.0

    def __call__(self, expected: Floats) -> Floats:
        """What a model expects, corrected."""
        found: Floats = np.exp(self.shift + self.slope * np.log(np.maximum(expected, FLOOR)))
        return found

    @classmethod
    def fitted(cls, expected: Floats, found: Floats) -> Calibration:
        """The most probable shift and slope, by Newton's method on a concave function."""
        x = np.stack([np.ones(len(expected)), np.log(np.maximum(expected, FLOOR))], axis=1)
        middle, precision = np.array([0.0, 1.0]), SPREAD**-2.0
        at = middle
        value = _likelihood(at, x, found, middle, precision)
        for _ in range(STEPS):
            rate = np.exp(np.minimum(x @ at, 30.0))
            gradient = x.T @ (found - rate) - precision * (at - middle)
            curve = (x.T * rate) @ x + np.diag(precision)
            move = np.linalg.solve(curve, gradient)
            while True:  # half as far, until it is better
                tried = _likelihood(at + move, x, found, middle, precision)
                if tried >= value - 1e-12 or np.abs(move).max() < 1e-9:
                    break
                move = move / 2
            at, value = at + move, tried
            if np.abs(move).max() < 1e-9:
                break
        return cls(float(at[0]), float(at[1]))


def _likelihood(at: Floats, x: Floats, found: Floats, middle: Floats, precision: Floats) -> float:
    logs = np.minimum(x @ at, 30.0)
    return float(found @ logs - np.exp(logs).sum() - 0.5 * (precision * (at - middle) ** 2).sum())
