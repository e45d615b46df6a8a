"""Expected numbers of mentions against every legal sequence, one by one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.arrays import Floats
from spacy_iobes.chain.gaps import Gaps
from spacy_iobes.chain.mention_counts import expected_ends, expected_mentions, expected_starts
from spacy_iobes.chain.separators import Edge, Model, State

from .chain_paths import log_sum
from .mention_sets import NAMES, realised

LENGTHS = (5, 0, 1, 4, 2, 3)
LABELS = 2
STEP = np.random.default_rng(1).normal(size=(LABELS, 8, 8))
every_model = pytest.mark.parametrize(
    ("model", "step"),
    [
        (Edge(), np.zeros((LABELS, 8, 8))),
        (State(STEP), STEP),
        (State(STEP[0]), np.stack([STEP[0]] * 2)),
    ],
    ids=["edge", "state", "state, shared steps"],
)


def nearest_start(names: tuple[str, ...]) -> set[tuple[int, int]]:
    """The mentions of legal separators, as their definition reads them, line by line."""
    out: list[tuple[int, int]] = []
    starts: list[int] = []
    used: set[int] = set()
    for k, name in enumerate(names):
        if "E" in name and "C" in name:
            out.append((starts[-1], k))
            used.add(starts[-1])
        elif "E" in name:
            out += [(s, k) for s in starts if s == starts[0] or s not in used]
            starts, used = [], set()
        if "S" in name:
            starts.append(k)
    assert len(set(out)) == len(out)
    return set(out)


def by_hand(gaps: Gaps, step: Floats) -> Floats:
    """The expected starts, ends and mentions of every chain, `[3, S, L]`."""
    found = np.zeros((3, len(gaps), gaps.labels))
    for sentence, label in product(range(len(gaps)), range(gaps.labels)):
        first = int(gaps.offsets[sentence])
        paths = list(realised(int(gaps.lengths[sentence])))
        numbers = [[NAMES.index(name) for name in path] for path in paths]
        scores = [
            sum(float(gaps.scores[first + k, label, s]) for k, s in enumerate(path))
            + sum(float(step[label, a, b]) for a, b in pairwise(path))
            for path in numbers
        ]
        every = log_sum(scores)
        for path, score in zip(paths, scores):
            counts = [sum(letter in name for name in path) for letter in "SE"]
            counts.append(len(nearest_start(path)))
            found[:, sentence, label] += np.exp(score - every) * np.array(counts)
    return found


@every_model
@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0, 40.0])
@pytest.mark.parametrize("inside", [0.0, 3.0])
def test_expected_numbers(model: Model, step: Floats, spread: float, inside: float) -> None:
    """`inside`: how much is added where something goes on, so that much is nested."""
    random = np.random.default_rng(0)
    scores = random.normal(size=(sum(LENGTHS) + len(LENGTHS), LABELS, 8)) * spread
    scores[..., 5:] += inside
    gaps = Gaps.of(scores, LENGTHS)
    starts, ends, mentions = by_hand(gaps, step)
    np.testing.assert_allclose(expected_starts(model, gaps), starts, atol=1e-9)
    np.testing.assert_allclose(expected_ends(model, gaps), ends, atol=1e-9)
    np.testing.assert_allclose(expected_mentions(model, gaps), mentions, atol=1e-9)


@pytest.mark.parametrize("model", [Edge(), State(np.zeros((8, 8)))])
def test_the_numbers_of_what_is_known(model: Model) -> None:
    """Where there is one sequence only, its mentions are counted."""
    for path in realised(4):
        known = np.array([[NAMES.index(name)] for name in path], dtype=np.uint8)
        gaps = Gaps.of(np.zeros((5, 1, 8)), [4]).known(known)
        np.testing.assert_allclose(expected_mentions(model, gaps), len(nearest_start(path)))


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 40), max_size=5))
def test_no_fewer_than_starts_and_ends(seed: int, lengths: list[int]) -> None:
    """And as many under either model, where steps have no scores; in single precision too."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(sum(lengths) + len(lengths), 3, 8)) * 3
    gaps = Gaps.of(scores, lengths)
    found = expected_mentions(Edge(), gaps)
    assert found.shape == (len(lengths), 3)
    assert (found >= expected_starts(Edge(), gaps) - 1e-9).all()
    assert (found >= expected_ends(Edge(), gaps) - 1e-9).all()
    states = State(np.zeros((8, 8)))
    np.testing.assert_allclose(found, expected_mentions(states, gaps), atol=1e-9)
    single = Gaps.of(scores.astype(np.float32), lengths)
    np.testing.assert_allclose(expected_mentions(Edge(), single), found, atol=1e-3)
