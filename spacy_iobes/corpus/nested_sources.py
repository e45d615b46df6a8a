"""Where nested mentions come from: column files with several columns of tags, and span groups."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc

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
    found = _GroupSentences(file)
    for number, bounds in enumerate(file.bounds()):
        found.add(number, bounds, key)
    spans = span_columns(found.spans, found.lengths)
    yield Passages(spans, found.lengths, found.place, found.text, found.unwritable)


@dataclass
class _GroupSentences:
    """The sentences of Docs, one after the other: the Doc of each and where it begins there."""

    file: DocFile
    first: list[tuple[int, int]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    spans: list[list[Span]] = field(default_factory=list)
    unwritable: list[Finding] = field(default_factory=list)

    def add(self, number: int, bounds: Sequence[int], key: str) -> None:
        """Add a Doc, given where its sentences begin and the last one ends."""
        doc, known = self.file.docs[number], len(self.spans)
        self.first += [(number, begin) for begin in bounds[:-1]]
        self.lengths += [end - begin for begin, end in pairwise(bounds)]
        self.spans += [[] for _ in bounds[1:]]
        for start, end, label in group_spans(doc, key):
            at = bisect_right(bounds, start, hi=len(bounds) - 1) - 1
            span = Span(start - bounds[at], end - bounds[at], label)
            if start < end <= bounds[at + 1]:
                self.spans[known + at].append(span)
                continue
            shown = ((span.start, span.end, _words(doc, start, end)),)
            place = self.place(known + at, span.start)
            kind = "beyond" if start < end else "empty"
            self.unwritable.append(Finding(kind, place, known + at, label, shown))

    def place(self, sentence: int, token: int) -> str:
        """Where a token is."""
        number, begin = self.first[sentence]
        return f"{self.file.name}, Doc {number}, token {begin + token}"

    def text(self, sentence: int, start: int, end: int) -> str:
        """What tokens say."""
        number, begin = self.first[sentence]
        return _words(self.file.docs[number], begin + start, begin + end)


def _words(doc: Doc, start: int, end: int) -> str:
    return " ".join(token.text for token in doc[start:end])
