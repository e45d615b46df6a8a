"""What classifiers choose from: the tags of a scheme, or one choice for each of its letters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .scheme import OUTSIDE, Scheme, get_scheme
from .states import states
from .tag import join_tag, split_tag


class Classes(NamedTuple):
    """C classes in H choices; one class of each choice makes a state.

    Choice `h` has the classes from `bounds[h]` to `bounds[h + 1]`, the first of which is `O`.
    `of_state[K, H]`: what each choice is in a state. `label_of[C]`: the label of spans that a class
    speaks of, -1 if it speaks of none.
    """

    names: tuple[str, ...]
    bounds: NDArray[np.int32]
    of_state: NDArray[np.int32]
    label_of: NDArray[np.int32]

    @property
    def choices(self) -> int:
        """How many choices there are."""
        return len(self.bounds) - 1


def classes(labels: Iterable[str], scheme: str | Scheme) -> Classes:
    """Every class that the labels have in the scheme: `n + 1` in io, `2 (n + 1)` in be."""
    scheme = get_scheme(scheme)
    every = states(labels, scheme)
    if not scheme.choices:
        numbers = np.arange(len(every.tags), dtype=np.int32)
        bounds = np.array([0, len(numbers)], dtype=np.int32)
        return Classes(every.tags, bounds, numbers[:, None], every.label_of)
    width = len(every.labels) + 1
    names = [
        name
        for letter in scheme.choices
        for name in (OUTSIDE, *(join_tag(letter, label) for label in every.labels))
    ]
    of_label = np.arange(-1, width - 1, dtype=np.int32)
    of_state = [
        [
            width * choice + (1 + int(label) if letter in split_tag(tag)[0] else 0)
            for choice, letter in enumerate(scheme.choices)
        ]
        for tag, label in zip(every.tags, every.label_of)
    ]
    return Classes(
        tuple(names),
        np.arange(0, len(names) + 1, width, dtype=np.int32),
        np.array(of_state, dtype=np.int32),
        np.tile(of_label, len(scheme.choices)),
    )
