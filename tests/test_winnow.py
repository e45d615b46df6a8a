"""Winnow: the kernel beside its twin, what it does to weights, and what it can learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import SCHEMES, kernels
from spacy_iobes.codes.classes import classes
from spacy_iobes.kernels import winnow_python
from spacy_iobes.learners import Options, Winnow, fitted
from spacy_iobes.ml import TagChain

TWO = replace(SCHEMES["bie"], name="two", choices=("B", "E"))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, ...]:
    """Tokens with features, in some order, and the right classes of one to three choices."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    bounds = np.cumsum([0, *sizes], dtype=np.int32)
    tokens, features, known = (draw(st.integers(0, most)) for most in (12, 4, 5))
    row = st.integers(-1, known - 1)
    rows = draw(st.lists(st.tuples(*[row] * features), min_size=tokens, max_size=tokens))
    right = [
        [draw(st.integers(a, b - 1)) for a, b in pairwise(bounds.tolist())] for _ in range(tokens)
    ]
    order = draw(st.lists(st.integers(0, tokens - 1), max_size=30)) if tokens else []
    numbers = st.sampled_from([0.25, 0.5, 1.0, 1.5, 4.0])
    weights = [draw(numbers) for _ in range(known * 2 * int(bounds[-1]))]
    return (
        np.array(weights, dtype=np.float32).reshape(known, 2, -1 if known else int(bounds[-1])),
        np.zeros((known, 2, int(bounds[-1])), dtype=np.float32),
        np.array(rows, dtype=np.int32).reshape(tokens, features),
        np.array(order, dtype=np.int64),
        np.array(right, dtype=np.int32).reshape(tokens, len(sizes)),
        bounds,
        draw(st.sampled_from([1.23, 2.0])),
        draw(st.sampled_from([0.83, 0.5])),
        draw(st.sampled_from([0.0, 0.05, 0.5])),
        draw(st.sampled_from([2.0, 4.0])),
        draw(st.sampled_from([0, 7])),
    )


@given(problems())
def test_twins_agree(problem: tuple[Any, ...]) -> None:
    compiled = pytest.importorskip(
        "spacy_iobes.kernels._winnow", reason="the kernels are not compiled here"
    )
    mine, other = ([value.copy() for value in problem[:2]] for _ in range(2))
    fast = compiled.winnow(*mine, *problem[2:])
    slow = winnow_python.winnow(other[0], other[1], *problem[2:])
    assert fast[0] == slow[0]
    np.testing.assert_array_equal(fast[1], slow[1])
    np.testing.assert_array_equal(mine[0], other[0])
    np.testing.assert_allclose(mine[1], other[1], rtol=1e-5, atol=1e-4)


@given(problems())
def test_what_happens_to_every_weight(problem: tuple[Any, ...]) -> None:
    """One weight at a time, in Python's own numbers; with powers of two, so that they are exact."""
    weights, moved, rows, order, right, bounds, _, _, threshold, most, past = problem
    held = weights.astype(float).tolist()
    found = weights.copy()
    for time, token in enumerate(order.tolist(), past + 1):
        mine = [row for row in rows[token].tolist() if row >= 0]
        if not mine:
            continue
        count = int(bounds[-1])
        score = [sum(held[r][0][c] - held[r][1][c] for r in mine) / len(mine) for c in range(count)]
        turn = [0] * count
        for h, wanted in enumerate(right[token].tolist()):
            for c in range(bounds[h], bounds[h + 1]):
                if c != wanted and score[wanted] - score[c] <= float(np.float32(threshold)):
                    turn[c], turn[wanted] = -1, 1
        boundaries = [abs(a - b - threshold) for a in score for b in score]
        if 0 < min(boundaries, default=1) < 1e-4:
            return  # too near to the threshold to be told apart
        mistakes, _ = kernels.winnow(
            found, moved, rows, np.array([token]), right, bounds, 2.0, 0.5, threshold, most, time
        )
        assert (mistakes > 0) == any(turn)
        for row in mine:
            for c, sign in enumerate(turn):
                if sign:
                    for side, factor in enumerate((2.0**sign, 0.5**sign)):
                        held[row][side][c] = min(max(held[row][side][c] * factor, 1 / most), most)
        np.testing.assert_array_equal(found, np.array(held, dtype=np.float32).reshape(found.shape))


