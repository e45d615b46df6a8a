"""Spans of one label that touch, which not every scheme can tell apart: where the first two are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..codes.known import Known
from ..codes.scheme import SCHEMES, Scheme
from ..errors import InexpressibleError
from .docs import in_documents
from .formats.options import Unit
from .sentences import Sentences

LONGEST = 80  # characters of a sentence in a message


def require_apart(source: Iterable[tuple[Sentences, Known]], unit: Unit, scheme: Scheme) -> None:
    """Raise for the first two spans in one Doc that a model in this scheme could not learn."""
    if scheme.split:
        return
    for part, known in in_documents(source) if unit == "document" else source:
        spans, first = known.spans, part.offsets[known.spans.sentence]
        begin, end, doc = first + spans.start, first + spans.end, spans.sentence.astype(np.int64)
        if unit == "document":
            doc = np.searchsorted(part.opens, doc, side="right")
        near = (end[:-1] == begin[1:]) & (spans.label[:-1] == spans.label[1:])
        for row in np.flatnonzero(near & (doc[:-1] == doc[1:])).tolist():
            if not _apart(part, int(begin[row + 1])):
                raise _refusal(part, known, row, scheme)


def _apart(part: Sentences, at: int) -> bool:
    """Return whether white space that makes a token stands before a token."""
    words = part.words
    between = words.buffer[words.end[at - 1] : words.begin[at]] if words.verbatim else b""
    return between not in (b"", b" ")


def _refusal(part: Sentences, known: Known, row: int, scheme: Scheme) -> InexpressibleError:
    """Return the error that says where the spans are, and what could hold them."""
    spans = known.spans
    pair, sentences = (spans.row(row), spans.row(row + 1)), spans.sentence[row : row + 2].tolist()
    places = [part.at(s, span.start) for s, span in zip(sentences, pair)]
    lines = [part.line_of(at) for at in places]
    docs = ("Doc {}, token {}".format(*part.token_of(at)) for at in places)
    where = [other if line is None else f"line {line}" for line, other in zip(lines, docs)]
    first, second = (
        f"{span.label} {part.text(s, span.start, span.end)!r} ({place})"
        for s, span, place in zip(sentences, pair, where)
    )
    text = shortened(part.text(sentences[0]))
    both = f"{part.file_of(places[0])}: {first} and {second} touch"
    known_to = ", ".join(name for name, each in SCHEMES.items() if each.split)
    advice = f"Choose a scheme that can (--model-scheme): {known_to}"
    if sentences[0] == sentences[1]:
        both += f" in {text!r}"
    else:
        both += f" where {text!r} ends and the next sentence of the document begins"
        advice += "; or take each sentence for itself (--documents none)"
    message = f"{both}: a model that tags in {scheme.name} cannot tell them apart. {advice}."
    return InexpressibleError(message, list(pair))


def shortened(text: str) -> str:
    """Return the beginning of a text that is too long for a message."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
