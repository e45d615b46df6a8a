"""Tests on pairs: against every pattern of signs, closed forms, printed tables, and scipy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.errors import UnknownNameError
from spacy_iobes.scoring import (
    Runs,
    Scores,
    beta_share,
    corrected_t,
    mark_of,
    paired,
    paired_t,
    signed_rank,
    two_tails,
    verdicts,
)


@pytest.fixture(scope="module")
def stats() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy is the oracle of these tests")


# Student's t


def closed_form(t: float, freedom: int) -> float:
    """The two tails of a t with few degrees of freedom, from its integral."""
    t = abs(t)
    if freedom == 1:
        return 1 - 2 * math.atan(t) / math.pi
    if freedom == 2:
        return 1 - t / math.sqrt(2 + t * t)
    assert freedom == 4
    share = t / math.sqrt(4 + t * t)
    return 1 - share * (1 + 2 / (4 + t * t))


@given(st.floats(0, 1000), st.sampled_from([1, 2, 4]))
def test_tails_by_their_integral(t: float, freedom: int) -> None:
    assert two_tails(t, freedom) == pytest.approx(closed_form(t, freedom), rel=0, abs=1e-12)
    assert two_tails(-t, freedom) == two_tails(t, freedom)


@pytest.mark.parametrize(
    ("freedom", "t", "p"),
    [  # the critical values that textbooks print, to three digits behind the point
        (1, 12.706, 0.05),
        (4, 2.776, 0.05),
        (4, 4.604, 0.01),
        (9, 1.833, 0.10),
        (9, 2.262, 0.05),
        (9, 3.250, 0.01),
        (10, 4.587, 0.001),
        (29, 2.045, 0.05),
        (120, 1.980, 0.05),
    ],
)
def test_critical_values_of_t(freedom: int, t: float, p: float) -> None:
    assert two_tails(t + 0.0005, freedom) <= p <= two_tails(t - 0.0005, freedom)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 29, 100, 1000])
def test_tails_equal_scipy(freedom: int, stats: Any) -> None:
    for t in (0.001, 0.1, 0.5, 1.0, 2.0, 2.776, 5.0, 30.0, 1000.0):
        assert two_tails(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-11)


def test_tails_at_the_ends() -> None:
    assert two_tails(0, 5) == 1
    assert two_tails(math.inf, 5) == two_tails(-math.inf, 5) == 0
    assert 0 < two_tails(1e30, 4) < 1e-100
    for wrong in ((math.nan, 5.0), (1.0, 0.0)):
        with pytest.raises(ValueError, match="degrees of freedom"):
            two_tails(*wrong)


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
def test_shares_of_whole_parameters_are_binomial_tails(a: int, b: int, x: float) -> None:
    n = a + b - 1
    tail = sum(math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))
    assert beta_share(a, b, x, 1 - x) == pytest.approx(tail, rel=1e-10, abs=1e-12)


# t-tests


def test_paired_t_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, variance 1, so t = 2 / sqrt(1/3) with 2 degrees of freedom.
    found = paired_t([2, 4, 6], [1, 2, 3])
    assert found.difference == 2
    assert found.p == pytest.approx(closed_form(2 * math.sqrt(3), 2), abs=1e-12)
    assert found.method == "paired t"
    # For halves the variance is (1/3 + 1): t = 2 / sqrt(4/3).
    found = corrected_t([2, 4, 6], [1, 2, 3])
    assert found.difference == 2
    assert found.p == pytest.approx(closed_form(math.sqrt(3), 2), abs=1e-12)
    assert found.method == "corrected resampled t"
    # Of ten equal parts, one is the test: (1/3 + 1/9).
    found = corrected_t([2, 4, 6], [1, 2, 3], ratio=1 / 9)
    assert found.p == pytest.approx(closed_form(3, 2), abs=1e-12)


scores = st.integers(0, 1000).map(lambda score: score / 1000)
pairs = st.lists(st.tuples(scores, scores), min_size=2, max_size=9)


@given(pairs)
def test_swapped_sides(both: list[tuple[float, float]]) -> None:
    a, b = zip(*both)
    varies = len({round(one - other, 12) for one, other in both}) > 1
    for test in (paired_t, corrected_t, signed_rank):
        there, back = test(a, b), test(b, a)
        assert there.difference == -back.difference
        known = test is signed_rank or (varies and len(both) > 2)
        assert (there.p is None, back.p is None) == (not known, not known)
        if there.p is not None:
            assert there.p == pytest.approx(back.p, rel=1e-12)
            assert 0 <= there.p <= 1
        assert test(a, a).p == (1 if test is signed_rank else None)
    plain, wider = paired_t(a, b).p, corrected_t(a, b).p
    assert plain is None or (wider is not None and wider >= plain)
    assert corrected_t(a, b, 0).p == plain


@pytest.mark.parametrize("seed", range(5))
def test_paired_t_equals_scipy(seed: int, stats: Any) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.random(3 + 4 * seed), rng.random(3 + 4 * seed)
    assert paired_t(a, b).p == pytest.approx(float(stats.ttest_rel(a, b).pvalue), rel=1e-11)


def test_differences_that_do_not_vary() -> None:
    for test in (paired_t, corrected_t):
        assert test([1, 2, 3], [0, 1, 2]).p is None
        assert (
            test([0.3, 0.1 + 0.2, 0.3], [0.1 + 0.2, 0.3, 0.3]).p is None
        )  # equal but for rounding
        assert test([0.4, 0.5, 0.6], [0.3, 0.4, 0.5]).p is None
        assert test([1, 3], [0, 1]).p is None  # the variance of two is next to unknown
        assert test([1, 3, 5], [0, 1, 1]).p is not None


def test_no_mark_without_a_p_value() -> None:
    assert mark_of(paired_t([1, 2, 3], [0, 1, 2]), 0.05) == ""
    table = {"bio": {"all": [0.25, 0.25]}, "io": {"all": [0.5, 0.5]}}
    (verdict,) = verdicts(table, "bio")["io"].values()
    assert (verdict.mark, verdict.test.difference) == ("", 0.25)


# Signed ranks


def by_every_sign(differences: Sequence[Fraction]) -> Fraction:
    """The share of patterns of signs whose sum of ranks is as far from the middle."""
    moved = [d for d in differences if d]
    sizes = sorted(abs(d) for d in moved)
    ranks = []
    for d in moved:
        places = [place for place, size in enumerate(sizes, 1) if size == abs(d)]
        ranks.append(Fraction(sum(places), len(places)))
    middle = sum(ranks, Fraction(0)) / 2

    def distance(signs: Sequence[bool]) -> Fraction:
        return abs(sum((r for r, up in zip(ranks, signs) if up), Fraction(0)) - middle)

    found = distance([d > 0 for d in moved])
    patterns = list(product([True, False], repeat=len(moved)))
    return Fraction(sum(distance(signs) >= found for signs in patterns), len(patterns))


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_signed_ranks_count_every_pattern(differences: list[int]) -> None:
    expected = by_every_sign([Fraction(d) for d in differences])
    a = [0.5 + d / 100 for d in differences]  # in floats equal differences differ
    found = signed_rank(a, [0.5] * len(a))
    assert found.p == pytest.approx(float(expected), rel=1e-12)
    assert found.method == "signed rank, exact"


@pytest.mark.parametrize(
    ("n", "level", "critical"),
    [  # the largest smaller rank sum that is significant, two-sided, as textbooks print it
        (6, 0.05, 0),
        (7, 0.05, 2),
        (8, 0.05, 3),
        (9, 0.05, 5),
        (10, 0.05, 8),
        (10, 0.01, 3),
        (15, 0.05, 25),
        (20, 0.01, 37),
        (25, 0.05, 89),
    ],
)
def test_critical_values_of_signed_ranks(n: int, level: float, critical: int) -> None:
    def p(smaller: int) -> float:
        """Of the ranks 1 .. n, the largest that fit add up to `smaller` with the wrong sign."""
        wrong = set[int]()
        for rank in range(n, 0, -1):
            if rank <= smaller - sum(wrong):
                wrong.add(rank)
        assert sum(wrong) == smaller
        a = [-float(rank) if rank in wrong else float(rank) for rank in range(1, n + 1)]
        return signed_rank(a, [0.0] * n).p

    assert p(critical) <= level < p(critical + 1)


def test_five_splits_are_too_few_for_signed_ranks() -> None:
    assert signed_rank([2, 3, 4, 5, 6], [1, 1, 1, 1, 1]).p == 2 / 2**5


def test_no_difference_is_no_rank() -> None:
    assert signed_rank([1, 2, 3], [1, 2, 3]).p == 1
    assert signed_rank([1, 2, 3], [1, 2, 3], "normal").p == 1
    with_zeros, without = signed_rank([1, 5, 7, 9], [1, 4, 5, 6]), signed_rank([5, 7, 9], [4, 5, 6])
    assert with_zeros.p == without.p == 2 / 2**3
    assert with_zeros.difference == 6 / 4


@pytest.mark.parametrize("size", [1, 3, 10, 24])
def test_exact_signed_ranks_equal_scipy(size: int, stats: Any) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.random(size), rng.random(size)
    assert len({*np.abs(a - b)}) == size
    p = stats.wilcoxon(a, b, method="exact").pvalue
    assert signed_rank(a, b).p == pytest.approx(float(p), rel=1e-12)


@pytest.mark.parametrize("steps", [5, 20, 1000])
def test_approximate_signed_ranks_equal_scipy(steps: int, stats: Any) -> None:
    rng = np.random.default_rng(steps)
    a, b = rng.integers(0, steps, (2, 60))
    p = stats.wilcoxon(a, b, zero_method="wilcox", correction=True, method="asymptotic").pvalue
    found = signed_rank(a, b)
    assert found.method == "signed rank, normal"
    assert found.p == pytest.approx(float(p), rel=1e-12)


def test_both_ways_come_near_each_other() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, paired.FEW_PAIRS))
    exact, normal = (signed_rank(a, b, method) for method in ("exact", "normal"))
    assert exact.p != normal.p
    assert exact.p == pytest.approx(normal.p, abs=0.01)


# What cannot be


def test_pairs_that_cannot_be_compared() -> None:
    for test in (paired_t, corrected_t, signed_rank):
        with pytest.raises(ValueError, match="a has 2 scores and b has 3"):
            test([1, 2], [1, 2, 3])
        with pytest.raises(ValueError, match="Run 1"):
            test([1, None], [1, 2])
    for test in (paired_t, corrected_t):
        with pytest.raises(ValueError, match="at least two splits"):
            test([1], [2])
    with pytest.raises(ValueError, match="not -1"):
        corrected_t([1, 2], [2, 1], -1)
    with pytest.raises(UnknownNameError, match="Known: auto, exact, normal"):
        signed_rank([1], [2], "plain")  # type: ignore[arg-type]


# Verdicts

TABLE: dict[str, dict[str, Scores]] = {
    "bio": {"stime": [0.5, 0.6, 0.7], "all": [0.5, 0.6, 0.7]},
    "bie": {"stime": [0.4, 0.49, 0.61], "all": [0.51, 0.59, 0.7]},
    "bia": {"stime": Runs([0.6, 0.71, 0.79]), "all": [0.9, 0.1, 0.8]},
}


def test_verdicts_by_hand() -> None:
    # bie, stime: differences -0.10, -0.11, -0.09, so t = -0.1 / (0.01 / sqrt(3)).
    found = verdicts(TABLE, "bio")
    assert {row: {c: v.mark for c, v in cells.items()} for row, cells in found.items()} == {
        "bie": {"stime": "-", "all": "~"},
        "bia": {"stime": "+", "all": "~"},
    }
    p = closed_form(10 * math.sqrt(3), 2)
    assert found["bie"]["stime"].test.p == pytest.approx(p, rel=1e-9)
    assert found["bia"]["stime"].test.difference == pytest.approx(0.1)
    assert verdicts(TABLE, "bio", level=p / 2)["bie"]["stime"].mark == "~"
    assert verdicts(TABLE, "bio", test=signed_rank)["bie"]["stime"][0] == "~"  # p = 0.25
    assert verdicts(TABLE, "bie")["bio"]["stime"].mark == "+"


def test_generators_are_read_once() -> None:
    table = {row: {"all": (x for x in (0.1 * n, 0.2, 0.3))} for n, row in enumerate("abc")}
    assert [*verdicts(table, "a")] == ["b", "c"]


def test_verdicts_that_cannot_be() -> None:
    with pytest.raises(UnknownNameError, match="Known: bio, bie, bia"):
        verdicts(TABLE, "io")
    with pytest.raises(ValueError, match="level"):
        verdicts(TABLE, "bio", level=5)
    with pytest.raises(ValueError, match=r"'bie' and the baseline 'bio' .* \['all'\]"):
        verdicts({**TABLE, "bie": {"stime": [1, 2, 3]}}, "bio")
