"""Chains against brute force over every path, for every scheme."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from spacy_iobes.arrays import Floats
from spacy_iobes.chain import (
    Batch,
    Chain,
    Limits,
    Posterior,
    Spans,
    best,
    count,
    expected_spans,
    marginals,
    nbest,
    sample,
    score,
    total,
)
from spacy_iobes.codes.states import states
from spacy_iobes.errors import ChainError, NoPathError

from . import by_hand
from .chain_paths import (
    LABELS,
    Condition,
    Path,
    log_sum,
    paths,
    probabilities,
    random_batch,
    random_chain,
    rows,
)

LENGTHS = (4, 0, 1, 3, 2, 0)
every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)
every_spread = pytest.mark.parametrize("spread", [1.0, 40.0, 100.0])


class Known:
    """A random chain and batch of a scheme, with all paths of every sequence."""

    def __init__(self, scheme: str, spread: float = 1.0, seed: int = 0):
        random = np.random.default_rng(seed)
        self.chain = random_chain(scheme, random, min(spread, 3.0))
        self.batch = random_batch(self.chain, LENGTHS, random, spread)
        self.paths = [list(paths(self.chain, row, scheme)) for row in rows(self.batch)]

    def totals(self, fits: Condition = lambda path: True) -> Floats:
        """The total of every sequence over the paths that fit."""
        chosen = ([path.score for path in every if fits(path)] for every in self.paths)
        return np.array([log_sum(scores) for scores in chosen])


@every_scheme
def test_states_are_the_tags_by_hand(scheme: str) -> None:
    assert states(LABELS, scheme).tags == by_hand.all_states(scheme)


@every_scheme
@every_spread
def test_total(scheme: str, spread: float) -> None:
    known = Known(scheme, spread)
    np.testing.assert_allclose(total(known.chain, known.batch), known.totals(), atol=1e-9)


@every_scheme
def test_count(scheme: str) -> None:
    """With all scores 0 the total is the logarithm of the number of legal sequences."""
    chain = random_chain(scheme, np.random.default_rng(0), spread=0.0)
    batch = Batch.of(np.zeros((sum(LENGTHS), len(chain.start))), LENGTHS)
    expected = [len(by_hand.legal_sequences(length, scheme)) for length in LENGTHS]
    assert count(chain, batch) == expected
    np.testing.assert_allclose(np.exp(total(chain, batch)), expected)


@every_scheme
@every_spread
def test_marginals(scheme: str, spread: float) -> None:
    known = Known(scheme, spread)
    expected = []
    for length, every in zip(LENGTHS, known.paths):
        states = np.zeros((length, len(known.chain.start)))
        for path, probability in zip(every, probabilities(every)):
            states[np.arange(length), path.states] += probability
        expected.append(states)
    wanted = np.concatenate(expected)
    np.testing.assert_allclose(marginals(known.chain, known.batch), wanted, atol=1e-9)
    found = Posterior.of(known.chain, known.batch).marginals
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    single = Batch.of(known.batch.scores.astype(np.float32), LENGTHS)
    assert marginals(known.chain, single).dtype == np.float32


@every_scheme
@every_spread
def test_best_and_nbest(scheme: str, spread: float) -> None:
    known = Known(scheme, spread)
    ranked = [sorted(every, key=lambda path: -path.score) for every in known.paths]
    most = max(map(len, ranked)) + 1
    found = nbest(known.chain, known.batch, most)
    first = best(known.chain, known.batch)
    for s, every in enumerate(ranked):
        a, b = known.batch.offsets[s : s + 2]
        wanted = [path.states for path in every]
        assert [tuple(row) for row in found.states[: len(every), a:b].tolist()] == wanted
        assert (found.states[len(every) :, a:b] == -1).all()
        logs = np.log(np.maximum(probabilities(every), 1e-300))
        kept = logs > -600
        np.testing.assert_allclose(
            found.log_probability[: len(every), s][kept], logs[kept], atol=1e-8
        )
        assert (found.log_probability[len(every) :, s] == -np.inf).all()
        assert tuple(first.states[a:b].tolist()) == wanted[0]
        assert first.score[s] == pytest.approx(every[0].score)
    np.testing.assert_allclose(score(known.chain, known.batch, first.states), first.score)


def test_ties_are_broken_from_the_left() -> None:
    chain = Chain(np.zeros(3), np.where(np.eye(3) > 0, -np.inf, 0.0), np.zeros(3))
    batch = Batch.of(np.zeros((4, 3)), [4])
    assert best(chain, batch).states.tolist() == [0, 1, 0, 1]
    assert nbest(chain, batch, 100).states[:, 0].tolist().count(-1) == 100 - 3 * 2**3


@every_scheme
@every_spread
def test_span_probabilities(scheme: str, spread: float) -> None:
    known = Known(scheme, spread)
    asked = [
        (s, a, b, label)
        for s, length in enumerate(LENGTHS)
        for a in range(length)
        for b in range(a + 1, length + 1)
        for label in range(len(LABELS))
    ]
    wanted = [
        log_sum([path.score for path in known.paths[s] if (a, b, label) in path.spans])
        - log_sum([path.score for path in known.paths[s]])
        for s, a, b, label in asked
    ]
    found = Posterior.of(known.chain, known.batch).span_log_probability(Spans.of(asked))
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@every_scheme
@every_spread
def test_expected_counts_and_begins(scheme: str, spread: float) -> None:
    known = Known(scheme, spread)
    posterior = Posterior.of(known.chain, known.batch)
    counts = np.zeros((len(LENGTHS), len(LABELS)))
    begins = np.zeros((sum(LENGTHS), len(LABELS)))
    for s, every in enumerate(known.paths):
        for path, probability in zip(every, probabilities(every)):
            for start, _, label in path.spans:
                counts[s, label] += probability
                begins[known.batch.offsets[s] + start, label] += probability
    np.testing.assert_allclose(posterior.expected_counts(), counts, atol=1e-9)
    np.testing.assert_allclose(posterior.begins, begins, atol=1e-9)
    np.testing.assert_allclose(expected_spans(known.chain, known.batch), counts, atol=1e-9)


@every_scheme
@every_spread
def test_entropy(scheme: str, spread: float) -> None:
    known = Known(scheme, spread)
    wanted = []
    for every in known.paths:
        p = probabilities(every)
        wanted.append(-(p * np.log(np.where(p > 0, p, 1.0))).sum())
    found = Posterior.of(known.chain, known.batch).entropy()
    np.testing.assert_allclose(found, wanted, atol=1e-8)


def known_span(path: Path) -> bool:
    return (1, 3, 0) in path.spans


def outside(path: Path) -> bool:
    return all(not a <= 1 < b for a, b, _ in path.spans)


def cut(path: Path) -> bool:
    return all(not a < 2 < b for a, b, _ in path.spans)


def blank(path: Path) -> bool:
    return all(not {a, b - 1} & {0, 2, 3} for a, b, _ in path.spans)


@every_scheme
@pytest.mark.parametrize("fits", [known_span, outside, cut, blank])
def test_limits(scheme: str, fits: Condition) -> None:
    """Totals, marginals, the best path and spans over the paths that agree with what is known."""
    known = Known(scheme)
    limits = Limits(known.chain.spans, known.batch)
    firsts = known.batch.offsets[:-1]
    longer = np.array(LENGTHS)
    if fits is known_span:
        limits.require(Spans.of([(0, 1, 3, 0), (3, 1, 3, 0)]))
        longer = np.where(longer >= 3, longer, -1)
    elif fits is outside:
        limits.outside(firsts[longer > 1] + 1)
    elif fits is cut:
        limits.cut(firsts[longer > 2] + 2)
    else:
        limits.blank(np.concatenate([firsts[longer > place] + place for place in (0, 2, 3)]))
    limited = limits.applied()
    totals = np.where(longer >= 0, known.totals(fits), known.totals())
    np.testing.assert_allclose(total(known.chain, limited), totals, atol=1e-9)
    every = [path for path in known.paths[0] if fits(path)]
    highest = max(every, key=lambda path: path.score)
    found = best(known.chain, limited)
    assert tuple(found.states[:4].tolist()) == highest.states
    p = probabilities(every)
    posterior = Posterior.of(known.chain, limited)
    for a, b, label in [(1, 3, 0), (0, 1, 1), (2, 4, 0), (0, 4, 1), (1, 2, 1)]:
        wanted = sum(p[i] for i, path in enumerate(every) if (a, b, label) in path.spans)
        spans = Spans.of([(0, a, b, label)])
        assert np.exp(posterior.span_log_probability(spans)[0]) == pytest.approx(wanted)
    entropy = -(p * np.log(p)).sum()
    assert posterior.entropy()[0] == pytest.approx(entropy)
    expected = sum(p[i] * len(path.spans) for i, path in enumerate(every))
    assert posterior.expected_counts()[0].sum() == pytest.approx(expected)


@every_scheme
def test_limits_add_up(scheme: str) -> None:
    """Every limit at once is all of them together."""
    known = Known(scheme, seed=3)
    limits = Limits(known.chain.spans, known.batch)
    limits.cut([2])
    first = limits.applied()
    again = Limits(known.chain.spans, first)
    again.outside([0])
    again.blank([3])
    wanted = [
        path.score
        for path in known.paths[0]
        if cut(path) and all(0 not in range(a, b) and b != 4 for a, b, _ in path.spans)
    ]
    assert total(known.chain, again.applied())[0] == pytest.approx(log_sum(wanted))


@every_scheme
def test_bias(scheme: str) -> None:
    known = Known(scheme)
    wanted = [
        log_sum([path.score + 0.7 * len(path.spans) for path in every]) for every in known.paths
    ]
    np.testing.assert_allclose(total(known.chain.biased(0.7), known.batch), wanted)


@every_scheme
def test_samples_come_as_often_as_they_should(scheme: str) -> None:
    known = Known(scheme, seed=1)
    n = 5000
    drawn = sample(known.chain, known.batch, n, np.random.default_rng(7))
    assert drawn.shape == (n, sum(LENGTHS))
    for s in (0, 2, 4):
        a, b = known.batch.offsets[s : s + 2]
        counts = Counter(map(tuple, drawn[:, a:b].tolist()))
        every = known.paths[s]
        assert set(counts) <= {path.states for path in every}
        p = probabilities(every)
        found = np.array([counts[path.states] for path in every]) / n
        assert (np.abs(found - p) < 5 * np.sqrt(p * (1 - p) / n) + 1 / n).all()


def test_nothing_at_all() -> None:
    chain = random_chain("iobes", np.random.default_rng(0))
    for lengths in ([], [0], [0, 0]):
        batch = Batch.of(np.zeros((0, len(chain.start))), lengths)
        assert total(chain, batch).tolist() == [0.0] * len(lengths)
        assert best(chain, batch).score.tolist() == [0.0] * len(lengths)
        found = nbest(chain, batch, 2).log_probability
        assert found.tolist() == [[0.0] * len(lengths), [-np.inf] * len(lengths)]
        posterior = Posterior.of(chain, batch)
        assert posterior.entropy().tolist() == [0.0] * len(lengths)
        assert posterior.expected_counts().shape == (len(lengths), len(LABELS))
        assert sample(chain, batch, 3, np.random.default_rng(0)).shape == (3, 0)


def test_one_state() -> None:
    chain = Chain(np.array([1.0]), np.array([[0.5]]), np.array([2.0]))
    batch = Batch.of(np.array([[1.0], [2.0], [3.0]]), [2, 1])
    assert total(chain, batch).tolist() == pytest.approx([6.5, 6.0])
    assert best(chain, batch).states.tolist() == [0, 0, 0]
    assert marginals(chain, batch).tolist() == [[1.0]] * 3
    assert Posterior.of(chain, batch).entropy().tolist() == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"start": np.array([0.0, np.nan, 0.0])}, r"start\[1\] is nan"),
        ({"step": np.full((3, 3), np.inf)}, r"step\[0, 0\] is inf"),
        ({"step": np.zeros((2, 3))}, "shape"),
        ({"stop": np.zeros(2)}, "shape"),
    ],
)
def test_bad_chains_are_refused(change: dict[str, Floats], says: str) -> None:
    parts: dict[str, Floats] = {
        "start": np.zeros(3),
        "step": np.zeros((3, 3)),
        "stop": np.zeros(3),
    }
    parts |= change
    with pytest.raises(ChainError, match=says):
        Chain(parts["start"], parts["step"], parts["stop"])


def test_bad_batches_are_refused() -> None:
    chain = random_chain("bio", np.random.default_rng(0))
    for wrong in (np.nan, np.inf):
        scores = np.zeros((3, 5))
        scores[2, 1] = wrong
        with pytest.raises(ChainError, match=rf"scores\[2, 1\] is {wrong}"):
            Batch.of(scores, [3])
    with pytest.raises(ChainError, match="lengths"):
        Batch.of(np.zeros((3, 5)), [2])
    with pytest.raises(ChainError, match="states"):
        total(chain, Batch.of(np.zeros((3, 4)), [3]))
    with pytest.raises(ChainError, match="layout"):
        Chain(chain.start, chain.step, chain.stop).biased(1.0)
    batch = Batch.of(np.zeros((3, 5)), [1, 2])
    posterior = Posterior.of(chain, batch)
    for span in [(0, 0, 2, 0), (2, 0, 1, 0), (1, 1, 1, 0), (1, -1, 1, 0), (1, 0, 1, 2)]:
        with pytest.raises(ChainError, match="Span 1 is"):
            posterior.span_log_probability(Spans.of([(1, 0, 2, 1), span]))


@pytest.mark.parametrize("verb", ["outside", "cut", "blank"])
@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        ([0, 3], "no token 3: they are counted from 0 to 2"),
        ([-1], "no token -1"),
        ([1.0], "tokens are whole numbers, not float64"),
        ([True, False, True], "tokens are whole numbers, not bool"),
    ],
)
def test_tokens_that_are_none_are_refused(verb: str, tokens: list[Any], says: str) -> None:
    """Neither counted from the end, nor rounded, nor taken for 0 and 1."""
    chain = random_chain("bio", np.random.default_rng(0))
    limits = Limits(chain.spans, Batch.of(np.zeros((3, 5)), [1, 2]))
    with pytest.raises(ChainError, match=says):
        getattr(limits, verb)(tokens)
    getattr(limits, verb)([])
    assert limits.allowed.all()


def test_numbers_that_are_not_whole_are_refused() -> None:
    chain, batch = random_chain("bio", np.random.default_rng(0)), Batch.of(np.zeros((3, 5)), [3])
    for lengths in ([1.5, 1.5], [3.0], [True, True, True]):
        with pytest.raises(ChainError, match="The lengths are whole numbers"):
            Batch.of(np.zeros((3, 5)), lengths)  # type: ignore[arg-type]
    with pytest.raises(ChainError, match="The states are whole numbers"):
        score(chain, batch, np.array([0.0, 1.5, 0.0]))
    with pytest.raises(ChainError, match="The parts of spans are whole numbers"):
        Spans.of([(0, 0, 1.5, 0)])  # type: ignore[list-item]
    with pytest.raises(ChainError, match="A span is a row of four"):
        Spans.of([(0, 0, 1, 0), (0, 1, 2)])  # type: ignore[list-item]
    for bias in (np.nan, np.inf):
        with pytest.raises(ChainError, match="A bias is a number"):
            chain.biased(bias)
    for n in (1.5, -1):
        with pytest.raises(ChainError, match="n is a whole number, at least 0"):
            sample(chain, batch, n, np.random.default_rng(0))  # type: ignore[arg-type]


def test_no_path_is_an_error_that_says_where() -> None:
    chain = random_chain("iobes", np.random.default_rng(0))
    scores = np.zeros((6, len(chain.start)))
    scores[1:3] = -np.inf
    batch = Batch.of(scores, [1, 1, 2, 0, 2])
    assert np.isneginf(total(chain, batch)).tolist() == [False, True, True, False, False]
    assert [number == 0 for number in count(chain, batch)] == [False, True, True, False, False]
    draws = np.random.default_rng(0)
    for ask in (
        best,
        marginals,
        Posterior.of,
        expected_spans,
        lambda c, b: nbest(c, b, 2),
        lambda c, b: sample(c, b, 2, draws),
    ):
        with pytest.raises(NoPathError, match=r"Sequence 1 .and 1 more. has no") as info:
            ask(chain, batch)
        assert info.value.sequences == (1, 2)
