"""DocBin files (`.spacy`) as Docs, with every trouble told in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from spacy.attrs import IDS
from spacy.strings import StringStore
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..codes.parse import refusal
from ..codes.scheme import get_scheme
from ..codes.violation import Violation
from ..errors import FileError, MalformedTagsError
from .files import STANDARD, shown, whole_file, write_bytes
from .sources import Entities
from .tagged import TaggedDocs

ENDING = ".spacy"
STRINGS = ("ORTH", "TAG", "DEP", "LEMMA", "NORM", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
"""What tokens have by the number of a string."""
ELSEWHERE = "'spacy-iobes repair' repairs the file under a policy."
HERE = "Name a policy to repair them (--policy): see 'info policies'."
"""What to do about malformed entities."""


def doc_violations(tagged: TaggedDocs, name: str) -> list[Violation]:
    """The violations of the Docs of a file, with their places."""
    return [replace(violation, file=name, doc=doc) for doc, violation in tagged.malformed]


def malformed_docs(violations: Sequence[Violation], advice: str = ELSEWHERE) -> MalformedTagsError:
    """The error for malformed entities of Docs, which are bio whatever the user says."""
    error, count = refusal(get_scheme("bio"), violations), len(violations)
    error.advice = f"{count:,} violation{'s' * (count != 1)}. {advice}"
    return error


def require_legal(docs: Sequence[Doc], name: str) -> None:
    """Raise if entities of the Docs of a file are malformed."""
    tagged = TaggedDocs.read(docs, Entities(), get_scheme("bio"))
    if violations := doc_violations(tagged, name):
        raise malformed_docs(violations)


def require_ending(path: str | Path) -> None:
    """Raise for a name that spaCy would pass over."""
    if str(path) != STANDARD and not str(path).endswith(ENDING):
        raise FileError(
            f"{path}: spaCy only reads files whose names end in {ENDING}. Name it so.", str(path)
        )


def save_docbin(docs: DocBin, path: str | Path) -> None:
    """Write a DocBin, all at once or not at all."""
    try:
        data = docs.to_bytes()
    except ValueError as error:
        message = f"{path}: too much for one DocBin ({error}). Write several files."
        raise FileError(message, str(path)) from error
    with write_bytes(path) as put:
        put(data)


def read_docbin(path: str | Path, vocab: Vocab | None = None) -> list[Doc]:
    """The Docs of a DocBin file, with a vocabulary of their own unless one is given."""
    name = shown(path)
    data = whole_file(path)
    vocab = Vocab() if vocab is None else vocab
    try:
        box = DocBin().from_bytes(data)
        docs = list(box.get_docs(vocab))
        _require_strings(box, docs)
        return docs
    except Exception as error:  # zlib, msgpack, numpy and spaCy all have their own
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileError(
            f"{name}: not a DocBin, or a damaged one ({detail[:100]}). Name a {ENDING} file that "
            "spaCy wrote; 'spacy-iobes convert' makes one of files of other formats.",
            str(path),
        ) from error


def _require_strings(box: DocBin, docs: Iterable[Doc]) -> None:
    """Raise KeyError for the number of a string that the file lacks.

    spaCy does so much later, or not at all where the vocabulary of a pipeline has the string.
    """
    columns = [place for place, kind in enumerate(box.attrs) if kind in map(IDS.get, STRINGS)]
    used = {span.label for doc in docs for group in doc.spans.values() for span in group}
    for tokens in box.tokens:
        used.update(np.unique(tokens[:, columns]).tolist())
    strings = StringStore(box.strings)
    for number in used:
        strings[number]
