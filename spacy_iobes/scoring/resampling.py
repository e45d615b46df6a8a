"""How far a score can be trusted over the sentences of one run.

Only numbers here. A sentence is a row of counts (correct, predicted, gold), and each metric is a
ratio of two sums over the sentences. So it never matters which sentences are swapped or drawn, only
how many of each kind, sentences being of one kind if they add the same to both sums. One binomial
(multinomial) number for each kind then stands for all of its sentences: the same distribution as
sentence by sentence, at a cost that hardly grows with the corpus, and the same result for the same
seed in whatever order the sentences are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .runs import Test
from .signature import known

Metric = Literal["precision", "recall", "f1"]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FEW_BITS = 14  # swaps are enumerated if they have at most 2 ** 14 outcomes
BLOCK = 2**21  # numbers drawn at once: 16 MB
ROUNDING = 1e-14  # equal differences of ratios differ by less than this, 30 times over

RATIOS: dict[str, Ints] = {  # (correct, predicted, gold) @ this = (numerator, denominator)
    "precision": np.array([[1, 0], [0, 1], [0, 0]]),
    "recall": np.array([[1, 0], [0, 0], [0, 1]]),
    "f1": np.array([[2, 0], [0, 1], [0, 1]]),
}
UNDEFINED = {
    "precision": "nothing is predicted",
    "recall": "there is no gold",
    "f1": "there is neither gold nor anything predicted",
}


@dataclass(frozen=True)
class Interval:
    """A confidence interval; `undefined` of its rounds had no score and were left out."""

    low: float
    high: float
    level: float
    method: str
    rounds: int
    seed: int
    undefined: int = 0


def randomisation(
    a: ArrayLike, b: ArrayLike, metric: Metric = "f1", rounds: int = 10_000, seed: int = 0
) -> Test:
    """Paired randomisation over the sentences of two systems: would chance differ as much?

    Each round swaps the two systems' counts in every sentence with probability 1/2; p is the share
    of rounds, the observed one included, whose difference is at least the observed one, in either
    direction. Where few outcomes exist, p is computed from all of them (method `exact`). A round
    that leaves a system without a score counts as at least the observed one.
    """
    rng = _generator(rounds, seed)
    pairs, pair_times, difference = _paired(a, b, metric)
    kinds, times = _swaps(pairs[:, :2] - pairs[:, 2:], pair_times)
    exact = np.log2(times + 1).sum() <= FEW_BITS
    if exact:
        numbers = product(*(range(n + 1) for n in times.tolist()))
        swapped = np.array(list(numbers), np.int64) @ kinds
    else:
        size = len(kinds)
        swapped = _sums(lambda n: rng.binomial(times, 0.5, (n, size)), kinds, rounds)
    both = pair_times @ (pairs[:, :2] + pairs[:, 2:])
    moved = 2 * swapped - times @ kinds  # what a gains and b loses, twice
    found = np.abs(_ratio(both + moved) - _ratio(both - moved))
    extreme = ~(found < abs(difference) - ROUNDING)  # nan is not less either
    if exact:
        chances = np.array([math.prod(each) for each in product(*map(_halves, times.tolist()))])
        p = float(np.where(extreme, chances, 0).sum() / chances.sum())
        return Test(difference, p, "exact")
    p = (1 + int(extreme.sum())) / (1 + rounds)
    return Test(difference, p, "randomisation", rounds, seed)


def bootstrap(
    counts: ArrayLike,
    metric: Metric = "f1",
    rounds: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Percentile bootstrap over sentences: between which bounds does a system's score lie?"""
    rng = _generator(rounds, seed, level)
    kinds, times = _tally([_checked("counts", counts)], metric)
    _score("counts", times @ kinds, metric)
    return _interval(_ratio(_resampled(rng, kinds, times, rounds)), level, seed)


def bootstrap_difference(
    a: ArrayLike,
    b: ArrayLike,
    metric: Metric = "f1",
    rounds: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Test, Interval]:
    """Paired percentile bootstrap over the sentences of two systems: how far do they differ?

    p is twice the smaller share of rounds with a difference <= 0 or >= 0, the observed data added
    to both as one round more, and at most 1: up to that one round, 1 minus the level of the widest
    interval without 0.
    """
    rng = _generator(rounds, seed, level)
    pairs, times, difference = _paired(a, b, metric)
    there, back = (pairs, times), _kinds(pairs[:, [2, 3, 0, 1]], times)
    # Whichever system is called a, the same kinds are drawn in the same order.
    turned = np.column_stack(back).tolist() < np.column_stack(there).tolist()
    sums = _resampled(rng, *(back if turned else there), rounds)
    left, right = _ratio(sums[:, :2]), _ratio(sums[:, 2:])
    found = right - left if turned else left - right
    interval = _interval(found, level, seed)
    fewer = min(int((found <= 0).sum()), int((found >= 0).sum()))
    p = min(1.0, 2 * (1 + fewer) / (1 + rounds - interval.undefined))
    return Test(difference, p, "bootstrap", rounds, seed), interval


def _ratio_of(metric: str) -> Ints:
    """The matrix [3, 2] of a metric, found by name."""
    known("metric", metric, tuple(RATIOS))
    return RATIOS[metric]


