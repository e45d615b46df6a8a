"""The policy `best`: the most probable legal tags, by looking at every legal sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import CodedTags, TagScores, repair, repair_many
from spacy_iobes.codes import code_tags
from spacy_iobes.errors import AlignmentError, TagError, UnreadableTagError

from . import by_hand, strategies

every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)


def random_scores(tags: Sequence[str], length: int, seed: int, spread: float = 1.0) -> TagScores:
    values = np.random.default_rng(seed).normal(size=(length, len(tags))) * spread
    return TagScores(tuple(tags), values)


def value(scores: TagScores, tags: Sequence[str]) -> float:
    """What the scores say of a sequence."""
    places = [scores.tags.index(tag) for tag in tags]
    return float(sum(row[place] for row, place in zip(scores.values, places)))


def highest(scores: TagScores, scheme: str) -> float:
    """The best that any legal sequence reaches."""
    legal = by_hand.legal_sequences(len(scores.values), scheme)
    return max(value(scores, tags) for tags in legal)


@every_scheme
@pytest.mark.parametrize("spread", [0.1, 1.0, 40.0])
def test_the_best_legal_sequence(scheme: str, spread: float) -> None:
    tags, random = by_hand.all_tags(scheme), np.random.default_rng(0)
    for seed in range(15):
        given_tags = [tags[i] for i in random.integers(len(tags), size=4)]
        scores = random_scores(tags, 4, seed, spread)
        found = repair(given_tags, scheme, "best", scores)
        legal = by_hand.legal_sequences(4, scheme)
        if tuple(given_tags) in legal:
            assert found.tags == given_tags
            assert not found.violations
        else:
            assert value(scores, found.tags) == pytest.approx(highest(scores, scheme))
            assert found.violations
        assert tuple(found.spans) == legal[tuple(found.tags)]


@given(st.data())
def test_any_sentence_becomes_legal(data: st.DataObject) -> None:
    scheme = data.draw(strategies.schemes)
    tags = by_hand.all_tags(scheme)
    sentence = data.draw(st.lists(st.sampled_from(tags), max_size=4))
    row = st.lists(st.integers(-9, 9), min_size=len(tags), max_size=len(tags))
    rows = data.draw(st.lists(row, min_size=len(sentence), max_size=len(sentence)))
    scores = TagScores(tags, np.array(rows, dtype=float).reshape(len(sentence), len(tags)))
    legal = by_hand.legal_sequences(len(sentence), scheme)
    found = repair(sentence, scheme, "best", scores)
    assert tuple(found.spans) == legal[tuple(found.tags)]
    if tuple(sentence) in legal:
        assert found.tags == sentence
    else:
        assert value(scores, found.tags) == highest(scores, scheme)


@every_scheme
def test_legal_tags_stay_whatever_the_scores_say(scheme: str) -> None:
    for tags, spans in by_hand.legal_sequences(3, scheme).items():
        worst = TagScores(by_hand.all_tags(scheme), np.zeros((3, len(by_hand.all_tags(scheme)))))
        for row, tag in enumerate(tags):
            worst.values[row, worst.tags.index(tag)] = -100
        found = repair(tags, scheme, "best", worst)
        assert (tuple(found.tags), tuple(found.spans), found.violations) == (tags, spans, [])


@every_scheme
def test_tags_that_are_ruled_out_are_not_used(scheme: str) -> None:
    tags, random = by_hand.all_tags(scheme), np.random.default_rng(1)
    repaired = 0
    for seed in range(40):
        scores = random_scores(tags, 3, seed)
        scores.values[random.random(scores.values.shape) < 0.3] = -np.inf
        sentence = [tags[i] for i in random.integers(len(tags), size=3)]
        if tuple(sentence) in by_hand.legal_sequences(3, scheme):
            continue
        if highest(scores, scheme) == -np.inf:
            with pytest.raises(TagError, match=f"no legal {scheme} sequence has a score"):
                repair(sentence, scheme, "best", scores)
        else:
            repaired += 1
            found = repair(sentence, scheme, "best", scores)
            assert value(scores, found.tags) == pytest.approx(highest(scores, scheme))
    assert repaired or scheme == "io"  # every sequence of io is legal


def test_columns_in_any_order_and_a_label_with_hyphens() -> None:
    scores = TagScores(("I-B-side", "O", "B-B-side"), np.array([[5.0, 0, 1], [3, 0, 2]]))
    assert repair(["I-B-side", "O"], "bio", "best", scores).tags == ["B-B-side", "I-B-side"]


def test_scores_from_mappings() -> None:
    rows = [{"O": -0.1, "B-X": -2.0}, {"I-X": -0.1, "O": -3.0}, {"O": 0.0}]
    scores = TagScores.of(rows)
    assert scores.tags == ("O", "B-X", "I-X")
    assert scores.values[0, 2] == scores.values[2, 1] == -np.inf
    found = repair(["O", "I-X", "O"], "bio", "best", scores)
    assert found.tags == ["B-X", "I-X", "O"]
    assert [tuple(span) for span in found.spans] == [(0, 2, "X")]
    assert [violation.index for violation in found.violations] == [1]
    assert TagScores.of([]).values.shape == (0, 0)


def test_unreadable_tags_are_replaced_too() -> None:
    scores = TagScores(("O", "B-X", "I-X"), np.array([[0.0, 1, 0], [0, 0, 2]]))
    assert repair(["Q-X", "I-X"], "bio", "best", scores).tags == ["B-X", "I-X"]


@every_scheme
def test_many_sentences(scheme: str) -> None:
    tags, random = by_hand.all_tags(scheme), np.random.default_rng(2)
    sentences = [[tags[i] for i in random.integers(len(tags), size=n)] for n in (3, 0, 1, 4, 2)]
    scores = [random_scores(tags, len(sentence), seed) for seed, sentence in enumerate(sentences)]
    many = repair_many(sentences, scheme, "best", scores)
    for number, (sentence, mine) in enumerate(zip(sentences, scores)):
        one = repair(sentence, scheme, "best", mine)
        assert list(many.tags)[number] == one.tags
        assert (many.spans[number], many.violations[number]) == (one.spans, one.violations)
    coded = repair_many(code_tags(sentences), scheme, "best", scores)
    assert isinstance(coded.tags, CodedTags)
    assert coded.tags.lists() == many.tags


def test_nothing() -> None:
    assert repair([], "iobes", "best", TagScores.of([])).tags == []
    assert repair_many([], "iobes", "best", []).tags == []


def test_a_long_sentence() -> None:
    tags = by_hand.all_tags("iobes")
    scores = random_scores(tags, 50_000, 0)
    found = repair(["I-X"] * 50_000, "iobes", "best", scores)
    legal = by_hand.legal_neighbours("iobes")
    assert set(zip(["^", *found.tags], [*found.tags, "$"])) <= legal


SCORES = TagScores(("O", "B-X", "I-X"), np.zeros((2, 3)))


def test_scores_are_for_best_and_best_is_for_scores() -> None:
    with pytest.raises(TypeError, match="'best' needs scores"):
        repair(["O", "I-X"], "bio", "best")
    with pytest.raises(TypeError, match="'begin' takes no scores"):
        repair(["O", "I-X"], "bio", "begin", SCORES)


def test_scores_that_do_not_fit() -> None:
    with pytest.raises(AlignmentError, match="3 tokens, but scores for 2"):
        repair(["O", "O", "I-X"], "bio", "best", SCORES)
    with pytest.raises(AlignmentError, match="sentence 1: 1 tokens, but scores for 2"):
        repair_many([["O", "I-X"], ["I-X"]], "bio", "best", [SCORES, SCORES])
    with pytest.raises(AlignmentError, match="2 sentences, but scores for 1"):
        repair_many([["O", "I-X"], ["I-X"]], "bio", "best", [SCORES])
    with pytest.raises(AlignmentError, match=r"2 tags, but their shape is \(2, 3\)"):
        TagScores(("O", "B-X"), np.zeros((2, 3)))
    with pytest.raises(AlignmentError, match="shape"):
        TagScores(("O",), np.zeros(3))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_scores_that_are_no_numbers(wrong: float) -> None:
    with pytest.raises(TagError, match="NaN or infinity"):
        TagScores(("O",), np.array([[wrong]]))


def test_columns_of_another_scheme() -> None:
    with pytest.raises(UnreadableTagError, match="S-X"):
        repair(["I-X"], "bio", "best", TagScores(("O", "S-X"), np.zeros((1, 2))))


def test_columns_that_lack_what_is_needed() -> None:
    scores = TagScores(("B-X", "I-X"), np.zeros((2, 2)))
    with pytest.raises(TagError, match="the columns lack a tag"):
        repair(["I-X", "I-X"], "iobes", "best", scores)
    assert repair(["I-X", "I-X"], "bio", "best", scores).tags[0] == "B-X"
