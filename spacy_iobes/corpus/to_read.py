"""Files of any kind as Docs to read: sentences, and the mentions that are there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import FileError, OverlapError
from .column_docs import DocUnit
from .conll import ONE_SCHEME, ColumnReader, Columns
from .docbin import read_docbin, require_legal
from .file_sentences import tag_reading
from .files import require_there
from .findings import Finding, finding_lines
from .nested_corpus import NestedFile, NestedReading
from .nested_formats import COLUMNS, DOCS, JSON, TEXT, format_of
from .nested_json import NAMES, records
from .nested_reader import paths_of
from .nested_text import TextReading
from .plain_text import Split, plain_docs, with_sentences
from .reader import ConllCorpus
from .sources import shown
from .texts import tokens_by
from .training_data import training_data
from .untagged import Untagged

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ToRead:
    """How to read Docs: with entities, or where mentions may nest with a span group `key`.

    `scheme`, `policy`, `layers` and `columns` are those of column files; `untagged` ones have
    nothing but tokens. `split` is what a sentence is where the file does not tell. With `plain`,
    .txt is plain text although there are tags to be read elsewhere.
    """

    nested: bool = False
    key: str = "sc"
    scheme: str = ""
    policy: str = "raise"
    layers: tuple[int, ...] = ()
    columns: Columns = field(default_factory=Columns)
    untagged: bool = False
    split: Split | None = None
    form: str = "auto"
    plain: bool = False


def docs_to_read(path: str, how: ToRead, nlp: Language, tell: Tell) -> list[Doc]:
    """The Docs of a file or of all files of a folder; texts are cut by the tokenizer of `nlp`.

    What cannot be a mention goes to `tell`.
    """
    require_there(path)
    docs = list(chain.from_iterable(_of_file(str(p), how, nlp, tell) for p in paths_of(path)))
    if not any(map(len, docs)):
        raise FileError(f"{path}: there is no token in it.", path)
    return docs


def is_text(path: str) -> bool:
    """Whether a file is a text by its name."""
    return Path(path.lower().removesuffix(".gz")).suffix == ".txt"


def kind_of(path: str, how: ToRead) -> str:
    """What a file is: .txt is plain text, unless there are tags to be read."""
    plain = how.plain or not (how.scheme or how.untagged)
    if how.form == TEXT or (how.form == "auto" and plain and is_text(path)):
        return TEXT
    return format_of(path, how.form)


def _of_file(path: str, how: ToRead, nlp: Language, tell: Tell) -> Iterator[Doc]:
    kind = kind_of(path, how)
    if kind == TEXT:
        yield from plain_docs(path, nlp, how.split or "rules", how.columns.encoding)
        return
    if kind == COLUMNS:
        yield from _of_columns(path, how, nlp, tell)
        return
    if kind == DOCS:
        docs = read_docbin(path, nlp.vocab)
        if not how.nested:
            require_legal(docs, path)
    else:
        docs = _of_texts(path, how, nlp, tell, kind)
    for doc in docs:
        ruled = how.split == "rules" and not doc.has_annotation("SENT_START")
        yield with_sentences(doc, nlp) if ruled else doc


def _of_columns(path: str, how: ToRead, nlp: Language, tell: Tell) -> Iterator[Doc]:
    """Documents where they are marked; else each sentence is a Doc."""
    if not how.scheme:
        if not how.untagged and _width(path, how.columns) > 1:
            raise FileError(
                f"{path}: a column file with more than tokens. Name the scheme of its tags "
                "(--scheme), or leave other columns aside (--untagged). The scheme is "
                f"{ONE_SCHEME}.",
                path,
            )
        bare = Untagged(path, COLUMNS, nlp.vocab, how.columns, joined=True)
        yield from chain.from_iterable(bare)
    elif how.nested:
        tags = tag_reading(how.scheme, how.policy, how.layers)
        reading = NestedReading(how.key, "document", tags, how.columns)
        yield from _found(NestedFile(path, reading, nlp.vocab), tell)
    else:
        data = training_data(path, how.scheme, how.policy, how.columns)
        unit: DocUnit = "document" if data.has_documents else "sentence"
        corpus = ConllCorpus(
            path, scheme=how.scheme, policy=how.policy, columns=how.columns, unit=unit
        )
        yield from corpus.docs(nlp.vocab)


def _width(path: str, columns: Columns) -> int:
    """How many columns a file has."""
    for part in ColumnReader(path, replace(columns, tag=columns.token)):
        return part.layout.width
    return 0


def _of_texts(path: str, how: ToRead, nlp: Language, tell: Tell, kind: str) -> list[Doc]:
    """Texts with mentions by offsets, or without any."""
    texts = TextReading(
        tokens_by(nlp.tokenizer), lines=how.split == "lines", encoding=how.columns.encoding
    )
    if kind == JSON and not _has_spans(path, texts.encoding):
        bare = Untagged(path, JSON, nlp.vocab, texts=texts)
        return list(chain.from_iterable(bare))
    reading = NestedReading(how.key, "document", texts=texts, form=how.form, entities=True)
    docs = list(_found(NestedFile(path, reading, nlp.vocab), tell))
    for doc in () if how.nested else docs:
        if doc.spans.get(how.key) and not doc.has_annotation("ENT_IOB"):
            raise OverlapError(
                f"{path}: in {shown(doc)} mentions overlap. Let them (--nested), or remove some."
            )
    return docs


def _has_spans(path: str, encoding: str) -> bool:
    return any(
        name in record.value
        for record in records(path, encoding)
        if isinstance(record.value, dict)
        for name in NAMES["spans"]
    )


def _found(file: NestedFile, tell: Tell) -> Iterator[Doc]:
    """The Docs of a file; what cannot be a span is told at its end."""
    findings = list[Finding]()
    for found in file:
        findings += found.findings
        yield found.doc
    for line in finding_lines(findings):
        tell(f"{file.path}: {line}")
