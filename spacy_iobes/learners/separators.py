"""A learner of mention separators: the likelihood of whole sequences, one chain for each label."""

from __future__ import annotations

import numpy as np

from ..arrays import Ints, Offsets, Singles
from ..chain.gaps import Gaps
from ..chain.separators import Edge, loss_of
from ..kernels.separators_numpy import Separators
from ..ml.representations import get_representation
from .checks import own_features
from .gradient_steps import steps_over, table_of
from .options import Options

KINDS = 8


class SeparatorLearner:
    """Weights of features of gaps for the separators of some labels, learned by AdaGrad."""

    def __init__(self, labels: int, options: Options):
        self.labels, self.options = labels, options
        self.random = np.random.default_rng(options.seed)
        self.table = table_of(options, self.random)
        self.table.set_states(*get_representation("edge").columns(labels))

    def learn(self, features: Ints, offsets: Offsets, separators: Separators) -> None:
        """Learn from sentences; what was learned before stays, and goes on from where it was.

        `features[G, F]` are those of gaps, `offsets` say which gaps each sentence has, and
        `separators[G, L]` are true.
        """
        self.table.go_on()
        rows = own_features(features, self.options.bits)
        for step in steps_over(self.table, self.options, self.random, rows, offsets, separators):
            gaps = Gaps(step.scores.reshape(-1, self.labels, KINDS), step.offsets)
            _, found = loss_of(Edge(), gaps, step.gold)
            step.learn(found.separators.reshape(step.scores.shape).astype(np.float32, copy=False))

    def scores(self, features: Ints) -> Singles:
        """The score of every separator of every label, `[G, L, 8]`."""
        found = self.table.predict(own_features(features, self.options.bits))
        return found.reshape(-1, self.labels, KINDS)
