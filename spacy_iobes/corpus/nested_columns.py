"""Nested mentions from column files with several columns of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import ColumnError, FileError
from ..span import Span
from .conll import AUTO, BOM, Columns
from .file_sentences import Sentence, TagReading
from .files import read_bytes, shown
from .findings import Finding
from .inputs import is_stream


def repeated_in(sentences: Sequence[Sentence], name: str) -> list[Finding]:
    """A finding for each mention that is in two layers of a sentence."""
    found = []
    for number, sentence in enumerate(sentences):
        known = set[Span]()
        for span in (span for layer in sentence.layers for span in layer.spans):
            if span in known:
                shown_span = (*span[:2], " ".join(sentence.words[span.start : span.end]))
                place = f"{name}:{sentence.lines[span.start]}"
                found.append(Finding("repeated", place, number, span.label, (shown_span,)))
            known.add(span)
    return found


def headed(path: str | Path, columns: Columns, tags: TagReading) -> tuple[Columns, TagReading]:
    """How to read a file whose first line names its columns.

    That line is no token then. The layers are those that were named, or all but the tokens.
    """
    name, first = shown(path), _first_line(path, columns.encoding)
    if not first.strip():
        return columns, tags
    delimiter = columns.delimiter
    if delimiter == AUTO:
        delimiter = "\t" if "\t" in first else ""
    names = first.split(delimiter) if delimiter else first.split()
    every = range(len(names))
    for number in (columns.token, *tags.layers):
        if number not in every and number + len(names) not in every:
            message = f"there is no column {number}: the header has {len(names)} columns."
            raise ColumnError(f"{name}, line 1: {message}", name, 1)
    layers = tags.layers or tuple(i for i in every if i != every[columns.token])
    if not layers:
        raise ColumnError(f"{name}, line 1: the header names no column of tags.", name, 1)
    reading = replace(tags, layers=layers, names=tuple(names[number] for number in layers))
    return replace(columns, tag=layers[0], markers=(*columns.markers, first)), reading


def _first_line(path: str | Path, encoding: str) -> str:
    if is_stream(str(path)):
        message = f"{shown(path)}: a pipe can be read only once. Save it to a file and name that."
        raise FileError(message, str(path))
    chunk = next(read_bytes(path, encoding), b"").removeprefix(BOM)
    return chunk.partition(b"\n")[0].decode().rstrip("\r")
