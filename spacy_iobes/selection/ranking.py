"""What comes first: the sentences with the most mentions expected, or other orders to compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Floats
from ..errors import UnknownNameError
from .view import View

Rule = Callable[[View, np.random.Generator], Floats]


class Ranking(NamedTuple):
    """An order: its name, what it is, and a function with high values for what comes first."""

    name: str
    summary: str
    values: Rule


def _backwards(view: View, _: np.random.Generator) -> Floats:
    """The first sentences have the highest values."""
    return np.arange(len(view.expected), 0, -1, dtype=np.float64)


RANKINGS = {
    row.name: row
    for row in (
        Ranking("expected", "the most mentions expected", lambda view, _: view.expected),
        Ranking("entropy", "the least certain annotation", lambda view, _: view.entropy()),
        Ranking("margin", "the closest runner-up", lambda view, _: -view.margin()),
        Ranking("random", "any", lambda view, random: random.random(len(view.expected))),
        Ranking("sequential", "as they come", _backwards),
    )
}


def get_ranking(name: str) -> Ranking:
    """The ranking of a name."""
    if name not in RANKINGS:
        listed = ", ".join(RANKINGS)
        raise UnknownNameError(f"Unknown ranking {name!r}. Known: {listed}.", name, RANKINGS)
    return RANKINGS[name]
