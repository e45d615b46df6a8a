"""Whether two systems differ over the same k splits of a corpus: tests on k pairs of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from .runs import Runs, Test
from .signature import known
from .student import two_tails

Scores = Runs | Iterable[float | None]


@dataclass(frozen=True)
class TTest:
    """The outcome of a t-test; `p` is None where the pairs tell too little of how they vary."""

    difference: float
    p: float | None
    method: str


Outcome = Test | TTest
PairedTest = Callable[[Scores, Scores], Outcome]
"""Compares the scores of two systems on the same splits."""
SignedRankMethod = Literal["auto", "exact", "normal"]
FEW_PAIRS = 25  # signed ranks are exact up to so many pairs that differ
FEWEST = 3  # pairs for a t-test: the variance of two differences is next to unknown
DIGITS = 12  # differences of scores that agree in so many digits behind the point are equal
BETTER, WORSE, SAME = "+", "-", "~"


def paired_t(a: Scores, b: Scores) -> TTest:
    """Two-tailed t-test on the differences of k pairs, with k - 1 degrees of freedom.

    There is no p value of fewer than three pairs, nor of differences that do not vary.
    It takes the pairs to be independent. Random splits of one corpus share most of their data, so
    they are not, and p is too small: `corrected_t` allows for it.
    """
    return _t_test(_differences(a, b), 0.0, "paired t")


def corrected_t(a: Scores, b: Scores, ratio: float = 1.0) -> TTest:
    """The same for random splits of one corpus (Nadeau and Bengio's corrected resampled t-test).

    The variance of the mean is that of one difference times 1/k + `ratio`, and not times 1/k;
    `ratio` is the size of the test part over that of the training part, 1 for halves.
    """
    if not (ratio >= 0 and math.isfinite(ratio)):
        raise ValueError(f"The test part is so many times the training part (1.0), not {ratio}.")
    return _t_test(_differences(a, b), ratio, "corrected resampled t")


def signed_rank(a: Scores, b: Scores, method: SignedRankMethod = "auto") -> Test:
    """Two-sided Wilcoxon signed-rank test on k pairs.

    As Wilcoxon has it: pairs without a difference are left out, and differences of one size share
    the mean of their ranks. `exact` counts all patterns of signs, with ties as well as without;
    `normal` approximates, corrected for ties and for continuity. `auto` is exact up to 25 pairs
    that differ. The smallest p of k pairs is 2 / 2^k: with 5 splits it is never below 0.06.
    """
    known("method", method, get_args(SignedRankMethod))
    differences = _differences(a, b)
    rounded = np.round(differences, DIGITS)
    moved = rounded[rounded != 0]
    if method == "auto":
        method = "exact" if len(moved) <= FEW_PAIRS else "normal"
    _, kind, times = np.unique(np.abs(moved), return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(times) - times + 1  # of each size: twice the mean of its ranks
    ranks = doubled[kind]
    above = int(ranks[moved > 0].sum())  # twice the sum of ranks of what speaks for a
    tail = _exact_tail(ranks.tolist(), above) if method == "exact" else _normal_tail(times, above)
    return Test(float(differences.mean()), tail, f"signed rank, {method}")


def _differences(a: Scores, b: Scores) -> NDArray[np.float64]:
    """What a has more than b, pair by pair."""
    first, second = (runs if isinstance(runs, Runs) else Runs(runs) for runs in (a, b))
    if first.n != second.n:
        raise ValueError(
            f"a has {first.n} scores and b has {second.n}: systems are compared on the same "
            "splits, in the same order."
        )
    return np.subtract(first.values, second.values, dtype=np.float64)


def _t_test(differences: NDArray[np.float64], more: float, method: str) -> TTest:
    """A t-test; the variance of the mean has the share 1/k + `more` of that of one difference."""
    k, mean = len(differences), float(differences.mean())
    if k < 2:
        raise ValueError("A t-test needs at least two splits: one difference does not vary.")
    if k < FEWEST or not np.ptp(np.round(differences, DIGITS)):
        return TTest(mean, None, method)
    error = math.sqrt(float(differences.var(ddof=1)) * (1 / k + more))
    return TTest(mean, two_tails(mean / error, k - 1), method)


def _exact_tail(ranks: list[int], above: int) -> float:
    """The share of all patterns of signs whose sum is as far from the middle as `above`.

    The patterns are counted by their sum, rank by rank; doubled ranks are integers.
    """
    total = sum(ranks)
    ways = [1] + [0] * total
    for rank in ranks:
        for at in range(total, rank - 1, -1):
            ways[at] += ways[at - rank]
    fewer = sum(ways[: min(above, total - above) + 1])
    return min(1.0, 2 * fewer / (1 << len(ranks)))


def _normal_tail(times: NDArray[np.intp], above: int) -> float:
    """The same by the normal approximation; `times` says how many differences are of each size."""
    n, ties = int(times.sum()), int((times**3 - times).sum())
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    distance = abs(above / 2 - n * (n + 1) / 4) - 0.5
    return math.erfc(distance / math.sqrt(2 * variance)) if distance > 0 else 1.0


class Verdict(NamedTuple):
    """`+`, `-` or `~`: better or worse than the baseline beyond chance, or neither; and why.

    The mark is empty if the test has no p value.
    """

    mark: str
    test: Outcome


def verdicts(
    scores: Mapping[str, Mapping[str, Scores]],
    baseline: str,
    level: float = 0.05,
    test: PairedTest = paired_t,
) -> dict[str, dict[str, Verdict]]:
    """Compare every row of a table with one of them, column by column.

    `scores[row][column]` are the scores of a row (a strategy) for a column (a label, or all of
    them) on each split, the same splits in every row. A row is better or worse if p is below
    `level`. The baseline has no verdict. Each comparison stands for itself: of many, a share of
    `level` comes out as a difference by chance.
    """
    known("baseline", baseline, tuple(scores))
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1 (0.05, say), it is not {level}.")
    rows = {
        row: {column: Runs(_values(cell)) for column, cell in scores[row].items()} for row in scores
    }
    base = rows.pop(baseline)
    for row, cells in rows.items():
        if cells.keys() != base.keys():
            other = sorted(cells.keys() ^ base.keys())
            raise ValueError(f"{row!r} and the baseline {baseline!r} do not both have {other}.")
    return {
        row: {
            column: Verdict(mark_of(result, level), result)
            for column, cell in cells.items()
            for result in (test(cell, base[column]),)
        }
        for row, cells in rows.items()
    }


def _values(scores: Scores) -> Iterable[float | None]:
    return scores.values if isinstance(scores, Runs) else scores


def mark_of(test: Outcome, level: float) -> str:
    """`+`, `-` or `~`, whether the first of two is better or worse beyond chance, or neither.

    The mark is empty if the test has no p value.
    """
    if test.p is None:
        return ""
    if test.p >= level or not test.difference:
        return SAME
    return BETTER if test.difference > 0 else WORSE
