"""Significance: against enumeration of every swap, resample and split, and against scipy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spacy_iobes.errors import UnknownNameError
from spacy_iobes.scoring import (
    Metric,
    Runs,
    bootstrap,
    bootstrap_difference,
    randomisation,
    rank_sum,
    resampling,
    runs,
)

Row = tuple[int, int, int]
METRICS: tuple[Metric, ...] = ("precision", "recall", "f1")
metrics = st.sampled_from(METRICS)


@pytest.fixture(scope="module")
def stats() -> Any:
    reason = "scipy is the oracle of these tests, from 1.15 on (which takes `rng`)"
    pytest.importorskip("scipy", minversion="1.15", reason=reason)
    return pytest.importorskip("scipy.stats", reason=reason)


# By hand, in fractions


def ratio(row: Iterable[int], metric: Metric) -> tuple[int, int]:
    """Numerator and denominator."""
    correct, predicted, gold = row
    return {
        "precision": (correct, predicted),
        "recall": (correct, gold),
        "f1": (2 * correct, predicted + gold),
    }[metric]


def plain(totals: Any, metric: Metric) -> Any:
    """The metric of (correct, predicted, gold) in the last axis; nan where it is undefined."""
    correct, predicted, gold = np.moveaxis(np.asarray(totals, dtype=float), -1, 0)
    above = {"f1": 2 * correct, "precision": correct, "recall": correct}[metric]
    below = {"f1": predicted + gold, "precision": predicted, "recall": gold}[metric]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def score(rows: Iterable[Row], metric: Metric) -> Fraction | None:
    """The score of one system, None if it is undefined."""
    top, bottom = ratio(map(sum, zip(*rows)), metric)
    return Fraction(top, bottom) if bottom else None


def difference(a: Iterable[Row], b: Iterable[Row], metric: Metric) -> Fraction | None:
    first, second = score(a, metric), score(b, metric)
    return None if first is None or second is None else first - second


def every_swap(a: Sequence[Row], b: Sequence[Row], metric: Metric) -> Fraction:
    """The exact p of the randomisation test; without a score, a swap counts as extreme."""
    observed, extreme = difference(a, b, metric), 0
    assert observed is not None
    for swap in product((False, True), repeat=len(a)):
        first = [y if swapped else x for x, y, swapped in zip(a, b, swap)]
        second = [x if swapped else y for x, y, swapped in zip(a, b, swap)]
        found = difference(first, second, metric)
        extreme += found is None or abs(found) >= abs(observed)
    return Fraction(extreme, 2 ** len(a))


def every_resample(size: int, of: Callable[[tuple[int, ...]], Fraction | None]) -> Counter[Any]:
    """How often each value occurs among all resamples of `size` sentences."""
    return Counter(of(numbers) for numbers in product(range(size), repeat=size))


def share_up_to(values: Counter[Any], most: float) -> float:
    """The share of the defined values that are at most this."""
    defined = {value: times for value, times in values.items() if value is not None}
    return sum(n for value, n in defined.items() if value <= most) / sum(defined.values())


def near(share: float, rounds: int) -> float:
    """Four standard errors of a share that was found by chance, and a bit for one round."""
    return 4 * math.sqrt(share * (1 - share) / rounds) + 2 / rounds


def check_interval(interval: resampling.Interval, values: Counter[Any]) -> None:
    """Both ends are quantiles of the exact distribution, up to chance."""
    defined = interval.rounds - interval.undefined
    for end, side in ((interval.low, -1), (interval.high, 1)):
        q = (1 + side * interval.level) / 2
        below, reached = (share_up_to(values, end + gap) for gap in (-1e-12, 1e-12))
        assert below - near(q, defined) <= q <= reached + near(q, defined)


# Examples


ROWS = [(c, p, g) for c, p, g in product(range(4), repeat=3) if c <= min(p, g)]
rows = st.sampled_from(ROWS)
systems = st.lists(rows, min_size=1, max_size=6)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Two systems on the same sentences, some of which are alike."""
    both = [(a, b) for a, b in product(ROWS, repeat=2) if a[2] == b[2]]
    sentences = draw(st.lists(st.sampled_from(both), min_size=1, max_size=6))
    return [a for a, _ in sentences], [b for _, b in sentences]


