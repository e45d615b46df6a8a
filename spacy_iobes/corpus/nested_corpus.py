"""Nested mentions from files of any kind, as Docs with a span group.

Column files with several columns of tags, brat folders, JSON lines, inline-tagged texts and DocBins
are told apart by their names, or somebody says what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from .column_docs import DocUnit, group_doc, grouped
from .conll import ColumnReader, Columns, unnamed_scheme
from .doc_columns import DocFile
from .docbin import read_docbin
from .file_sentences import FileSentences, TagReading
from .files import Progress, shown
from .findings import Finding
from .nested_columns import headed, repeated_in
from .nested_formats import AUTO, COLUMNS, DOCS, format_of
from .nested_text import NestedText, TextReading
from .text_docs import text_doc, token_lines
from .text_files import TEXTS


class NestedDoc(NamedTuple):
    """A Doc with mentions, what was left out of it, and its tokens that are not annotated.

    `lines` are the lines of the file that its tokens are on, if it has lines.
    """

    doc: Doc
    findings: Sequence[Finding] = ()
    missing: int = 0
    blocked: int = 0
    lines: Sequence[int] = ()


@dataclass(frozen=True)
class NestedReading:
    """How to read nested mentions: `tags` and `columns` of column files, `texts` of all others.

    There is a Doc for each document, or for each sentence. With a `header`, the first line of a
    column file names its columns, and spans without a label have that of their column. `form` says
    what the files are, if their names do not. With `entities`, the mentions of a text are its
    entities, too, if none overlap; else its entities are missing.
    """

    key: str = "sc"
    unit: DocUnit = "sentence"
    tags: TagReading | None = None
    columns: Columns = field(default_factory=Columns)
    header: bool = False
    texts: TextReading = field(default_factory=TextReading)
    form: str = AUTO
    entities: bool = False


@dataclass
class NestedFile:
    """Iterates over the Docs of a file or folder, and counts the violations of its tags."""

    path: str | Path
    reading: NestedReading
    vocab: Vocab
    progress: Progress | None = None
    violations: int = 0

    def __iter__(self) -> Iterator[NestedDoc]:
        kind = format_of(self.path, self.reading.form)
        if kind == COLUMNS:
            yield from self._columns()
        elif kind == DOCS:
            yield from self._docs()
        else:
            for text in TEXTS[kind](self.path, self.reading.texts):
                yield from self._text(text)

    def _columns(self) -> Iterator[NestedDoc]:
        reading = self.reading
        if reading.tags is None:
            raise unnamed_scheme(self.path)
        columns, tags = reading.columns, reading.tags
        if tags.layers:
            columns = replace(columns, tag=tags.layers[0])
        if reading.header:
            columns, tags = headed(self.path, columns, tags)
        file = FileSentences(ColumnReader(self.path, columns, self.progress), tags)
        for sentences in grouped(file, reading.unit):
            layers = [layer for sentence in sentences for layer in sentence.layers]
            missing, blocked = (sum(map(len, some)) for some in zip(*(x[2:4] for x in layers)))
            doc = group_doc(self.vocab, sentences, reading.key)
            findings = repeated_in(sentences, shown(self.path))
            lines = [line for sentence in sentences for line in sentence.lines]
            yield NestedDoc(doc, findings, missing, blocked, lines)
        self.violations += file.violations

    def _docs(self) -> Iterator[NestedDoc]:
        docs = read_docbin(self.path, self.vocab)
        DocFile(shown(self.path), docs).require_group(self.reading.key)
        yield from map(NestedDoc, docs)

    def _text(self, text: NestedText) -> Iterator[NestedDoc]:
        parts = text.sentences() if self.reading.unit == "sentence" else [text]
        for part in parts:
            doc = text_doc(self.vocab, part, self.reading.key, self.reading.entities)
            missing = 0 if part.annotated else len(doc)
            yield NestedDoc(doc, part.findings, missing, lines=token_lines(doc, part))


def nested(
    path: str | Path, reading: NestedReading | None = None, vocab: Vocab | None = None
) -> Iterator[NestedDoc]:
    """The Docs of a file or folder, each with its mentions in a span group."""
    return iter(NestedFile(path, reading or NestedReading(), Vocab() if vocab is None else vocab))
