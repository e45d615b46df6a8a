"""Inference over separators against every legal sequence, one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spacy_iobes.arrays import Floats
from spacy_iobes.chain import Batch, Chain, Spans, count, total
from spacy_iobes.chain.gaps import Gaps
from spacy_iobes.chain.separators import LEGAL, Best, Edge, Expected, Model, State, loss, loss_of
from spacy_iobes.errors import ChainError, NoPathError
from spacy_iobes.kernels import separators_numpy

from .chain_paths import log_sum
from .mention_sets import LEGAL_PATHS, NAMES, realised

LENGTHS = (3, 0, 1, 4, 2, 0)
LABELS = 3
every_spread = pytest.mark.parametrize("spread", [1.0, 40.0])


def sequences(length: int) -> list[tuple[int, ...]]:
    """Every sequence that some mentions are written as."""
    return [tuple(map(NAMES.index, names)) for names in realised(length)]


def random_gaps(spread: float = 1.0, seed: int = 0) -> Gaps:
    random = np.random.default_rng(seed)
    shape = (sum(LENGTHS) + len(LENGTHS), LABELS, 8)
    return Gaps.of(random.normal(size=shape) * spread, LENGTHS)


def random_steps(seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(LABELS, 8, 8))


class Twin(Edge):
    """The edges in numpy, which `Edge` uses only where nothing is compiled."""

    def total(self, gaps: Gaps) -> Floats:
        return separators_numpy.total(gaps.scores, gaps.offsets)

    def best(self, gaps: Gaps) -> Best:
        return Best(*separators_numpy.best(gaps.scores, gaps.offsets))

    def expect(self, gaps: Gaps) -> Expected:
        return Expected(*separators_numpy.expect(gaps.scores, gaps.offsets))

    def loss(self, gaps: Gaps, separators: NDArray[np.uint8]) -> tuple[Floats, Expected]:
        values, gradient = separators_numpy.loss(gaps.scores, gaps.offsets, separators)
        return values, Expected(values, gradient)

    def _messages(self, gaps: Gaps) -> tuple[Floats, Floats, Floats]:
        return separators_numpy.messages(gaps.scores, gaps.offsets)


def models() -> list[tuple[Model, Floats]]:
    """Every model, and its steps as they should count."""
    own, shared = random_steps(), random_steps(2)[0]
    none = np.zeros((LABELS, 8, 8))
    return [
        (Edge(), none),
        (Twin(), none),
        (State(np.zeros((8, 8))), none),
        (State(own), own),
        (State(shared), np.stack([shared] * LABELS)),
    ]


every_model = pytest.mark.parametrize(
    ("model", "step"),
    models(),
    ids=["edge", "twin", "state without steps", "state", "state, shared steps"],
)


def chains(gaps: Gaps, step: Floats) -> list[tuple[int, int, int, dict[tuple[int, ...], float]]]:
    """Every (sentence, label, first gap) with all its sequences and their scores."""
    found = []
    for sentence, label in product(range(len(gaps)), range(gaps.labels)):
        first, end = gaps.offsets[sentence : sentence + 2].tolist()
        own = gaps.scores[first:end, label].astype(float)
        scores = {
            path: float(
                sum(own[k, s] for k, s in enumerate(path))
                + sum(step[label, a, b] for a, b in pairwise(path))
            )
            for path in sequences(end - first - 1)
        }
        found.append((sentence, label, first, scores))
    return found


@every_model
@every_spread
def test_total(model: Model, step: Floats, spread: float) -> None:
    gaps = random_gaps(spread)
    found = model.total(gaps)
    assert found.shape == (len(LENGTHS), LABELS)
    for sentence, label, _, scores in chains(gaps, step):
        expected = log_sum(list(scores.values()))
        np.testing.assert_allclose(found[sentence, label], expected, atol=1e-9)


@every_model
@every_spread
def test_best(model: Model, step: Floats, spread: float) -> None:
    gaps = random_gaps(spread)
    found = model.best(gaps)
    for sentence, label, first, scores in chains(gaps, step):
        path = max(scores, key=lambda path: scores[path])
        assert tuple(found.separators[first : first + len(path), label]) == path
        np.testing.assert_allclose(found.score[sentence, label], scores[path], atol=1e-9)


@pytest.mark.parametrize("model", [Edge(), Twin(), State(np.zeros((8, 8)))])
def test_of_equal_sequences_the_lowest_comes_first(model: Model) -> None:
    gaps = Gaps.of(np.zeros((5, 1, 8)), [4])
    assert not model.best(gaps).separators.any()
    starts = np.array(["S" in name for name in NAMES], dtype=np.float64)
    points = Gaps.of(np.broadcast_to(starts, gaps.scores.shape), [4])  # one for every start
    scores = chains(points, np.zeros((1, 8, 8)))[0][3]
    top = max(scores.values())
    ties = [path for path, score in scores.items() if score == top]
    assert len(ties) > 1
    assert tuple(model.best(points).separators[:, 0]) == min(ties)


@every_model
@every_spread
def test_probabilities(model: Model, step: Floats, spread: float) -> None:
    gaps = random_gaps(spread)
    found = model.expect(gaps)
    expected, pairs = np.zeros(gaps.scores.shape), np.zeros((LABELS, 8, 8))
    for _, label, first, scores in chains(gaps, step):
        every = log_sum(list(scores.values()))
        for path, score in scores.items():
            probability = np.exp(score - every)
            expected[np.arange(first, first + len(path)), label, path] += probability
            for a, b in pairwise(path):
                pairs[label, a, b] += probability
    np.testing.assert_allclose(found.separators, expected, atol=1e-9)
    np.testing.assert_allclose(found.total, model.total(gaps), atol=1e-9)
    if isinstance(model, State):
        assert found.steps is not None
        shared = pairs if model.step.ndim == 3 else pairs.sum(axis=0)
        np.testing.assert_allclose(found.steps, shared, atol=1e-9)


@every_model
def test_nbest(model: Model, step: Floats) -> None:
    gaps, n = random_gaps(), 12
    found = model.nbest(gaps, n)
    assert found.separators.shape == (n, *gaps.scores.shape[:2])
    for sentence, label, first, scores in chains(gaps, step):
        every = log_sum(list(scores.values()))
        expected = sorted(scores, key=lambda path: -scores[path])[:n]
        rows = found.separators[:, first : first + LENGTHS[sentence] + 1, label]
        assert [tuple(row) for row in rows[: len(expected)].tolist()] == expected
        logs = [scores[path] - every for path in expected]
        logs += [-np.inf] * (n - len(expected))
        np.testing.assert_allclose(found.log_probability[:, sentence, label], logs, atol=1e-9)


@every_model
def test_samples_are_as_frequent_as_they_are_probable(model: Model, step: Floats) -> None:
    gaps, n = random_gaps(), 4000
    drawn = model.sample(gaps, n, np.random.default_rng(3))
    for _, label, first, scores in chains(gaps, step):
        length = len(next(iter(scores)))
        paths = Counter(map(tuple, drawn[:, first : first + length, label].tolist()))
        assert set(paths) <= set(scores)
    frequency = (drawn[..., None] == np.arange(8)).mean(axis=0)
    np.testing.assert_allclose(frequency, model.expect(gaps).separators, atol=0.05)


def gold(seed: int = 5) -> NDArray[np.uint8]:
    """A legal sequence for every chain of `random_gaps`."""
    random = np.random.default_rng(seed)
    rows = []
    for length in LENGTHS:
        every = sequences(length)
        rows.append(np.array([every[i] for i in random.integers(len(every), size=LABELS)]).T)
    return np.concatenate(rows).astype(np.uint8)


@every_model
def test_the_loss_is_that_of_the_gold(model: Model, step: Floats) -> None:
    gaps, path = random_gaps(), gold()
    values, gradient = loss(model, gaps, gaps.known(path))
    again, other = loss_of(model, gaps, path)
    np.testing.assert_allclose(again, values, atol=1e-9)
    np.testing.assert_allclose(other.separators, gradient.separators, atol=1e-9)
    if gradient.steps is not None and other.steps is not None:
        np.testing.assert_allclose(other.steps, gradient.steps, atol=1e-9)
    assert (gradient.steps is None) == (other.steps is None)
    for sentence, label, first, scores in chains(gaps, step):
        mine = tuple(path[first : first + LENGTHS[sentence] + 1, label].tolist())
        expected = log_sum(list(scores.values())) - scores[mine]
        np.testing.assert_allclose(values[sentence, label], expected, atol=1e-9)


@every_model
def test_the_gradient_by_differences(model: Model, step: Floats) -> None:
    """Half of the gaps are known in part only."""
    gaps, small = random_gaps(), 1e-5
    allowed = gold()[..., None] == np.arange(8)
    allowed[::2] |= allowed[::2, :, ::-1] | (np.arange(8) % 3 == 0)
    gradient = loss(model, gaps, gaps.limited(allowed))[1]

    def value(scores: Floats, used: Model) -> float:
        changed = Gaps.of(scores, LENGTHS)
        known = changed.limited(allowed)
        return float((used.total(changed) - used.total(known)).sum())

    for place in np.ndindex(*gaps.scores.shape):
        moved = [gaps.scores.astype(float) for _ in range(2)]
        moved[0][place] += small
        moved[1][place] -= small
        slope = (value(moved[0], model) - value(moved[1], model)) / (2 * small)
        np.testing.assert_allclose(gradient.separators[place], slope, atol=1e-6)
    if not isinstance(model, State):
        return
    assert gradient.steps is not None
    for place in zip(*np.nonzero(model.step > -np.inf)):
        steps = [model.step.copy() for _ in range(2)]
        steps[0][place] += small
        steps[1][place] -= small
        up, down = (value(gaps.scores.astype(float), State(changed)) for changed in steps)
        np.testing.assert_allclose(gradient.steps[place], (up - down) / (2 * small), atol=1e-6)


@pytest.mark.parametrize(("length", "paths"), LEGAL_PATHS.items())
def test_the_number_of_sequences(length: int, paths: int) -> None:
    gaps = Gaps.of(np.zeros((length + 1, 1, 8)), [length])
    for model in (Edge(), Twin(), State(np.zeros((8, 8)))):
        np.testing.assert_allclose(np.exp(model.total(gaps)), paths)
    ends = np.where(np.isin(NAMES, ["X", "S"]), 0.0, -np.inf)
    stop = np.where(np.isin(NAMES, ["X", "E"]), 0.0, -np.inf)
    chain = Chain(ends, np.where(LEGAL, 0.0, -np.inf), stop)
    assert count(chain, Batch.of(np.zeros((length + 1, 8)), [length + 1])) == [paths]


@every_spread
def test_edges_are_a_chain_of_four_states(spread: float) -> None:
    """X, S, E, and the five others as one: another way to say the same."""
    gaps = random_gaps(spread)
    scores = gaps.scores.astype(float)
    inside = [[log_sum(row[3:].tolist()) for row in rows] for rows in scores]
    four = np.concatenate([scores[..., :3], np.array(inside)[..., None]], axis=2)
    before, behind = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    start, stop = (np.where(side, -np.inf, 0.0) for side in (before, behind))
    chain = Chain(start, np.where(behind[:, None] == before, 0.0, -np.inf), stop)
    found = Edge().total(gaps)
    for label in range(LABELS):
        batch = Batch.of(four[:, label], np.array(LENGTHS) + 1)
        np.testing.assert_allclose(found[:, label], total(chain, batch), atol=1e-9)


@every_model
@every_spread
def test_the_score_of_a_mention(model: Model, step: Floats, spread: float) -> None:
    """By enumeration: a start, an end, and all between goes on."""
    gaps = random_gaps(spread)
    rows, expected = [], []
    for sentence, label, _, scores in chains(gaps, step):
        every = log_sum(list(scores.values()))
        for start, end in product(range(LENGTHS[sentence] + 1), repeat=2):
            fitting = [
                score
                for path, score in scores.items()
                if start < end
                and "S" in NAMES[path[start]]
                and "E" in NAMES[path[end]]
                and all("C" in NAMES[path[k]] for k in range(start + 1, end))
            ]
            if start < end:
                rows.append((sentence, start, end, label))
                expected.append(log_sum(fitting) - every)
    found = model.mentions(gaps, Spans.of(rows))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert model.mentions(gaps, Spans.of([])).shape == (0,)
    with pytest.raises(ChainError, match="0:4 of label 0 in sequence 0"):
        model.mentions(gaps, Spans.of([(0, 0, 4, 0)]))


@every_model
def test_what_follows(model: Model, step: Floats) -> None:
    """By enumeration: of all sequences with one separator at a gap, those with another behind."""
    gaps = random_gaps()
    found = model.onward(gaps, range(8), range(8))
    for _, label, first, scores in chains(gaps, step):
        for k in range(1, len(next(iter(scores)))):
            pairs = np.zeros((8, 8))
            for path, score in scores.items():
                pairs[path[k - 1], path[k]] += np.exp(score)
            every = pairs.sum(axis=1)
            reached = every > 0
            expected = pairs[reached] / every[reached, None]
            np.testing.assert_allclose(found[first + k, label][reached], expected, atol=1e-9)
        assert not found[first].any()


def test_the_score_of_a_mention_where_none_can_go_on() -> None:
    allowed = np.ones((5, 1, 8), dtype=bool)
    allowed[2, :, 4:] = False
    gaps = Gaps.of(np.zeros((5, 1, 8)), [4]).limited(allowed)
    for model in (Edge(), State(np.zeros((8, 8)))):
        found = model.mentions(gaps, Spans.of([(0, 0, 4, 0), (0, 0, 2, 0), (0, 2, 4, 0)]))
        assert found[0] == -np.inf
        assert (found[1:] > -np.inf).all()


def test_the_score_of_a_path() -> None:
    gaps, path = random_gaps(), gold()
    found = separators_numpy.follow(path, gaps.scores, gaps.offsets)
    for sentence, label, first, scores in chains(gaps, np.zeros((LABELS, 8, 8))):
        mine = tuple(path[first : first + LENGTHS[sentence] + 1, label].tolist())
        np.testing.assert_allclose(found[sentence, label], scores[mine])
    path[0, 1] = 2  # no sentence begins with an end
    assert separators_numpy.follow(path, gaps.scores, gaps.offsets)[0, 1] == -np.inf


def test_a_bias_is_for_every_start_and_every_end_within() -> None:
    gaps = random_gaps()
    added = gaps.biased(0.5).scores - gaps.scores
    counts = [("S" in name) + ("EC" in name) for name in NAMES]
    np.testing.assert_allclose(added, np.broadcast_to(counts, added.shape) / 2)


@pytest.mark.parametrize("model", [Edge(), Twin(), State(np.zeros((8, 8))), State(random_steps())])
def test_single_precision_and_long_sentences(model: Model) -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(3001, LABELS, 8)).astype(np.float32) * 10
    gaps, exact = Gaps.of(scores, [3000]), Gaps.of(scores.astype(float), [3000])
    np.testing.assert_allclose(model.total(gaps), model.total(exact), rtol=1e-6)
    found = model.expect(gaps).separators
    np.testing.assert_allclose(found.sum(axis=2), 1.0, atol=1e-4)
    np.testing.assert_allclose(found, model.expect(exact).separators, atol=1e-4)
    assert (model.best(gaps).separators == model.best(exact).separators).all()


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 30), max_size=4), st.floats(0, 0.15))
def test_edges_and_states_agree(seed: int, lengths: list[int], forbidden: float) -> None:
    """Longer sentences, with separators forbidden here and there, but always a way outside."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(sum(lengths) + len(lengths), 2, 8)) * 3
    allowed = random.random(scores.shape) >= forbidden
    allowed[..., 0] = True
    gaps, state = Gaps.of(scores, lengths).limited(allowed), State(np.zeros((8, 8)))
    np.testing.assert_allclose(Twin().total(gaps), state.total(gaps), atol=1e-9)
    found, other = Twin().best(gaps), state.best(gaps)
    assert (found.separators == other.separators).all()
    np.testing.assert_allclose(found.score, other.score, atol=1e-9)
    probabilities = Twin().expect(gaps).separators
    np.testing.assert_allclose(probabilities, state.expect(gaps).separators, atol=1e-9)
    own = separators_numpy.follow(found.separators, gaps.scores, gaps.offsets)
    np.testing.assert_allclose(own, found.score, atol=1e-9)


