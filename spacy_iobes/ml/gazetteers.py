"""Lists of names: where the tokens of Docs are the words of one, as long as possible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..errors import FileError
from ..kernels.features_numpy import Offsets, Values
from .lexemes import hashed

NAME = re.compile(r"\w+")
LONGEST = 64  # words of a name
SINGLE, BEGIN, INSIDE, END = range(1, 5)  # where in a name a token is
OTHER_CASE = 4  # added to that where capitals differ
STARTS = "starts_name"
ALL = "in_lists"

Words = tuple[int, ...]  # hashes


class Gazetteers:
    """Lists of names, each from a text file: one name on a line, its words as tokens are.

    Names are found whatever their capitals are, but a feature tells if those differ.
    """

    def __init__(self, paths: Mapping[str, str | Path]):
        if not isinstance(paths, Mapping):
            raise ValueError(
                "gazetteers are files by the names of the lists, such as "
                f'{{"city": "cities.txt"}}, not {paths!r}.'
            )
        for name in paths:
            if not NAME.fullmatch(name):
                raise ValueError(f"A list has a name of letters, digits and _, not {name!r}.")
            if f"in_{name}" == ALL:
                raise ValueError(f"A list cannot have the name {name!r}: {ALL} is all of them.")
        self.paths = dict(paths)
        self.take({name: [] for name in paths})

    def take(self, lists: dict[str, list[str]]) -> None:
        """Use these names."""
        self.lists = lists
        self._names = [Names(lists[name]) for name in self.paths]
        self._first = set[int]().union(*(names.lengths for names in self._names))

    def load(self) -> None:
        """Read the files."""
        self.take({name: list(read_names(path)) for name, path in self.paths.items()})

    @property
    def names(self) -> list[str]:
        """The attributes of a token, one for each list."""
        return [*(f"in_{name}" for name in self.paths), ALL]

    @property
    def templates(self) -> list[str]:
        """Features of lists that are useful."""
        single = [f"{name}{place}" for name in self.names for place in ("", "[-1]", "[+1]")]
        return [*single, f"{ALL}[-1] {ALL}", f"{ALL} {ALL}[+1]", f"{ALL} casing"]

    @property
    def attributes(self) -> dict[str, Callable[[str], str]]:
        """What must be known of words: whether a name may start with them."""
        return {STARTS: self._starts}

    def _starts(self, text: str) -> str:
        return "yes" if hashed(text.lower()) in self._first else ""

    def values(
        self, docs: Sequence[Doc], starts: Values, lower: Values, sentences: Offsets
    ) -> Values:
        """Where in a name every token is, `[N, lists]`; 0 where it is in none.

        `starts[N]` and `lower[N]` are attributes of the words.
        """
        found = np.zeros((len(lower), len(self._names)), dtype=np.uint64)
        candidates = np.flatnonzero(starts).tolist()
        if not candidates:
            return with_all(found)
        text = np.concatenate([doc.to_array(ORTH) for doc in docs]).tolist()
        ends = sentences[sentences.searchsorted(candidates, side="right")].tolist()
        small = lower.tolist()
        for number, names in enumerate(self._names):
            free = 0
            for start, last in zip(candidates, ends):
                if start < free:
                    continue
                length, exact = names.longest(small, text, start, last)
                if length:
                    free = start + length
                    codes = np.full(length, INSIDE)
                    codes[0], codes[-1] = BEGIN, END
                    codes = codes if length > 1 else np.array([SINGLE])
                    found[start:free, number] = codes + (0 if exact else OTHER_CASE)
        return with_all(found)

    def stored(self) -> dict[str, Any]:
        """What a model stores, so that it does not need the files."""
        return {"lists": self.lists}

    def restore(self, stored: dict[str, Any]) -> None:
        """Take what was stored."""
        self.take(stored["lists"])


def with_all(values: Values) -> Values:
    """The values of each list, and behind them one that is of all lists together."""
    base = np.uint64(2 * OTHER_CASE + 1)
    together = np.zeros(len(values), dtype=np.uint64)
    for column in values.T:
        together = together * base + column
    return np.column_stack([values, together])


class Names:
    """The names of a list in lower case, each with the forms in which it is listed.

    `lengths` are those of the names that start with a word, the longest first.
    """

    def __init__(self, names: Sequence[str]):
        self.forms: dict[Words, set[Words]] = {}
        for name in names:
            words = name.split()
            small = tuple(hashed(word.lower()) for word in words)
            self.forms.setdefault(small, set()).add(tuple(map(get_string_id, words)))
        self.lengths: dict[int, list[int]] = {}
        for word, length in sorted({(small[0], -len(small)) for small in self.forms}):
            self.lengths.setdefault(word, []).append(-length)

    def longest(self, lower: list[int], text: list[int], start: int, last: int) -> tuple[int, bool]:
        """How many tokens from `start` on are a name, and whether its capitals are the same."""
        for length in self.lengths.get(lower[start], ()):
            end = start + length
            written = self.forms.get(tuple(lower[start:end])) if end <= last else None
            if written is not None:
                return length, tuple(text[start:end]) in written
        return 0, False


def read_names(path: str | Path) -> Iterator[str]:
    """The names of a file, without those that come again."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: the list cannot be read ({error.strerror}).", str(path)) from None
    seen = set()
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        try:
            text = line.decode("utf8").strip()
        except UnicodeDecodeError:
            raise FileError(
                f"{path}, line {number}: not UTF-8. Store the list as UTF-8.", str(path)
            ) from None
        name = " ".join(text.split())
        if any(unicodedata.category(c) == "Cc" for c in text) or name.count(" ") >= LONGEST:
            raise FileError(
                f"{path}, line {number}: {text[:40]!r} is no name. A list has one name on a line, "
                f"of at most {LONGEST} words, and nothing else, no tabs for example.",
                str(path),
            )
        if name and name not in seen:
            seen.add(name)
            yield name
    if not seen:
        raise FileError(f"{path}: the list has no names. Name another file.", str(path))
