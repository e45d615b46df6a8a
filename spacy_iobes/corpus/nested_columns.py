"""Nested mentions from column files with several columns of tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ..codes.columns import SpanColumns
from .conll import Part
from .nested import Passages
from .sentences import FileSentences


def column_passages(file: FileSentences) -> Iterator[Passages]:
    """The sentences of a column file; the mentions of all its layers, whatever their order."""
    for columns in file.parts():
        part = columns[0][0].part
        spans = merged([spans for _, spans in columns])
        place = partial(_line, part)
        yield Passages(spans, np.diff(part.tags.offsets).tolist(), place, part.text)


def _line(part: Part, sentence: int, token: int) -> str:
    return f"{part.name}:{part.number(sentence, token)}"


def merged(layers: Sequence[SpanColumns]) -> SpanColumns:
    """The spans of several layers of the same sentences."""
    names = tuple(sorted({name for layer in layers for name in layer.labels}))
    number = {name: n for n, name in enumerate(names)}
    parts = []
    for layer in layers:
        new = np.array([number[name] for name in layer.labels], dtype=np.int32)
        label = new[layer.label] if len(new) else layer.label
        parts.append(np.stack([layer.sentence, layer.start, layer.end, label]))
    rows = np.concatenate(parts, axis=1)
    rows = rows[:, np.lexsort(rows[::-1])]
    return SpanColumns.trusted(map(np.ascontiguousarray, rows), names, layers[0].sentences)
