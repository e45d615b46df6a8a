"""Brown clusters of words: a path in a tree, whose beginnings are coarser clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from spacy.lookups import load_lookups
from spacy.strings import get_string_id
from spacy.util import registry

from ..arrays import Values
from ..errors import ModelError

TABLE = "lexeme_cluster"  # in spacy-lookups-data
BITS = {"cluster4": 4, "cluster6": 6, "cluster10": 10, "cluster": 32}
"""The attributes of a word, and how much of its path each has; the root is the lowest bit."""

TEMPLATES = (
    "cluster4",
    "cluster6",
    "cluster10",
    "cluster",
    "cluster6[-1]",
    "cluster[-1]",
    "cluster6[+1]",
    "cluster[+1]",
    "cluster[-2]",
    "cluster[+2]",
    "cluster[-1] cluster",
    "cluster cluster[+1]",
)


def languages() -> list[str]:
    """The languages that installed packages have a table for."""
    tables = registry.lookups.get_all()
    return sorted(language for language, names in tables.items() if TABLE in names)


def advice() -> str:
    """What to do where a language has no table."""
    if there := languages():
        return (
            f"There are tables for: {', '.join(there)}. For another language set clusters = null; "
            "lists of names (gazetteers) work in any."
        )
    return (
        "The package spacy-lookups-data has them for English, German and Spanish (en, de, es): "
        "pip install spacy-lookups-data, or set clusters = null."
    )


class Clusters:
    """The cluster of every word of a language that has one, `paths[W]`, by the hash of the word."""

    def __init__(self, language: str):
        if not language:
            raise ValueError("clusters is a language such as 'en', or null, not ''.")
        self.language = language
        self.words: Values = np.zeros(0, dtype=np.uint64)
        self.paths: Values = np.zeros(0, dtype=np.uint64)

    def load(self) -> None:
        """Read the table of spacy-lookups-data."""
        try:
            table = load_lookups(self.language, [TABLE]).get_table(TABLE)
        except (ValueError, KeyError) as error:
            raise ModelError(
                f"There is no table of clusters for the language {self.language!r}. {advice()}"
            ) from error
        words = np.fromiter(table.keys(), dtype=np.uint64, count=len(table))
        paths = np.fromiter(map(int, table.values()), dtype=np.uint64, count=len(table))
        paths &= np.uint64(2 ** max(BITS.values()) - 1)  # so many are stored
        known = paths > 0
        order = np.argsort(words[known])
        self.words, self.paths = words[known][order], paths[known][order]

    @property
    def attributes(self) -> dict[str, Callable[[str], str]]:
        """What a template may ask of a word."""
        return {name: partial(self.path, bits=bits) for name, bits in BITS.items()}

    @property
    def bulk(self) -> dict[str, Callable[[list[str], Values], Values]]:
        """The same for many words, as hashes of the answers."""
        return {name: partial(self.hashes, bits=bits) for name, bits in BITS.items()}

    def path(self, text: str, bits: int) -> str:
        """The beginning of the path of a word; empty if it is in no cluster.

        A word in capitals is looked for as a name first: clusters know few such words well.
        """
        path = int(self._found([text], np.array([get_string_id(text)], dtype=np.uint64))[0])
        return str(path & ((1 << bits) - 1)) if path else ""

    def hashes(self, texts: list[str], words: Values, bits: int) -> Values:
        """The hashes of the beginnings of the paths of words; 0 where there is none."""
        paths = self._found(texts, words)
        short, which = np.unique(paths & np.uint64((1 << bits) - 1), return_inverse=True)
        hashes = np.array([get_string_id(str(path)) for path in short.tolist()], dtype=np.uint64)
        return np.where(paths > 0, hashes[which], np.uint64(0)) if len(texts) else paths

    def _found(self, texts: list[str], words: Values) -> Values:
        paths = self._paths(words)
        loud = [at for at, text in enumerate(texts) if text.isupper() and len(text) > 2]
        if loud:
            names = np.array([get_string_id(texts[at].title()) for at in loud], dtype=np.uint64)
            better = self._paths(names)
            paths[loud] = np.where(better > 0, better, paths[loud])
        return paths

    def _paths(self, words: Values) -> Values:
        if not len(self.words):
            return np.zeros(len(words), dtype=np.uint64)
        at = np.minimum(self.words.searchsorted(words), len(self.words) - 1)
        return np.where(self.words[at] == words, self.paths[at], np.uint64(0))

    def stored(self) -> dict[str, Any]:
        """What a model stores, so that it does not need the package."""
        return {"words": self.words, "paths": self.paths.astype(np.uint32)}

    def restore(self, stored: dict[str, Any]) -> None:
        """Take what was stored."""
        self.words, self.paths = stored["words"], stored["paths"].astype(np.uint64)
