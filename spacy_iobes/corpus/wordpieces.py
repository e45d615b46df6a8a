"""From the word pieces of a token classifier to one tag for each token of a Doc.

    doc.user_data["iobes_tags"] = token_tags(doc, classify(doc.text), scheme="bio")

A token takes the tag of one of its pieces. White space and invisible characters at the ends of
tokens and pieces do not count, since tokenizers differ in them. A piece that reaches over several
tokens is one stretch of a span, so `B-X` over two tokens becomes `B-X I-X`, and `S-X` in iobes
becomes `B-X E-X`. A token of white space inside a span belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from math import isnan
from operator import index
from typing import Any, Literal, NamedTuple
from unicodedata import category

from spacy.tokens import Doc

from ..codes.scheme import OUTSIDE, Gap, Scheme, get_scheme
from ..codes.silent import spoken
from ..codes.tag import read_tag, write_tag
from ..codes.violation import MISSING, explain
from ..errors import AlignmentError, UnknownNameError, UnreadableTagError
from .sources import shown

Uncovered = Literal["O", "-"]
UNNAMED = "LABEL_"  # how transformers calls the labels of a model that has no names for them


class Piece(NamedTuple):
    """A word piece: its characters in the text, half-open, its tag, and how sure that tag is."""

    start: int
    end: int
    tag: str
    score: float | None = None


Row = Mapping[str, Any] | tuple[Any, ...]
Under = Sequence[Sequence[Piece]]
"""The pieces over each character of a token, in the order of the text."""


def _strongest(under: Under) -> Piece | None:
    found = list(dict.fromkeys(piece for pieces in under for piece in pieces))
    unsure = [piece for piece in found if piece.score is None or isnan(piece.score)]
    if unsure:
        raise AlignmentError(f"{unsure[0]} has no score, which how='strongest' compares.")
    return max(found, key=lambda piece: piece.score or 0.0, default=None)


HOW: Mapping[str, Callable[[Under], Piece | None]] = {
    "first": lambda under: under[0][0] if under[0] else None,
    "last": lambda under: under[-1][-1] if under[-1] else None,
    "strongest": _strongest,
}
"""Which piece of a token gives it its tag."""


def token_tags(
    doc: Doc,
    pieces: Iterable[Row],
    *,
    scheme: str | Scheme,
    how: str = "first",
    uncovered: Uncovered = "O",
) -> list[str]:
    """One tag for each token, for `doc.user_data["iobes_tags"]`.

    `pieces` are what a token classifier of transformers returns for `doc.text` with
    `aggregation_strategy="none"`, or tuples (start, end, tag) or (start, end, tag, score); those
    without characters, such as `[CLS]`, are left out. `how` is `first` (the piece over the first
    character of the token), `last`, or `strongest`: the highest score, and the first of equals.
    A token without that piece is `O`, since pipelines leave out pieces that are `O`; with
    `uncovered="-"` it is missing, for texts that the classifier has not read to their end.
    """
    scheme = get_scheme(scheme)
    if how not in HOW or uncovered not in (OUTSIDE, MISSING):
        name, known = (how, tuple(HOW)) if how not in HOW else (uncovered, (OUTSIDE, MISSING))
        raise UnknownNameError(f"Unknown choice {name!r}. Known: {', '.join(known)}.", name, known)
    text = doc.text
    read = [_read(doc, len(text), n, row, scheme) for n, row in enumerate(pieces)]
    over = _over_characters(text, read)
    places = [_visible(text, token.idx, token.idx + len(token)) for token in doc]
    seen = [i for i, (start, end) in enumerate(places) if start < end]
    tags: list[str] = [uncovered] * len(doc)
    found = [(i, HOW[how](over[slice(*places[i])])) for i in seen]
    for piece, group in groupby(found, key=lambda pair: pair[1]):
        members = [i for i, _ in group]
        for i, tag in zip(members, _stretched(piece, len(members), scheme) if piece else ()):
            tags[i] = tag
    _fill_space(tags, seen, scheme)
    return tags


def _read(doc: Doc, length: int, number: int, row: Row, scheme: Scheme) -> Piece:
    """One row as a piece, if it is one of this text and this scheme."""
    piece = _piece(number, row)
    place = f"Piece {number} ({piece.tag!r} at characters {piece.start} to {piece.end})"
    if not 0 <= piece.start <= piece.end <= length:
        raise AlignmentError(
            f"{place} is outside of {shown(doc)}, which has {length} characters: "
            "classify doc.text itself."
        )
    if piece.start < piece.end and read_tag(piece.tag, scheme) is None:
        _, reason = explain(scheme, None, piece.tag)
        hint = " The model has no names for its labels: give its config an id2label."
        message = f"{place}: {reason}.{hint * piece.tag.startswith(UNNAMED)}"
        raise UnreadableTagError(message, piece.tag, index=number, reason=reason)
    return piece


def _piece(number: int, row: Row) -> Piece:
    """One row as a piece, if it has the parts of one."""
    if isinstance(row, Mapping):
        if "entity" not in row:
            raise AlignmentError(
                f"Piece {number} is not a word piece with its tag in 'entity': {dict(row)}. "
                "Call the classifier with aggregation_strategy='none'."
            )
        row = tuple(row.get(key) for key in ("start", "end", "entity", "score"))
        if row[0] is None or row[1] is None:
            message = f"Piece {number} does not say where in the text it is: use a fast tokenizer."
            raise AlignmentError(message)
    if not (isinstance(row, tuple) and 3 <= len(row) <= 4 and isinstance(row[2], str)):
        message = "is a dict of transformers, or a tuple (start, end, tag) or with a score as well"
        raise TypeError(f"Piece {number} {message}, not {row!r}.")
    return Piece(index(row[0]), index(row[1]), *row[2:])


def _over_characters(text: str, pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces over each character of the text; byte-level tokenizers put several over one."""
    over: list[list[Piece]] = [[] for _ in text]
    for piece in sorted(pieces, key=lambda piece: piece.start):
        for at in range(*_visible(text, piece.start, piece.end)):
            over[at].append(piece)
    return over


