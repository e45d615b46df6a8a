"""Where a token stands and where else its word does, in numpy: the kernel, to be read."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Offsets, Values

FIRST_PLACES = 2  # of a sentence that are told apart


def surround(
    lower: Values,  # [N]: the word of every token
    casing: Values,  # [N]: how it is written
    casings: Values,  # [3]: what that is for lower case, title case and upper case
    docs: Offsets,  # [D + 1]: where Docs begin and end
    sentences: Offsets,  # [S + 1]: where sentences do, each of which lies in one Doc
) -> Values:
    """What there is to say of every token, `[N, 9]`, 0 being nothing.

    These are its place; whether its sentence has capitals only; how its word is written elsewhere;
    the words before and behind the first place of its word in the Doc, the one before, and the
    next one.
    """
    here = Surroundings(lower, casing, casings, docs, sentences)
    near = [here.near(at, by) for at in (here.first, here.earlier, here.later) for by in (-1, 1)]
    return np.stack([here.place(), here.capitals(), here.seen(), *near], axis=1)


class Surroundings:
    """The tokens of some Docs, as `surround` takes them."""

    def __init__(
        self, lower: Values, casing: Values, casings: Values, docs: Offsets, sentences: Offsets
    ):
        self.lower, self.casing, self.casings = lower, casing, casings
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
        for bit, casing in enumerate(self.casings):
            mine = telling & (self.casing == casing)
            others = np.bincount(self._group, weights=mine)[self._group] - mine
            found += (others > 0).astype(np.int64) << bit
        alone = np.bincount(self._group)[self._group] == 1
        return np.where(alone, np.uint64(0), _codes(found))

    @cached_property
    def _index(self) -> Offsets:
        """The number of every token in its sentence."""
        starts = np.repeat(self.sentences[:-1], np.diff(self.sentences))
        found: Offsets = np.arange(len(self.lower)) - starts
        return found

    @cached_property
    def _capitals(self) -> Flags:
        """The tokens of sentences that have words in capitals and no others."""
        upper = self._summed(self.casing == self.casings[2])
        small = self._summed(np.isin(self.casing, self.casings[:2]))
        return np.repeat((upper > 0) & (small == 0), np.diff(self.sentences))

    def _summed(self, flags: Flags) -> Offsets:
        sums = np.concatenate([[0], np.cumsum(flags)])
        found: Offsets = sums[self.sentences[1:]] - sums[self.sentences[:-1]]
        return found

    @cached_property
    def _order(self) -> Offsets:
        """The tokens Doc by Doc and word by word, each word's in the order of the text."""
        doc = np.repeat(np.arange(len(self.docs) - 1), np.diff(self.docs))
        found: Offsets = np.lexsort((self.lower, doc))
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
    def _group(self) -> Offsets:
        """A number for each word of each Doc."""
        group = np.empty(len(self._order), dtype=np.int64)
        group[self._order] = np.cumsum(~self._again) - 1
        return group

    @cached_property
    def earlier(self) -> Offsets:
        """The token before with the same word, or -1."""
        found = np.full(len(self.lower), -1, dtype=np.int64)
        at = np.flatnonzero(self._again)
        found[self._order[at]] = self._order[at - 1]
        return found

    @cached_property
    def later(self) -> Offsets:
        """The next token with the same word, or -1."""
        found = np.full(len(self.lower), -1, dtype=np.int64)
        at = np.flatnonzero(self._again)
        found[self._order[at - 1]] = self._order[at]
        return found

    @cached_property
    def first(self) -> Offsets:
        """The first token of the Doc with the same word, or -1 if it is that itself."""
        order = self._order
        begins = np.maximum.accumulate(np.where(self._again, 0, np.arange(len(order))))
        found = np.full(len(order), -1, dtype=np.int64)
        found[order[self._again]] = order[begins[self._again]]
        return found

    def near(self, place: Offsets, distance: int) -> Values:
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