def separable(seed: int, scheme: Any, units: int = 40) -> tuple[TagChain, Any, Any, Any]:
    """Legal paths, with features that say the state in their own way among others that do not."""
    random = np.random.default_rng(seed)
    tags = TagChain(scheme, ("x", "y"))
    legal, paths = tags.states.legal, []
    for length in random.integers(1, 9, units):
        states = [int(random.choice(np.flatnonzero(legal.start)))]
        while len(states) < length or not legal.stop[states[-1]]:
            states.append(int(random.choice(np.flatnonzero(legal.step[states[-1]]))))
        paths.append(states)
    path = np.concatenate(paths).astype(np.int32)
    noise = random.integers(100, 1000, (len(path), 2))
    features = np.column_stack([path, path + 50, noise]).astype(np.int32)
    return tags, features, np.cumsum([0, *map(len, paths)], dtype=np.int64), path


@pytest.mark.parametrize("scheme", [SCHEMES["bio"], SCHEMES["bia"], TWO], ids=lambda s: s.name)
def test_it_learns_what_can_be_told_apart(scheme: Any) -> None:
    tags, features, offsets, path = separable(1, scheme)
    kinds = classes(tags.labels, scheme)
    learner = Winnow(tags, kinds, Options(passes=50, bits=10))
    learner.learn(features, offsets, path)
    for _ in range(2):
        raw = learner.raw_scores(features)
        for h, (a, b) in enumerate(pairwise(kinds.bounds.tolist())):
            assert (raw[:, a:b].argmax(axis=1) + a == kinds.of_state[path][:, h]).all()
        learner.learn(features, offsets, path)
    assert learner.met < 50 * len(path), "it ends when there are no mistakes"
    found = np.exp(learner.class_scores(features))
    np.testing.assert_allclose(np.add.reduceat(found, kinds.bounds[:-1], axis=1), 1, rtol=1e-5)


def test_a_single_pass_meets_every_token_once_and_in_order() -> None:
    tags, features, offsets, path = separable(2, SCHEMES["bio"])
    kinds, options = classes(tags.labels, SCHEMES["bio"]), Options(bits=10)
    whole, parts = (Winnow(tags, kinds, options, once=True) for _ in range(2))
    whole.learn(features, offsets, path)
    for a, b in pairwise(offsets.tolist()):  # unit by unit is the same as all at once
        parts.learn(features[a:b], np.array([0, b - a]), path[a:b])
    assert whole.met == parts.met == len(path)
    np.testing.assert_allclose(whole.raw_scores(features), parts.raw_scores(features), atol=1e-6)
    assert whole.scale == parts.scale


def test_nothing_known_is_no_reason_to_prefer_a_class() -> None:
    tags, features, offsets, path = separable(3, SCHEMES["bio"])
    learner = Winnow(tags, classes(tags.labels, SCHEMES["bio"]), Options(bits=10))
    learner.learn(features, offsets, path)
    unseen = np.array([[-1, -1, -1, -1], [1023, 1022, 1021, 1020]], dtype=np.int32)
    np.testing.assert_allclose(np.exp(learner.class_scores(unseen)), 1 / 5, rtol=1e-5)


@given(st.lists(st.tuples(st.floats(-2, 2), st.integers(0, 1)), min_size=4, max_size=20))
def test_the_scale_is_the_most_likely_one(rows: list[tuple[float, int]]) -> None:
    scores = np.array([[0.0, margin] for margin, _ in rows], dtype=np.float32)
    right = np.array([[wanted] for _, wanted in rows], dtype=np.int32)

    def likelihood(scale: float) -> float:
        total = 0.0
        for (_, margin), (wanted,) in zip(scores.tolist(), right.tolist()):
            total -= np.log1p(exp(min((1 - 2 * wanted) * scale * margin, 700)))
        return float(total)

    found = fitted(scores, right, np.array([0, 2], dtype=np.int32))
    assert 0.001 <= found <= 1000
    best = max(likelihood(scale) for scale in np.geomspace(0.001, 1000, 200))
    assert likelihood(found) >= best - 1e-3
