"""The training loss and its gradient: likelihoods by brute force, derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from spacy_iobes.arrays import Floats
from spacy_iobes.chain import (
    Batch,
    Chain,
    Gradient,
    Limits,
    Spans,
    expectation,
    loss,
    reject,
    total,
)
from spacy_iobes.errors import ChainError, NoPathError

from . import by_hand
from .chain_paths import log_sum, paths, probabilities, random_batch, random_chain, rows

LENGTHS = (4, 0, 1, 3)
every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)


def known(scheme: str, spread: float = 1.0, seed: int = 0) -> tuple[Chain, Batch]:
    random = np.random.default_rng(seed)
    chain = random_chain(scheme, random)
    return chain, random_batch(chain, LENGTHS, random, spread)


def partial(chain: Chain, batch: Batch) -> Batch:
    """The first sequence has a span at 1:3, the third token of the last one is outside."""
    limits = Limits(chain.spans, batch)
    limits.require(Spans.of([(0, 1, 3, 1)]))
    limits.outside([7])
    return limits.applied()


def differences(value: Callable[[Chain, Batch], float], chain: Chain, batch: Batch) -> Gradient:
    """The gradient by central differences; 0 for what is illegal."""
    size = 1e-5

    def slope(array: Floats, changed: Callable[[Floats], float]) -> Floats:
        found = np.zeros(array.shape)
        for at in np.argwhere(array > -np.inf):
            up, down = array.copy(), array.copy()
            up[tuple(at)] += size
            down[tuple(at)] -= size
            found[tuple(at)] = (changed(up) - changed(down)) / (2 * size)
        return found

    return Gradient(
        slope(batch.scores.astype(float), lambda new: value(chain, replace(batch, scores=new))),
        slope(chain.start, lambda new: value(replace(chain, start=new), batch)),
        slope(chain.step, lambda new: value(replace(chain, step=new), batch)),
        slope(chain.stop, lambda new: value(replace(chain, stop=new), batch)),
    )


def check(found: Gradient, wanted: Gradient) -> None:
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, atol=2e-8)


@every_scheme
def test_expectation_is_the_gradient_of_the_total(scheme: str) -> None:
    chain, batch = known(scheme)
    for limited in (batch, partial(chain, batch)):
        totals, gradient = expectation(chain, limited)
        np.testing.assert_allclose(totals, total(chain, limited))
        check(gradient, differences(lambda c, b: float(total(c, b).sum()), chain, limited))


@every_scheme
def test_the_loss_is_the_negative_log_likelihood(scheme: str) -> None:
    chain, batch = known(scheme)
    every = [list(paths(chain, row, scheme)) for row in rows(batch)]
    gold = [found[len(found) // 2] for found in every]
    states = np.array([state for path in gold for state in path.states], dtype=np.int32)
    found, gradient = loss(chain, batch, states)
    wanted = [log_sum([p.score for p in e]) - g.score for e, g in zip(every, gold)]
    np.testing.assert_allclose(found, wanted)
    check(gradient, differences(lambda c, b: float(loss(c, b, states)[0].sum()), chain, batch))


@every_scheme
def test_a_path_is_a_limit_that_leaves_one(scheme: str) -> None:
    chain, batch = known(scheme)
    every = [list(paths(chain, row, scheme)) for row in rows(batch)]
    states = np.array([state for found in every for state in found[-1].states], dtype=np.int32)
    allowed = np.arange(len(chain.start)) == states[:, None]
    one, other = loss(chain, batch, states), loss(chain, batch, batch.limited(allowed))
    np.testing.assert_allclose(one[0], other[0], atol=1e-12)
    for mine, theirs in zip(one[1], other[1]):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


@every_scheme
def test_partial_annotation(scheme: str) -> None:
    chain, batch = known(scheme)
    every = [list(paths(chain, row, scheme)) for row in rows(batch)]
    fitting = [
        [path for path in every[0] if (1, 3, 1) in path.spans],
        every[1],
        every[2],
        [path for path in every[3] if all(not a <= 2 < b for a, b, _ in path.spans)],
    ]
    found, gradient = loss(chain, batch, partial(chain, batch))
    sums = np.array(
        [[log_sum([path.score for path in part]) for part in of] for of in (every, fitting)]
    )
    np.testing.assert_allclose(found, np.subtract(sums[0], sums[1]), atol=1e-12)
    check(
        gradient,
        differences(lambda c, b: float(loss(c, b, partial(c, b))[0].sum()), chain, batch),
    )


WRONG = [(0, 1, 3, 0), (0, 0, 1, 1), (0, 0, 4, 0), (2, 0, 1, 0), (3, 1, 3, 1), (0, 3, 4, 1)]


@every_scheme
def test_spans_known_to_be_wrong(scheme: str) -> None:
    chain, batch = known(scheme)
    every = [list(paths(chain, row, scheme)) for row in rows(batch)]
    found, gradient = reject(chain, batch, Spans.of(WRONG))
    wanted = []
    for s, *span in WRONG:
        p = probabilities(every[s])
        without = sum(p[i] for i, path in enumerate(every[s]) if tuple(span) not in path.spans)
        wanted.append(-np.log(without))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    spans = Spans.of(WRONG)
    check(gradient, differences(lambda c, b: float(reject(c, b, spans)[0].sum()), chain, batch))


@every_scheme
def test_spans_known_to_be_wrong_under_limits(scheme: str) -> None:
    chain, batch = known(scheme)
    limits = Limits(chain.spans, batch)
    limits.cut([2, 6])
    limits.outside([7])
    limited = limits.applied()
    every = [
        path
        for path in paths(chain, rows(batch)[3], scheme)
        if all(not a < 1 < b and not a <= 2 < b for a, b, _ in path.spans)
    ]
    for span in [(0, 1, 0), (1, 2, 1)]:
        p = probabilities(every)
        without = sum(p[i] for i, path in enumerate(every) if span not in path.spans)
        found, _ = reject(chain, limited, Spans.of([(3, *span)]))
        assert found[0] == pytest.approx(-np.log(without))


@every_scheme
def test_a_wrong_span_of_which_the_chain_is_certain(scheme: str) -> None:
    """Where 1 - P is far below what 1 minus a float can say."""
    chain, batch = known(scheme)
    best = max(
        (path for path in paths(chain, rows(batch)[0], scheme) if (1, 3, 0) in path.spans),
        key=lambda path: path.score,
    )
    scores = batch.scores.copy()
    scores[np.arange(4), best.states] += 200.0
    certain = replace(batch, scores=scores)
    every = list(paths(chain, scores[:4], scheme))
    without = log_sum([path.score for path in every if (1, 3, 0) not in path.spans])
    found, gradient = reject(chain, certain, Spans.of([(0, 1, 3, 0)]))
    assert found[0] == pytest.approx(log_sum([path.score for path in every]) - without)
    assert found[0] > 100
    assert np.abs(gradient.scores[:4]).max() > 0.4


def test_no_wrong_spans() -> None:
    chain, batch = known("bio")
    found, gradient = reject(chain, batch, Spans.of([]))
    assert found.shape == (0,)
    assert not any(part.any() for part in gradient)


def test_single_precision_scores_have_gradients_of_their_own() -> None:
    chain, batch = known("iobes")
    single = replace(batch, scores=batch.scores.astype(np.float32))
    states = np.zeros(len(batch.scores), dtype=np.int32)
    gradient, exact = loss(chain, single, states)[1], loss(chain, batch, states)[1]
    assert gradient.scores.dtype == np.float32
    for mine, theirs in zip(gradient, exact):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_gold_that_no_path_fits_is_an_error() -> None:
    chain, batch = known("iobes")
    states = np.zeros(len(batch.scores), dtype=np.int32)
    states[6] = 2  # O I-X O
    with pytest.raises(NoPathError, match="Sequence 3 has no legal path that agrees") as info:
        loss(chain, batch, states)
    assert info.value.sequences == (3,)
    limits = Limits(chain.spans, batch)
    limits.require(Spans.of([(3, 0, 2, 0)]))
    limits.cut([6])
    with pytest.raises(NoPathError, match="agrees with the gold"):
        loss(chain, batch, limits.applied())
    with pytest.raises(NoPathError, match="Sequence 0 has no legal path without the span"):
        reject(chain, partial(chain, batch), Spans.of([(0, 1, 3, 1)]))
    with pytest.raises(ChainError, match="8 tokens"):
        loss(chain, batch, states[:-1])
