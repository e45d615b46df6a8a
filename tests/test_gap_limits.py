"""What agrees with known mentions, against every set of mentions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_iobes.chain import Spans
from spacy_iobes.chain.gap_limits import agreeing, written
from spacy_iobes.chain.gaps import Gaps
from spacy_iobes.chain.separators import Edge, State, loss
from spacy_iobes.errors import ChainError

from .chain_paths import log_sum
from .mention_sets import NAMES, Mentions, mention_sets, places, realised, separators

LENGTH = 4
SETS = list(mention_sets(LENGTH))
EVERY_MISSING = list(product([False, True], repeat=LENGTH))


def one_sentence(length: int = LENGTH) -> Gaps:
    return Gaps.of(np.zeros((length + 1, 1, 8)), [length])


def spans(mentions: Mentions) -> Spans:
    return Spans.of([(0, start, end, 0) for start, end in mentions])


def admitted(allowed: NDArray[np.bool_]) -> set[tuple[str, ...]]:
    """The legal sequences that a mask lets through."""
    rows = [{NAMES[k] for k in np.flatnonzero(row)} for row in allowed]
    return {path for path in realised(len(rows) - 1) if all(map(set.__contains__, rows, path))}


def says(mentions: Mentions, token: int) -> tuple[bool, ...]:
    """What mentions say of a token: starts with it, ends with it, on to it, on from it."""
    return (
        any(start == token for start, _ in mentions),
        any(end == token + 1 for _, end in mentions),
        any(start < token < end for start, end in mentions),
        any(start < token + 1 < end for start, end in mentions),
    )


def test_written() -> None:
    for mentions in SETS:
        found = written(one_sentence(), spans(mentions))
        assert tuple(NAMES[k] for k in found[:, 0]) == separators(mentions, LENGTH)


def test_admitted_is_what_agrees() -> None:
    """The separators of all sets that have the known mentions, and else say the same."""
    said = {mentions: [says(mentions, token) for token in range(LENGTH)] for mentions in SETS}
    random = np.random.default_rng(0)
    for known in [SETS[i] for i in random.choice(len(SETS), 60, replace=False)]:
        for missing in EVERY_MISSING:
            tokens = [token for token in range(LENGTH) if not missing[token]]
            good = {
                separators(mentions, LENGTH)
                for mentions in SETS
                if known <= mentions and all(said[mentions][t] == said[known][t] for t in tokens)
            }
            allowed = agreeing(one_sentence(), spans(known), np.array(missing))
            assert admitted(allowed[:, 0]) == good


def test_mentions_that_are_not_known_lie_in_missing_tokens() -> None:
    """Where no known mention covers known and missing tokens alike."""
    random = np.random.default_rng(0)
    for missing in EVERY_MISSING:
        hidden = {token for token in range(LENGTH) if missing[token]}
        apart = [m for m in places(LENGTH) if len({*range(*m)} & hidden) in (0, m[1] - m[0])]
        for _ in range(12):
            known = frozenset(m for m in apart if random.random() < 0.4)
            good = {
                separators(mentions, LENGTH)
                for mentions in SETS
                if known <= mentions and all({*range(*m)} <= hidden for m in mentions - known)
            }
            allowed = agreeing(one_sentence(), spans(known), np.array(missing))
            assert admitted(allowed[:, 0]) == good


def test_boundaries() -> None:
    """Tokens 0 and 1 known, 2 and 3 missing, a mention up to the boundary and none."""
    missing = np.array([False, False, True, True])
    allowed = agreeing(one_sentence(), Spans.of([(0, 1, 2, 0)]), missing)[:, 0]
    rows = [{NAMES[k] for k in np.flatnonzero(row)} for row in allowed]
    assert rows == [{"X"}, {"S"}, {"E", "ES"}, set(NAMES), {"X", "E"}]
    allowed = agreeing(one_sentence(), Spans.of([]), missing)[:, 0]
    rows = [{NAMES[k] for k in np.flatnonzero(row)} for row in allowed]
    assert rows == [{"X"}, {"X"}, {"X", "S"}, set(NAMES), {"X", "E"}]


def test_nothing_missing_is_one_sequence_and_all_missing_is_every_sequence() -> None:
    nothing, everything = np.zeros(LENGTH, dtype=bool), np.ones(LENGTH, dtype=bool)
    gaps = one_sentence()
    for mentions in SETS[::5]:
        known = written(gaps, spans(mentions))
        allowed = agreeing(gaps, spans(mentions), nothing)
        np.testing.assert_array_equal(allowed, known[..., None] == np.arange(8))
    assert admitted(agreeing(gaps, Spans.of([]), everything)[:, 0]) == set(realised(LENGTH))


def test_several_sentences_and_labels() -> None:
    """Each is as it would be alone."""
    random = np.random.default_rng(0)
    lengths, labels = (3, 0, 4, 1), 3
    gaps = Gaps.of(np.zeros((sum(lengths) + 4, labels, 8)), lengths)
    missing = random.random((sum(lengths), labels)) < 0.5
    rows = [(0, 0, 2, 1), (2, 1, 4, 0), (2, 1, 2, 0), (2, 0, 4, 2), (3, 0, 1, 1)]
    found = agreeing(gaps, Spans.of(rows), missing)
    first = 0
    for sentence, length in enumerate(lengths):
        for label in range(labels):
            own = [(0, s, e, 0) for n, s, e, x in rows if (n, x) == (sentence, label)]
            alone = agreeing(
                one_sentence(length), Spans.of(own), missing[first : first + length, label]
            )
            at = gaps.offsets[sentence]
            np.testing.assert_array_equal(found[at : at + length + 1, label], alone[:, 0])
        first += length
    shared = agreeing(gaps, Spans.of(rows), missing[:, 0])
    repeated = agreeing(gaps, Spans.of(rows), np.repeat(missing[:, :1], labels, axis=1))
    np.testing.assert_array_equal(shared, repeated)


@pytest.mark.parametrize("model", [Edge(), State(np.zeros((8, 8)))])
def test_the_loss_of_what_is_known(model: Edge | State) -> None:
    random = np.random.default_rng(0)
    gaps = Gaps.of(random.normal(size=(LENGTH + 1, 1, 8)), [LENGTH])
    missing = np.array([False, True, True, False])
    allowed = agreeing(gaps, Spans.of([(0, 0, 1, 0)]), missing)
    values, _ = loss(model, gaps, gaps.limited(allowed))

    def every(paths: set[tuple[str, ...]]) -> float:
        return log_sum(
            [sum(gaps.scores[k, 0, NAMES.index(n)] for k, n in enumerate(p)) for p in paths]
        )

    expected = every(set(realised(LENGTH))) - every(admitted(allowed[:, 0]))
    np.testing.assert_allclose(values, expected)


def test_bad_input() -> None:
    gaps = one_sentence()
    with pytest.raises(ChainError, match="4 tokens, or for them and 1 labels: not bool"):
        agreeing(gaps, Spans.of([]), np.zeros(5, dtype=bool))
    with pytest.raises(ChainError, match="not int64"):
        agreeing(gaps, Spans.of([]), np.zeros(4, dtype=np.int64))
    with pytest.raises(ChainError, match="0:5 of label 0"):
        agreeing(gaps, Spans.of([(0, 0, 5, 0)]), np.zeros(4, dtype=bool))
