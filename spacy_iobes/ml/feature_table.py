"""The weights of hashed features: a row for each feature that was seen, a column for each state.

What is learned of one state of a label is learned of the others too.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import srsly
from thinc.api import Shim

from .. import kernels
from ..arrays import Ints, Singles
from ..errors import ModelError
from ..kernels.features_numpy import CHANCES

Stored = Literal["float32", "float16"]
LATER = 2  # the average counts the weights after step t t ** LATER times
ROOM = 1024  # rows to begin with


def groups_of(label_of: Ints, shared: Ints) -> tuple[Ints, Ints]:
    """The states that learn from each other: those of a label that have a bit of `shared[K]`.

    They come group by group, with where each of these begins and ends.
    """
    bits = int(shared.max(initial=0)).bit_length()
    state, bit = np.nonzero((label_of >= 0)[:, None] & (shared[:, None] >> np.arange(bits) & 1 > 0))
    group = label_of[state] * bits + bit
    counts = np.bincount(group, minlength=1)
    several = counts[group] > 1
    order = np.argsort(group[several], kind="stable")
    members = state[several][order].astype(np.int32)
    return members, np.cumsum([0, *counts[counts > 1]], dtype=np.int32)


class FeatureTable(Shim):
    """Adds up weights, and learns them by AdaGrad with one step size for each row.

    What it predicts with is the average of the weights over all steps, late ones counting more.
    """

    def __init__(
        self,
        bits: int,
        *,
        rate: float,
        l2: float = 0.0,
        dropout: float = 0.0,
        store: Stored,
        least: float = 0.0,
        damping: float = 0.0,
    ):
        super().__init__(None)
        self.least = least  # rows that have no such weight are not stored
        self.damping = damping  # what the squares of a row begin with
        self.bits, self.rate, self.l2, self.dropout, self.store = bits, rate, l2, dropout, store
        self._label(np.zeros(0, dtype=np.int32), None)
        self.reset()

    def reset(self) -> None:
        """Forget everything but the states."""
        self.drawn: int | None = None  # how far random numbers are used
        self.places: Ints = np.full(1 << self.bits, -1, dtype=np.int32)
        self.used: Ints = np.zeros(1 << self.bits, dtype=np.int32)
        self.count = 0
        empty = np.zeros((0, len(self.label_of)), dtype=np.float32)
        self._take(empty, np.zeros(0, dtype=np.float32))

    def _label(self, label_of: Ints, shared: Ints | None) -> None:
        """The states there are: the label of each, -1 if it has none, and what it shares."""
        self.label_of: Ints = np.array(label_of, dtype=np.int32)
        one = self.label_of >= 0 if shared is None else shared
        self.shared: Ints = np.array(one, dtype=np.int32)
        self.groups = groups_of(self.label_of, self.shared)

    def _take(self, weights: Singles, squares: Singles) -> None:
        """Begin to learn with these weights."""
        self.weights, self.squares = weights, squares
        self.moved: Singles = np.zeros(weights.shape, dtype=np.float32)
        self.scratch: Ints = np.full(len(weights), -1, dtype=np.int32)
        self.steps, self.total = 0, 0.0
        self.gradients: list[tuple[Ints, Singles]] = []
        self._forget()

    def _forget(self) -> None:
        """What was worked out from the weights does not hold any more."""
        self._average: Singles | None = None

    def set_states(self, label_of: Ints, shared: Ints | None = None) -> None:
        """Take these states: those that are there keep their weights, others begin with zeros.

        States of a label learn from each other if they have a bit of `shared[K]` in common; if it
        is None, all do. The steps of rows stay as large as they were, so that what is known lasts.
        """
        if np.array_equal(self.label_of, label_of):
            return
        kept = min(len(self.label_of), len(label_of))
        average = np.zeros((self.count, len(label_of)), dtype=np.float32)
        average[:, :kept] = self.average[: self.count, :kept]
        self._label(label_of, shared)
        self._take(average, self.squares[: self.count].copy())

    def go_on(self) -> None:
        """Begin to average anew, with the weights that predict; step sizes stay as they are.

        Else a few more steps would count for nothing beside all that were before.
        """
        self._take(self.average.copy(), self.squares[: self.count].copy())

    def predict(self, features: Ints) -> Singles:
        """The summed average weights of the features `[N, F]` of each token; takes the array."""
        kernels.find(features, self.places)
        return kernels.emit(self.average, features)

    def begin_update(self, features: Ints) -> Any:
        """The summed weights, some features being left out, and the function that learns."""
        scale = self.leave_out(features)
        self.place(features)
        return self.begin_rows(features, scale)

    def place(self, features: Ints) -> None:
        """Put the rows of features in place of the features; a new one gets a row."""
        self.count = kernels.place(features, self.places, self.used, self.count)
        self._make_room()
        self._forget()  # there may be more rows now

    def begin_rows(self, rows: Ints, scale: float = 1.0) -> Any:
        """The same as `begin_update` for features that have been placed, or left out, before."""

        def backprop(d_scores: Singles) -> None:
            self.gradients.append((rows, d_scores * np.float32(scale)))

        return kernels.emit(self.weights, rows, scale), backprop

    def leave_out(self, features: Ints) -> float:
        """Leave features out; returns by what the others count more, so that scores stay alike."""
        if not self.dropout:
            return 1.0
        if self.drawn is None:  # spaCy has set the seed of numpy
            self.drawn = np.random.randint(1 << 31) << 32
        share = min(round(self.dropout * CHANCES), CHANCES - 1)
        self.drawn += kernels.drop(features, self.drawn, share)
        return CHANCES / (CHANCES - share)

    def finish_update(self, optimizer: Any) -> None:
        """One step with all gradients since the last; the optimizer has no part in it."""
        if not self.gradients:
            return
        rows, gradient = self.gradients[0]
        if len(self.gradients) > 1:
            rows, gradient = (np.concatenate(arrays) for arrays in zip(*self.gradients))
        kernels.step(
            self.weights,
            self.squares,
            self.moved,
            self.scratch,
            rows,
            gradient,
            *self.groups,
            self.rate,
            self.l2,
            self.total,
        )
        self.steps += 1
        self.total += float(self.steps) ** LATER
        self.gradients = []
        self._forget()

    @property
    def average(self) -> Singles:
        """The weights that predict."""
        if self._average is None:
            there = slice(self.count)
            self._average = self.weights[there]
            if self.total:
                self._average = self._average - self.moved[there] / np.float32(self.total)
        return self._average

    def _make_room(self) -> None:
        if self.count <= len(self.weights):
            return
        more = max(self.count, ROOM)  # so that the number of rows doubles at least
        for name, value in (
            ("weights", 0),
            ("moved", 0),
            ("squares", self.damping),
            ("scratch", -1),
        ):
            old = getattr(self, name)
            new = np.zeros((len(old) + more, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            if value:
                new[len(old) :] = value
            setattr(self, name, new)

    def to_bytes(self) -> bytes:
        """The rows that count: the average weights, and how far learning has gone in each row."""
        rows = self.kept()
        stored: bytes = srsly.msgpack_dumps(
            {
                "bits": self.bits,
                "label_of": self.label_of,
                "shared": self.shared,
                "used": self.used[rows],
                "weights": self.average[rows].astype(self.store),
                "squares": self.squares[rows],
            }
        )
        return stored

    def kept(self) -> Any:
        """The rows that are stored: all, or those with a weight that is large enough."""
        if not self.least:
            return slice(self.count)
        largest = np.abs(self.average[: self.count]).max(axis=1, initial=0.0)
        return np.flatnonzero(largest >= self.least)

    def from_bytes(self, data: bytes) -> FeatureTable:
        """Load what `to_bytes` stored; training goes on from the average."""
        stored = srsly.msgpack_loads(data)
        if stored["bits"] != self.bits:
            raise ModelError(
                f"The stored features were hashed to 2 ** {stored['bits']} rows, but the config "
                f"says 2 ** {self.bits}: load the model with the config it was trained with."
            )
        weights, squares = (stored[name].astype(np.float32) for name in ("weights", "squares"))
        if not (np.isfinite(weights).all() and np.isfinite(squares).all()):
            raise ModelError(
                "The weights of hashed features hold NaN or infinite values. The stored model is "
                "damaged, or training diverged: load another one, or train with a lower rate."
            )
        self._label(stored["label_of"], stored["shared"])
        self.reset()
        self.count = len(weights)
        self.used[: self.count] = stored["used"]
        self.places[stored["used"]] = np.arange(self.count)
        self._take(weights, squares)
        return self

    def to_device(self, device_type: str, device_id: int) -> None:
        """The table stays where it is."""
