"""Annotated sentences of files from anywhere: their words, their mentions, and what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from spacy.vocab import Vocab

from ..errors import ColumnError, MalformedTagsError
from ..span import Span
from .doc_columns import DocFile
from .docbin import read_docbin, require_legal
from .files import shown
from .findings import Finding
from .nested_corpus import NestedDoc, NestedReading, nested
from .nested_formats import DOCS, JSON, format_of
from .nested_json import Record, read_json_lines, records
from .nested_out import Mentions
from .nested_text import NestedText

ANSWERS = ("accept", "reject", "ignore")
"""What Prodigy says of a sentence."""
NOT_READ = ("predicted", "outside")
"""What an export calls sentences that have mentions, or none, which nobody has seen."""


class Given(NamedTuple):
    """A sentence of a file; its mentions are None if it is not annotated, or only in part.

    `answer` is what Prodigy says, accept elsewhere. `number` is that of the sentence, if the file
    tells. `lost` are mentions that are no spans of tokens.
    """

    place: str
    words: list[str]
    spans: list[Span] | None
    answer: str = "accept"
    number: int | None = None
    lost: Sequence[Finding] = ()


def given_sentences(path: str, how: NestedReading) -> Iterator[Given]:
    """The sentences of a column file, a DocBin, JSON lines or a brat folder."""
    texts = replace(how.texts, misaligned="split")
    if format_of(path, how.form) != JSON:
        yield from _of_docs(path, replace(how, texts=texts))
        return
    for record, text in zip(records(path, texts.encoding), read_json_lines(path, texts)):
        yield _of_record(record, text)


def _of_docs(path: str, how: NestedReading) -> Iterator[Given]:
    key = how.key
    if format_of(path, how.form) == DOCS:
        docs, lost = read_docbin(path), list[list[Finding]]()
        key = key if any(key in doc.spans for doc in docs) else ""
        if not key:
            require_legal(docs, shown(path))
    else:
        read = _nested_docs(path, replace(how, unit="document"))
        docs, lost = [found.doc for found in read], [_lost(found.findings) for found in read]
    file = DocFile(shown(path), docs)
    mentions = Mentions(file, key)
    for number, (doc, bounds) in enumerate(zip(docs, file.bounds())):
        words, missing = [token.text for token in doc], set(mentions.missing[number])
        for start, end in pairwise(bounds):
            place = f"{file.name}, Doc {number}, token {start}"
            spans = [
                Span(span.start - start, span.end - start, span.label)
                for span in mentions.spans[number]
                if start <= span.start and span.end <= end
            ]
            whole = missing.isdisjoint(range(start, end))
            gone = lost[number] if lost else ()
            yield Given(place, words[start:end], spans if whole else None, lost=gone)


def _lost(findings: Sequence[Finding]) -> list[Finding]:
    return [found for found in findings if found.kind != "repeated"]


def _nested_docs(path: str, how: NestedReading) -> list[NestedDoc]:
    """The Docs of a file; raises if columns are to be tags that are none."""
    try:
        return list(nested(path, how, Vocab()))
    except MalformedTagsError as error:
        whole = how.tags is not None and how.tags.every and not how.tags.layers
        if not whole or all(found.kind != "unreadable" for found in error.violations):
            raise
        wrong = next(found for found in error.violations if found.kind == "unreadable")
        raise ColumnError(
            f"{shown(path)}: where mentions nest, all columns but the token's are read as tags: "
            f"{wrong}. Name each column that holds tags (--layer 1 --layer 2, for example; "
            "--layer -1 is the last), or another scheme.",
            shown(path),
            wrong.line,
        ) from error


def _of_record(record: Record, text: NestedText) -> Given:
    value: Mapping[str, Any] = record.value if isinstance(record.value, dict) else {}
    meta = value.get("meta")
    told: Mapping[str, Any] = meta if isinstance(meta, dict) else {}
    number = told.get("sentence", value.get("id"))
    answer = value.get("answer")
    if answer not in (None, *ANSWERS):
        raise record.wrong(f"unknown answer {str(answer)[:60]!r}. Known: {', '.join(ANSWERS)}.")
    if empty := [found for found in text.findings if found.kind == "empty"]:
        raise record.wrong(f"a mention of {empty[0].label} has no tokens.")
    said = told.get("status"), value.get("status")
    unread = any(status in NOT_READ for status in said) and answer is None
    words = [text.text[start:end] for start, end in text.tokens]
    return Given(
        record.place,
        words,
        sorted(text.spans) if text.annotated and not unread else None,
        answer or "accept",
        number if type(number) is int else None,
        _lost(text.findings),
    )
