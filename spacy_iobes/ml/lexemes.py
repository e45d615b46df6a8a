"""Words as numbers: what features look at is worked out once for each distinct word."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
from spacy.attrs import ORTH
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..kernels.features_numpy import Ints, Values

LONG = 8  # characters of a shape
REPEATED = re.compile(r"(.)(?=\1)", re.DOTALL)
DIGITS = str.maketrans("0123456789", "##########")


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


def prefix(text: str, length: int) -> str:
    """The beginning of a word that is long enough."""
    return text[:length] if len(text) >= length else ""


def suffix(text: str, length: int) -> str:
    """The end of a word that is long enough."""
    return text[-length:] if len(text) >= length else ""


ATTRIBUTES: dict[str, Callable[[str], str]] = {
    "text": str,
    "lower": str.lower,
    "digits": digits,
    "shape": shape,
    "kinds": kinds,
    **{f"prefix{n}": partial(prefix, length=n) for n in range(1, 5)},
    **{f"suffix{n}": partial(suffix, length=n) for n in range(1, 5)},
}
"""What a template may ask of a word; an empty answer is no feature."""


class Lexemes:
    """The attributes `values[V, A]` of the words that were seen, as hashes; 0 for none."""

    def __init__(self, attributes: Sequence[str]):
        self.functions = [ATTRIBUTES[name] for name in attributes]
        self._numbers: dict[int, int] = {}
        self._values: Values = np.zeros((1024, len(attributes)), dtype=np.uint64)

    @property
    def values(self) -> Values:
        """One row for each word."""
        return self._values[: len(self._numbers)]

    def numbers(self, docs: Sequence[Doc]) -> Ints:
        """The row of the word of each token, Doc after Doc."""
        words = [orth for doc in docs for orth in doc.to_array(ORTH).tolist()]
        found = list(map(self._numbers.get, words))
        if None in found:
            self._meet(docs)
            found = list(map(self._numbers.get, words))
        return np.array(found, dtype=np.int32)

    def _meet(self, docs: Sequence[Doc]) -> None:
        """Work out the words that are new."""
        new: list[list[int]] = []
        first = len(self._numbers)
        for doc in docs:
            for orth in doc.to_array(ORTH).tolist():
                if orth not in self._numbers:
                    self._numbers[orth] = first + len(new)
                    text = doc.vocab.strings[orth]
                    new.append([get_string_id(ask(text)) for ask in self.functions])
        end = first + len(new)
        if end > len(self._values):
            room = np.zeros((end, self._values.shape[1]), dtype=np.uint64)
            self._values = np.concatenate([self._values, room])
        self._values[first:end] = np.array(new, dtype=np.uint64)
