"""How far a score can be trusted over several runs of a system."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal, get_args

import numpy as np

from .signature import known

RankMethod = Literal["auto", "exact", "normal", "plain"]
FEW_PAIRS = 400  # rank sums are exact up to so many pairs of runs, if no two runs tie


@dataclass(frozen=True, init=False)
class Runs:
    """The scores of several runs of one system."""

    values: tuple[float, ...]

    def __init__(self, values: Iterable[float | None]) -> None:
        found = tuple(values)
        for run, value in enumerate(found):
            if value is None or not math.isfinite(value):
                raise ValueError(
                    f"Run {run} (of {len(found)}, counted from 0) has the score {value}, which is "
                    "not a number to average. Leave the run out, or choose a score it has."
                )
        if not found:
            raise ValueError("There are no runs: give the score of at least one.")
        self.__dict__["values"] = tuple(float(value) for value in found if value is not None)

    @property
    def n(self) -> int:
        """How many runs there are."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean score."""
        return fmean(self.values)

    @property
    def sd(self) -> float | None:
        """The sample standard deviation (n - 1); None for one run."""
        return stdev(self.values) if self.n > 1 else None

    @property
    def se(self) -> float | None:
        """The standard error of the mean; None for one run."""
        return None if self.sd is None else self.sd / math.sqrt(self.n)


@dataclass(frozen=True)
class Test:
    """The outcome of a two-sided test; rounds and seed are None where nothing was drawn."""

    __test__ = False  # pytest: not one of yours

    difference: float
    p: float
    method: str
    rounds: int | None = None
    seed: int | None = None


def rank_sum(
    a: Runs | Iterable[float | None],
    b: Runs | Iterable[float | None],
    method: RankMethod = "auto",
) -> Test:
    """Two-sided Wilcoxon rank-sum test (Mann-Whitney U) between the runs of two systems.

    `exact` counts splits and knows no ties; `normal` approximates, corrected for ties and for
    continuity; `plain` approximates without either, as scipy's `ranksums` does. `auto` is exact
    for few runs without ties, else normal.
    """
    known("method", method, get_args(RankMethod))
    first, second = (runs if isinstance(runs, Runs) else Runs(runs) for runs in (a, b))
    n, m = first.n, second.n
    _, kind, times = np.unique(
        first.values + second.values, return_inverse=True, return_counts=True
    )
    ranks = np.cumsum(times) - (times - 1) / 2  # tied scores share the mean of their ranks
    u = float(ranks[kind[:n]].sum()) - n * (n + 1) / 2  # pairs that a wins, ties being half
    tied = bool((times > 1).any())
    if method == "auto":
        method = "normal" if tied or n * m > FEW_PAIRS else "exact"
    if method == "exact":
        if tied:
            raise ValueError("Exact rank sums know no ties, and two runs tie: use 'normal'.")
        p = _exact_tail(n, m, round(u))
    elif method == "normal":
        p = _normal_tail(n, m, u, ties=int((times**3 - times).sum()), continuity=0.5)
    else:
        p = _normal_tail(n, m, u)
    return Test(first.mean - second.mean, p, method)


def _splits(n: int, m: int) -> list[int]:
    """How many splits of n + m untied scores have U = 0, 1, ..., n * m.

    These are the coefficients of the product of (1 - x^(m + i)) / (1 - x^i) for i = 1, ..., n.
    """
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def _exact_tail(n: int, m: int, u: int) -> float:
    """The share of splits whose U is as far from the middle as `u`."""
    ways = _splits(min(n, m), max(n, m))
    return min(1.0, 2 * sum(ways[: min(u, n * m - u) + 1]) / math.comb(n + m, n))


def _normal_tail(n: int, m: int, u: float, ties: int = 0, continuity: float = 0.0) -> float:
    """The same by the normal approximation; `ties` is the sum of t^3 - t over tied groups."""
    every = n + m
    variance = n * m / 12 * (every + 1 - ties / (every * (every - 1)))
    distance = abs(u - n * m / 2) - continuity
    return math.erfc(distance / math.sqrt(2 * variance)) if distance > 0 else 1.0
