"""Tasks of Prodigy: JSON lines with a text, its tokens and spans, and an answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...codes.known import Known
from ..excerpts import Excerpt, Object, beside, not_held, save_objects
from ..files import Progress, shown
from ..findings import Finding
from ..json_records import ANSWERS, TASK, Record, mentions, records, without
from ..json_texts import relations, set_tokens
from ..sentences import Sentences
from ..text_batch import TextRow, text_sentences
from .options import ReadOptions, SaveOptions

BINARY = "ner"
"""The view of Prodigy that asks of one span whether it is right, and of nothing else."""


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the sentences of a file, some at a time, as they are written."""
    return text_sentences(rows(records(path, how.encoding, progress), how), shown(path), how)


def rows(some: Iterable[Record], how: ReadOptions) -> Iterator[TextRow]:
    """Yield the texts of tasks."""
    return (row(record, how) for record in some)


def row(record: Record, how: ReadOptions) -> TextRow:
    """Return the text of a task.

    The spans of a rejected one are wrong, and nothing is known of its tokens. A task that was
    ignored, or has neither an answer nor spans, is not annotated.
    """
    value = record.value
    if not isinstance(value, dict):
        raise record.wrong(f"a task is an object, not {str(value)[:60]!r}.")
    if not isinstance(value.get("text"), str):
        raise record.wrong(f"no text: {[*value]}.")
    value = value if how.annotated else without(value, ["spans"])
    answer, given = value.get("answer"), value.get("spans")
    if answer is not None and answer not in ANSWERS:
        known = ", ".join(ANSWERS)
        raise record.wrong(f"unknown answer {str(answer)[:60]!r}. Known: {known}.")
    if given is not None and not isinstance(given, list):
        raise record.wrong(f"spans are a list, not {str(given)[:60]!r}.")
    found = TextRow(record.number, record.unit, {}, notes=relations(value))
    set_tokens(record, found, value["text"], value.get("tokens"))
    found.annotated = answer == "accept" or (given is not None and answer is None)
    read = {"text", "tokens"}
    if answer != "ignore":
        spans = mentions(
            record, _by_characters(record, found, given or ()), len(found.text), "characters"
        )
        found.mentions, found.wrong = (spans, ()) if answer != "reject" else ((), spans)
        found.partial = answer == "accept" and value.get("_view_id") == BINARY
        if spans or answer != "reject" or not how.annotated:
            # an answer that is null stays: nobody has answered
            read |= {"spans"} if "answer" in value and answer is None else {"spans", "answer"}
    found.info = without(value, read)
    return found


def _by_characters(record: Record, row: TextRow, given: Sequence[Any]) -> list[Any]:
    """Return spans; those that have no characters get them from their tokens."""
    return [_placed(record, row, span) if _lacks_characters(span) else span for span in given]


def _lacks_characters(span: Any) -> bool:
    if not isinstance(span, dict) or "start" in span or "end" in span:
        return False
    return "token_start" in span and "token_end" in span


def _placed(record: Record, row: TextRow, span: Mapping[str, Any]) -> Mapping[str, Any]:
    first, last = span["token_start"], span["token_end"]
    starts, ends = row.places or ((), ())
    whole = type(first) is type(last) is int
    if not whole or not 0 <= first <= last < len(starts):
        raise record.wrong(f"the tokens {first} to {last} are not in the task.")
    return {**span, "start": starts[first], "end": ends[last]}


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write a task for each document or sentence; return what tasks cannot hold.

    Those that are annotated are accepted, unless `info` says that nobody has answered. Those of
    which only wrong spans are known are rejected.
    """
    return save_objects(parts, path, how, task)


def task(excerpt: Excerpt) -> tuple[Object, Sequence[Finding]]:
    """Return an excerpt as a task, in which a span ends with its last token."""
    words = excerpt.words
    tokens = [
        {"text": word, "start": start, "end": end, "id": number, "ws": _spaced(excerpt, number)}
        for number, (word, (start, end)) in enumerate(zip(words, excerpt.places))
    ]
    made: Object = {"text": excerpt.text, "tokens": tokens}
    binary = excerpt.info.get("_view_id") == BINARY and _is_binary(excerpt)
    lost = not_held(excerpt, unknown=True, characters=False)
    if binary:
        lost = [found for found in lost if found.kind != "unannotated"]
    if excerpt.unknown and excerpt.wrong:
        made |= {"spans": _spans(excerpt, excerpt.wrong), "answer": "reject"}
    elif not excerpt.unknown or binary:
        made["spans"] = _spans(excerpt, excerpt.spans)
        if excerpt.info.get("answer", "accept") is not None:
            made["answer"] = "accept"
    mine = beside(excerpt.info, made, (*TASK, "answer", "spans"))
    mine.setdefault("_input_hash", input_hash(excerpt.text))
    return mine, lost


def _is_binary(excerpt: Excerpt) -> bool:
    """Return whether nothing is known but spans."""
    covered = {token for start, end, _ in excerpt.spans for token in range(start, end)}
    return {*range(len(excerpt.places))} - covered == {*excerpt.missing} and not excerpt.wrong


def _spaced(excerpt: Excerpt, number: int) -> bool:
    end = excerpt.places[number][1]
    return excerpt.text[end : end + 1] == " "


def _spans(excerpt: Excerpt, spans: Sequence[Any]) -> list[Object]:
    places = [excerpt.characters(span) for span in spans]
    return [
        {"start": a, "end": b, "token_start": start, "token_end": end - 1, "label": label}
        for (a, b, _), (start, end, label) in zip(places, spans)
    ]


def input_hash(text: str) -> int:
    """Return a number of 32 bits that tells texts apart."""
    return zlib.crc32(text.encode("utf8", "surrogatepass")) - (1 << 31)
