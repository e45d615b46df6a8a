"""Where nested mentions come from: column files with several columns of tags, and span groups."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from ..codes.columns import SpanColumns
from ..codes.write import span_columns
from ..span import Span
from .conll import Part
from .doc_columns import DocFile
from .nested import Finding, Passages
from .sentences import FileSentences
from .sources import group_spans


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


def group_passages(file: DocFile, key: str) -> Iterator[Passages]:
    """The sentences of Docs and the spans of a group; Docs and tokens are counted from 0."""
    file.require_group(key)
    spans: list[list[Span]] = []
    first: list[tuple[int, int]] = []  # the Doc of each sentence, and where in it that begins
    lengths: list[int] = []
    unwritable: list[Finding] = []
    for number, (doc, bounds) in enumerate(zip(file.docs, file.bounds())):
        known = len(spans)
        spans += [[] for _ in bounds[1:]]
        first += [(number, start) for start in bounds[:-1]]
        lengths += (end - start for start, end in pairwise(bounds))
        for start, end, label in group_spans(doc, key):
            at = bisect_right(bounds, start, hi=len(bounds) - 1) - 1
            begin, stop = bounds[at : at + 2]
            if end <= stop and start < end:
                spans[known + at].append(Span(start - begin, end - begin, label))
                continue
            shown = ((start - begin, end - begin, doc[start:end].text),)
            where = f"{file.name}, Doc {number}, token {start}"
            kind = "beyond" if start < end else "empty"
            unwritable.append(Finding(kind, where, known + at, label, shown))

    def place(sentence: int, token: int) -> str:
        doc, begin = first[sentence]
        return f"{file.name}, Doc {doc}, token {begin + token}"

    def text(sentence: int, start: int, end: int) -> str:
        doc, begin = first[sentence]
        return " ".join(token.text for token in file.docs[doc][begin + start : begin + end])

    yield Passages(span_columns(spans, lengths), lengths, place, text, unwritable)
