"""Scores of nested mentions against their definitions, mention by mention."""

from __future__ import annotations

import gzip
import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.training import Example
from spacy.util import registry

from spacy_iobes import __version__, score
from spacy_iobes.pipeline import NESTED_WEIGHTS, span_scorer
from spacy_iobes.pipeline.scorers import nested_scorer
from spacy_iobes.scoring import NestedCounts, Recall, Tally, count_nested

from .docs import VOCAB, bare, with_group
from .shared import SHARED, needs_shared

Mention = tuple[int, int, str]
Corpus = list[list[Mention]]

boundaries = st.tuples(st.integers(0, 5), st.integers(1, 4)).map(lambda two: (two[0], sum(two)))
mentions = st.tuples(boundaries, st.sampled_from("XYZ")).map(lambda two: (*two[0], two[1]))
sentences = st.lists(mentions, max_size=6)
corpora = st.lists(st.tuples(sentences, sentences), max_size=5)


def overlap(a: Mention, b: Mention) -> bool:
    return bool(set(range(*a[:2])) & set(range(*b[:2])))


def inside(a: Mention, b: Mention) -> bool:
    """All tokens of a and more are those of b."""
    return set(range(*a[:2])) < set(range(*b[:2]))


KINDS: dict[str, Any] = {
    "nested": inside,
    "nested_same_label": lambda a, b: inside(a, b) and a[2] == b[2],
    "containing": lambda a, b: inside(b, a),
    "same_tokens": lambda a, b: a != b and a[:2] == b[:2],
}


def by_definition(gold: Corpus, predicted: Corpus) -> dict[str, tuple[int, ...]]:
    """Every count, one sentence and one mention after the other."""
    found = {name: [0, 0, 0, 0] for name in ("overlapping", "others")}
    recall = {name: [0, 0] for name in KINDS}
    for one, other in zip(gold, predicted):
        answers, guesses = set(one), set(other)
        shared = any(overlap(a, b) for a, b in combinations(answers, 2))
        numbers = (1, len(answers & guesses), len(guesses), len(answers))
        row = found["overlapping" if shared else "others"]
        row[:] = [a + b for a, b in zip(row, numbers)]
        for name, is_so in KINDS.items():
            some = {a for a in answers if any(is_so(a, b) for b in answers)}
            recall[name][0] += len(some & guesses)
            recall[name][1] += len(some)
    return {name: tuple(row) for name, row in (found | recall).items()}


@given(corpora)
def test_counts_are_those_of_the_definitions(corpus: list[tuple[list[Mention], ...]]) -> None:
    gold, predicted = [list(a) for a, _ in corpus], [list(b) for _, b in corpus]
    found = count_nested(gold, predicted)
    assert {name: tuple(row) for name, row in vars(found).items()} == by_definition(gold, predicted)


@given(corpora, corpora)
def test_parts_add_up(first: list[Any], second: list[Any]) -> None:
    def counted(corpus: list[Any]) -> NestedCounts:
        return count_nested([a for a, _ in corpus], [b for _, b in corpus])

    assert counted(first) + counted(second) == counted(first + second)


@given(corpora)
def test_the_two_parts_are_the_whole(corpus: list[Any]) -> None:
    gold, predicted = [a for a, _ in corpus], [b for _, b in corpus]
    found, whole = count_nested(gold, predicted), score(gold, predicted).counts
    parts = [sum(pair) for pair in zip(found.overlapping, found.others)]
    assert parts == [len(corpus), *whole.totals]


def test_figures_by_hand() -> None:
    gold = [[(0, 4, "X"), (1, 2, "X"), (2, 3, "Y")], [(0, 1, "X")], []]
    predicted = [[(0, 4, "X"), (2, 3, "Y"), (3, 4, "Y")], [(0, 1, "X"), (1, 2, "X")], [(0, 1, "Z")]]
    found = count_nested(gold, predicted)
    assert found.overlapping == Tally(1, 2, 3, 3)
    assert found.others == Tally(2, 1, 3, 1)
    assert found.overlapping.figures == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found.others.figures == pytest.approx((1 / 3, 1.0, 1 / 2))
    assert (found.nested, found.nested_same_label) == (Recall(1, 2), Recall(0, 1))
    assert found.containing == Recall(1, 1)
    assert (found.same_tokens.recall, found.nested.recall) == (None, 0.5)


@pytest.mark.parametrize(
    ("mentions", "overlapping"),
    [
        ([(0, 2, "X"), (2, 4, "X")], 0),  # they touch
        ([(0, 3, "X"), (2, 4, "Y")], 1),  # they cross
        ([(0, 2, "X"), (0, 2, "Y")], 1),  # two labels
        ([(0, 2, "X"), (0, 2, "X")], 0),  # one mention, given twice
        ([(0, 1, "X"), (5, 9, "X"), (6, 7, "Y")], 1),
    ],
)
def test_what_overlap_is(mentions: list[Mention], overlapping: int) -> None:
    assert count_nested([mentions], [[]]).overlapping.sentences == overlapping


# the scorer


def documents(corpus: list[Any], side: int) -> Doc:
    """All sentences, ten tokens each, as one Doc."""
    spans = [
        (start + 10 * n, end + 10 * n, label)
        for n, pair in enumerate(corpus)
        for start, end, label in pair[side]
    ]
    words = [f"w{i}" for i in range(10 * len(corpus))]
    doc = Doc(VOCAB, words=words, sent_starts=[i % 10 == 0 for i in range(len(words))])
    doc.spans["sc"] = [DocSpan(doc, *span) for span in spans]
    return doc


