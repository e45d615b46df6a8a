"""The corpora that recognisers of nested mentions are compared on, and their reader."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from spacy_iobes import Span
from spacy_iobes.corpus import read

from .corpora import data

PARTS = ("train", "dev", "test")
Layers = tuple[tuple[Span, ...], ...]
"""The mentions of a sentence, column after column."""
Sentence = tuple[list[str], Layers]
Document = list[Sentence]


class Parts(NamedTuple):
    """The documents to train on, to tune with and to report."""

    train: list[Document]
    dev: list[Document]
    test: list[Document]


@dataclass(frozen=True)
class Source:
    """Where the parts of a corpus lie; `ids` names the document of every sentence, if known."""

    title: str
    language: str
    file: str
    layers: int
    ids: str = ""

    def files(self) -> list[Path]:
        """All files of the corpus."""
        names = [self.file.format(part) for part in PARTS] + [self.ids] * bool(self.ids)
        return [data() / name for name in names]

    def at_hand(self) -> bool:
        """Whether the corpus is there."""
        return all(file.is_file() for file in self.files())


GENIA, GERMEVAL = "genia", "germeval"
CORPORA = {
    GENIA: Source(
        "GENIA",
        "en",
        "genia-nested/genia.{}.nested.iob2.gz",
        4,
        "genia-nested/sentence_ids.tsv.gz",
    ),
    GERMEVAL: Source("GermEval 2014", "de", "germeval2014/germ.{}.iob2.gz", 2),
}
"""Every corpus by the name that the command line knows."""


def load(name: str, limit: int = 0) -> Parts:
    """A corpus, or the first sentences of each of its parts."""
    source = CORPORA[name]
    return Parts(*(list(documents(source, part, limit)) for part in PARTS))


def documents(source: Source, part: str, limit: int = 0) -> Iterator[Document]:
    """The documents of one part; where the corpus does not tell, every sentence is one."""
    found = list(sentences(source, part))
    names = owners(source, part) or list(map(str, range(len(found))))
    chosen = list(zip(names, found, strict=True))[: limit or None]
    for _, group in groupby(chosen, lambda pair: pair[0]):
        yield [sentence for _, sentence in group]


def sentences(source: Source, part: str) -> Iterator[Sentence]:
    """Words, and the mentions of every column of tags."""
    columns = [str(column) for column in range(1, source.layers + 1)]
    for found in read(data() / source.file.format(part), layers=columns):
        layers = found.layers("bio", "raise")
        for number, (begin, end) in enumerate(pairwise(found.offsets.tolist())):
            spans = tuple(tuple(layer[number]) for layer in layers)
            yield found.words.strings(begin, end), spans


def owners(source: Source, part: str) -> list[str]:
    """The document of each sentence of a part; none if the corpus does not tell."""
    if not source.ids:
        return []
    with gzip.open(data() / source.ids, "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [row[-1] for row in rows if row[0] == part]
