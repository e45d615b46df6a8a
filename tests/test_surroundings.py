"""Where a token stands, and other places of its word, beside the same in plain Python."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import accumulate, chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_iobes.ml import Extractor

from .feature_classes import BITS, Sentences, check, doc_of, features

TEMPLATES = [
    "place",
    "capitals",
    "seen",
    "before_first",
    "after_first",
    "before_earlier",
    "after_earlier",
    "before_later",
    "after_later",
    "lower[-1]",
    "lower[+2]",
    "before_later[-1]",
]
WORDS = ["a", "A", "bc", "Bc", "BC", "bC", "ÉÉ", "éé", "1", "."]
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
documents = st.lists(st.lists(words, max_size=4), max_size=3)
Said = list[Hashable | None]


def casing(word: str) -> str:
    """How a word is written."""
    if word == word.lower() != word.upper():
        return "lower"
    if word == word.upper() != word.lower() and len(word) > 1:
        return "upper"
    return "title" if word[0] != word[0].lower() else ""


class ByHand:
    """A document, whose every token is looked for from its beginning."""

    def __init__(self, sentences: Sentences):
        self.lower = [word.lower() for sentence in sentences for word in sentence]
        self.casing = [casing(word) for sentence in sentences for word in sentence]
        ends = list(accumulate(map(len, sentences)))
        self.sentence = [next(n for n, e in enumerate(ends) if t < e) for t in range(ends[-1])]

    def tokens(self, number: int) -> list[int]:
        """The tokens of a sentence."""
        return [t for t, sentence in enumerate(self.sentence) if sentence == number]

    def place(self, token: int) -> Hashable:
        mine = self.tokens(self.sentence[token])
        return min(mine.index(token), 2), token == mine[-1]

    def capitals(self, token: int) -> bool:
        written = {self.casing[t] for t in self.tokens(self.sentence[token])}
        return "upper" in written and not written & {"lower", "title"}

    def others(self, token: int) -> list[int]:
        """The other places of the word."""
        same = [t for t, word in enumerate(self.lower) if word == self.lower[token]]
        return [t for t in same if t != token]

    def seen(self, token: int) -> Hashable | None:
        others = self.others(token)
        telling = [t for t in others if self.place(t)[0] > 0 and not self.capitals(t)]  # type: ignore[index]
        return frozenset(self.casing[t] for t in telling) - {""} if others else None

    def beside(self, token: int, places: list[int], distance: int) -> str | None:
        """The word beside the first of some places, in the same sentence."""
        there = [place + distance for place in places[:1]]
        near = [t for t in there if t in self.tokens(self.sentence[places[0]])]
        return self.lower[near[0]] if near else None

    def window(self, token: int, distance: int) -> str:
        """The word at a distance, or the end of the sentence that is there."""
        mine, there = self.tokens(self.sentence[token]), token + distance
        return self.lower[there] if there in mine else "(end)" if distance > 0 else "(start)"

    def says(self, token: int) -> Said:
        """What all templates say of a token."""
        before = [t for t in self.others(token) if t < token]
        after = [t for t in self.others(token) if t > token]
        places = (before, before[::-1], after)
        near = [self.beside(token, p, d) for p in places for d in (-1, +1)]
        mine = [self.place(token), self.capitals(token), self.seen(token)]
        return [*mine, *near, self.window(token, -1), self.window(token, 2), self.later(token - 1)]

    def later(self, token: int) -> str | None:
        """What stands before the next place of the word of a token: the last template."""
        if token < 0 or self.sentence[token] != self.sentence[token + 1]:
            return "(start)"
        return self.beside(token, [t for t in self.others(token) if t > token], -1)


def said(documents: list[Sentences]) -> list[Said]:
    hands = [ByHand(sentences) for sentences in documents if sentences]
    return [hand.says(token) for hand in hands for token in range(len(hand.lower))]


@given(documents)
@example([[], [["a"]], []])
@example([[["BC", "a"], ["BC", "."]], [["BC"]]])
def test_documents_with_sentences(documents: list[Sentences]) -> None:
    extractor = Extractor(TEMPLATES, BITS, document=True)
    names = list(extractor.templates.names)
    at = [names.index(template) for template in TEMPLATES]
    found = features(extractor, [doc_of(sentences) for sentences in documents])
    check([[row[n] for n in at] for row in found], said(documents))


@pytest.mark.parametrize("document", [True, False])
@given(documents=documents)
def test_a_doc_that_knows_no_sentences_is_one(document: bool, documents: list[Sentences]) -> None:
    """So it is where templates are asked for, but Docs are no documents."""
    extractor = Extractor(TEMPLATES, BITS, document)
    at = [list(extractor.templates.names).index(template) for template in TEMPLATES]
    docs = [doc_of(sentences, known=not document) for sentences in documents]
    whole = [[list(chain(*sentences))] if sentences else [] for sentences in documents]
    check([[row[n] for n in at] for row in features(extractor, docs)], said(whole))


@given(documents)
def test_docs_know_nothing_of_each_other(documents: list[Sentences]) -> None:
    """A batch is no more than its Docs."""
    extractor = Extractor(["lower"], BITS, document=True)
    docs = [doc_of(sentences) for sentences in documents]
    alone = [row for doc in docs for row in features(extractor, [doc])]
    assert features(extractor, docs) == alone


def test_no_docs() -> None:
    extractor = Extractor(["lower", "TAG", "seen"], BITS, document=True)
    assert features(extractor, []) == []
    assert features(extractor, [doc_of([])]) == []