@given(corpora)
def test_the_scorer_counts_sentences_of_the_reference(corpus: list[Any]) -> None:
    scores = nested_scorer()([Example(documents(corpus, 1), documents(corpus, 0))])
    gold, predicted = [a for a, _ in corpus], [b for _, b in corpus]
    expected = by_definition(gold, predicted)
    for part in ("overlapping", "others"):
        row = scores[f"iobes_nested_{part}"]
        numbers = [row[name] for name in ("sentences", "correct", "predicted", "gold")]
        empty = not corpus and part == "others"  # a Doc without tokens is a sentence, too
        assert numbers == [expected[part][0] + empty, *expected[part][1:]]
    for kind, row in scores["iobes_nested_recall"].items():
        assert (row["correct"], row["gold"]) == expected[kind]
        assert row["r"] == (row["correct"] / row["gold"] if row["gold"] else 0.0)


@given(corpora)
def test_the_figures_are_those_of_the_scorer_of_spans(corpus: list[Any]) -> None:
    pairs = [Example(documents(corpus, 1), documents(corpus, 0))]
    found, other = (
        nested_scorer()(pairs),
        span_scorer(scheme=None, policy=None, source="spans:sc")(pairs),
    )
    for key in ("p", "r", "f", "f_per_type", "signature"):
        assert found[f"iobes_nested_{key}"] == other[f"iobes_{key}"]


def test_the_scorer_as_a_config_names_it() -> None:
    scorer = registry.scorers.get("spacy-iobes.nested_scorer.v1")(spans_key="mine")
    reference, predicted = (with_group([(0, 2, "X"), (1, 2, "X")], 3, "mine") for _ in range(2))
    scores = pickle.loads(pickle.dumps(scorer))([Example(predicted, reference)])
    assert scores["iobes_nested_f"] == 1.0
    assert scores["iobes_nested_recall"]["nested_same_label"] == {"r": 1.0, "correct": 1, "gold": 1}
    assert scores.keys() == NESTED_WEIGHTS.keys()
    recipe = (
        f"f1:micro|match:exact|scheme:spans|policy:raise|gold_policy:raise|version:{__version__}"
    )
    assert scores["iobes_nested_signature"] == recipe


def test_a_reference_without_the_group_is_not_annotated() -> None:
    scores = nested_scorer()([Example(with_group([(0, 1, "X")], 2), bare(2))])
    assert [scores[f"iobes_nested_{key}"] for key in "prf"] == [None] * 3
    assert scores["iobes_nested_others"]["predicted"] == 0
    assert nested_scorer()([])["iobes_nested_f"] is None


def test_other_tokens_are_compared_by_their_characters() -> None:
    reference = Doc(VOCAB, words=["ab", "cd", "ef"], sent_starts=[True, False, True])
    reference.spans["sc"] = [DocSpan(reference, 0, 2, "X"), DocSpan(reference, 1, 2, "X")]
    predicted = Doc(
        VOCAB, words=["a", "b", "cd", "e", "f"], spaces=[False, True, True, False, False]
    )
    predicted.spans["sc"] = [
        DocSpan(predicted, 0, 3, "X"),
        DocSpan(predicted, 2, 3, "X"),
        DocSpan(predicted, 3, 5, "X"),
    ]
    scores = nested_scorer()([Example(predicted, reference)])
    assert scores["iobes_nested_overlapping"]["predicted"] == 2
    assert scores["iobes_nested_overlapping"]["f"] == 1.0
    assert scores["iobes_nested_others"]["predicted"] == 1


# real data


def genia(name: str) -> Corpus:
    """The mentions of a file with four columns of BIO tags, read by hand."""
    path: Path = SHARED / "data" / "genia-nested" / name
    with gzip.open(path, "rt", encoding="utf8") as file:
        blocks = file.read().split("\n\n")
    found = []
    for block in blocks:
        rows = [line.split("\t")[1:] for line in block.split("\n") if line]
        mentions = set()
        for column in zip(*rows):
            start = 0
            for at, tag in enumerate([*column, "O"]):
                if at and column[at - 1] != "O" and not tag.startswith("I-"):
                    mentions.add((start, at, column[start][2:]))
                if tag.startswith("B-"):
                    start = at
        if rows:
            found.append(sorted(mentions))
    return found


@needs_shared
def test_real_mentions() -> None:
    """The numbers of nested mentions are those that the data's own description tells."""
    gold = genia("genia.test.nested.iob2.gz")
    released = genia("genia.test.released.iob2.gz")
    found = count_nested(gold, released)
    whole = found.overlapping.gold + found.others.gold
    assert (len(gold), whole) == (1854, 5511)
    assert found.others.sentences + found.overlapping.sentences == 1854
    assert found.same_tokens.gold == 10
    same = found.same_tokens.gold  # which the description counts as inside each other
    assert (found.nested.gold + same, found.nested_same_label.gold) == (641, 325)
    assert found.overlapping.correct + found.others.correct == 5474
    assert {name: tuple(row) for name, row in vars(found).items()} == by_definition(gold, released)
