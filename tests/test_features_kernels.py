"""The kernels of hashed features: both twins agree, and do what a few plain lines of Python do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.kernels import features_numpy

from .twins import same

compiled = pytest.importorskip(
    "spacy_iobes.kernels._features", reason="the kernels are not compiled here"
)
TWINS = [compiled, features_numpy]
MASK = (1 << 64) - 1
seeds = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize("kernel", TWINS, ids=["compiled", "numpy"])
Templates = list[list[tuple[int, int]]]


def arrays(templates: Templates) -> tuple[Any, Any, Any]:
    """Templates as the kernels take them."""
    parts = [part for template in templates for part in template]
    return (
        np.arange(1, len(templates) + 1, dtype=np.uint64) * np.uint64(7919),
        np.array(parts, dtype=np.int32).reshape(-1, 2),
        np.cumsum([0, *map(len, templates)], dtype=np.int32),
    )


def hashed(values: Sequence[int], seed: int, bits: int) -> int:
    """The number of a feature, in plain integers; -1 where a value is missing."""
    for value in values:
        if value == 0:
            return -1
        seed = (seed ^ value) * features_numpy.PRIME & MASK
        seed ^= seed >> 29
    return (seed * features_numpy.PRIME & MASK) >> (64 - bits)


def looked_up(words: Sequence[Sequence[int]], at: int, attribute: int) -> int:
    """The value of an attribute of a token of a Doc, or what stands for its ends."""
    if 0 <= at < len(words):
        return words[at][attribute]
    return features_numpy.BEFORE if at < 0 else features_numpy.AFTER


@given(
    st.lists(st.integers(0, 5), max_size=5),
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3)), max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 30),
    seeds,
)
def test_features_are_mixed_values(
    lengths: list[int], templates: Templates, bits: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, 2**64, (4, 2), dtype=np.uint64)
    values[random.random((4, 2)) < 0.2] = 0
    tokens = random.integers(0, 4, sum(lengths)).astype(np.int32)
    own = random.integers(0, 3, (sum(lengths), 1), dtype=np.uint64)
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    arguments = (values, tokens, own, offsets, *arrays(templates), bits)
    fast, slow = (twin.mix(*arguments) for twin in TWINS)
    assert same(fast, slow)
    expected = []
    for start, end in pairwise(offsets.tolist()):
        words = np.hstack([values[tokens[start:end]], own[start:end]]).tolist()
        for n in range(len(words)):
            found = [[looked_up(words, n + d, a) for a, d in template] for template in templates]
            expected.append([hashed(v, 7919 * (f + 1), bits) for f, v in enumerate(found)])
    assert fast.tolist() == expected


@both
@given(words=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 20).map(lambda i: 8 * i)))
def test_words_are_numbered_in_order(kernel: Any, words: list[int]) -> None:
    keys, numbers = np.zeros(256, dtype=np.uint64), np.full(256, -1, dtype=np.int32)
    order = list(dict.fromkeys(words))
    for known in (0, len(order)):
        found, count = kernel.number(np.array(words, dtype=np.uint64), keys, numbers, known)
        assert found.tolist() == [order.index(word) for word in words]
        assert count == len(order)


@given(st.lists(st.lists(st.integers(-1, 7), min_size=3, max_size=3), max_size=5))
def test_rows_are_given_in_order(features: list[list[int]]) -> None:
    ids = np.array(features, dtype=np.int32).reshape(-1, 3)
    expected: dict[int, int] = {5: 0}
    for feature in ids.ravel().tolist():
        expected.setdefault(feature, len(expected)) if feature >= 0 else None
    rows = [[expected.get(feature, -1) for feature in row] for row in ids.tolist()]
    for twin in TWINS:
        places, used = np.full(8, -1, dtype=np.int32), np.zeros(8, dtype=np.int32)
        places[5], used[0] = 0, 5
        before, found = ids.copy(), ids.copy()
        twin.find(before, places)
        assert before.tolist() == [[0 if f == 5 else -1 for f in row] for row in ids.tolist()]
        assert twin.place(found, places, used, 1) == len(expected)
        assert found.tolist() == rows
        assert used[: len(expected)].tolist() == list(expected)
        again = ids.copy()
        twin.find(again, places)
        assert same(again, found)


def problem(seed: int, tokens: int, features: int, states: int) -> tuple[Any, Any, Any]:
    """Weights of six rows, features among them (some twice, some none) and a gradient."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(6, states)).astype(np.float32)
    rows = random.integers(-1, 6, (tokens, features)).astype(np.int32)
    return weights, rows, random.normal(size=(tokens, states)).astype(np.float32)


def split_mix(number: int) -> int:
    """SplitMix64 as it is published, for a state."""
    number = number * 0x9E3779B97F4A7C15 & MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


