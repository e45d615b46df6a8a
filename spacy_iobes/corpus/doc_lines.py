"""Docs and their tags as a column file, of which every token can be read back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from spacy.tokens import Doc

from ..errors import FileError
from .conll import BOM, MARKERS
from .doc_columns import DocFile, TagColumns
from .files import write_bytes

SPACES = " \t\v\f\n\r"
"""White space that is no token of a column file by itself."""


@dataclass
class Printed:
    """What went into a column file."""

    docs: int = 0
    empty: int = 0
    sentences: int = 0
    tokens: int = 0
    columns: int = 1
    repaired: int = 0


@dataclass(frozen=True)
class ColumnFormat:
    """How to write the lines; `markers` begin each Doc (None: if one has several sentences).

    A `header` names the columns in the first line.
    """

    delimiter: str = "\t"
    encoding: str = "utf8"
    markers: bool | None = None
    header: tuple[str, ...] = ()


def print_columns(
    file: DocFile, columns: Sequence[TagColumns], target: str | Path, form: ColumnFormat
) -> Printed:
    """Write Docs and their tags as a column file, all at once or not at all."""
    done = Printed(columns=max(map(len, columns), default=1))
    marked = form.markers
    if marked is None:
        marked = len(file.docs) > 1 and any(len(bounds) > 2 for bounds in file.bounds())
    marker = form.delimiter.join([MARKERS[0], *"O" * done.columns]) + "\n\n"
    with write_bytes(target, form.encoding) as put:
        if form.header:
            put(_header(form, file.name).encode())
        for number, (doc, tags, bounds) in enumerate(zip(file.docs, columns, file.bounds())):
            if not len(doc):
                done.empty += 1
                continue
            lines = list(_lines(doc, tags, form, f"{file.name}, Doc {number}"))
            blocks = ["".join(lines[a:b]) for a, b in pairwise(bounds)]
            text = ("\n" if done.docs else "") + marker * marked + "\n".join(blocks)
            mark = BOM if not done.docs and text.encode().startswith(BOM) else b""
            put(mark + text.encode())  # a first token that begins like a byte order mark keeps it
            done.docs += 1
            done.sentences += len(blocks)
            done.tokens += len(lines)
    return done


def _header(form: ColumnFormat, place: str) -> str:
    """The first line."""
    for name in form.header:
        if reason := _trouble(name, form.delimiter):
            raise FileError(f"{place}: as the name of a column, {name!r} {reason}")
    return form.delimiter.join(form.header) + "\n"


def _lines(doc: Doc, columns: TagColumns, form: ColumnFormat, place: str) -> Iterator[str]:
    for index, (token, *tags) in enumerate(zip((token.text for token in doc), *columns)):
        for field in (token, *tags):
            if reason := _trouble(field, form.delimiter):
                raise FileError(f"{place}, token {index}, {token!r}: {field!r} {reason}")
        yield form.delimiter.join((token, *tags)) + "\n"


@lru_cache(maxsize=65536)
def _trouble(field: str, delimiter: str) -> str:
    """Why a token or tag would not be read back, and what to do; empty if it would be."""
    if not field.strip(SPACES):
        return "is bare white space, which no column file can hold: leave it out (--drop-spaces)."
    if any(character in field for character in "\n\r\0"):
        return "holds a line break or NUL, which no column file can: replace it in the Doc."
    if delimiter in field or (delimiter == " " and "\t" in field):
        return "holds the delimiter: choose another one (--set output-delimiter), or replace it."
    if field.startswith(MARKERS):
        return "would be read as a document marker: replace it in the Doc."
    return ""
