"""The compiled kernels for separators against their readable twin, on scores of every size."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes.arrays import Offsets, Scores
from spacy_iobes.kernels import separators_numpy as twin

from .mention_sets import LEGAL_PATHS

separator_builds = pytest.importorskip(
    "spacy_iobes.kernels.separator_builds",
    reason="the kernels are not compiled here: there is one twin only",
)
BUILDS = separator_builds.BUILDS
every_build = pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)

Input = tuple[Scores, Offsets]


def moved(scores: Scores, offsets: Offsets) -> float:
    """How far a total may be off: as if scores of float32 were moved as `_separators.pxi` says."""
    finite = np.where(np.isfinite(scores), scores, np.nan).astype(float)
    if scores.dtype == np.float64 or not finite.size:
        return 1e-10
    rows = finite.reshape(-1, 8)
    rows = rows[~np.isnan(rows).all(axis=1)]
    range_ = np.nanmax(rows, axis=1) - np.nanmin(rows, axis=1) if len(rows) else np.zeros(1)
    longest = int(np.diff(offsets).max(initial=1))
    return longest * (4e-7 + 6e-8 * min(float(range_.max()), 60.0))


def compare(build: Any, scores: Scores, offsets: Offsets) -> None:
    """All kernels say the same."""
    off = moved(scores, offsets)
    totals = twin.total(scores, offsets)
    np.testing.assert_allclose(build.total(scores, offsets), totals, rtol=1e-10, atol=off)
    for fast, slow in zip(build.messages(scores, offsets), twin.messages(scores, offsets)):
        np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10)
    found, probabilities = build.expect(scores, offsets)
    np.testing.assert_allclose(found, totals, rtol=1e-10, atol=off)
    assert probabilities.dtype == scores.dtype
    known = twin.expect(scores, offsets)[1]
    single = scores.dtype == np.float32
    np.testing.assert_allclose(probabilities, known, rtol=1e-9, atol=2 * off + 1e-6 * single)
    path, peaks = build.best(scores, offsets)
    best, highest = twin.best(scores, offsets)
    np.testing.assert_array_equal(peaks, highest)
    legal = np.repeat(highest > -np.inf, np.diff(offsets), axis=0)
    np.testing.assert_array_equal(path[legal], best[legal])
    losses, gradient = build.loss(scores, offsets, best)
    wanted, slopes = twin.loss(scores, offsets, best)
    big = np.abs(np.where(np.isfinite(scores), scores, 0)).sum(initial=0.0, dtype=float)
    np.testing.assert_allclose(losses, wanted, rtol=1e-9, atol=off + 1e-15 * big)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=2 * off + 1e-6 * single)


@st.composite
def inputs(draw: st.DrawFn) -> Input:
    """Sentences and labels in any number, scores of any size, separators forbidden anywhere."""
    lengths = draw(st.lists(st.integers(0, 40), max_size=6))
    labels = draw(st.integers(1, 11))
    spread = draw(st.sampled_from([0.0, 1.0, 5.0, 20.0, 70.0, 300.0, 1e4]))
    forbidden = draw(st.sampled_from([0.0, 0.05, 0.5]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = random.normal(size=(sum(lengths) + len(lengths), labels, 8)) * spread
    if draw(st.booleans()):
        scores = np.rint(scores)  # with ties
    if draw(st.booleans()):  # a few rows are far off
        scores[random.random(scores.shape) < 0.02] *= 1e3
    scores[random.random(scores.shape) < forbidden] = -np.inf
    single = draw(st.booleans())
    offsets = np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64) + 1)])
    return scores.astype(np.float32 if single else np.float64), offsets


@every_build
@settings(max_examples=300, deadline=None)
@given(given_=inputs())
def test_twins(build: Any, given_: Input) -> None:
    compare(build, *given_)


@every_build
@pytest.mark.parametrize("labels", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 100])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_labels_that_do_and_do_not_fill_vectors(build: Any, labels: int, real: Any) -> None:
    random = np.random.default_rng(labels)
    lengths = random.integers(0, 30, size=60)
    offsets = np.concatenate([[0], np.cumsum(lengths + 1)])
    scores = random.normal(size=(int(offsets[-1]), labels, 8)).astype(real) * 3
    compare(build, scores, offsets)


@every_build
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_chains_that_are_too_steep_among_others(build: Any, real: Any) -> None:
    """One label of one sentence needs logarithms: neither it nor its neighbours suffer."""
    random = np.random.default_rng(0)
    offsets = np.arange(0, 91, 10)
    scores = random.normal(size=(90, 5, 8)).astype(real)
    scores[33:36, 2] *= 1e4
    scores[50:, 4, 1:4] = -np.inf
    compare(build, scores, offsets)


@every_build
def test_messages_that_fade(build: Any) -> None:
    """What is inside cannot end and loses at every gap; at last nothing else is legal."""
    scores = np.zeros((1001, 1, 8))
    scores[1:-1, :, 1:4] = scores[0, :, 0] = -np.inf
    scores[1:-1, :, 4:] = -9.0
    offsets = np.array([0, 1001])
    compare(build, scores, offsets)
    np.testing.assert_allclose(build.total(scores, offsets), -9.0 * 999 + 999 * np.log(4))


@every_build
def test_long_sentences(build: Any) -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(20_001, 3, 8)) * 4
    compare(build, scores, np.array([0, 20_001]))


@every_build
@pytest.mark.parametrize(("length", "paths"), LEGAL_PATHS.items())
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_the_number_of_sequences(build: Any, length: int, paths: int, real: Any) -> None:
    zeros, offsets = np.zeros((length + 1, 2, 8), dtype=real), np.array([0, length + 1])
    np.testing.assert_allclose(np.exp(build.total(zeros, offsets)), paths, rtol=1e-6)


@every_build
def test_an_illegal_sequence_has_no_likelihood(build: Any) -> None:
    zeros, offsets = np.zeros((3, 3, 8)), np.array([0, 3])
    path = np.array([[2, 0, 1], [0, 5, 4], [0, 2, 2]], dtype=np.uint8)
    for kernel in (build, twin):
        losses, _ = kernel.loss(zeros, offsets, path)
        np.testing.assert_allclose(losses, [[np.inf, np.inf, np.log(8)]])
        last = np.array([[0, 0, 1], [0, 0, 4], [1, 0, 4]], dtype=np.uint8)
        np.testing.assert_array_equal(np.isinf(kernel.loss(zeros, offsets, last)[0]), [[1, 0, 1]])


@every_build
def test_threads(build: Any) -> None:
    """The kernels let other threads run, and keep nothing between calls."""
    random = np.random.default_rng(0)
    many = [random.normal(size=(290, 5, 8)).astype(np.float32) for _ in range(8)]
    offsets = np.arange(0, 291, 29)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda scores: build.expect(scores, offsets)[1], many * 20))
    for i, probabilities in enumerate(found):
        np.testing.assert_array_equal(probabilities, build.expect(many[i % 8], offsets)[1])
