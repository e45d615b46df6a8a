"""The weights of hashed features: a row for each feature that was seen, a column for each state.

Further columns hold what the states of a label have in common, so that what is learned of one tag
of a label is learned of the others too.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the weights: K states, then as many labels as have several states.

    `label_of[K]` is the label of each state, -1 if it has none, and `bits[K]` what it has in common
    with other states of the label: a bit is a further column of the label, and `shared[K, B]` is 1
    where a state has it. With one bit only, that would be no use to a label with one such state.
    """

    label_of: Ints
    bits: Ints
    shared: Floats

    @classmethod
    def of(cls, label_of: Ints, bits: Ints | None = None) -> Columns:
        """The columns for these states; without bits, all states of a label share one."""
        label_of = np.array(label_of, dtype=np.int32)
        bits = (label_of >= 0).astype(np.int32) if bits is None else np.array(bits, dtype=np.int32)
        labels = np.arange(label_of.max(initial=-1) + 1)
        count = int(bits.max(initial=0)).bit_length()
        has = bits[:, None] >> np.arange(count) & 1 > 0
        mine = label_of[:, None] == labels
        both = mine[:, :, None] & has[:, None, :]
        shared = both.reshape(len(label_of), len(labels) * count).astype(np.float32)
        alone = shared.sum(axis=0).max(initial=0) <= 1
        return cls(label_of, bits, shared[:, :0] if alone else shared)

    @property
    def width(self) -> int:
        """How many there are."""
        return sum(self.shared.shape)

    @property
    def parts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where the states begin and end, and the labels."""
        states = len(self.label_of)
        return (0, states), (states, self.width)

    def joined(self, weights: Floats) -> Floats:
        """What states have for themselves and what they share, added up: `[N, K]`."""
        states = len(self.label_of)
        found: Floats = weights[:, :states] + weights[:, states:] @ self.shared.T
        return found

    def spread(self, gradient: Floats) -> Floats:
        """The gradient of all columns, from that of the states."""
        return np.hstack([gradient, gradient @ self.shared])


class FeatureTable(Shim):
    """Adds up weights, and learns them by AdaGrad with one step size for each row.

    What it predicts with is the average of the weights over all steps, late ones counting more.
    """

    def __init__(
        self, bits: int, *, rate: float, l2: float = 0.0, dropout: float = 0.0, store: Stored
    ):
        super().__init__(None)
        self.bits, self.rate, self.l2, self.dropout, self.store = bits, rate, l2, dropout, store
        self.columns = Columns.of(np.zeros(0, dtype=np.int32))
        self.reset()

    def reset(self) -> None:
        """Forget everything but the states."""
        self.random: np.random.Generator | None = None
        self.places: Ints = np.full(1 << self.bits, -1, dtype=np.int32)
        self.used: Ints = np.zeros(1 << self.bits, dtype=np.int32)
        self.count = 0
        empty = np.zeros((0, self.columns.width), dtype=np.float32)
        self._take(empty, np.zeros(0, dtype=np.float32))

    def _take(self, weights: Floats, squares: Floats) -> None:
        """Begin to learn with these weights."""
        self.weights, self.squares = weights, squares
        self.moved: Floats = np.zeros(weights.shape, dtype=np.float32)
        self.scratch: Ints = np.full(len(weights), -1, dtype=np.int32)
        self.steps, self.total = 0, 0.0
        self.gradients: list[tuple[Ints, Floats]] = []
        self._forget()

    def _forget(self) -> None:
        """What was worked out from the weights does not hold any more."""
        self._average: Floats | None = None
        self._by_state: Floats | None = None

    def set_states(self, label_of: Ints, bits: Ints | None = None) -> None:
        """Take these states: those that are there keep their weights, others begin with zeros.

        After that, the steps of all rows are large again.
        """
        old, new = self.columns, Columns.of(label_of, bits)
        if all(map(np.array_equal, (old.label_of, old.bits), (new.label_of, new.bits))):
            return
        average = np.zeros((self.count, new.width), dtype=np.float32)
        for (start, end), (first, last) in zip(old.parts, new.parts):
            kept = min(end - start, last - first)
            average[:, first : first + kept] = self.average[: self.count, start : start + kept]
        self.columns = new
        self._take(average, np.zeros(self.count, dtype=np.float32))

    def predict(self, features: Ints) -> Floats:
        """The summed average weights of the features `[N, F]` of each token; takes the array."""
        kernels.find(features, self.places)
        return kernels.emit(self.by_state, features)

    def begin_update(self, features: Ints) -> Any:
        """The summed weights, some features being left out, and the function that learns."""
        if self.dropout:
            np.putmask(features, self._chances(features.shape) < self.dropout, -1)
        self.count = kernels.place(features, self.places, self.used, self.count)
        self._make_room()
        self._forget()  # there may be more rows now
        scale = np.float32(1 / (1 - self.dropout))  # so that the expected scores are those of all

        def backprop(d_scores: Floats) -> None:
            self.gradients.append((features, self.columns.spread(d_scores * scale)))

        return self.columns.joined(kernels.emit(self.weights, features)) * scale, backprop

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
        self._forget()

    @property
    def average(self) -> Floats:
        """The weights that predict."""
        if self._average is None:
            there = slice(self.count)
            self._average = self.weights[there]
            if self.total:
                self._average = self._average - self.moved[there] / np.float32(self.total)
        return self._average

    @property
    def by_state(self) -> Floats:
        """The weights that predict, one column for each state."""
        if self._by_state is None:
            self._by_state = self.columns.joined(self.average[: self.count])
        return self._by_state

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
                "label_of": self.columns.label_of,
                "shared": self.columns.bits,
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
        self.columns = Columns.of(stored["label_of"], stored["shared"])
        self.reset()
        self.count = len(weights)
        self.used[: self.count] = stored["used"]
        self.places[stored["used"]] = np.arange(self.count)
        self._take(weights, squares)
        return self

    def to_device(self, device_type: str, device_id: int) -> None:
        """The table stays where it is."""
