"""Balanced Winnow: weights that are multiplied after mistakes, token by token."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..arrays import Ints, Offsets, Singles
from ..chain import Chain
from ..codes.classes import Classes
from ..ml.tag_chain import TagChain
from .batches import Epoch
from .checks import own_features, require_units
from .normal import normalised
from .options import Options

SAMPLE = 20_000  # the tokens that probabilities are fitted to
WIDEST = 1e3  # the largest scale of scores


class Winnow:
    """A pair of weights for each class and feature; `kernels/winnow_python.py` has the rule.

    It predicts with the average of the weights over time, late ones counting more. It goes through
    the examples, shuffled, until there is no mistake, `options.passes` times at most; or `once`, in
    their order, so that examples that come later are only more of the same pass.

    A probability is a softmax, within a choice, of the scores times a scale: that which makes the
    right classes most probable, given the scores that tokens had when they were new.
    """

    def __init__(self, tags: TagChain, classes: Classes, options: Options, once: bool = False):
        self.tags, self.classes, self.options, self.once = tags, classes, options, once
        self.random = np.random.default_rng(options.seed)
        self.places: Ints = np.full(1 << options.bits, -1, dtype=np.int32)
        self.used: Ints = np.zeros(1 << options.bits, dtype=np.int32)
        self.count = self.met = 0
        shape = (0, 2, len(classes.names))
        self.weights: Singles = np.ones(shape, dtype=np.float32)
        self.moved: Singles = np.zeros(shape, dtype=np.float32)
        self.scale = 1.0
        self.sample: Singles = np.zeros((0, len(classes.names)), dtype=np.float32)
        self.sample_right: Ints = np.zeros((0, classes.choices), dtype=np.int32)
        self._average: Singles | None = None

    def learn(self, features: Ints, offsets: Offsets, path: Ints) -> None:
        """Learn from examples; what was learned before stays, and goes on from where it was."""
        options = self.options
        rows = own_features(features, options.bits)
        require_units(offsets, path, len(rows), len(self.tags))
        if not self.once:
            self._go_on()
        self.count = kernels.place(rows, self.places, self.used, self.count)
        self._make_room()
        right = np.ascontiguousarray(self.classes.of_state[path])
        for epoch in range(1 if self.once else options.passes):
            order = Epoch.of(offsets, options.words, None if self.once else self.random).tokens
            mistakes, scores = kernels.winnow(
                self.weights,
                self.moved,
                rows,
                order,
                right,
                self.classes.bounds,
                options.alpha,
                options.beta,
                options.threshold,
                options.most,
                self.met,
            )
            self.met += len(order)
            if not epoch:
                self._fit(scores, right[order])
            if not mistakes:
                break
        self._average = None

    def _fit(self, scores: Singles, right: Ints) -> None:
        """Fit probabilities to the newest tokens of all that came."""
        self.sample = np.concatenate([self.sample, scores])[-SAMPLE:]
        self.sample_right = np.concatenate([self.sample_right, right])[-SAMPLE:]
        if len(self.sample):
            self.scale = fitted(self.sample, self.sample_right, self.classes.bounds)

    def class_scores(self, features: Ints) -> Singles:
        """The logarithms of the probabilities of the classes of each choice."""
        scores = self.raw_scores(features)
        return normalised(scores * np.float32(self.scale), self.classes.bounds)

    def raw_scores(self, features: Ints) -> Singles:
        """The mean weight of each class over the features of each token that were seen before."""
        rows = own_features(features, self.options.bits)
        kernels.find(rows, self.places)
        scores = kernels.emit(self.average, rows)
        scores /= np.maximum((rows >= 0).sum(axis=1, keepdims=True), 1)
        return scores

    @property
    def chain(self) -> Chain:
        """The legal steps."""
        return self.tags.even

    @property
    def average(self) -> Singles:
        """Positive weights less negative ones, averaged over time, `[R, C]`."""
        if self._average is None:
            self._average = np.subtract(*self._averaged().swapaxes(0, 1))
        return self._average

    def _averaged(self) -> Singles:
        """All pairs of weights, averaged."""
        weights: Singles = self.weights[: self.count]
        if self.met:
            weights = weights - self.moved[: self.count] / np.float32(float(self.met) ** 2)
        return weights

    def _go_on(self) -> None:
        """Begin to average anew, with the weights that predict."""
        self.weights = self._averaged()
        self.moved = np.zeros_like(self.weights)
        self.met = 0

    def _make_room(self) -> None:
        """A row for each feature: its weights are 1."""
        have, classes = len(self.weights), len(self.classes.names)
        if self.count > have:
            more = (max(self.count - have, have), 2, classes)
            self.weights = np.concatenate([self.weights, np.ones(more, dtype=np.float32)])
            self.moved = np.concatenate([self.moved, np.zeros(more, dtype=np.float32)])


def fitted(scores: Singles, right: Ints, bounds: NDArray[np.int32]) -> float:
    """The scale with which scores give the right classes the highest probability.

    The likelihood has one summit, and the sign of its slope says on which side of it a scale is.
    """
    tokens = np.arange(len(scores))[:, None]
    wanted = scores[tokens, right].sum(dtype=np.float64)

    def rises(scale: float) -> bool:
        shares = np.exp(normalised(scores * np.float32(scale), bounds))
        return bool(wanted > (shares * scores).sum(dtype=np.float64))

    low, high = 1 / WIDEST, WIDEST
    for _ in range(20):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if rises(middle) else (low, middle)
    return high