def test_random_numbers_are_those_of_split_mix() -> None:
    """The first numbers that its reference implementation gives for the seed 0."""
    assert [split_mix(n) for n in (1, 2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


@given(
    st.lists(st.lists(st.integers(-1, 7), min_size=5, max_size=5), max_size=5),
    st.integers(0, 2**63),
    st.integers(0, features_numpy.CHANCES - 1),
)
def test_features_are_left_out_by_chance(features: list[list[int]], first: int, share: int) -> None:
    drawn = (split_mix(first + 1 + i // 4) >> 16 * (i % 4) & 0xFFFF for i in range(99))
    expected = []
    for row in features:
        kept = [f for f, chance in zip(row, drawn) if chance >= share and f >= 0]
        expected.append(kept + [-1] * (5 - len(kept)))
    for twin in TWINS:
        ids = np.array(features, dtype=np.int32).reshape(-1, 5)
        assert twin.drop(ids, first, share) == (5 * len(features) + 3) // 4
        assert ids.tolist() == expected


@given(seeds, st.integers(0, 5), st.integers(0, 9), st.integers(1, 40), st.sampled_from([1.0, 1.5]))
def test_scores_are_summed_rows(
    seed: int, tokens: int, features: int, states: int, scale: float
) -> None:
    weights, rows, _ = problem(seed, tokens, features, states)
    fast, slow = (twin.emit(weights, rows, scale) for twin in TWINS)
    np.testing.assert_allclose(fast, slow, rtol=1e-5, atol=1e-5)
    for row, scores in zip(rows.tolist(), fast):
        wanted = scale * sum((weights[r] for r in row if r >= 0), 0.0)
        assert scores == pytest.approx(wanted, abs=1e-4)


def dense(weights: Any, rows: Any, gradient: Any) -> Any:
    """The gradient of all weights, entry by entry."""
    found = np.zeros(weights.shape)
    for row, mine in zip(rows.tolist(), gradient):
        for number in row:
            if number >= 0:
                found[number] += mine
    return found


NO_GROUPS = (np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int32))


@given(
    seeds,
    st.integers(0, 5),
    st.integers(0, 4),
    st.integers(1, 9),
    st.lists(st.sets(st.integers(0, 8)), max_size=4),
    st.sampled_from([0.0, 0.1]),
)
def test_a_step_is_one_of_dense_adagrad(
    seed: int, tokens: int, features: int, states: int, drawn: list[set[int]], l2: float
) -> None:
    """Three steps of both twins, and of AdaGrad on the whole table in double precision.

    There, what the states of a group share is a column behind those of the states.
    """
    groups = [sorted(state for state in group if state < states) for group in drawn]
    members = np.array([state for group in groups for state in group], dtype=np.int32)
    bounds = np.cumsum([0, *map(len, groups)], dtype=np.int32)
    weights, rows, _ = problem(seed, tokens, features, states)
    tables = [
        (weights.copy(), np.zeros(6, "f"), np.zeros_like(weights), np.full(6, -1, "i"))
        for _ in TWINS
    ]
    belongs = [[float(state in group) for group in groups] for state in range(states)]
    both_kinds = np.hstack([np.eye(states), np.reshape(belongs, (states, -1))])  # [states, all]
    exact, squares, moved = weights.astype(float), np.zeros(6), np.zeros(weights.shape)
    for number in range(3):
        _, rows, gradient = problem(seed + number, tokens, features, states)
        for twin, table in zip(TWINS, tables):
            twin.step(*table, rows, gradient, members, bounds, 0.3, l2, 10.0 * number)
        touched = np.isin(np.arange(6), rows)[:, None]
        whole = ((dense(weights, rows, gradient) + l2 * exact) * touched) @ both_kinds
        squares += (whole**2).sum(axis=1)
        change = -0.3 * whole / (np.sqrt(squares)[:, None] + 1e-8) @ both_kinds.T
        exact += change
        moved += 10.0 * number * change
    for table in tables:
        for found, wanted in zip(table, (exact, squares, moved, np.full(6, -1))):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@both
def test_a_feature_that_a_token_has_twice_counts_twice(kernel: Any) -> None:
    weights, rows = np.ones((1, 2), "f"), np.array([[0, 0, -1]], dtype=np.int32)
    assert kernel.emit(weights, rows).tolist() == [[2.0, 2.0]]
    squares = np.zeros(1, "f")
    gradient = np.array([[3.0, 4.0]], "f")
    table = (weights, squares, np.zeros((1, 2), "f"), np.full(1, -1, "i"))
    kernel.step(*table, rows, gradient, *NO_GROUPS, 0.5, 0, 0)
    assert squares.tolist() == [100.0]  # 6 ** 2 + 8 ** 2
    assert weights[0] == pytest.approx([1 - 0.5 * 0.6, 1 - 0.5 * 0.8])


@both
def test_a_gradient_of_another_shape_is_refused(kernel: Any) -> None:
    table = (np.ones((1, 2), "f"), np.zeros(1, "f"), np.zeros((1, 2), "f"), np.full(1, -1, "i"))
    with pytest.raises(ValueError, match="shape"):
        kernel.step(*table, np.zeros((1, 1), "i"), np.ones((1, 3), "f"), *NO_GROUPS, 0.1, 0.0, 0.0)