@every_model
def test_nothing(model: Model, step: Floats) -> None:
    gaps = Gaps.of(np.zeros((0, LABELS, 8)), [])
    assert model.total(gaps).shape == model.best(gaps).score.shape == (0, LABELS)
    assert model.expect(gaps).separators.shape == (0, LABELS, 8)


def test_where_no_sequence_is_left() -> None:
    gaps = random_gaps()
    path = gold()
    path[0, 1] = 2
    for model in (Edge(), State(np.zeros((8, 8))), State(random_steps())):
        with pytest.raises(NoPathError, match="Sequence 0 has no legal separators"):
            model.best(gaps.known(path))
        with pytest.raises(NoPathError):
            model.nbest(gaps.known(path), 2)
        with pytest.raises(NoPathError):
            model.sample(gaps.known(path), 2, np.random.default_rng(0))
        with pytest.raises(NoPathError):
            loss(model, gaps, gaps.known(path))
        with pytest.raises(NoPathError, match="Sequence 0 has no legal separators"):
            loss_of(model, gaps, path)
        assert model.total(gaps.known(path))[0, 1] == -np.inf
    totals, probabilities = separators_numpy.expect(gaps.known(path).scores, gaps.offsets)
    assert np.isneginf(totals).sum() == 1
    assert not probabilities[:4, 1].any()
    assert np.isneginf(Twin().best(gaps.known(path)).score[0, 1])


