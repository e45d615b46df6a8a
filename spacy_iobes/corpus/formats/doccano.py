"""doccano's sequence labelling: JSON lines with a text and its labels by characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...codes.known import Known
from ..excerpts import Excerpt, Object, beside, not_held, save_objects
from ..files import Progress, shown
from ..findings import Finding
from ..json_records import Record, records
from ..json_texts import text_rows
from ..sentences import Sentences
from ..text_batch import TextRow, text_sentences
from .options import ReadOptions, SaveOptions

NAMES = ("label", "labels", "entities", "annotations")
"""What labels are called: in exports, in older ones, and in those with relations."""


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the sentences of a file, some at a time, as they are written."""
    return text_sentences(rows(records(path, how.encoding, progress), how), shown(path), how)


def rows(some: Iterable[Record], how: ReadOptions) -> Iterator[TextRow]:
    """Yield texts with their labels; relations are kept and not read."""
    return text_rows(some, how, NAMES)


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write an object for each document or sentence; return what objects cannot hold."""
    return save_objects(parts, path, how, labelled)


def labelled(excerpt: Excerpt) -> tuple[Object, Sequence[Finding]]:
    """Return an excerpt with its labels as [start, end, label]; null if it is not annotated."""
    spans = [*map(excerpt.characters, excerpt.spans), *excerpt.misaligned]
    label = None if excerpt.unknown else sorted([*span] for span in spans)
    wrong = [excerpt.finding("wrong", span) for span in excerpt.wrong if excerpt.unknown]
    made: Object = {"text": excerpt.text, "label": label}
    return beside(excerpt.info, made), [*not_held(excerpt, unknown=True), *wrong]
