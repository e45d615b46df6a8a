"""Two annotations of the same tokens: in two files, or in two columns of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .. import kernels
from ..codes.columns import CodedTags
from ..errors import AlignmentError, ColumnError
from ..kernels.tags_numpy import Ints
from .conll import ColumnReader, Part

Pair = tuple[Part, Part]


def paired(
    gold: ColumnReader, predicted: ColumnReader, ignore_tokens: bool = False
) -> Iterator[Pair]:
    """The same sentences of two files, part by part; the first difference between them is an error.

    The readers must share their vocabulary, so that equal tags have equal numbers. To ignore tokens
    is for files that hold only tags, or tokens in another spelling; lengths are always compared.
    """
    streams = [_filled(gold), _filled(predicted)]
    held: list[Part | None] = [next(stream, None) for stream in streams]
    while held[0] is not None and held[1] is not None:
        count = min(len(part.tags) for part in held if part is not None)
        first, second = (part.cut(0, count) for part in held if part is not None)
        require_same_sentences(first, second, ignore_tokens)
        yield first, second
        for side, part in enumerate(held):
            if part is not None:
                rest = part.cut(count, len(part.tags))
                held[side] = rest if len(rest.tags) else next(streams[side], None)
    for side, part in enumerate(held):
        if part is not None:
            other = (predicted, gold)[side]
            raise AlignmentError(
                f"{other.name} ends after {other.sentences:,} sentences, but {part.name} goes on "
                f"with {part.token(0, 0)!r} in line {part.number(0, 0)}."
            )


def _filled(reader: ColumnReader) -> Iterator[Part]:
    return (part for part in reader if len(part.tags))


def require_same_sentences(gold: Part, predicted: Part, ignore_tokens: bool) -> None:
    """Raise for the first place where two parts with as many sentences differ."""
    lengths = [np.diff(part.tags.offsets) for part in (gold, predicted)]
    longer = np.flatnonzero(lengths[0] != lengths[1])
    sentences = int(longer[0]) + 1 if len(longer) else len(gold.tags)
    size = min(int(part.tags.offsets[sentences]) for part in (gold, predicted))
    size = 0 if ignore_tokens else size
    at = kernels.first_difference(*_places(gold, size), *_places(predicted, size))
    if at >= 0:
        a, b = (f"{p.flat_token(at)!r} in line {p.flat_number(at)}" for p in (gold, predicted))
        raise AlignmentError(
            f"The tokens differ: {gold.name} has {a}, but {predicted.name} has {b}. "
            "Are both files of the same text and tokenisation?"
        )
    if len(longer):
        s = sentences - 1
        a, b = (
            f"{n[s]} tokens (line {p.number(s, 0)})" for n, p in zip(lengths, (gold, predicted))
        )
        raise AlignmentError(
            f"A sentence is longer on one side: {gold.name} has {a}, {predicted.name} has {b}."
        )


def _places(part: Part, size: int) -> tuple[bytes, Ints, Ints]:
    scanned = part.scanned
    return part.buffer, scanned.token_begin[:size], scanned.token_end[:size]


def both_columns(reader: ColumnReader, gold_column: int) -> Iterator[Pair]:
    """The gold and predicted tags of one file; the reader reads the predicted ones."""
    for part in reader:
        layout = part.layout._replace(tag=gold_column)
        if layout.width and (layout.token - gold_column) % layout.width == 0:
            raise ColumnError(
                f"{reader.name} has {layout.width} columns, but a file that holds both annotations "
                "needs three: token, gold tag, predicted tag. Else name a file of predictions.",
                reader.name,
            )
        scanned = kernels.scan(part.buffer, True, layout, reader.vocabulary)
        if scanned.wrong:
            raise reader.refusal(part.buffer, scanned.wrong, part.line, layout)
        tags = CodedTags.trusted(scanned.codes, scanned.offsets, reader.tag_names())
        predicted = CodedTags.trusted(part.tags.codes, part.tags.offsets, reader.tag_names())
        yield replace(part, scanned=scanned, tags=tags), replace(part, tags=predicted)
