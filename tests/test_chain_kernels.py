"""The compiled chain kernels against their readable twins, and both on input of unusual size."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes import kernels
from spacy_iobes.arrays import Floats
from spacy_iobes.chain import Batch, Chain, Posterior, best, marginals, nbest, total
from spacy_iobes.codes.states import states
from spacy_iobes.kernels import chain_numpy

from . import by_hand
from .chain_paths import random_batch, random_chain

chain_builds = pytest.importorskip(
    "spacy_iobes.kernels.chain_builds",
    reason="the kernels are not compiled here: there is one twin only",
)
BUILDS = chain_builds.BUILDS
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}  # of what comes from such scores


COMPILED = kernels.CHAIN_IN_USE == "compiled"
LONG = 100_000 if COMPILED else 5_000  # tokens


def agree(name: str, arguments: tuple[Any, ...], exactly: bool = False) -> None:
    """Call both twins and compare what they say; every build that this processor can run."""
    slow = getattr(chain_numpy, name)(*arguments)
    for compiled in BUILDS:
        fast = getattr(compiled, name)(*arguments)
        if name == "total":
            compare(arguments, (fast,), (slow,), exactly)
        else:
            compare(arguments, fast, slow, exactly)


def compare(
    arguments: tuple[Any, ...], fast: tuple[Any, ...], slow: tuple[Any, ...], exactly: bool
) -> None:
    assert len(fast) == len(slow)
    for one, other in zip(fast, slow):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if exactly:
            np.testing.assert_array_equal(one, other)
        else:
            limit = TOLERANCE[arguments[0].dtype.type]
            np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


@st.composite
def calls(draw: st.DrawFn) -> tuple[Any, ...]:
    """Arguments of a kernel: chains with random holes, small and large scores, any lengths."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        labels = draw(st.integers(1, 9))
        facts = states(map(str, range(labels)), draw(st.sampled_from(sorted(by_hand.PREFIXES))))
        legal, size = facts.legal, len(facts.tags)
    else:
        size = draw(st.integers(1, 12))
        legal, holes = None, draw(st.sampled_from([0.0, 0.1, 0.5, 0.9]))
    variants = draw(st.integers(1, 3))
    spread, steepness = (
        draw(st.sampled_from([0, 1, 10, 40, 60, 100])),
        draw(st.sampled_from([0, 1, 10, 200])),
    )
    lengths = draw(st.lists(st.integers(0, 9), max_size=draw(st.sampled_from([2, 20, 40]))))

    def scores(mask: Any, *shape: int) -> Floats:
        kept = random.random(shape) >= holes if legal is None else mask
        return np.where(kept, random.normal(size=shape) * steepness, -np.inf)

    start, stop = scores(legal and legal.start, size), scores(legal and legal.stop, size)
    steps = scores(None if legal is None else legal.step, variants, size, size)
    steps[1:][random.random(steps[1:].shape) < 0.3] = -np.inf
    rows = random.normal(size=(sum(lengths), size)) * spread
    rows[random.random(rows.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = -np.inf
    which = random.integers(0, variants, len(rows)).astype(np.int32) if variants > 1 else None
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    kind = draw(st.sampled_from([np.float32, np.float64]))
    return rows.astype(kind), offsets, start, steps, stop, which


@given(calls())
@settings(max_examples=300)
def test_sums(call: tuple[Any, ...]) -> None:
    for name in ("total", "messages", "expect"):
        agree(name, call)


@pytest.mark.skipif(len(BUILDS) < 3, reason="this processor runs fewer builds")
@given(calls())
def test_wide_builds_give_the_same_bits(call: tuple[Any, ...]) -> None:
    """As docs/ner.md promises of trained weights, but for those of steps."""
    for name in ("total", "messages", "expect"):
        found = [getattr(build, name)(*call) for build in BUILDS[1:]]
        one, other = ([made] if name == "total" else made[:2] for made in found)
        assert [array.tobytes() for array in one] == [array.tobytes() for array in other]


@given(calls(), st.integers(1, 6))
@settings(max_examples=300)
def test_best_paths(call: tuple[Any, ...], n: int) -> None:
    agree("best", call, exactly=True)
    agree("nbest", (*call, n), exactly=True)


@given(calls())
def test_whole_numbers_tie_in_both(call: tuple[Any, ...]) -> None:
    """Scores of -1, 0 and 1: many paths are equally good."""
    rows, offsets, start, steps, stop, which = (
        np.where(np.isfinite(part), np.sign(part), part)
        if isinstance(part, np.ndarray) and part.dtype.kind == "f"
        else part
        for part in call
    )
    agree("best", (rows, offsets, start, steps, stop, which), exactly=True)
    agree("nbest", (rows, offsets, start, steps, stop, which, 5), exactly=True)


@given(calls())
def test_follow(call: tuple[Any, ...]) -> None:
    rows, _, _, steps, _, _ = call
    path = np.random.default_rng(len(rows)).integers(0, rows.shape[1], len(rows)).astype(np.int32)
    found = []
    for module in (BUILDS[-1], chain_numpy):
        counted = np.zeros_like(rows), np.zeros(steps.shape)
        found.append((module.follow(path, *call), module.follow(path, *call, *counted), *counted))
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other)


def test_there_is_a_build_for_any_processor() -> None:
    assert BUILDS[0].__name__ == "spacy_iobes.kernels._chain"


@pytest.mark.parametrize("spread", [1e-7, 1e-3, 1.0, 1e3, 1e30])
def test_what_is_too_close_for_single_precision_is_decided_in_double(spread: float) -> None:
    """Steps differ by less than a float can tell beside scores that are whole numbers."""
    random = np.random.default_rng(0)
    scores = random.integers(-3, 4, (700, 9)).astype(np.float32)
    parts = [random.normal(size=shape) * spread for shape in (9, (1, 9, 9), 9)]
    agree("best", (scores, np.arange(0, 701, 20), *parts, None), exactly=True)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 17, 40, 73])
