"""Names of a list among the words of sentences: what the compiled kernel does, to be read."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from ..arrays import Ints, Offsets, Values
from .features_numpy import PRIME

SMALL, EXACT = 1, 2  # what names in lower case, and as they are written, are mixed from
SINGLE, BEGIN, INSIDE, END = range(1, 5)  # where in a name a token is
OTHER_CASE = 4  # added to that where capitals differ
LONGEST = 64  # words of a name
MASK = (1 << 64) - 1


def mixed(seed: int, words: Iterable[int]) -> int:
    """One number for some words."""
    for word in words:
        seed = (seed ^ word) * PRIME & MASK
        seed ^= seed >> 29
    return seed


def number_of(word: int, keys: Values, numbers: Ints) -> int:
    """The number of a word in a table as `number` makes it; -1 if it is not there."""
    slot = word & (len(keys) - 1)
    while numbers[slot] >= 0 and keys[slot] != word:
        slot = (slot + 1) & (len(keys) - 1)
    return int(numbers[slot])


def spot(
    lower: Values,  # [N]: the words in lower case
    text: Values,  # [N]: the words as they are
    sentences: Offsets,  # [S + 1]: which no name leaves
    first_keys: Values,  # the first words of names, as a table that `number` makes
    first_numbers: Ints,
    lengths: Values,  # [first words]: bit n is set if a name of n + 1 words begins so
    keys: Values,  # the names, mixed from SMALL and from EXACT, as another table
    numbers: Ints,
) -> Values:
    """Where in a name every token is, `[N]`; 0 where it is in none.

    Names are looked for from left to right, long ones first.
    """
    found = np.zeros(len(lower), dtype=np.uint64)
    for start, end in pairwise(sentences.tolist()):
        at = start
        while at < end:
            first = number_of(int(lower[at]), first_keys, first_numbers)
            bits = int(lengths[first]) if first >= 0 else 0
            size = min(LONGEST, end - at)
            while size:
                small = mixed(SMALL, lower[at : at + size].tolist())
                if bits >> (size - 1) & 1 and number_of(small, keys, numbers) >= 0:
                    break
                size -= 1
            if size:
                exact = mixed(EXACT, text[at : at + size].tolist())
                same = number_of(exact, keys, numbers) >= 0
                found[at : at + size] = INSIDE
                found[at], found[at + size - 1] = BEGIN, END if size > 1 else SINGLE
                found[at : at + size] += np.uint64(0 if same else OTHER_CASE)
            at += max(size, 1)
    return found
