"""Files of any kind as Docs without mentions, for a pipeline that is to find them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import FileError
from .column_docs import bare_doc
from .conll import BOM, ColumnReader, Columns
from .docbin import read_docbin
from .file_sentences import PartWords, Sentence, document_starts, require_tokens
from .files import Progress, read_bytes, shown
from .nested_formats import COLUMNS, DOCS, JSON, TEXT
from .nested_json import has_tokens_alone, read_json_lines
from .nested_text import NestedText, TextReading
from .text_docs import text_doc


@dataclass
class Untagged:
    """Iterates over the documents of a file or folder, each of them as one Doc or several.

    Sentences of column files are Docs of their own, but with `joined` a document that begins with a
    marker is one Doc. All other Docs are alone, and their sentences are those that the file tells.
    """

    path: str
    kind: str
    vocab: Vocab
    columns: Columns = field(default_factory=Columns)
    texts: TextReading = field(default_factory=TextReading)
    joined: bool = False
    progress: Progress | None = None

    def __iter__(self) -> Iterator[list[Doc]]:
        if self.kind == COLUMNS:
            yield from self._columns()
        elif self.kind == DOCS:
            for doc in read_docbin(self.path, self.vocab):
                yield [bare(doc)]
        else:
            for text in self._texts():
                yield [text_doc(self.vocab, text, "")]

    def has_text(self, docs: Sequence[Doc]) -> bool:
        """Whether there is more to these Docs than tokens: the text that they are from."""
        if self.kind == JSON:
            return not has_tokens_alone(self.path, self.texts.encoding)
        return not any(doc.has_unknown_spaces for doc in docs if len(doc))

    def _columns(self) -> Iterator[list[Doc]]:
        """Whatever the columns beside the token hold does not matter."""
        reader = ColumnReader(
            self.path, replace(self.columns, tag=self.columns.token), self.progress
        )
        held, marked, words_of = list[Sentence](), False, PartWords(reader)
        for part in reader:
            require_tokens(part)
            starts = document_starts(part) if reader.columns.count_documents else set()
            for number, (words, opens) in enumerate(words_of(part)):
                if held and opens:
                    yield self._document(held, marked)
                    held = []
                marked = number in starts or (marked and not opens)
                held.append(Sentence(words, (), opens))
        if held:
            yield self._document(held, marked)

    def _document(self, sentences: list[Sentence], marked: bool) -> list[Doc]:
        if self.joined and marked:
            return [bare_doc(self.vocab, sentences)]
        return [bare_doc(self.vocab, [sentence]) for sentence in sentences]

    def _texts(self) -> Iterator[NestedText]:
        how = replace(self.texts, mentions=False)
        if self.kind == JSON:
            yield from read_json_lines(self.path, how)
            return
        for path in self._text_files():
            text = b"".join(read_bytes(path, how.encoding, longest=math.inf)).removeprefix(BOM)
            found = NestedText(shown(path), text.decode(), how.tokenize(text.decode()))
            found.annotated = False
            if how.lines:
                found.split_lines()
            yield found

    def _text_files(self) -> list[str]:
        """A text, that of an .ann file, or all texts of a folder by name."""
        if self.kind == TEXT:
            return [self.path]
        root = Path(self.path)
        if not root.is_dir():
            return [str(root.with_suffix(".txt"))]
        found = sorted(map(str, root.rglob("*.txt")))
        if not found:
            raise FileError(f"{self.path}: no texts (.txt) in or below it.", self.path)
        return found


def bare(doc: Doc) -> Doc:
    """A Doc with the same words and, if they are known, sentences, but nothing else."""
    starts: list[bool | int | None] | None = None
    if doc.has_annotation("SENT_START"):
        starts = [bool(token.is_sent_start) for token in doc]
    words = [token.text for token in doc]
    spaces = None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words=words, spaces=spaces, sent_starts=starts)
