"""Annotated sentences of files from anywhere: their words, their mentions, and what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import ColumnError, MalformedTagsError
from ..span import Span
from .doc_columns import DocFile
from .docbin import read_docbin
from .files import shown
from .nested_corpus import NestedReading, nested
from .nested_formats import DOCS, JSON, format_of
from .nested_json import Record, read_json_lines, records
from .nested_out import Mentions
from .nested_text import NestedText

NOT_READ = ("predicted", "outside")
"""What an export calls sentences that have mentions, or none, which nobody has seen."""


class Given(NamedTuple):
    """A sentence of a file; its mentions are None if it is not annotated, or only in part.

    `answer` is what Prodigy says (accept, reject, ignore), accept elsewhere. `number` is that of
    the sentence, if the file tells.
    """

    place: str
    words: list[str]
    spans: list[Span] | None
    answer: str = "accept"
    number: int | None = None


def given_sentences(path: str, how: NestedReading) -> Iterator[Given]:
    """The sentences of a column file, a DocBin, JSON lines or a brat folder."""
    if format_of(path, how.form) != JSON:
        yield from _of_docs(path, how)
        return
    texts = replace(how.texts, misaligned="split")
    for record, text in zip(records(path, texts.encoding), read_json_lines(path, texts)):
        yield _of_record(record, text)


def _of_docs(path: str, how: NestedReading) -> Iterator[Given]:
    key = how.key
    if format_of(path, how.form) == DOCS:
        docs = read_docbin(path)
        key = key if any(key in doc.spans for doc in docs) else ""
    else:
        docs = _nested_docs(path, replace(how, unit="document"))
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
            yield Given(place, words[start:end], spans if whole else None)


def _nested_docs(path: str, how: NestedReading) -> list[Doc]:
    """The Docs of a file; raises if columns are to be tags that are none."""
    try:
        return [found.doc for found in nested(path, how, Vocab())]
    except MalformedTagsError as error:
        whole = how.tags is not None and how.tags.every and not how.tags.layers
        if not whole or all(found.kind != "unreadable" for found in error.violations):
            raise
        wrong = next(found for found in error.violations if found.kind == "unreadable")
        raise ColumnError(
            f"{shown(path)}: where mentions nest, every column but the token's is read as tags, but "
            f"{wrong}. Name each column that holds tags (--layer 1 --layer 2, for example; "
            "--layer -1 is the last), or another scheme.",
            shown(path),
            wrong.line,
        ) from error


def _of_record(record: Record, text: NestedText) -> Given:
    value: Mapping[str, Any] = record.value if isinstance(record.value, dict) else {}
    meta = value.get("meta")
    told: Mapping[str, Any] = meta if isinstance(meta, dict) else value
    number = told.get("sentence") if told is meta else value.get("id")
    answer = value.get("answer")
    unread = told.get("status") in NOT_READ and answer is None
    words = [text.text[start:end] for start, end in text.tokens]
    return Given(
        record.place,
        words,
        sorted(text.spans) if text.annotated and not unread else None,
        answer if isinstance(answer, str) else "accept",
        number if type(number) is int else None,
    )