def _ratio(parts: Ints) -> Floats:
    """Numerator over denominator, [..., 2] -> [...]; nan over zero."""
    upper, lower = parts[..., 0], parts[..., 1]
    ratio: Floats = np.full(lower.shape, np.nan)
    np.divide(upper, lower, out=ratio, where=lower != 0)
    return ratio


def _generator(rounds: int, seed: int, level: float = 0.5) -> np.random.Generator:
    """The one source of chance, once the numbers that steer it are checked."""
    if rounds < 1:
        raise ValueError(f"There is at least one round, not {rounds}.")
    if not isinstance(seed, int) or seed < 0:
        raise ValueError(f"A seed is an integer from 0 on, not {seed!r}: results must come again.")
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1 (0.95, say), it is not {level}.")
    return np.random.default_rng(seed)


def _checked(what: str, counts: ArrayLike) -> Ints:
    """Counts [S, 3] of (correct, predicted, gold) that can be true."""
    array = np.asarray(counts)
    if not array.size:
        raise ValueError(f"There are no sentences in {what}, whose shape is {array.shape}.")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(
            f"The shape of {what} is {array.shape}, not [sentences, 3]: give one row of counts "
            "(correct, predicted, gold) for each sentence."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(f"Counts are integers, but {what} holds {array.dtype}.")
    array = array.astype(np.int64, copy=False)
    wrong = (array < 0).any(axis=1) | (array[:, :1] > array[:, 1:]).any(axis=1)
    for at in np.flatnonzero(wrong)[:1].tolist():
        correct, predicted, gold = array[at].tolist()
        raise ValueError(
            f"{what}, sentence {at}: {correct} correct, {predicted} predicted, {gold} gold cannot "
            "be. No count is negative, and what is correct is both predicted and gold."
        )
    return array


def _score(what: str, parts: Ints, metric: str) -> float:
    """The score of one system, which must have one."""
    score = float(_ratio(parts))
    if math.isnan(score):
        raise ValueError(f"The {metric} of {what} is undefined: {UNDEFINED[metric]}.")
    return score


def _paired(a: ArrayLike, b: ArrayLike, metric: str) -> tuple[Ints, Ints, float]:
    """What the sentences add to both systems' parts, how often, and how the scores differ.

    A row [4] is the numerator and denominator of a, then those of b.
    """
    first, second = _checked("a", a), _checked("b", b)
    if len(first) != len(second):
        raise ValueError(
            f"a has {len(first)} sentences and b has {len(second)}: systems are compared on the "
            "same sentences, in the same order."
        )
    for at in np.flatnonzero(first[:, 2] != second[:, 2])[:1].tolist():
        raise ValueError(
            f"Sentence {at} has {first[at, 2]} gold in a and {second[at, 2]} in b: systems are "
            "compared on the same gold, in the same order."
        )
    pairs, times = _tally([first, second], metric)
    totals = times @ pairs
    difference = _score("a", totals[:2], metric) - _score("b", totals[2:], metric)
    return pairs, times, difference


def _tally(systems: list[Ints], metric: str) -> tuple[Ints, Ints]:
    """The kinds of sentences, sorted, and how often each occurs, counted block by block."""
    ratio, step = _ratio_of(metric), max(1, BLOCK // 32)
    tallies = []
    for start in range(0, len(systems[0]), step):
        rows = np.hstack([counts[start : start + step] @ ratio for counts in systems])
        tallies.append(_kinds(rows, np.ones(len(rows), np.int64)))
    kinds, times = (np.concatenate(each) for each in zip(*tallies))
    return _kinds(kinds, times)


def _kinds(rows: Ints, times: Ints) -> tuple[Ints, Ints]:
    """The different rows, sorted, and how often each occurs, equal rows taken together."""
    order = np.lexsort(rows.T[::-1])
    rows, times = rows[order], times[order]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    return rows[starts], np.add.reduceat(times, starts)


def _swaps(change: Ints, times: Ints) -> tuple[Ints, Ints]:
    """The kinds of sentences that a swap changes; a change and its opposite are the same kind."""
    upper, lower = change.T
    sign = np.where(upper != 0, np.sign(upper), np.sign(lower))
    return _kinds((change * sign[:, None])[sign != 0], times[sign != 0])


def _halves(n: int) -> Iterator[float]:
    """How probable 0, 1, ..., n swaps among n sentences are."""
    ways, every = 1, 2**n
    for k in range(n + 1):
        yield ways / every
        ways = ways * (n - k) // (k + 1)


def _sums(draw: Callable[[int], Ints], kinds: Ints, rounds: int) -> Ints:
    """What the sentences drawn in each round add up to: [rounds, columns], block by block."""
    step = max(1, BLOCK // (len(kinds) + 8))
    sizes = (min(step, rounds - start) for start in range(0, rounds, step))
    return np.concatenate([draw(size) @ kinds for size in sizes])


def _resampled(rng: np.random.Generator, kinds: Ints, times: Ints, rounds: int) -> Ints:
    """The sums over as many sentences as there are, drawn with replacement in each round."""
    every = int(times.sum())
    return _sums(lambda n: rng.multinomial(every, times / every, n), kinds, rounds)


def _interval(found: Floats, level: float, seed: int) -> Interval:
    """The middle part of what was found."""
    defined = found[~np.isnan(found)]
    if not len(defined):
        raise ValueError(f"No score is defined in any of {len(found)} rounds: ask for more.")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
    undefined = len(found) - len(defined)
    return Interval(low, high, level, "percentile", len(found), seed, undefined)