def test_every_size(size: int) -> None:
    random = np.random.default_rng(size)
    rows = random.normal(size=(60, size))
    parts = [random.normal(size=shape) for shape in (size, (1, size, size), size)]
    offsets = np.array([0, 3, 3, 24, 25, 60])
    call = (rows, offsets, *parts, None)
    for name in ("total", "messages", "expect"):
        agree(name, call)
    agree("best", call, exactly=True)


@pytest.mark.parametrize("spread", [20, 40, 60, 100, 1000])
def test_large_scores(spread: float) -> None:
    """Single precision in probability space went wrong in 38% of such cases at 40."""
    random = np.random.default_rng(0)
    for scheme in ("iobes", "bio", "bia"):
        chain = random_chain(scheme, random)
        batch = random_batch(chain, [20] * 40, random, spread)
        call = chain.arguments(batch)
        for kind in (np.float32, np.float64):
            for name in ("total", "messages", "expect"):
                agree(name, (call.scores.astype(kind), *call[1:]))
        sums = marginals(chain, batch).sum(axis=1)
        np.testing.assert_allclose(sums, 1.0)


def test_ten_thousand_models_never_emit_an_illegal_sequence() -> None:
    random = np.random.default_rng(0)
    models, length = 10_000 if COMPILED else 1_000, 8
    schemes = sorted(by_hand.PREFIXES)
    emitted: dict[str, list[Any]] = {scheme: [] for scheme in schemes}
    for model in range(models):
        scheme = schemes[model % len(schemes)]
        spread = (0.0, 1.0, 10.0, 100.0)[model % 4]
        chain = random_chain(scheme, random, spread)
        batch = random_batch(chain, [length], random, spread)
        emitted[scheme].append(best(chain, batch).states)
        if model % 10 == 0:
            emitted[scheme].extend(row for row in nbest(chain, batch, 3).states if row[0] >= 0)
    for scheme, found in emitted.items():
        tags = np.array(["^", *by_hand.all_states(scheme), "$"])
        number = {tag: i for i, tag in enumerate(tags)}
        legal = np.zeros((len(tags), len(tags)), dtype=bool)
        for source, target in by_hand.legal_neighbours(scheme):
            legal[number[source], number[target]] = True
        edges = np.zeros((len(found), 1), dtype=int), np.full((len(found), 1), len(tags) - 1)
        rows = np.hstack([edges[0], np.array(found) + 1, edges[1]])
        assert legal[rows[:, :-1], rows[:, 1:]].all()
    assert sum(map(len, emitted.values())) > models


