"""The weights of hashed features: a row for each feature that was seen, a column for each state."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import srsly
from thinc.api import Shim

from .. import kernels
from ..errors import ModelError
from ..kernels.features_numpy import Floats, Ints

Stored = Literal["float32", "float16"]
LATER = 2  # the average counts the weights after step t t ** LATER times
ROOM = 1024  # rows to begin with


class FeatureTable(Shim):
    """Adds up weights, and learns them by AdaGrad with one step size for each row.

    What it predicts with is the average of the weights over all steps, late ones counting more.
    """

    def __init__(
        self, bits: int, *, rate: float, l2: float = 0.0, dropout: float = 0.0, store: Stored
    ):
        super().__init__(None)
        self.bits, self.rate, self.l2, self.dropout, self.store = bits, rate, l2, dropout, store
        self.reset(0)

    def reset(self, states: int) -> None:
        """Forget everything."""
        self.random: np.random.Generator | None = None
        self.places: Ints = np.full(1 << self.bits, -1, dtype=np.int32)
        self.used: Ints = np.zeros(1 << self.bits, dtype=np.int32)
        self.count = 0
        self._take(np.zeros((0, states), dtype=np.float32), np.zeros(0, dtype=np.float32))

    def _take(self, weights: Floats, squares: Floats) -> None:
        """Begin to learn with these weights."""
        self.weights, self.squares = weights, squares
        self.moved: Floats = np.zeros(weights.shape, dtype=np.float32)
        self.scratch: Ints = np.full(len(weights), -1, dtype=np.int32)
        self.steps, self.total = 0, 0.0
        self.gradients: list[tuple[Ints, Floats]] = []
        self._average: Floats | None = weights

    @property
    def states(self) -> int:
        """How many columns there are."""
        return int(self.weights.shape[1])

    def set_states(self, states: int) -> None:
        """Add columns of zeros, or drop the last ones; the steps of all rows are large again."""
        if states == self.states:
            return
        more = ((0, 0), (0, max(states - self.states, 0)))
        average = np.pad(self.average[: self.count], more)[:, :states]
        self._take(np.ascontiguousarray(average), np.zeros(self.count, dtype=np.float32))

    def predict(self, features: Ints) -> Floats:
        """The summed average weights of the features `[N, F]` of each token; takes the array."""
        kernels.find(features, self.places)
        return kernels.emit(self.average, features)

    def begin_update(self, features: Ints) -> Any:
        """The summed weights, some features being left out, and the function that learns."""
        if self.dropout:
            features[self._chances(features.shape) < self.dropout] = -1
        self.count = kernels.place(features, self.places, self.used, self.count)
        self._make_room()
        self._average = None  # it may have fewer rows now
        scale = np.float32(1 / (1 - self.dropout))  # so that the expected scores are those of all

        def backprop(d_scores: Floats) -> None:
            self.gradients.append((features, d_scores * scale))

        return kernels.emit(self.weights, features) * scale, backprop

    def finish_update(self, optimizer: Any) -> None:
        """One step with all gradients since the last; the optimizer has no part in it."""
        if not self.gradients:
            return
        rows, gradient = (np.concatenate(arrays) for arrays in zip(*self.gradients))
        kernels.step(
            self.weights,
            self.squares,
            self.moved,
            self.scratch,
            rows,
            gradient,
            self.rate,
            self.l2,
            self.total,
        )
        self.steps += 1
        self.total += float(self.steps) ** LATER
        self.gradients = []
        self._average = None

    @property
    def average(self) -> Floats:
        """The weights that predict."""
        if self._average is None:
            there = slice(self.count)
            self._average = self.weights[there]
            if self.total:
                self._average = self._average - self.moved[there] / np.float32(self.total)
        return self._average

    def _chances(self, shape: tuple[int, ...]) -> Floats:
        if self.random is None:  # spaCy has set the seed of numpy
            self.random = np.random.default_rng(np.random.randint(1 << 31))
        return self.random.random(shape, dtype=np.float32)

    def _make_room(self) -> None:
        if self.count <= len(self.weights):
            return
        more = max(self.count, ROOM)  # so that the number of rows doubles at least
        for name, value in (("weights", 0), ("moved", 0), ("squares", 0), ("scratch", -1)):
            old = getattr(self, name)
            new = np.full((more, *old.shape[1:]), value, dtype=old.dtype)
            setattr(self, name, np.concatenate([old, new]))

    def to_bytes(self) -> bytes:
        """The rows in use: the average weights, and how far learning has gone in each row."""
        stored: bytes = srsly.msgpack_dumps(
            {
                "bits": self.bits,
                "used": self.used[: self.count],
                "weights": self.average[: self.count].astype(self.store),
                "squares": self.squares[: self.count],
            }
        )
        return stored

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
        self.reset(weights.shape[1])
        self.count = len(weights)
        self.used[: self.count] = stored["used"]
        self.places[stored["used"]] = np.arange(self.count)
        self._take(weights, squares)
        return self

    def to_device(self, device_type: str, device_id: int) -> None:
        """The table stays where it is."""
