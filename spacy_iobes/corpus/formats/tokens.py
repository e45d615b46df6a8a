"""Text that is cut into tokens: one sentence on a line, spaces between tokens, no annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from ...arrays import Flags
from ...codes.known import Known
from ...codes.span_columns import SpanColumns
from ...errors import FileError
from ..conll import BOM, Rest
from ..files import Progress, read_bytes, shown, write_bytes
from ..findings import Finding
from ..sentences import Sentences
from ..words import BLANKS, Words
from .columns import ColumnOrigin
from .options import ReadOptions, SaveOptions


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read the lines of a file as sentences of one document; empty lines are none."""
    rest, lines, sentences = Rest(), 0, 0
    for chunk in read_bytes(path, how.encoding, progress):
        rest.add(chunk if lines or rest.size else chunk.removeprefix(BOM))
        if b"\n" in chunk:
            whole, _, left = rest.joined().rpartition(b"\n")
            rest.begin(left)
            yield (part := _part(path, whole, lines, sentences))
            lines, sentences = lines + whole.count(b"\n") + 1, sentences + len(part)
    if rest.size or not lines:
        yield _part(path, rest.joined(), lines, sentences)


def _part(path: str | Path, buffer: bytes, lines: int, sentences: int) -> Sentences:
    """Return the sentences of some lines, behind so many others."""
    data = np.frombuffer(buffer, dtype=np.uint8)
    edges = np.flatnonzero(np.diff(_white(buffer), prepend=True, append=True)).astype(np.int32)
    begin, end = (np.ascontiguousarray(edges[side::2]) for side in (0, 1))
    line = np.searchsorted(np.flatnonzero(data == 10), begin).astype(np.int32)
    starts = np.flatnonzero(np.diff(line, prepend=-1))
    offsets = np.append(starts, len(begin)).astype(np.int64)
    none = np.zeros(0, dtype=np.int32)
    spans = SpanColumns.trusted([none] * 4, (), len(starts))
    return Sentences(
        shown(path),
        offsets,
        np.zeros(int(not sentences and len(starts) > 0), dtype=np.int64),
        partial(Words, buffer, begin, end),
        given=Known(spans, np.ones(len(begin), dtype=bool)),
        line=line + np.int32(lines + 1),
        before=(int(sentences > 0), sentences),
    )


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write a sentence on each line; there is no annotation in it, whatever the sentences have."""
    with write_bytes(path, how.encoding) as put:
        for whole, _ in parts:
            part = whole if isinstance(whole.origin, ColumnOrigin) else _writable(whole)
            words = part.spellings
            places = map(slice, words.begin.tolist(), words.end.tolist())
            tokens = [*map(words.buffer.__getitem__, places)]
            bounds = pairwise(part.offsets.tolist())
            put(b"".join(b" ".join(tokens[a:b]) + b"\n" for a, b in bounds if a < b))
    return []


def _writable(whole: Sentences) -> Sentences:
    """Return sentences without tokens that are white space; raise for others that hold some."""
    part = whole.without_blanks()
    words = part.spellings
    before = np.append(0, np.cumsum(_white(words.buffer)))
    wrong = (words.begin == words.end) | (before[words.end] > before[words.begin])
    for at in np.flatnonzero(wrong)[:1].tolist():
        raise FileError(f"{part.place(at)}: a token holds white space, or nothing.", part.name)
    return part


def _white(buffer: bytes) -> Flags:
    data = np.frombuffer(buffer, dtype=np.uint8)
    return np.isin(data, list(BLANKS))
