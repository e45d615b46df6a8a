"""Column files as arrays, in plain Python: the readable twin of `_columns.pyx`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Ints, Offsets

TOKEN, BREAK, MARKER, COMMENT, NEWDOC = "token", "break", "marker", "comment", "newdoc"
BLANK = b" \t"
LARGEST = 2**31 - 1  # bytes of a buffer, since places in it are numbers of 32 bits
NEWDOC_TEXT = b"newdoc"  # what a comment says where a document begins (Universal Dependencies)
FIELD = re.compile(rb"[^ \t]+")


class Layout(NamedTuple):
    """How to take lines apart.

    `delimiter` is empty for runs of spaces and tabs. `token` and `tag` are columns, counted from
    the end where negative. `width` is the number of columns, 0 while it is unknown. Lines that
    start with `comment`, unless it is empty, are comments; those that start with a marker begin a
    document.
    """

    delimiter: bytes
    token: int
    tag: int
    width: int
    comment: bytes
    markers: tuple[bytes, ...]


class Wrong(NamedTuple):
    """A line with a token that has not as many columns as it should: `found`, not `width`."""

    line: int
    begin: int
    end: int
    found: int
    width: int


class Scanned(NamedTuple):
    """The sentences that are complete in a buffer.

    `consumed` bytes hold them, with `lines` line feeds and `documents` document markers. Sentence
    `s` has the tokens `offsets[s]` to `offsets[s + 1]`. For each of N tokens: the number of its
    tag, its line (from 0), and where token and tag begin and end. `width` is the number of columns,
    0 as long as there was no token; `first` the line of the first token, -1 without one. Scanning
    ends at the first line that is `wrong`.
    """

    consumed: int
    lines: int
    documents: int
    offsets: Offsets
    codes: Ints
    line: Ints
    token_begin: Ints
    token_end: Ints
    tag_begin: Ints
    tag_end: Ints
    width: int
    first: int
    wrong: Wrong | None


def scan(buffer: bytes, final: bool, layout: Layout, vocabulary: dict[bytes, int]) -> Scanned:
    """Find the tokens and tags of the complete sentences in `buffer`.

    A sentence is complete when a blank line or a document marker follows, or when this is the
    `final` part of a file. Tags get their number from `vocabulary`, which grows. Raises
    OverflowError for a buffer of more than `LARGEST` bytes.
    """
    if len(buffer) > LARGEST:
        raise OverflowError(f"{len(buffer):,} bytes are more than {LARGEST:,}.")
    rows: list[tuple[int, ...]] = []
    offsets = [0]
    kept = (0, 0, 0)  # bytes, lines and documents up to where no sentence is open
    width, documents, begin, wrong = layout.width, 0, 0, None
    *whole, rest = buffer.split(b"\n")
    for number, piece in enumerate([*whole, rest] if final else whole):
        row = piece.removesuffix(b"\r")
        kind = kind_of(row, layout)
        if kind is TOKEN:
            columns = columns_of(row, layout.delimiter)
            width = width or len(columns)
            wanted = (layout.token, layout.tag)
            if len(columns) != width or not all(-width <= column < width for column in wanted):
                wrong = Wrong(number, begin, begin + len(row), len(columns), width)
                break
            places = [begin + place for column in wanted for place in columns[column]]
            tag = buffer[places[2] : places[3]]
            rows.append((vocabulary.setdefault(tag, len(vocabulary)), number, *places))
        documents += kind in (MARKER, NEWDOC)
        begin += len(piece) + 1
        if kind in (BREAK, MARKER):
            if len(rows) > offsets[-1]:
                offsets.append(len(rows))
            kept = (begin, number + 1, documents)
    if final and wrong is None:
        if len(rows) > offsets[-1]:
            offsets.append(len(rows))
        kept = (len(buffer), len(whole), documents)
    first = rows[0][1] if rows else -1
    bounds = np.array(offsets, dtype=np.int64)
    table = np.array(rows[: offsets[-1]], dtype=np.int32).reshape(-1, 6).T
    a, b, c, d, e, f = (np.ascontiguousarray(column) for column in table)
    return Scanned(*kept, bounds, a, b, c, d, e, f, width, first, wrong)


def kind_of(row: bytes, layout: Layout) -> str:
    """What a line is."""
    if not row.strip(BLANK):
        return BREAK
    if row.startswith(layout.markers):
        return MARKER
    if layout.comment and row.startswith(layout.comment):
        text = row[len(layout.comment) :].lstrip(BLANK)
        return NEWDOC if text.startswith(NEWDOC_TEXT) else COMMENT
    return TOKEN


def columns_of(row: bytes, delimiter: bytes) -> list[tuple[int, int]]:
    """Where the columns of a line begin and end."""
    if not delimiter:
        return [match.span() for match in FIELD.finditer(row)]
    ends = [match.start() for match in re.finditer(re.escape(delimiter), row)] + [len(row)]
    return list(zip([0, *(end + len(delimiter) for end in ends)], ends))


def splice(buffer: bytes, begin: Ints, end: Ints, codes: Ints, tags: Sequence[bytes]) -> bytes:
    """The buffer with `tags[codes[i]]` in place of what lies from `begin[i]` to `end[i]`."""
    pieces = []
    at = 0
    for a, b, code in zip(begin.tolist(), end.tolist(), codes.tolist()):
        pieces += [buffer[at:a], tags[code]]
        at = b
    return b"".join([*pieces, buffer[at:]])


def first_difference(
    a: bytes, a_begin: Ints, a_end: Ints, b: bytes, b_begin: Ints, b_end: Ints
) -> int:
    """The first token that differs between two buffers with as many tokens; -1 if none does."""
    places = zip(a_begin.tolist(), a_end.tolist(), b_begin.tolist(), b_end.tolist())
    for i, (p, q, r, s) in enumerate(places):
        if a[p:q] != b[r:s]:
            return i
    return -1
