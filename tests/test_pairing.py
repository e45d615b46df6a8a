"""Begins and ends put together, against every set of disjoint spans and every rule by hand."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spacy_iobes.chain.pairing import Pairs, length_scores, match, pair
from spacy_iobes.errors import ChainError

from . import by_hand

Floats = NDArray[np.float64]
LABELS = ("X", "Y")


def logarithms(random: np.random.Generator, rows: int, columns: int, spread: float = 2.0) -> Floats:
    """Random probabilities, as their logarithms."""
    values = random.normal(size=(rows, columns)) * spread
    found: Floats = values - np.log(np.exp(values).sum(axis=1, keepdims=True))
    return found


def members(found: Pairs, sentence: int = 0) -> list[tuple[int, int, int]]:
    columns = (found.start, found.end, found.label)
    rows = zip(found.sentence.tolist(), *(column.tolist() for column in columns))
    return [(start, end, label) for s, start, end, label in rows if s == sentence]


def weight(
    span: tuple[int, int, int], begin: Floats, end: Floats, lengths: Floats, floor: float
) -> float:
    """How much more probable a span makes all, word for word."""
    start, stop, label = span
    p_begin, p_end = (np.exp(rows) for rows in (begin[start], end[stop - 1]))
    if p_begin[label + 1] <= floor or p_end[label + 1] <= floor or stop - start > lengths.shape[1]:
        return -np.inf
    ratio = p_begin[label + 1] / p_begin[0] * p_end[label + 1] / p_end[0]
    return float(np.log(ratio) + lengths[label, stop - start - 1])


@pytest.mark.parametrize("floor", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("longest", [1, 3, 5])
def test_no_set_of_disjoint_spans_is_better(floor: float, longest: int) -> None:
    random = np.random.default_rng(0)
    for length, bias in product(range(6), (-1.0, 0.0, 2.0)):
        sets = [
            [(a, b, LABELS.index(name)) for a, b, name in spans]
            for spans in by_hand.span_sets(length, LABELS)
        ]
        for _ in range(5):
            begin, end = (logarithms(random, length, 3) for _ in range(2))
            lengths = logarithms(random, 2, longest)
            found = pair(begin, end, [0, length], lengths, floor=floor, bias=bias)
            value = {
                span: weight(span, begin, end, lengths, floor) + bias for s in sets for span in s
            }
            best = max(sum(value[span] for span in spans) for spans in sets)
            mine = members(found)
            assert sorted(mine) in [sorted(spans) for spans in sets]
            assert sum(value[span] for span in mine) == pytest.approx(best)
            assert found.score.tolist() == pytest.approx([value[span] for span in mine])


def test_it_is_the_most_probable_of_all_that_two_classifiers_can_say() -> None:
    """Every set of spans says what begins and ends at every token; the product decides."""
    random = np.random.default_rng(1)
    for _ in range(20):
        begin, end = (logarithms(random, 4, 3) for _ in range(2))
        lengths = logarithms(random, 2, 4)
        found = {}
        for spans in by_hand.span_sets(4, LABELS):
            first, last, sizes = [0] * 4, [0] * 4, 0.0
            for a, b, name in spans:
                first[a] = last[b - 1] = LABELS.index(name) + 1
                sizes += lengths[LABELS.index(name), b - a - 1]
            total = begin[range(4), first].sum() + end[range(4), last].sum() + sizes
            found[tuple((a, b, LABELS.index(name)) for a, b, name in spans)] = total
        best = max(found, key=lambda spans: found[spans])
        assert tuple(members(pair(begin, end, [0, 4], lengths, floor=0))) == best


def test_sentences_have_nothing_to_do_with_each_other() -> None:
    random, sizes = np.random.default_rng(2), [3, 0, 5, 1, 0, 4]
    offsets = np.cumsum([0, *sizes])
    begin, end = (logarithms(random, sum(sizes), 4) for _ in range(2))
    lengths = logarithms(random, 3, 4)
    for rule in (pair, match):
        together = rule(begin, end, offsets, lengths)
        for number, (a, b) in enumerate(pairwise(offsets.tolist())):
            alone = rule(begin[a:b], end[a:b], [0, b - a], lengths)
            assert members(together, number) == members(alone)
        assert together.sentence.tolist() == sorted(together.sentence.tolist())
        assert len(together.start), "a test that sees nothing"


def test_nothing() -> None:
    none = np.zeros((0, 3))
    rules: tuple[Any, ...] = (pair, match)
    for offsets, rule in product(([0], [0, 0, 0]), rules):
        assert [len(column) for column in rule(none, none, offsets, np.zeros((2, 4)))] == [0] * 5
    no_labels = np.zeros((4, 1))
    for rule in rules:
        assert len(rule(no_labels, no_labels, [0, 4], np.zeros((0, 3))).start) == 0
    two = np.log(np.full((4, 3), 1 / 3))
    assert len(pair(two, two, [0, 4], np.zeros((2, 0))).start) == 0


# ELIE


def elie(begin: Floats, end: Floats, lengths: Floats, overlap: bool) -> list[tuple[int, int, int]]:
    """The published rule, word for word, for one sentence."""
    found: dict[tuple[int, int, int], float] = {}
    for s, t in enumerate(begin.argmax(axis=1).tolist()):
        ends = [e for e in range(s, len(end)) if t and end[e].argmax() == t]
        chance = {e: np.exp(lengths[t - 1, e - s]) for e in ends if e - s < lengths.shape[1]}
        chance = {e: p for e, p in chance.items() if p > 0}
        if chance:
            e = max(chance, key=lambda e: chance[e])
            found[s, e + 1, t - 1] = chance[e] * np.exp(begin[s, t]) * np.exp(end[e, t])
    if overlap:
        return sorted(found)
    kept: list[tuple[int, int, int]] = []
    for span in sorted(found, key=lambda span: -found[span]):
        if all(span[1] <= other[0] or other[1] <= span[0] for other in kept):
            kept.append(span)
    return sorted(kept)


@pytest.mark.parametrize("overlap", [True, False])
def test_the_rule_of_elie(overlap: bool) -> None:
    random, some = np.random.default_rng(3), 0
    for length in (1, 2, 5, 9):
        for _ in range(40):
            begin, end = (logarithms(random, length, 3) for _ in range(2))
            lengths = logarithms(random, 2, 4)
            lengths[random.random(lengths.shape) < 0.3] = -np.inf
            found = match(begin, end, [0, length], lengths, overlap=overlap)
            assert members(found) == elie(begin, end, lengths, overlap)
            some += len(found.start)
    assert some > 100


def test_what_elie_keeps() -> None:
    sure, unsure = np.log([0.1, 0.9]), np.log([0.4, 0.6])
    none = np.log([0.9, 0.1])
    begin, end = np.array([unsure, sure, none, none]), np.array([none, none, sure, unsure])
    lengths = np.log([[0.1, 0.3, 0.4, 0.2]])
    both = match(begin, end, [0, 4], lengths)
    assert members(both) == [(0, 3, 0), (1, 4, 0)]  # of length 3, the likeliest, both
    np.testing.assert_allclose(np.exp(both.score), [0.4 * 0.6 * 0.9, 0.4 * 0.9 * 0.6])
    assert members(match(begin, end, [0, 4], lengths, overlap=False)) == [(0, 3, 0)]
    lengths = np.log([[0.1, 0.5, 0.3, 0.1]])  # now 2 is likelier than 3
    assert members(match(begin, end, [0, 4], lengths)) == [(0, 3, 0), (1, 3, 0)]
    assert members(match(begin, end, [0, 4], lengths, overlap=False)) == [(1, 3, 0)]


# lengths


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), max_size=20),
    st.integers(0, 12),
    st.sampled_from([0.01, 1.0, 5.0]),
)
def test_lengths_are_probabilities(
    spans: list[tuple[int, int]], longest: int, alpha: float
) -> None:
    label, length = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    found = length_scores(label, length, 3, longest, alpha)
    assert found.shape == (3, longest or max([1, *length.tolist()]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1)


def test_lengths_by_hand() -> None:
    # label 0: 1, 2, 3, a mean of 2, so a tail of 4/7, 2/7, 1/7; label 1: nothing but 1
    found = np.exp(length_scores([0, 0, 0, 1], [1, 2, 3, 1], 2))
    tail = np.array([4, 2, 1]) / 7
    np.testing.assert_allclose(found[0], (1 + tail) / 4)
    np.testing.assert_allclose(found[1], (np.array([1, 0, 0]) + np.array([4, 2, 1]) / 7) / 2)
    exact = np.exp(length_scores([0, 0, 0, 1], [1, 2, 3, 1], 2, alpha=0))
    np.testing.assert_allclose(exact, np.array([[1, 1, 1], [3, 0, 0]]) / 3)
    # one that nothing is known of has the tail of all
    np.testing.assert_allclose(np.exp(length_scores([0, 0], [1, 3], 2, 2))[1], [2 / 3, 1 / 3])


# what does not fit


@pytest.mark.parametrize("rule", [pair, match])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"begin": np.zeros((3, 2))}, "begin and end"),
        ({"end": np.zeros((2, 3))}, "begin and end"),
        ({"lengths": np.zeros((1, 4))}, "a row for each of 2 labels"),
        ({"offsets": [0, 2]}, "there are 3 tokens"),
        ({"offsets": [0, 4, 3]}, "rise from 0"),
        ({"offsets": [0.0, 3.0]}, "whole numbers"),
        ({"begin": np.full((3, 3), np.nan)}, "begin"),
        ({"lengths": np.full((2, 4), np.inf)}, "lengths"),
        ({"end": np.array([[-1, -1, -1], [-np.inf, -1, -1], [-1, -1, -1]])}, "end rules out"),
    ],
)
def test_what_does_not_fit(rule: Any, change: dict[str, Any], message: str) -> None:
    even = np.log(np.full((3, 3), 1 / 3))
    given_arrays = {"begin": even, "end": even, "offsets": [0, 3], "lengths": np.zeros((2, 4))}
    with pytest.raises(ChainError, match=message):
        rule(**(given_arrays | change))


def test_what_is_no_length_or_floor() -> None:
    even = np.log(np.full((3, 3), 1 / 3))
    for wrong in ({"floor": 1.0}, {"floor": -0.1}, {"bias": np.nan}):
        with pytest.raises(ChainError, match="floor is a probability"):
            pair(even, even, [0, 3], np.zeros((2, 4)), **wrong)
    for arguments in (([0], [0], 1), ([1], [1], 1), ([0], [1, 2], 1), ([0], [1], 1, 0, -1.0)):
        with pytest.raises(ChainError):
            length_scores(*arguments)
