"""The scores of the steps of a chain, learned as those of features are."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Floats
from ..chain import Chain
from ..ml.feature_table import LATER

TINY = 1e-8


class StepWeights:
    """Scores of start, step and stop, by AdaGrad; illegal ones stay so."""

    def __init__(self, even: Chain, rate: float):
        self.layout, self.rate, self.states = even.layout, rate, len(even.start)
        self.weights = np.concatenate([even.start, even.step.ravel(), even.stop])
        self.squares, self.moved = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.steps, self.total = 0, 0.0

    def go_on(self) -> None:
        """Begin to average anew, with the weights that predict; step sizes stay as they are."""
        self.weights = self._averaged()
        self.moved[:] = 0
        self.steps, self.total = 0, 0.0

    @property
    def chain(self) -> Chain:
        """The chain to learn with."""
        return self._chain(self.weights)

    @cached_property
    def average(self) -> Chain:
        """The chain to predict with: the average over all steps, late ones counting more."""
        return self._chain(self._averaged())

    def _averaged(self) -> Floats:
        return self.weights - self.moved / self.total if self.total else self.weights

    def _chain(self, weights: Floats) -> Chain:
        size = self.states
        step = weights[size:-size].reshape(size, size)
        return Chain(weights[:size], step, weights[-size:], self.layout)

    def learn(self, start: Floats, step: Floats, stop: Floats) -> None:
        """One step against a gradient."""
        gradient = np.concatenate([start, step.ravel(), stop])
        self.squares += gradient * gradient
        change = gradient * (self.rate / (np.sqrt(self.squares) + TINY))
        self.weights -= change
        self.moved -= self.total * change
        self.steps += 1
        self.total += float(self.steps) ** LATER
        self.__dict__.pop("average", None)
