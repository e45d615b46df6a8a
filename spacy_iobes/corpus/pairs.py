"""Two annotations of the same tokens: in two files, or in two columns of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .. import kernels
from ..arrays import Ints
from ..codes.tag_columns import CodedTags
from ..errors import AlignmentError, ColumnError
from ..kernels.columns_numpy import Layout
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
        difference = first_difference(first, second, ignore_tokens)
        if difference:
            raise AlignmentError(difference + _hint(gold, predicted, first, second))
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
                f"with {part.token(0, 0)!r} in line {part.number(0, 0)}.{_hint(gold, predicted)}"
            )


def _filled(reader: ColumnReader) -> Iterator[Part]:
    return (part for part in reader if len(part.tags))


def _hint(gold: ColumnReader, predicted: ColumnReader, *parts: Part) -> str:
    """What may be behind a difference, as far as the files show it."""
    for marked, other in ((gold, predicted), (predicted, gold)):
        if marked.markers and not other.markers:
            return (
                f" {marked.name} has lines that mark documents (-DOCSTART-) and {other.name} has "
                "none: if they are tokens there, say so (--markers-as-tokens)."
            )
    for part in parts:
        if part.layout.width == 1:
            return f" If {part.name} holds nothing but tags, compare only those (--ignore-tokens)."
    return ""


def first_difference(gold: Part, predicted: Part, ignore_tokens: bool) -> str:
    """The first place where two parts with as many sentences differ, in words; empty if none."""
    lengths = [np.diff(part.tags.offsets) for part in (gold, predicted)]
    longer = np.flatnonzero(lengths[0] != lengths[1])
    sentences = int(longer[0]) + 1 if len(longer) else len(gold.tags)
    size = min(int(part.tags.offsets[sentences]) for part in (gold, predicted))
    compared = 0 if ignore_tokens else size
    at = kernels.first_difference(*_places(gold, compared), *_places(predicted, compared))
    if at >= 0:
        a, b = (f"{p.flat_token(at)!r} in line {p.flat_number(at)}" for p in (gold, predicted))
        return (
            f"The tokens differ: {gold.name} has {a}, but {predicted.name} has {b}. "
            "Are both files of the same text and tokenisation?"
        )
    if not len(longer):
        return ""
    s = sentences - 1
    more, less = (gold, predicted) if lengths[0][s] > lengths[1][s] else (predicted, gold)
    return (
        f"A sentence ends earlier on one side: {less.name} ends it behind "
        f"{less.flat_token(size - 1)!r} in line {less.flat_number(size - 1)}, but {more.name} goes "
        f"on with {more.flat_token(size)!r} in line {more.flat_number(size)}. "
        "Is a blank line missing, or one too many?"
    )


def _places(part: Part, size: int) -> tuple[bytes, Ints, Ints]:
    scanned = part.scanned
    return part.buffer, scanned.token_begin[:size], scanned.token_end[:size]


def both_columns(reader: ColumnReader, gold_column: int) -> Iterator[Pair]:
    """The gold and predicted tags of one file; the reader reads the predicted ones."""
    for part in reader:
        layout = part.layout._replace(tag=gold_column)
        if layout.width:
            _require_three_columns(reader.name, part.layout, gold_column)
        scanned = kernels.scan(part.buffer, True, layout, reader.vocabulary)
        if scanned.wrong:
            raise reader.refusal(part.buffer, scanned.wrong, part.line, layout)
        tags = CodedTags.trusted(scanned.codes, scanned.offsets, reader.tag_names())
        predicted = CodedTags.trusted(part.tags.codes, part.tags.offsets, reader.tag_names())
        yield replace(part, scanned=scanned, tags=tags), replace(part, tags=predicted)


def _require_three_columns(name: str, layout: Layout, gold_column: int) -> None:
    """Raise unless token, gold tag and predicted tag are three different columns."""
    width = layout.width
    reason = ""
    if width < 3:
        reason = (
            f"{width} column{'s' * (width != 1)}, but a file that holds both annotations needs "
            "three: token, gold tag, predicted tag. Else name a file of predictions."
        )
    elif not -width <= gold_column < width:
        reason = f"{width} columns and no column {gold_column} for the gold tag (--gold-index)."
    else:
        others = {"token": layout.token, "predicted tag": layout.tag}
        for kind, column in others.items():
            if (column - gold_column) % width == 0:
                option = "--token-index" if kind == "token" else "--tag-index"
                reason = (
                    f"{width} columns, and column {gold_column} cannot hold both the gold tag "
                    f"(--gold-index) and the {kind} ({option})."
                )
    if reason:
        raise ColumnError(f"{name} has {reason}", name)
