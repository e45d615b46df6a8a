"""What a nested recogniser may represent mentions by, each under a name that a config can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import Ints
from ..codes.readings import Reading
from ..errors import UnknownNameError
from . import asked_separators, asked_tags
from .asked import Asked
from .asked_separators import AskedSeparators
from .asked_tags import AskedTags
from .gap_scores import GapScores

RepresentationName = Literal["edge", "state", "per_label"]


@dataclass(frozen=True)
class Representation:
    """How many scores a label has, and what becomes of them.

    With `gaps` every gap between tokens has scores, else every token. `bits` has one entry for each
    score of a label (see `Columns`); `steps` is the shape of learned steps for so many labels.
    """

    name: str
    gaps: bool
    bits: Ints
    steps: Callable[[int], tuple[int, ...] | None]
    ask: Callable[[GapScores, tuple[str, ...], Reading], Asked]

    def columns(self, labels: int) -> tuple[Ints, Ints]:
        """The label and the bits of each column, label by label."""
        width = len(self.bits)
        return np.repeat(np.arange(labels, dtype=np.int32), width), np.tile(self.bits, labels)


def no_steps(labels: int) -> None:
    """Nothing is learned of what follows what."""


def steps_of_labels(labels: int) -> tuple[int, ...]:
    """Any separator after any other, for each label."""
    return labels, len(asked_separators.BITS), len(asked_separators.BITS)


def steps_of_tags(labels: int) -> tuple[int, ...]:
    """Any tag after any other, the same for all labels."""
    return len(asked_tags.BITS), len(asked_tags.BITS)


def ask_tags(scores: GapScores, labels: tuple[str, ...], reading: Reading) -> Asked:
    """Tags have one reading."""
    return AskedTags.of(scores, labels)


REPRESENTATIONS = {
    row.name: row
    for row in (
        Representation(
            "edge",
            True,
            asked_separators.BITS,
            no_steps,
            AskedSeparators.of,
        ),
        Representation(
            "state",
            True,
            asked_separators.BITS,
            steps_of_labels,
            AskedSeparators.of,
        ),
        Representation(
            "per_label",
            False,
            asked_tags.BITS,
            steps_of_tags,
            ask_tags,
        ),
    )
}


def get_representation(name: str) -> Representation:
    """The representation of a name."""
    if name not in REPRESENTATIONS:
        listed = ", ".join(REPRESENTATIONS)
        message = f"Unknown representation {name!r}. Known: {listed}."
        raise UnknownNameError(message, name, REPRESENTATIONS)
    return REPRESENTATIONS[name]
