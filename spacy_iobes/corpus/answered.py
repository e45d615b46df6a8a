"""Sentences that a person has read, or not, as Docs with entities or a span group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from ..span import Span
from .layers import COUNT, LAYERS, assigned
from .targets import ToEntities

KEY = "sc"
"""The span group of mentions that may nest."""
Status = Literal["read", "rejected", "unread", "predicted", "outside"]
"""Somebody has annotated it, or found it unfit; or nobody has, and what stands for that."""


class Answered(NamedTuple):
    """A sentence of a document, with mentions that were looked for; None if they are not known.

    `known` are other mentions, which were there before. `spaces` says which words one follows.
    `more` is what else the JSON object that the document came from has, such as its id.
    """

    number: int
    document: int
    words: Sequence[str]
    spaces: Sequence[bool]
    known: Sequence[Span]
    spans: Sequence[Span] | None
    status: Status
    more: Mapping[str, Any] = MappingProxyType({})

    @property
    def mentions(self) -> list[Span]:
        """All that are known, those that hold others first."""
        every = [*self.known, *(self.spans or ())]
        return sorted(every, key=lambda span: (span.start, -span.end, span.label))

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(w + " " * s for w, s in zip(self.words, self.spaces)).rstrip(" ")

    def offsets(self) -> list[tuple[int, int]]:
        """The first character of each word in the text, and the one behind its last."""
        found, at = [], 0
        for word, space in zip(self.words, self.spaces):
            found.append((at, at + len(word)))
            at += len(word) + space
        return found


def answered_docs(sentences: Iterable[Answered], nested: bool, vocab: Vocab) -> Iterator[Doc]:
    """A Doc for each document, of those of its sentences that are given.

    Tokens of which nothing is known are missing values.
    """
    for _, group in groupby(sentences, key=lambda sentence: sentence.document):
        some = list(group)
        starts: list[bool | int | None] = [not i for each in some for i in range(len(each.words))]
        doc = Doc(
            vocab,
            words=[word for each in some for word in each.words],
            spaces=[space for each in some for space in each.spaces],
            sent_starts=starts,
        )
        spans, unknown, at = list[Span](), list[int](), 0
        for each in some:
            spans += (Span(start + at, end + at, label) for start, end, label in each.mentions)
            if each.spans is None:
                unknown += range(at, at + len(each.words))
            at += len(each.words)
        (_set_group if nested else _set_entities)(doc, spans, unknown)
        yield doc


def _set_entities(doc: Doc, spans: Sequence[Span], unknown: Sequence[int]) -> None:
    covered = {token for start, end, _ in spans for token in range(start, end)}
    ToEntities().write(doc, spans, [token for token in unknown if token not in covered], ())


def _set_group(doc: Doc, spans: Sequence[Span], unknown: Sequence[int]) -> None:
    layers = assigned(spans)
    attrs: dict[str, Any] = {LAYERS: layers, COUNT: max(layers, default=0) + 1}
    covered = {(n, i) for n, span in zip(layers, spans) for i in range(span.start, span.end)}
    places = [(layer, token) for layer in range(attrs[COUNT]) for token in unknown]
    if absent := [[*place] for place in places if place not in covered]:
        attrs["layer_missing"] = absent
    made = [DocSpan(doc, start, end, label) for start, end, label in spans]
    doc.spans[KEY] = SpanGroup(doc, name=KEY, attrs=attrs, spans=made)
