"""Spans of one label that touch, which not every scheme can tell apart: where they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ..codes.policy import get_tag_policy
from ..codes.scheme import SCHEMES, Scheme, get_scheme
from ..errors import InexpressibleError
from ..span import Span
from .conll import ColumnReader, columns_named
from .docbin import read_docbin
from .file_sentences import FileSentences, PartWords, TagReading
from .reader import files_of
from .training_data import TrainingData

LONGEST = 80  # characters of a sentence in a message


class Place(NamedTuple):
    """A span of a Doc, where the file has it, and the sentence it is in."""

    span: Span
    where: str
    sentence: str
    text: str
    offset: int = 0  # of the sentence in the Doc

    def __str__(self) -> str:
        return f"{self.span.label} {self.text!r} ({self.where})"


def require_apart(data: TrainingData, scheme: Scheme) -> None:
    """Raise for the first two spans of the data that a model in this scheme could not learn."""
    if scheme.split:
        return
    columns = "scheme" in data.reader
    for file in files_of(data.path):
        for places in column_places(file, data) if columns else docbin_places(file):
            for a, b in pairwise(places):
                if a.span.end == b.span.start and a.span.label == b.span.label:
                    raise refusal(file, a, b, scheme)


def refusal(file: Path, a: Place, b: Place, scheme: Scheme) -> InexpressibleError:
    """The error that says where they are, and what could hold them."""
    known = ", ".join(name for name, each in SCHEMES.items() if each.split)
    both = f"{file}: {a} and {b} touch"
    advice = f"Choose a scheme that can (--model-scheme): {known}"
    if a.offset != b.offset:
        both += f" where {a.sentence!r} ends and the next sentence of the document begins"
        advice += "; or take each sentence for itself (--documents none)"
    else:
        both += f" in {a.sentence!r}"
    message = f"{both}: a model that tags in {scheme.name} cannot tell them apart. {advice}."
    return InexpressibleError(message, [a.span, b.span])


def column_places(file: Path, data: TrainingData) -> Iterator[list[Place]]:
    """The spans of each Doc of a column file, which is a sentence or a document."""
    names = ("delimiter", "token_index", "tag_index", "comment", "encoding")
    flags = ("ignore_documents", "markers_as_tokens")
    how = data.reader
    reader = ColumnReader(file, columns_named(*(how[name] for name in names + flags)))
    reading = TagReading(get_scheme(how["scheme"]), get_tag_policy(how["policy"]))
    words_of, held, at = PartWords(reader), list[Place](), 0
    for [(tagged, spans)] in FileSentences(reader, reading).parts():
        for number, (words, opens) in enumerate(words_of(tagged.part)):
            if opens or how["unit"] == "sentence":
                yield held
                held, at = [], 0
            for start, end, label in spans[number]:
                line = f"line {tagged.part.number(number, start)}"
                text = " ".join(words[start:end])
                place = Span(at + start, at + end, label)
                held.append(Place(place, line, shortened(" ".join(words)), text, at))
            at += len(words)
    yield held


def docbin_places(file: Path) -> Iterator[list[Place]]:
    """The entities of each Doc of a DocBin file."""
    for number, doc in enumerate(read_docbin(file)):
        sentence = shortened(doc.text)
        yield [
            Place(
                Span(entity.start, entity.end, entity.label_),
                f"Doc {number}, token {entity.start}",
                sentence,
                entity.text,
            )
            for entity in doc.ents
        ]


def shortened(text: str) -> str:
    """The beginning of a text that is too long for a message."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
