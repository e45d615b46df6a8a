"""Lists of names: where the tokens of Docs are the words of one, as long as possible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.strings import get_string_id
from spacy.tokens import Doc

from .. import kernels
from ..arrays import Ints, Offsets, Values
from ..errors import FileError
from ..kernels.names_numpy import EXACT, LONGEST, OTHER_CASE, SMALL, mixed
from .lexemes import hashed

NAME = re.compile(r"\w+")
ALL = "in_lists"


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

    def values(self, docs: Sequence[Doc], lower: Values, sentences: Offsets) -> Values:
        """Where in a name every token is, `[N, lists]`; 0 where it is in none.

        `lower[N]` are the words in lower case.
        """
        text = np.concatenate([lower[:0], *(doc.to_array(ORTH) for doc in docs)])
        lower = np.ascontiguousarray(lower)
        found = [kernels.spot(lower, text, sentences, *names.tables) for names in self._names]
        return with_all(np.stack(found, axis=1))

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
    """The names of a list as tables of hashes, in which `kernels.spot` finds them."""

    def __init__(self, names: Sequence[str]):
        lengths: dict[int, int] = {}  # by the first word: bit n is a name of n + 1 words
        keys: dict[int, None] = {}
        for name in names:
            words = name.split()
            small = [hashed(word.lower()) for word in words]
            lengths[small[0]] = lengths.get(small[0], 0) | 1 << len(small) - 1
            keys[mixed(SMALL, small)] = None
            keys[mixed(EXACT, map(get_string_id, words))] = None
        bits = np.array(list(lengths.values()), dtype=np.uint64)
        self.tables = (*table_of(lengths), bits, *table_of(keys))


def table_of(words: Collection[int]) -> tuple[Values, Ints]:
    """A table with the numbers of different hashes, as `kernels.number` makes it."""
    keys: Values = np.zeros(1 << (2 * len(words) + 1).bit_length(), dtype=np.uint64)
    numbers: Ints = np.full(len(keys), -1, dtype=np.int32)
    kernels.number(np.array(list(words), dtype=np.uint64), keys, numbers, 0)
    return keys, numbers


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