@pytest.mark.parametrize(
    ("shape", "lengths", "message"),
    [
        ((3, 8), [2], "gaps, labels, 8"),
        ((3, 1, 7), [2], "gaps, labels, 8"),
        ((3, 1, 8), [3], "there are 3 rows"),
        ((3, 1, 8), [-1, 2], "rows"),
        ((3, 1, 8), [2.0], "whole numbers"),
    ],
)
def test_bad_scores(shape: tuple[int, ...], lengths: list[int], message: str) -> None:
    with pytest.raises(ChainError, match=message):
        Gaps.of(np.zeros(shape), lengths)


def test_other_bad_input() -> None:
    gaps = random_gaps()
    with pytest.raises(ChainError, match=r"scores\[0, 0, 0\] is nan"):
        Gaps.of(np.full((1, 1, 8), np.nan), [0])
    with pytest.raises(ChainError, match="2 labels, scores for 3"):
        State(np.zeros((2, 8, 8))).total(gaps)
    with pytest.raises(ChainError, match="step has the shape"):
        State(np.zeros((7, 7)))
    with pytest.raises(ChainError, match="allowed is"):
        gaps.limited(np.ones((1, 1, 8), dtype=bool))
    with pytest.raises(ChainError, match="Separators are"):
        gaps.known(np.zeros((1, 1), dtype=np.uint8))
    with pytest.raises(ChainError, match="between 0 and 7"):
        gaps.known(np.full(gaps.scores.shape[:2], 8))
    with pytest.raises(ChainError, match="separators are whole numbers"):
        loss_of(Edge(), gaps, np.full(gaps.scores.shape[:2], 0.5))
    with pytest.raises(ChainError, match="A bias is a number"):
        gaps.biased(np.nan)
