"""What a nested recogniser's model gives for some Docs, and what comes back as its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .units import Units

Array = Any  # of numpy or cupy, as the model's ops make it


@dataclass(frozen=True, eq=False)
class GapScores:
    """`scores[R, W]`: a row for each gap, or each token, of all units; columns label by label.

    `steps` are scores of what follows what, in the shape that the representation asks for. Where
    they are the mean of several models that learn each for itself, `parts` are what each says.
    """

    scores: Array
    units: Units
    steps: Array
    parts: tuple[Any, ...] = ()  # of GapScores, unnamed: old versions of confection never end
