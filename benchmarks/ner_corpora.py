"""The corpora that recognisers are compared on: a table, and its reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from random import Random

import spacy
from spacy.tokens import Doc, Span

from spacy_iobes.corpus import conll_corpus

from .corpora import data

Sentence = tuple[list[str], list[str]]
"""Words and BIO tags."""
Document = list[Sentence]

HELD_OUT = 10


@dataclass(frozen=True)
class Source:
    """Where the parts of a corpus lie, and how to read them.

    `language` is spaCy's code; without a language class of its own a corpus has `xx`. Where there
    is no `dev` part, the last tenth of the training documents is held out. `documents`: the files
    say where documents begin; otherwise every sentence is one. A part that names two files has its
    words in one and its tags in the other, a sentence on a line.
    """

    title: str
    language: str
    folder: str
    train: str
    dev: str
    test: str
    scheme: str = "bio"
    tag: int = -1
    documents: bool = False

    def files(self) -> list[Path]:
        """All files of the corpus."""
        names = chain.from_iterable(map(str.split, (self.train, self.dev, self.test)))
        return [data() / self.folder / name for name in names]

    def at_hand(self) -> bool:
        """Whether the corpus is there."""
        return all(file.is_file() for file in self.files())


CONLL = "conll2003"
CORPORA = {
    CONLL: Source(
        "CoNLL-2003 English",
        "en",
        "conll2003-eng",
        "eng.train",
        "eng.testa",
        "eng.testb",
        scheme="iob1",
        documents=True,
    ),
    "conll2002-es": Source(
        "CoNLL-2002 Spanish", "es", "conll2002", "esp.train", "esp.testa", "esp.testb"
    ),
    "conll2002-nl": Source(
        "CoNLL-2002 Dutch",
        "nl",
        "conll2002",
        "ned.train",
        "ned.testa",
        "ned.testb",
        documents=True,
    ),
    "wnut17": Source(
        "WNUT-17",
        "en",
        "wnut17",
        "wnut17train.conll",
        "emerging.dev.conll",
        "emerging.test.annotated",
    ),
    "germeval": Source(
        "GermEval 2014, outer",
        "de",
        "germeval2014",
        "germ.train.iob2.gz",
        "germ.dev.iob2.gz",
        "germ.test.iob2.gz",
        tag=1,
    ),
    "jnlpba": Source(
        "JNLPBA",
        "en",
        "jnlpba2004",
        "Genia4ERtask2.iob2.gz",
        "",
        "Genia4EReval2.iob2.gz",
        documents=True,
    ),
    "hausa": Source(
        "MasakhaNER Hausa", "xx", "masakhaner1/hau", "train.txt", "dev.txt", "test.txt"
    ),
    "swahili": Source(
        "MasakhaNER Swahili", "xx", "masakhaner1/swa", "train.txt", "dev.txt", "test.txt"
    ),
    "atis": Source(
        "ATIS slots",
        "en",
        "slots/atis",
        "train.seq.in train.seq.out",
        "dev.seq.in dev.seq.out",
        "test.seq.in test.seq.out",
    ),
}
"""Every corpus by the name that the command line knows; the last one is there for its labels."""


@dataclass(frozen=True)
class Parts:
    """The documents to train on, to select with and to report."""

    train: list[Document]
    dev: list[Document]
    test: list[Document]


def load(name: str, share: float = 1.0, seed: int = 0, limit: int = 0) -> Parts:
    """A corpus: a share of its training data, or so many sentences of every part."""
    found = whole(CORPORA[name])
    parts = [some_of(found.train, share, seed), found.dev, found.test]
    return Parts(*(first(part, limit) if limit else part for part in parts))


@lru_cache(maxsize=1)
def whole(source: Source) -> Parts:
    """All of a corpus; the last one is remembered, since many measurements need it."""
    train, test = read(source, source.train), read(source, source.test)
    if source.dev:
        return Parts(train, read(source, source.dev), test)
    held = len(train) // HELD_OUT
    return Parts(train[:-held], train[-held:], test)


def read(source: Source, names: str) -> list[Document]:
    """The documents of one part."""
    first_path, *others = [data() / source.folder / name for name in names.split()]
    if others:
        return [[sentence] for sentence in pairs(first_path, others[0])]
    corpus = conll_corpus(
        first_path,
        scheme=source.scheme,
        policy="begin",
        tag=source.tag,
        unit="document" if source.documents else "sentence",
    )
    docs = corpus.docs(spacy.blank("xx"))
    return [[(words(span), entity_tags(span)) for span in doc.sents] for doc in docs]


def pairs(word_file: Path, tag_file: Path) -> Iterator[Sentence]:
    """Sentences whose words and tags lie in two files."""
    lines = [file.read_text(encoding="utf8").splitlines() for file in (word_file, tag_file)]
    for one, other in zip(*lines, strict=True):
        yield one.split(), other.split()


def words(tokens: Doc | Span) -> list[str]:
    """The words of a Doc or a Span."""
    return [token.text for token in tokens]


def entity_tags(tokens: Doc | Span) -> list[str]:
    """The entities of a Doc or a Span as BIO tags."""
    return [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in tokens]


def some_of(documents: list[Document], share: float, seed: int) -> list[Document]:
    """Documents by chance that hold the share of all sentences; more with a larger share."""
    if share == 1.0:
        return documents
    mixed = list(documents)
    Random(seed).shuffle(mixed)
    return first(mixed, round(share * sum(map(len, documents))))


def first(documents: list[Document], sentences: int) -> list[Document]:
    """The first documents until they have so many sentences; the last one may be cut."""
    found: list[Document] = []
    for document in documents:
        found.append(document[:sentences])
        sentences -= len(document)
        if sentences <= 0:
            break
    return found


def apart(documents: list[Document]) -> list[Document]:
    """Every sentence as a document."""
    return [[sentence] for document in documents for sentence in document]


def joined(document: Document) -> Sentence:
    """The words and tags of a whole document."""
    tokens, tags = zip(*document)
    return list(chain.from_iterable(tokens)), list(chain.from_iterable(tags))