def test_start_and_stop_both_hold() -> None:
    """Scores that beg for I at the start and B at the end."""
    chain = random_chain("iobes", np.random.default_rng(0), spread=0.0)
    tags = by_hand.all_tags("iobes")
    scores = np.zeros((3, len(tags)))
    scores[0, tags.index("I-X")] = scores[2, tags.index("B-X")] = 50.0
    for length in (1, 2, 3):
        batch = Batch.of(scores[[0, 1, 2][:length]], [length])
        found = [tags[state] for state in best(chain, batch).states]
        assert found[0][0] in "OBS"
        assert found[-1][0] in "OES"
        probabilities = marginals(chain, batch)
        assert probabilities[0, [tags.index(f"{p}-{x}") for p in "IE" for x in "XY"]].sum() == 0
        assert probabilities[-1, [tags.index(f"{p}-{x}") for p in "BI" for x in "XY"]].sum() == 0


def test_a_very_long_sequence() -> None:
    """100,000 tokens; without step scores they are independent, so everything is known."""
    random = np.random.default_rng(0)
    length, size = LONG, 5
    scores = random.normal(size=(length, size)) * 3
    batch = Batch.of(scores, [length])
    chain = Chain(np.zeros(size), np.zeros((size, size)), np.zeros(size))
    sums = np.exp(scores).sum(axis=1)
    assert total(chain, batch)[0] == pytest.approx(np.log(sums).sum(), rel=1e-12)
    np.testing.assert_allclose(marginals(chain, batch), np.exp(scores) / sums[:, None], atol=1e-9)
    found = best(chain, batch)
    assert (found.states == scores.argmax(axis=1)).all()
    assert found.score[0] == pytest.approx(scores.max(axis=1).sum())


def test_a_very_long_sequence_of_tags() -> None:
    chain = random_chain("iobes", np.random.default_rng(0))
    batch = random_batch(chain, [LONG], np.random.default_rng(1), 40.0)
    np.testing.assert_allclose(marginals(chain, batch).sum(axis=1), 1.0)
    posterior = Posterior.of(chain, batch)
    np.testing.assert_allclose(posterior.total, total(chain, batch))
    assert (posterior.entropy() >= 0).all()
    path = best(chain, batch).states
    assert all(chain.step[i, j] > -np.inf for i, j in pairwise(path.tolist()))


def test_threads_do_not_share_anything() -> None:
    chain = random_chain("iobes", np.random.default_rng(0))
    batches = [
        random_batch(chain, [30] * 50, np.random.default_rng(seed), spread)
        for seed, spread in enumerate([1.0, 60.0] * 4)
    ]
    alone = [marginals(chain, batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda batch: marginals(chain, batch), batches))
    for one, other in zip(alone, together):
        np.testing.assert_array_equal(one, other)


def test_what_is_given_is_not_changed() -> None:
    chain = random_chain("bio", np.random.default_rng(0))
    batch = random_batch(chain, [5, 7], np.random.default_rng(1))
    call = chain.arguments(batch)
    before = [part.copy() for part in call if part is not None]
    for part in call:
        if part is not None:
            part.setflags(write=False)
    for name in ("total", "messages", "expect", "best"):
        getattr(BUILDS[-1], name)(*call)
    BUILDS[-1].nbest(*call, 3)
    for one, other in zip(before, (part for part in call if part is not None)):
        np.testing.assert_array_equal(one, other)