def scored(a: Sequence[Row], b: Sequence[Row], metric: Metric) -> bool:
    return difference(a, b, metric) is not None


def corpus(sentences: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two systems of which the first is slightly better."""
    rng = np.random.default_rng(seed)
    gold = rng.poisson(1.5, sentences)
    easy = rng.binomial(gold, 0.7)
    systems = []
    for skill in (0.5, 0.4):
        correct = easy + rng.binomial(gold - easy, skill)
        systems.append(np.stack([correct, correct + rng.poisson(0.2, sentences), gold], axis=1))
    return systems[0], systems[1]


A: list[Row] = [(1, 2, 2), (1, 1, 1), (0, 1, 0), (2, 2, 3), (1, 1, 1)]
B: list[Row] = [(0, 1, 2), (1, 1, 1), (0, 0, 0), (1, 3, 3), (0, 1, 1)]
C: list[Row] = [(1, 1, 1), (0, 0, 1), (1, 1, 1), (0, 0, 1), (0, 2, 0)]
D: list[Row] = [(0, 1, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 0)]


# Runs


def test_runs() -> None:
    runs = Runs([0.9, 0.7, 0.8])
    assert runs == Runs((0.9, 0.7, 0.8))
    assert (runs.n, runs.values) == (3, (0.9, 0.7, 0.8))
    assert (runs.mean, runs.sd) == pytest.approx((0.8, 0.1))
    assert runs.se == pytest.approx(0.1 / math.sqrt(3))
    same = Runs([0.1] * 7)
    assert (same.sd, same.se) == (0, 0)


def test_one_run_does_not_vary() -> None:
    assert (Runs([0.5]).mean, Runs([0.5]).sd, Runs([0.5]).se) == (0.5, None, None)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, None, 0.7], r"Run 1 \(of 3, counted from 0\) has the score None"),
        ([math.nan], r"Run 0 \(of 1, counted from 0\) has the score nan"),
        ([0.5, math.inf], "Run 1 .* has the score inf"),
        ([], "There are no runs"),
    ],
)
def test_runs_without_a_score_are_refused(values: list[float | None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Runs(values)
    with pytest.raises(ValueError, match=message):
        rank_sum([0.5], values)


# Rank sums


@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_rank_sums_count_every_split(data: st.DataObject, n: int, m: int) -> None:
    order = data.draw(st.permutations(range(1, n + m + 1)))
    middle = Fraction(n * (n + m + 1), 2)
    splits = [abs(sum(ranks) - middle) for ranks in combinations(order, n)]
    extreme = sum(distance >= abs(sum(order[:n]) - middle) for distance in splits)
    test = rank_sum(order[:n], order[n:])
    assert test.p == float(Fraction(extreme, len(splits)))
    assert (test.method, test.rounds, test.seed) == ("exact", None, None)
    assert test.difference == pytest.approx(sum(order[:n]) / n - sum(order[n:]) / m)


@pytest.mark.parametrize(
    ("n", "m"), [(1, 1), (2, 7), (5, 5), (10, 10), (20, 20), (1, 400), (40, 60)]
)
def test_exact_rank_sums_equal_scipy(n: int, m: int, stats: Any) -> None:
    rng = np.random.default_rng(n * 1000 + m)
    for shift in (0, 0.3, 2):
        a, b = rng.normal(shift, size=n).tolist(), rng.normal(size=m).tolist()
        expected = stats.mannwhitneyu(a, b, method="exact").pvalue
        assert rank_sum(a, b, "exact").p == pytest.approx(expected, rel=1e-9)
        assert rank_sum(a, b).method == ("exact" if n * m <= 400 else "normal")


def test_splits_are_counted_without_overflow() -> None:
    assert sum(runs._splits(40, 60)) == math.comb(100, 40) > 2**63


scores = st.lists(st.integers(0, 6).map(lambda n: n / 8), min_size=1, max_size=12)


@given(scores, scores)
def test_approximate_rank_sums_equal_scipy(stats: Any, a: list[float], b: list[float]) -> None:
    assert rank_sum(a, b, "plain").p == pytest.approx(stats.ranksums(a, b).pvalue, abs=1e-12)
    assume(len({*a, *b}) > 1)
    expected = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
    assert rank_sum(a, b, "normal").p == pytest.approx(expected, abs=1e-12)
    if len({*a, *b}) < len(a) + len(b):
        assert rank_sum(a, b) == rank_sum(a, b, "normal")


@given(scores, scores, st.sampled_from(["auto", "normal", "plain"]))
def test_swapped_runs(a: list[float], b: list[float], method: runs.RankMethod) -> None:
    there, back = rank_sum(a, b, method), rank_sum(Runs(b), Runs(a), method)
    assert (back.difference, back.p) == (-there.difference, there.p)


def test_runs_that_all_tie() -> None:
    assert rank_sum([0.5, 0.5], [0.5, 0.5, 0.5]) == runs.Test(0.0, 1.0, "normal")


def test_exact_rank_sums_know_no_ties() -> None:
    with pytest.raises(ValueError, match="two runs tie: use 'normal'"):
        rank_sum([0.5, 0.6], [0.5], "exact")
    with pytest.raises(UnknownNameError, match=r"Unknown method 'best'\. Known: auto, exact"):
        rank_sum([0.5], [0.6], "best")  # type: ignore[arg-type]


# Randomisation


@given(pairs(), metrics)
def test_few_swaps_are_enumerated(both: tuple[list[Row], list[Row]], metric: Metric) -> None:
    a, b = both
    expected = difference(a, b, metric)
    assume(expected is not None)
    test = randomisation(a, b, metric)
    assert expected is not None
    assert test.difference == pytest.approx(float(expected), abs=1e-15)
    assert test.p == float(every_swap(a, b, metric))
    assert (test.method, test.rounds, test.seed) == ("exact", None, None)


def test_many_sentences_of_few_kinds_are_enumerated() -> None:
    a, b = [*A[:1] * 8, *A[4:] * 8, *A[1:2] * 50], [*B[:1] * 7, *A[:1], *B[4:] * 8, *B[1:2] * 50]
    a[8:11], b[8:11] = b[8:11], a[8:11]
    apart = [(x, y) for x, y in zip(a, b) if x != y]
    assert len(apart) == 15
    test = randomisation(a, b, "recall")
    alone = every_swap([x for x, _ in apart], [y for _, y in apart], "recall")
    assert (test.method, test.p) == ("exact", float(alone))  # gold, the denominator, never moves


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("a", "b"), [(A, B), (B, C[:3] + A[3:]), (C, D), (A, A)])
def test_random_swaps_come_near(
    a: list[Row], b: list[Row], metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = [(min(c, gold), p, gold) for (c, p, _), (_, _, gold) in zip(b, a)]
    assert scored(a, b, metric)
    monkeypatch.setattr(resampling, "FEW_BITS", -1)
    test = randomisation(a, b, metric, rounds=4000, seed=1)
    assert (test.method, test.rounds, test.seed) == ("randomisation", 4000, 1)
    expected = float(every_swap(a, b, metric))
    assert abs(test.p - expected) <= near(expected, 4000)
    assert test == randomisation(a, b, metric, rounds=4000, seed=1)


@pytest.mark.parametrize("metric", METRICS)
def test_randomisation_agrees_with_scipy(metric: Metric, stats: Any) -> None:
    a, b = corpus(150)

    def statistic(x: Any, y: Any, axis: int) -> Any:
        """The difference when x and y say which system each sentence is taken from."""
        taken = (np.stack([a, b])[n.astype(int), np.arange(150)] for n in (x, y))
        first, second = (plain(counts.sum(axis=axis - 1), metric) for counts in taken)
        return first - second

    expected = stats.permutation_test(
        (np.zeros(150), np.ones(150)),
        statistic,
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        batch=500,
        rng=np.random.default_rng(5),
    )
    test = randomisation(a, b, metric)
    assert test.method == ("exact" if metric == "recall" else "randomisation")  # few kinds
    assert test.difference == pytest.approx(expected.statistic)
    assert 0.001 < test.p < 0.999
    assert abs(test.p - expected.pvalue) <= math.sqrt(2) * near(test.p, 9999)


# Bootstrap


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("counts", [A, B, C, D[:3], A[:1]])
@pytest.mark.parametrize("level", [0.3, 0.8, 0.95])
def test_bootstrap_comes_near_every_resample(
    counts: list[Row], metric: Metric, level: float
) -> None:
    values = every_resample(len(counts), lambda ns: score([counts[n] for n in ns], metric))
    interval = bootstrap(counts, metric, rounds=4000, seed=2, level=level)
    assert (interval.level, interval.method, interval.rounds, interval.seed) == (
        *(level, "percentile"),
        *(4000, 2),
    )
    check_interval(interval, values)
    undefined = values[None] / values.total()
    assert abs(interval.undefined / 4000 - undefined) <= near(undefined, 4000)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("a", "b"), [(A, B), (B, A), (C, D), (A[:3], A[:3])])
def test_paired_bootstrap_comes_near_every_resample(
    a: list[Row], b: list[Row], metric: Metric
) -> None:
    def of(numbers: tuple[int, ...]) -> Fraction | None:
        return difference([a[n] for n in numbers], [b[n] for n in numbers], metric)

    values = every_resample(len(a), of)
    test, interval = bootstrap_difference(a, b, metric, rounds=4000, seed=3)
    check_interval(interval, values)
    smaller = min(share_up_to(values, 0), 1 - share_up_to(values, -1e-12))
    assert abs(test.p - min(1, 2 * smaller)) <= 2 * near(smaller, 4000 - interval.undefined)
    observed = difference(a, b, metric)
    assert observed is not None
    assert test.difference == pytest.approx(float(observed))
    assert (test.method, test.rounds, test.seed) == ("bootstrap", 4000, 3)
    undefined = values[None] / values.total()
    assert abs(interval.undefined / 4000 - undefined) <= near(undefined, 4000)


@pytest.mark.parametrize("metric", METRICS)
def test_bootstrap_agrees_with_scipy(metric: Metric, stats: Any) -> None:
    a, b = corpus(200)

    def one(*columns: Any, axis: int) -> Any:
        return plain(np.stack([c.sum(axis=axis) for c in columns], axis=-1), metric)

    def two(*columns: Any, axis: int) -> Any:
        return one(*columns[:3], axis=axis) - one(*columns[3:], axis=axis)

    how = {"paired": True, "vectorized": True, "method": "percentile", "batch": 500}
    for found, data, statistic in (
        (bootstrap(a, metric, rounds=9999), (*a.T,), one),
        (bootstrap_difference(a, b, metric, rounds=9999)[1], (*a.T, *b.T), two),
    ):
        rng = np.random.default_rng(6)
        expected = stats.bootstrap(data, statistic, rng=rng, **how).confidence_interval
        # the standard error of this quantile of 9999 normal values is 0.027 of their deviation
        slack = 4 * math.sqrt(2) * 0.027 * (found.high - found.low) / (2 * 1.96)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=slack)


def test_rounds_without_a_score_are_left_out() -> None:
    interval = bootstrap([(1, 1, 1), (0, 0, 1)], "precision", rounds=1000)
    assert (interval.low, interval.high) == (1, 1)
    assert abs(interval.undefined - 250) <= 1000 * near(0.25, 1000)


def test_chance_never_gives_a_p_of_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = [(1, 1, 1)] * 100, [(0, 1, 1)] * 100
    assert randomisation(right, wrong).p == 2 / 2**100
    monkeypatch.setattr(resampling, "FEW_BITS", -1)
    assert randomisation(right, wrong, rounds=99).p == 1 / 100
    assert bootstrap_difference(right, wrong, rounds=99)[0].p == 2 / 100
    idle = (0, 0, 1)
    test, interval = bootstrap_difference([right[0], idle], [wrong[0], idle], "precision")
    assert 0 < interval.undefined < 1000
    assert test.p == 2 / (1 + 1000 - interval.undefined)


def test_no_round_with_a_score() -> None:
    def all_alone() -> None:
        for seed in range(100):  # one round in three leaves the only prediction out
            bootstrap([(1, 1, 1), *[(0, 0, 1)] * 9], "precision", rounds=1, seed=seed)

    with pytest.raises(ValueError, match="No score is defined in any of 1 rounds: ask for more"):
        all_alone()


# Identities


def results(a: Any, b: Any, metric: Metric = "f1", rounds: int = 50, seed: int = 0) -> Any:
    """All three functions at once."""
    return (
        randomisation(a, b, metric, rounds, seed),
        bootstrap(a, metric, rounds, seed),
        bootstrap_difference(a, b, metric, rounds, seed),
    )


@pytest.fixture(params=[14, -1], ids=["exact", "random"])
def few_bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "FEW_BITS", request.param)


whole = [(1, 1, 1), (0, 1, 1)]  # makes every round have a score


@pytest.mark.usefixtures("few_bits")
class TestIdentities:
    @given(pairs(), metrics, st.integers(0, 9))
    def test_swapped_systems(
        self, both: tuple[list[Row], list[Row]], metric: Metric, seed: int
    ) -> None:
        a, b = both
        assume(scored(a, b, metric))
        there, back = (randomisation(x, y, metric, 50, seed) for x, y in ((a, b), (b, a)))
        assert (back.difference, back.p) == (-there.difference, there.p)

    @given(pairs(), metrics)
    def test_a_system_does_not_differ_from_itself(
        self, both: tuple[list[Row], list[Row]], metric: Metric
    ) -> None:
        a = [*both[0], *whole * 20]
        test, _, (boot, interval) = results(a, a, metric)
        assert (test.difference, test.p, boot.difference, boot.p) == (0, 1, 0, 1)
        assert (interval.low, interval.high) == (0, 0)

    @given(st.data(), pairs(), metrics)
    def test_the_order_of_sentences_does_not_matter(
        self, data: st.DataObject, both: tuple[list[Row], list[Row]], metric: Metric
    ) -> None:
        a, b = [*both[0], *whole * 3], [*both[1], *reversed(whole * 3)]
        order = data.draw(st.permutations(range(len(a))))
        shuffled = results([a[i] for i in order], [b[i] for i in order], metric)
        assert shuffled == results(a, b, metric)

    @given(pairs(), metrics)
    def test_what_a_metric_ignores_does_not_matter(
        self, both: tuple[list[Row], list[Row]], metric: Metric
    ) -> None:
        """Sentences are of one kind if they add the same to the metric's two sums."""
        a, b = ([*rows, *whole * 3] for rows in both)
        change: dict[Metric, Row] = {"precision": (0, 0, 1), "recall": (0, 1, 0), "f1": (0, 0, 0)}
        c, d = (np.array(counts) + change[metric] for counts in (a, b))
        assert results(c, d, metric) == results(a, b, metric)

    @given(pairs(), metrics)
    def test_sentences_in_which_nothing_happens_do_not_matter(
        self, both: tuple[list[Row], list[Row]], metric: Metric
    ) -> None:
        a, b = both
        assume(scored(a, b, metric))
        nothing = [(0, 0, 0)] * 3
        expected = randomisation(a, b, metric, 50)
        assert randomisation([*nothing, *a], [*nothing, *b], metric, 50) == expected


@given(pairs(), metrics)
def test_swapped_systems_in_the_bootstrap(
    both: tuple[list[Row], list[Row]], metric: Metric
) -> None:
    a, b = ([*rows, *whole] for rows in both)
    (test, interval), (back, other) = (
        bootstrap_difference(x, y, metric, 50) for x, y in ((a, b), (b, a))
    )
    assert (back.difference, back.p, other.undefined) == (
        *(-test.difference, test.p),
        interval.undefined,
    )
    parts = [(ratio(x, metric), ratio(y, metric)) for x, y in zip(a, b)]
    if sorted(parts) != sorted((y, x) for x, y in parts):  # else there and back are one question
        assert (-other.high, -other.low) == pytest.approx((interval.low, interval.high))


@given(systems, metrics, st.integers(0, 9))
def test_wider_levels_hold_narrower_ones(counts: list[Row], metric: Metric, seed: int) -> None:
    intervals = [bootstrap([*counts, *whole], metric, 40, seed, x) for x in (0.1, 0.5, 0.99)]
    lows, highs = [i.low for i in intervals], [i.high for i in intervals]
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)
    assert all(0 <= low <= high <= 1 for low, high in zip(lows, highs))


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_do_not_matter(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = corpus(500)
    monkeypatch.setattr(resampling, "FEW_BITS", -1)
    expected = results(a, b, metric, rounds=200)
    assert expected[0].method == "randomisation"
    for block in (1, 32 * 7, 1000, 32 * 499):
        monkeypatch.setattr(resampling, "BLOCK", block)
        assert results(a, b, metric, rounds=200) == expected
    assert results(a, b, metric, rounds=200, seed=1) != expected


class CountingGenerator:
    """A generator that counts what is drawn from it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.drawn = self.most = 0

    def count(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        self.drawn += numbers.size
        self.most = max(self.most, numbers.size)
        return numbers

    def binomial(self, n: Any, p: float, size: tuple[int, int]) -> NDArray[np.int64]:
        return self.count(self.rng.binomial(n, p, size))

    def multinomial(self, n: int, p: Any, size: int) -> NDArray[np.int64]:
        return self.count(self.rng.multinomial(n, p, size))


def test_work_grows_with_kinds_and_not_with_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for times in (1, 100):
        rng = CountingGenerator(0)
        monkeypatch.setattr(resampling, "_generator", lambda *_, rng=rng: rng)
        a, b = (np.tile(counts, (times, 1)) for counts in corpus(400))
        results(a, b, rounds=100)
        drawn.append(rng.drawn)
    assert drawn[0] == drawn[1] <= 100 * 3 * 400


def test_blocks_keep_the_memory_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = CountingGenerator(0)
    monkeypatch.setattr(resampling, "_generator", lambda *_: rng)
    monkeypatch.setattr(resampling, "BLOCK", 5000)
    results(*corpus(400), rounds=1000)
    assert rng.most <= 5000 < rng.drawn


# Bad input


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([], r"no sentences in .*, whose shape is \(0,\)"),
        (np.zeros((0, 3), int), r"no sentences in .*, whose shape is \(0, 3\)"),
        ([1, 1, 1], r"The shape of .* is \(3,\), not \[sentences, 3\]"),
        ([[1, 1]], r"The shape of .* is \(1, 2\)"),
        ([[1, 1, 1], [-1, 1, 1]], "sentence 1: -1 correct, 1 predicted, 1 gold cannot be"),
        ([[0, 0, -1]], "sentence 0: 0 correct, 0 predicted, -1 gold cannot be"),
        ([[2, 1, 2]], "sentence 0: 2 correct, 1 predicted, 2 gold cannot be"),
        ([[2, 2, 1]], "sentence 0: 2 correct, 2 predicted, 1 gold cannot be"),
        ([[0, 0, 0]], "The f1 of .* is undefined: there is neither gold nor anything predicted"),
    ],
)
def test_bad_counts(counts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap(counts)
    with pytest.raises(ValueError, match=message):
        randomisation(counts, counts)
    with pytest.raises(ValueError, match=message):
        bootstrap_difference(counts, counts)


def test_counts_are_integers() -> None:
    with pytest.raises(TypeError, match="Counts are integers, but counts holds float64"):
        bootstrap([[0.5, 1, 1]])
    small = np.array(A, np.uint8)
    assert bootstrap(small) == bootstrap(A)


@pytest.mark.parametrize("compare", [randomisation, bootstrap_difference])
def test_systems_that_cannot_be_compared(compare: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="a has 5 sentences and b has 4"):
        compare(A, B[:4])
    with pytest.raises(ValueError, match="Sentence 1 has 1 gold in a and 2 in b"):
        compare(A, [B[0], (1, 1, 2), (0, 0, 1), *B[3:]])
    with pytest.raises(ValueError, match="The precision of b is undefined: nothing is predicted"):
        compare(A[:1], [(0, 0, 2)], "precision")
    with pytest.raises(ValueError, match="The recall of a is undefined: there is no gold"):
        compare(A[2:3], B[2:3], "recall")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": 0}, "at least one round, not 0"),
        ({"seed": -1}, "A seed is an integer from 0 on, not -1"),
        ({"seed": None}, "A seed is an integer from 0 on, not None"),
        ({"metric": "f2"}, "Unknown metric 'f2'. Known: precision, recall, f1"),
        ({"level": 0.0}, r"A level lies between 0 and 1 \(0.95, say\), it is not 0.0"),
        ({"level": 95}, "it is not 95"),
        ({"level": math.nan}, "it is not nan"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap(A, **settings)
    with pytest.raises(ValueError, match=message):
        bootstrap_difference(A, B, **settings)
    if "level" not in settings:
        with pytest.raises(ValueError, match=message):
            randomisation(A, B, **settings)
