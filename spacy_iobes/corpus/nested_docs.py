"""Nested mentions from a span group of Docs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from spacy.tokens import Doc

from ..codes.span_columns import SpanColumns
from ..span import Span
from .doc_columns import DocFile
from .findings import Finding
from .nested import ENOUGH, Passages
from .sources import group_spans


def group_passages(file: DocFile, key: str) -> Iterator[Passages]:
    """The sentences of Docs and the spans of a group; Docs and tokens are counted from 0."""
    file.require_group(key)
    found = _GroupSentences(file)
    for number, bounds in enumerate(file.bounds()):
        found.add(number, bounds, key)
        if sum(found.lengths) >= ENOUGH:
            yield found.passages()
            found = _GroupSentences(file)
    yield found.passages()


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

    def passages(self) -> Passages:
        """All of them."""
        spans = SpanColumns.of(self.spans, self.lengths)
        return Passages(spans, self.lengths, self.place, self.text, self.unwritable)

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
