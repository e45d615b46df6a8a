"""What a random sample without replacement says of the population that it was drawn from."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, fsum, lgamma

from ..errors import SettingError


def positives(population: int, sample: int, found: int, level: float) -> tuple[int, int]:
    """How many positives a population may have, given how many a random sample of it has.

    The exact interval of Clopper and Pearson for the hypergeometric distribution: any number beyond
    an end would give so few, or so many, with a probability of at most `(1 - level) / 2`.
    """
    if not 0 <= found <= sample <= population:
        raise SettingError(f"{found} of {sample} drawn from {population}: these are no counts.")
    if not 0 < level < 1:
        raise SettingError(f"A level lies between 0 and 1, not {level}.")
    tail = (1 - level) / 2
    least, most = found, population - (sample - found)
    low = _first(least, most, lambda k: 1 - at_most(found - 1, population, k, sample) > tail)
    high = _first(least, most, lambda k: at_most(found, population, k + 1, sample) <= tail)
    return low, high


def at_most(found: int, population: int, positive: int, sample: int) -> float:
    """The probability that a sample has at most `found` of the `positive` ones."""
    least = max(0, sample - (population - positive))
    every = _choose(population, sample)
    logs = [
        _choose(positive, k) + _choose(population - positive, sample - k) - every
        for k in range(least, min(found, positive, sample) + 1)
    ]
    return min(fsum(map(exp, logs)), 1.0)


def _choose(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from which on something holds; `high` if it does not before."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
