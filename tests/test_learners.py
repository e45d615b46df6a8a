"""Learners on hashed features: gradients, what they can learn, one call or several, any choices."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import SCHEMES
from spacy_iobes.chain import Batch, best
from spacy_iobes.codes.classes import classes
from spacy_iobes.errors import ModelError, NoPathError, UnknownNameError
from spacy_iobes.learners import (
    LEARNERS,
    Crf,
    Epoch,
    Options,
    Softmax,
    StepWeights,
    get_learner,
    make_learner,
    sharing,
)
from spacy_iobes.ml import TagChain, groups_of

from .test_winnow import TWO, separable

SCHEMES_HERE = [SCHEMES[name] for name in ("io", "bio", "bia", "bie")] + [TWO]
LABELS = ("x", "y")
OPTIONS = Options(bits=10, epochs=20, passes=20)
each_scheme = pytest.mark.parametrize("scheme", SCHEMES_HERE, ids=lambda scheme: scheme.name)
each_learner = pytest.mark.parametrize("name", LEARNERS)


def state_scores(learner: Any, features: Any, scheme: Any) -> Any:
    """The scores of states, class by class."""
    found, kinds = learner.class_scores(features), classes(LABELS, scheme)
    assert found.shape == (len(features), len(kinds.names))
    return sum(found[:, kinds.of_state[:, h]] for h in range(kinds.choices))


@each_scheme
@each_learner
def test_every_learner_learns_under_every_scheme(name: str, scheme: Any) -> None:
    _, features, offsets, path = separable(4, scheme, units=150)
    learner = make_learner(name, scheme, LABELS, OPTIONS)
    learner.learn(features, offsets, path)
    scores = np.ascontiguousarray(state_scores(learner, features, scheme))
    found = best(learner.chain, Batch(scores, offsets)).states
    assert (found == path).mean() > (0.9 if "incremental" in name else 0.98)


@each_scheme
@each_learner
def test_the_same_seed_gives_the_same_scores(name: str, scheme: Any) -> None:
    _, features, offsets, path = separable(5, scheme)
    before = features.copy()
    made = [make_learner(name, scheme, LABELS, replace(OPTIONS, seed=s)) for s in (3, 3, 4)]
    for learner in made:
        learner.learn(features, offsets, path)
    first, second, other = (learner.class_scores(features) for learner in made)
    assert (features == before).all()
    np.testing.assert_array_equal(first, second)
    assert (first == other).all() == (name == "winnow-incremental")


@each_learner
def test_new_examples_are_learned_and_old_ones_kept(name: str) -> None:
    """States whose own features come only in the second half."""
    _, features, offsets, path = separable(6, SCHEMES["bio"], units=200)
    half = int(offsets[100])
    features[half:, :2] += 200  # the same states, said by features that are new
    learner = make_learner(name, "bio", LABELS, OPTIONS)
    learner.learn(features[:half], offsets[:101], path[:half])
    right = (state_scores(learner, features, SCHEMES["bio"]).argmax(axis=1) == path).astype(float)
    assert right[:half].mean() > 0.9 > 0.6 > right[half:].mean()
    learner.learn(features[half:], offsets[100:] - half, path[half:])
    scores = np.ascontiguousarray(state_scores(learner, features, SCHEMES["bio"]))
    found = best(learner.chain, Batch(scores, offsets)).states == path
    assert found[:half].mean() > 0.9
    assert found[half:].mean() > 0.9


@each_learner
def test_a_few_new_examples_count_beside_many_old_ones(name: str) -> None:
    _, features, offsets, path = separable(8, SCHEMES["bio"], units=320)
    old = int(offsets[300])
    features[old:, :2] += 200
    learner = make_learner(name, "bio", LABELS, OPTIONS)
    learner.learn(features[:old], offsets[:301], path[:old])
    learner.learn(features[old:], offsets[300:] - old, path[old:])
    found = state_scores(learner, features, SCHEMES["bio"]).argmax(axis=1) == path
    assert found[:old].mean() > 0.9
    assert found[old:].mean() > (0.7 if "incremental" in name else 0.9)


def paths_of(tags: TagChain, length: int) -> list[tuple[int, ...]]:
    """All legal paths, one by one."""
    legal = tags.states.legal
    return [
        path
        for path in product(range(len(tags)), repeat=length)
        if legal.start[path[0]]
        and legal.stop[path[-1]]
        and all(legal.step[a, b] for a, b in pairwise(path))
    ]


@pytest.mark.parametrize("scheme", [SCHEMES["bio"], TWO], ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_of_the_crf(scheme: Any, seed: int) -> None:
    """Against differences of the loss, which is summed over every legal path."""
    random = np.random.default_rng(seed)
    tags, kinds, length = TagChain(scheme, ("x",)), classes(("x",), scheme), 3
    learner = Crf(tags, kinds, OPTIONS)
    steps = learner.steps
    start, step, stop = (random.normal(size=s) for s in (len(tags), (len(tags),) * 2, len(tags)))
    steps.weights += np.concatenate([start, step.ravel(), stop])
    scores = random.normal(size=(length, len(kinds.names)))
    every = paths_of(tags, length)
    gold = every[int(random.integers(len(every)))]

    def score(path: tuple[int, ...], scores: Any) -> float:
        found = start[path[0]] + stop[path[-1]] + sum(step[a, b] for a, b in pairwise(path))
        return float(found + sum(scores[n, kinds.of_state[s]].sum() for n, s in enumerate(path)))

    def loss(scores: Any) -> float:
        return float(np.logaddexp.reduce([score(p, scores) for p in every]) - score(gold, scores))

    found = learner.gradient(
        scores.astype(np.float32), np.array([0, length]), np.array(gold, dtype=np.int32)
    )
    np.testing.assert_allclose(found, differences(loss, scores), atol=1e-3)


@pytest.mark.parametrize("scheme", [SCHEMES["bio"], TWO], ids=lambda scheme: scheme.name)
def test_the_gradient_of_softmax(scheme: Any) -> None:
    random = np.random.default_rng(0)
    tags, kinds = TagChain(scheme, LABELS), classes(LABELS, scheme)
    scores = random.normal(size=(4, len(kinds.names)))
    path = random.integers(0, len(tags), 4).astype(np.int32)

    def loss(scores: Any) -> float:
        total = 0.0
        for row, state in zip(scores, path):
            for a, b, right in zip(kinds.bounds[:-1], kinds.bounds[1:], kinds.of_state[state]):
                total += np.logaddexp.reduce(row[a:b]) - row[right]
        return float(total)

    found = Softmax(tags, kinds, OPTIONS).gradient(scores.astype(np.float32), np.arange(5), path)
    np.testing.assert_allclose(found, differences(loss, scores), atol=1e-3)


def differences(loss: Any, at: Any) -> Any:
    """The gradient, by changing one number at a time."""
    found = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        change = np.zeros_like(at)
        change[place] = 1e-5
        found[place] = (loss(at + change) - loss(at - change)) / 2e-5
    return found


def test_steps_learn_against_their_gradient_and_stay_illegal() -> None:
    """Two steps by hand: AdaGrad at 0.5, and the average that counts them once and four times."""
    tags = TagChain(SCHEMES["bio"], ("x",))
    steps = StepWeights(tags.even, 0.5)
    gradient = np.zeros((3, 3))
    gradient[0, 1] = 2.0
    for _ in range(2):
        steps.learn(np.zeros(3), gradient, np.zeros(3))
    first = -0.5 * 2 / 2.0
    second = first - 0.5 * 2 / np.sqrt(8.0)
    assert steps.chain.step[0, 1] == pytest.approx(second)
    assert steps.average.step[0, 1] == pytest.approx((first + 4 * second) / 5)
    assert steps.average.step[0, 2] == steps.average.start[2] == -np.inf
    assert steps.average.step[1, 2] == 0


def test_probabilities_add_up_within_a_choice() -> None:
    _, features, offsets, path = separable(7, TWO)
    for name in ("softmax", "winnow", "winnow-incremental"):
        learner = make_learner(name, TWO, LABELS, OPTIONS)
        learner.learn(features, offsets, path)
        found = np.exp(learner.class_scores(features))
        np.testing.assert_allclose(found[:, :3].sum(axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(found[:, 3:].sum(axis=1), 1, rtol=1e-5)


def test_classes_share_what_they_learn_with_those_of_their_choice() -> None:
    members, _ = groups_of(*sharing(classes(LABELS, TWO)))
    assert not len(members)
    members, bounds = groups_of(*sharing(classes(LABELS, "bio")))
    assert (members.tolist(), bounds.tolist()) == ([1, 2, 3, 4], [0, 2, 4])


@given(st.lists(st.integers(0, 9)), st.integers(1, 20), st.booleans())
def test_every_unit_comes_once_and_whole(lengths: list[int], words: int, shuffled: bool) -> None:
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    units = [list(range(a, b)) for a, b in pairwise(offsets.tolist())]
    epoch = Epoch.of(offsets, words, np.random.default_rng(1) if shuffled else None)
    met = []
    for at, inner in epoch:
        tokens = epoch.tokens[at].tolist()
        mine = [tokens[a:b] for a, b in pairwise(inner.tolist())]
        assert sum(map(len, mine)) == len(tokens)
        assert sum(map(len, mine[:-1])) < words
        met += mine
    assert sorted(filter(None, met)) == sorted(filter(None, units))
    if not shuffled:
        assert epoch.tokens.tolist() == list(range(int(offsets[-1])))


@each_learner
def test_nothing_to_learn_and_nothing_to_score(name: str) -> None:
    learner = make_learner(name, "bio", LABELS, OPTIONS)
    nothing = np.zeros((0, 3), dtype=np.int32)
    learner.learn(nothing, np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    assert learner.class_scores(nothing).shape == (0, 5)
    assert np.isfinite(learner.class_scores(np.full((1, 3), 7, dtype=np.int32))).all()


@each_learner
def test_what_does_not_fit_is_refused(name: str) -> None:
    learner = make_learner(name, "bio", LABELS, OPTIONS)
    rows, ends, path = np.zeros((2, 1), np.int32), np.array([0, 2]), np.zeros(2, np.int32)
    with pytest.raises(ModelError, match="from -1 to 2 \\*\\* 10 - 1"):
        learner.learn(rows + 1024, ends, path)
    with pytest.raises(ModelError, match="from -1 to 2 \\*\\* 10 - 1"):
        learner.class_scores(rows + 1024)
    with pytest.raises(ModelError, match="whole numbers"):
        learner.class_scores(cast(Any, rows + 0.5))
    with pytest.raises(ModelError, match="from 0 to 2"):
        learner.learn(rows, np.array([0, 1]), path)
    with pytest.raises(ModelError, match="2 tokens"):
        learner.learn(rows, ends, path[:1])
    with pytest.raises(ModelError, match="between 0 and 4"):
        learner.learn(rows, ends, path + 5)


def test_a_crf_refuses_an_illegal_path() -> None:
    learner = make_learner("crf", "bio", LABELS, OPTIONS)
    with pytest.raises(NoPathError, match="agrees with the gold"):
        learner.learn(np.zeros((2, 1), np.int32), np.array([0, 2]), np.array([0, 2], np.int32))


def test_names() -> None:
    assert all(name == row.name and row.summary for name, row in LEARNERS.items())
    with pytest.raises(UnknownNameError, match=r"'svm'\. Known: crf, softmax, winnow, winnow-inc"):
        get_learner("svm")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"epochs": 0}, "epochs is at least 1, not 0"),
        ({"dropout": 1.0}, "dropout is a probability below 1"),
        ({"damping": -1.0}, "damping is at least 0"),
        ({"alpha": 1.0}, "alpha is above 1"),
        ({"beta": 1.5}, "beta is between 0 and 1"),
        ({"bits": 31}, "bits is from 1 to 30"),
    ],
)
def test_settings_that_are_none(setting: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Options(**setting)