def _visible(text: str, start: int, end: int) -> tuple[int, int]:
    """The same stretch of text without white space and invisible characters at its ends."""
    seen = [i for i in range(start, end) if not text[i].isspace() and category(text[i])[0] != "C"]
    return (seen[0], seen[-1] + 1) if seen else (start, start)


def _stretched(piece: Piece, length: int, scheme: Scheme) -> list[str]:
    """The tags of several tokens under one piece: they join, its own ends stay what they are."""
    prefix, label = read_tag(piece.tag, scheme) or (OUTSIDE, "")
    if length == 1 or prefix not in scheme.inside:
        return [piece.tag, *[OUTSIDE] * (length - 1)]
    opens, closes = prefix in scheme.openers, prefix in scheme.closers
    inner = [x for x in scheme.inside if x not in scheme.closers]
    first = _alike(prefix, [x for x in inner if (x in scheme.openers) == opens] or inner)
    inner = [x for x in scheme.inside if x not in scheme.openers]
    last = _alike(prefix, [x for x in inner if (x in scheme.closers) == closes] or inner)
    middle = scheme.prefix(Gap.JOIN, Gap.JOIN) or last
    return [write_tag(x, label, scheme) for x in (first, *[middle] * (length - 2), last)]


def _alike(prefix: str, candidates: Sequence[str]) -> str:
    """The prefix itself if it is a candidate, else the first of them."""
    return prefix if prefix in candidates else candidates[0]


def _fill_space(tags: list[str], seen: Sequence[int], scheme: Scheme) -> None:
    """Tag the tokens of white space that lie between two tokens of one span."""
    middle = scheme.prefix(Gap.JOIN, Gap.JOIN)
    said = spoken([tags[i] for i in seen], scheme)
    for (left, right), pair in zip(pairwise(seen), pairwise(said)):
        before, behind = (read_tag(tag, scheme, silent=True) for tag in pair)
        if right - left > 1 and middle and before and behind:
            (p, label), (c, other) = before, behind
            if scheme.relation(p, c, label == other) is Gap.JOIN:
                tags[left + 1 : right] = [write_tag(middle, label, scheme)] * (right - left - 1)
