"""Learners by gradients: a CRF over legal sequences, and maximum entropy token by token."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..arrays import Ints, Offsets, Singles
from ..chain import Batch, Chain, loss
from ..codes.classes import Classes
from ..ml.tag_chain import TagChain
from .checks import own_features, require_units
from .gradient_steps import steps_over, table_of
from .normal import normalised
from .options import Options
from .step_weights import StepWeights


class ByGradients(ABC):
    """Weights of features for classes, learned by AdaGrad; their average over time is used."""

    def __init__(self, tags: TagChain, classes: Classes, options: Options):
        self.tags, self.classes, self.options = tags, classes, options
        self.random = np.random.default_rng(options.seed)
        self.table = table_of(options, self.random)
        self.table.set_states(*sharing(classes))

    def learn(self, features: Ints, offsets: Offsets, path: Ints) -> None:
        """Learn from examples; what was learned before stays, and goes on from where it was."""
        rows = own_features(features, self.options.bits)
        require_units(offsets, path, len(rows), len(self.tags))
        self.go_on()
        units = self.units(offsets)
        for step in steps_over(self.table, self.options, self.random, rows, units, path):
            step.learn(self.gradient(step.scores, step.offsets, step.gold))

    def go_on(self) -> None:
        """New examples count as if they were the first, but begin with what is known."""
        self.table.go_on()

    def units(self, offsets: Offsets) -> Offsets:
        """What must stay together."""
        return offsets

    @abstractmethod
    def gradient(self, scores: Singles, offsets: Offsets, path: Ints) -> Singles:
        """The gradient of the loss of some units, `[N, C]`."""

    @abstractmethod
    def class_scores(self, features: Ints) -> Singles:
        """The scores of all classes, `[N, C]`."""

    @property
    @abstractmethod
    def chain(self) -> Chain:
        """What is legal, and what is known of the steps between states."""


class Crf(ByGradients):
    """The likelihood of whole sequences of states, among the legal ones, with learned steps.

    The score of a state is the sum of those of its classes, one of each choice.
    """

    def __init__(self, tags: TagChain, classes: Classes, options: Options):
        super().__init__(tags, classes, options)
        self.steps = StepWeights(tags.even, options.rate)
        self.parts = parts_of(classes)

    def go_on(self) -> None:
        """The steps, too."""
        super().go_on()
        self.steps.go_on()

    def gradient(self, scores: Singles, offsets: Offsets, path: Ints) -> Singles:
        """The classes of a state have the gradient of the state; the steps learn here."""
        several = self.classes.choices > 1
        batch = Batch(scores @ self.parts.T if several else scores, offsets)
        _, found = loss(self.steps.chain, batch, path)
        self.steps.learn(found.start, found.step, found.stop)
        by_state = found.scores.astype(np.float32, copy=False)
        return by_state @ self.parts if several else by_state

    def class_scores(self, features: Ints) -> Singles:
        """What each class adds to the score of a sequence."""
        return self.table.predict(own_features(features, self.options.bits))

    @property
    def chain(self) -> Chain:
        """The legal steps, with what was learned of them."""
        return self.steps.average


class Softmax(ByGradients):
    """The likelihood of the classes of each token for itself: maximum entropy."""

    def units(self, offsets: Offsets) -> Offsets:
        """Every token is on its own."""
        return np.arange(int(offsets[0]), int(offsets[-1]) + 1)

    def gradient(self, scores: Singles, offsets: Offsets, path: Ints) -> Singles:
        """What is thought of the classes, minus what is true."""
        gradient = np.exp(normalised(scores, self.classes.bounds))
        right = self.classes.of_state[path]
        gradient[np.arange(len(path))[:, None], right] -= 1
        return gradient

    def class_scores(self, features: Ints) -> Singles:
        """The logarithms of the probabilities of the classes of each choice."""
        scores = self.table.predict(own_features(features, self.options.bits))
        return normalised(scores, self.classes.bounds)

    @property
    def chain(self) -> Chain:
        """The legal steps."""
        return self.tags.even


def sharing(classes: Classes) -> tuple[Ints, Ints]:
    """The label of each class, and which classes of it learn from each other: those of a choice."""
    choice = np.repeat(np.arange(classes.choices, dtype=np.int32), np.diff(classes.bounds))
    return classes.label_of, np.left_shift(np.int32(1), choice).astype(np.int32)


def parts_of(classes: Classes) -> Singles:
    """Which classes a state has, 1 or 0, `[K, C]`."""
    parts = np.zeros((len(classes.of_state), len(classes.names)), dtype=np.float32)
    np.put_along_axis(parts, classes.of_state, 1, axis=1)
    return parts
