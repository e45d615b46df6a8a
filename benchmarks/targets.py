"""Whether a number is what we want it to be."""

from __future__ import annotations

from .table import Cell


def at_least(value: Cell, bound: float) -> str:
    """Met, not met, or not measured; without a number (the outputs differ) it is not met."""
    return verdict(value, isinstance(value, float) and value >= bound)


def at_most(value: Cell, bound: float) -> str:
    """The same for what should be small."""
    return verdict(value, isinstance(value, float) and value <= bound)


def verdict(value: Cell, met: bool) -> str:
    """What was not measured is neither met nor missed."""
    return "not measured" if value is None else "met" if met else "not met"
