"""Where a token stands, and where else its word does: values that no word has for itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id

from ..kernels.features_numpy import Offsets, Values

CASINGS = ("lower", "title", "upper")  # each a bit of what `seen` says, the first the lowest
LOWER, TITLE, UPPER = map(get_string_id, CASINGS)
FIRST_PLACES = 2  # of a sentence that are told apart
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Surroundings:
    """The tokens of some Docs, `lower[N]` and `casing[N]` of their words, and where they end.

    `docs` and `sentences` are offsets: a sentence lies in one Doc.
    """

    def __init__(self, lower: Values, casing: Values, docs: Offsets, sentences: Offsets):
        self.lower, self.casing = lower, casing
        self.docs, self.sentences = docs, sentences

    def place(self) -> Values:
        """The first tokens of a sentence, the others, and which of them is the last."""
        end = np.repeat(self.sentences[1:], np.diff(self.sentences))
        last = np.arange(len(self.lower)) == end - 1
        return _codes(np.minimum(self._index, FIRST_PLACES) + (FIRST_PLACES + 1) * last)

    def capitals(self) -> Values:
        """Whether a sentence has capitals only."""
        return _codes(self._capitals)

    def seen(self) -> Values:
        """How the word is written at its other places in the Doc, where that says something.

        The first word of a sentence, and all of a sentence of capitals, say nothing.
        """
        telling = (self._index > 0) & ~self._capitals
        found = np.zeros(len(self.lower), dtype=np.int64)
        for bit, casing in enumerate((LOWER, TITLE, UPPER)):
            mine = telling & (self.casing == np.uint64(casing))
            others = np.bincount(self._group, weights=mine)[self._group] - mine
            found += (others > 0).astype(np.int64) << bit
        alone = np.bincount(self._group)[self._group] == 1
        return np.where(alone, np.uint64(0), _codes(found))

    def near_earlier(self, distance: int) -> Values:
        """The word at a distance from the place in the Doc where the word was before."""
        return self._near(self._earlier, distance)

    def near_later(self, distance: int) -> Values:
        """The word at a distance from the place in the Doc where the word is next."""
        return self._near(self._later, distance)

    @cached_property
    def _index(self) -> Numbers:
        """The number of every token in its sentence."""
        starts = np.repeat(self.sentences[:-1], np.diff(self.sentences))
        found: Numbers = np.arange(len(self.lower)) - starts
        return found

    @cached_property
    def _capitals(self) -> Flags:
        """The tokens of sentences that have words in capitals and no others."""
        upper = self._summed(self.casing == np.uint64(UPPER))
        small = self._summed(np.isin(self.casing, np.array([LOWER, TITLE], dtype=np.uint64)))
        return np.repeat((upper > 0) & (small == 0), np.diff(self.sentences))

    def _summed(self, flags: Flags) -> Numbers:
        sums = np.concatenate([[0], np.cumsum(flags)])
        found: Numbers = sums[self.sentences[1:]] - sums[self.sentences[:-1]]
        return found

    @cached_property
    def _order(self) -> Numbers:
        """The tokens Doc by Doc and word by word, each word's in the order of the text."""
        doc = np.repeat(np.arange(len(self.docs) - 1), np.diff(self.docs))
        found: Numbers = np.lexsort((self.lower, doc))
        return found

    @cached_property
    def _again(self) -> Flags:
        """Whether a token in this order has the same word and Doc as the one before it."""
        order = self._order
        doc = np.searchsorted(self.docs, order, side="right")
        again = np.zeros(len(order), dtype=bool)
        again[1:] = (self.lower[order[1:]] == self.lower[order[:-1]]) & (doc[1:] == doc[:-1])
        return again

    @cached_property
    def _group(self) -> Numbers:
        """A number for each word of each Doc."""
        group = np.empty(len(self._order), dtype=np.int64)
        group[self._order] = np.cumsum(~self._again) - 1
        return group

    @cached_property
    def _earlier(self) -> Numbers:
        """The token before with the same word, or -1."""
        found = np.full(len(self.lower), -1, dtype=np.int64)
        at = np.flatnonzero(self._again)
        found[self._order[at]] = self._order[at - 1]
        return found

    @cached_property
    def _later(self) -> Numbers:
        """The next token with the same word, or -1."""
        found = np.full(len(self.lower), -1, dtype=np.int64)
        at = np.flatnonzero(self._again)
        found[self._order[at - 1]] = self._order[at]
        return found

    @cached_property
    def _first(self) -> Numbers:
        """The first token of the Doc with the same word, or -1 if it is that itself."""
        order = self._order
        begins = np.maximum.accumulate(np.where(self._again, 0, np.arange(len(order))))
        found = np.full(len(order), -1, dtype=np.int64)
        found[order[self._again]] = order[begins[self._again]]
        return found

    def _near(self, place: Numbers, distance: int) -> Values:
        """The words at a distance from these tokens, if they are in the same sentence."""
        found = np.zeros(len(place), dtype=np.uint64)
        sentence = np.repeat(np.arange(len(self.sentences) - 1), np.diff(self.sentences))
        there = place + distance
        good = np.flatnonzero((place >= 0) & (there >= 0) & (there < len(place)))
        good = good[sentence[place[good]] == sentence[there[good]]]
        found[good] = self.lower[there[good]]
        return found


def _codes(numbers: NDArray[np.int64] | Flags) -> Values:
    """Small numbers as values; 0 would be none."""
    found: Values = numbers.astype(np.uint64) + np.uint64(1)
    return found


SURROUNDINGS: dict[str, Callable[[Surroundings], Values]] = {
    "place": Surroundings.place,
    "capitals": Surroundings.capitals,
    "seen": Surroundings.seen,
    "before_earlier": lambda here: here.near_earlier(-1),
    "after_earlier": lambda here: here.near_earlier(+1),
    "before_first": lambda here: here._near(here._first, -1),
    "after_first": lambda here: here._near(here._first, +1),
    "before_later": lambda here: here.near_later(-1),
    "after_later": lambda here: here.near_later(+1),
}
"""What a template may ask of where a token stands."""
