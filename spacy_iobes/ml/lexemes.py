"""Words as numbers: what features look at is worked out once for each distinct word."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.strings import hash_string  # type: ignore[attr-defined]
from spacy.tokens import Doc

from .. import kernels
from ..arrays import Ints, Values
from ..kernels import words_python as codes
from ..kernels.words_python import LONG

ROOM = 1024  # words to begin with
MOST = 1 << 20  # words that are kept for the next Docs
REPEATED = re.compile(r"(.)(?=\1)", re.DOTALL)
DIGITS = str.maketrans("0123456789", "##########")


@lru_cache(maxsize=1 << 16)  # many words have the same parts
def hashed(text: str) -> int:
    """The hash of a string, whatever symbols spaCy has; 0 for the empty one."""
    return int(hash_string(text)) if text else 0


class Kinds(dict[int, str]):
    """The kinds of characters: `X` upper case, `x` other letters, `d` digits, others themselves."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isalpha():
            character = "X" if character.isupper() else "x"
        self[code] = "d" if character.isdigit() else character
        return self[code]


KINDS = Kinds()


def digits(text: str) -> str:
    """The lower-case word with `#` for each digit, if it has any."""
    changed = text if text.isalpha() else text.translate(DIGITS)
    return changed.lower() if changed != text else ""


def shape(text: str) -> str:
    """The kinds of the first characters."""
    return text[:LONG].translate(KINDS)


def kinds(text: str) -> str:
    """The kinds of all characters, a run of one kind as one."""
    return without_repeats(text.translate(KINDS))


@lru_cache(maxsize=1 << 14)
def without_repeats(text: str) -> str:
    """Every run of a character as one."""
    return REPEATED.sub("", text)


def prefix(length: int, text: str) -> str:
    """The beginning of a word that is long enough."""
    return text[:length] if len(text) >= length else ""


def suffix(length: int, text: str) -> str:
    """The end of a word that is long enough."""
    return text[-length:] if len(text) >= length else ""


def casing(text: str) -> str:
    """How a word is written: `lower`, `upper` (two letters or more), `title`, or none of them."""
    if text.islower():
        return "lower"
    if text.isupper() and len(text) > 1:
        return "upper"
    return "title" if text[:1].isupper() else ""


ATTRIBUTES: dict[str, Callable[[str], str]] = {
    "text": str,
    "lower": str.lower,
    "digits": digits,
    "shape": shape,
    "kinds": kinds,
    "casing": casing,
    **{f"prefix{n}": partial(prefix, n) for n in range(1, 5)},
    **{f"suffix{n}": partial(suffix, n) for n in range(1, 5)},
}
"""What a template may ask of a word; an empty answer is no feature."""


CODES = {
    "text": codes.TEXT,
    "lower": codes.LOWER,
    "digits": codes.DIGITS,
    "shape": codes.SHAPE,
    "kinds": codes.KINDS,
    "casing": codes.CASING,
    **{f"prefix{n}": codes.PREFIX + n for n in range(1, 5)},
    **{f"suffix{n}": codes.SUFFIX + n for n in range(1, 5)},
}
"""The numbers by which a kernel knows the same attributes."""

Bulk = Callable[[list[str], Values], Values]


class Lexemes:
    """The attributes `values[V, A]` of the words that were seen, as hashes; 0 for none.

    `attributes` are functions of the texts of words. `bulk` has those that are rather worked out
    for many words at once, from their texts and hashes. Once there are more than `MOST` words, all
    of them are forgotten before the next Docs: a word is a row only until then.
    """

    def __init__(
        self,
        attributes: Mapping[str, Callable[[str], str]],
        bulk: Mapping[str, Bulk] | None = None,
    ):
        self.bulk = dict(bulk or {})
        self.functions = {name: ask for name, ask in attributes.items() if name not in self.bulk}
        self.names = list(attributes)
        self.forget()

    def forget(self) -> None:
        """Make the table empty."""
        self._count = 0
        self._values: Values = np.zeros((0, len(self.names)), dtype=np.uint64)
        self._words: Values = np.zeros(0, dtype=np.uint64)
        self._spread(ROOM)

    @property
    def values(self) -> Values:
        """One row for each word."""
        return self._values[: self._count]

    def column(self, name: str) -> Values:
        """One attribute of each word."""
        return self.values[:, self.names.index(name)]

    def numbers(self, docs: Sequence[Doc]) -> Ints:
        """The row of the word of each token, Doc after Doc."""
        every: list[Any] = [doc.to_array(ORTH) for doc in docs] or [self._words[:0]]
        words: Values = np.concatenate(every)
        if self._count > MOST:
            self.forget()
        if 2 * (self._count + len(words)) > len(self._keys):
            self._spread(4 * (self._count + len(words)))
        numbers, count = kernels.number(words, self._keys, self._numbers, self._count)
        if count > self._count:
            self._meet(docs, words, numbers, count)
        return numbers

    def _spread(self, slots: int) -> None:
        """Make a table of at least so many slots for the words that are known."""
        self._keys: Values = np.zeros(1 << slots.bit_length(), dtype=np.uint64)
        self._numbers: Ints = np.full(len(self._keys), -1, dtype=np.int32)
        kernels.number(self._words[: self._count], self._keys, self._numbers, 0)

    def _meet(self, docs: Sequence[Doc], words: Values, numbers: Ints, count: int) -> None:
        """Work out the words that are new."""
        at = np.flatnonzero(numbers >= self._count)
        at = at[np.unique(numbers[at], return_index=True)[1]]
        doc_of = np.searchsorted(np.cumsum(list(map(len, docs))), at, side="right").tolist()
        texts = [docs[d].vocab.strings[word] for d, word in zip(doc_of, words[at].tolist())]
        new = self._described(texts, words[at])
        if count > len(self._values):
            # room for twice as many, but for no more than are kept unless they are here
            more = max(count - len(self._values), min(count, MOST - len(self._values)), ROOM)
            self._values = np.pad(self._values, ((0, more), (0, 0)))
            self._words = np.pad(self._words, (0, more))
        self._values[self._count : count] = new
        self._words[self._count : count] = words[at]
        self._count = count

    def _described(self, texts: list[str], words: Values) -> Values:
        """The attributes of some words."""
        found = np.zeros((len(texts), len(self.names)), dtype=np.uint64)
        usual = [name for name, ask in self.functions.items() if ask is ATTRIBUTES.get(name)]
        asked = np.array([CODES[name] for name in usual], dtype=np.int32)
        values, done = kernels.describe(texts, asked)
        found[:, [self.names.index(name) for name in usual]] = values
        left = np.flatnonzero(~done).tolist()
        for name, ask in self.functions.items():
            which = left if name in usual else range(len(texts))
            column = self.names.index(name)
            for at in which:
                found[at, column] = hashed(ask(texts[at]))
        for name, ask_all in self.bulk.items():
            found[:, self.names.index(name)] = ask_all(texts, words)
        return found
