"""Kinds of characters, and the words and other tokens that these make: many texts at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Offsets
from .marked_text import JOINER, TONES, is_letter, is_mark

SPACE, WORD, OTHER, TONE, MARK, JOIN = 1, 2, 3, 4, 5, 6
Codes = NDArray[np.unsignedinteger[Any]]
"""Characters as numbers."""
_TABLE = np.zeros(0x110000, dtype=np.uint8)  # the kind of each character that was met so far


def kinds_of(codes: Codes) -> NDArray[np.uint8]:
    """Return for each character whether it is SPACE, part of a WORD, or any OTHER token.

    Some characters go on with a token: the TONE of an emoji, a MARK, and what JOINs two emoji.
    """
    kinds: NDArray[np.uint8] = _TABLE[codes]
    if not kinds.all():
        for code in np.unique(codes[kinds == 0]).tolist():
            _TABLE[code] = _kind(chr(code))
        kinds = _TABLE[codes]
    return kinds


def _kind(character: str) -> int:
    if character.isspace():
        return SPACE
    if is_mark(character):
        return JOIN if character == JOINER else MARK
    if is_letter(character):
        return WORD
    return TONE if character in TONES else OTHER


def simple_places(codes: Codes) -> tuple[Offsets, Offsets]:
    """Return where the tokens begin and end that `simple_tokens` finds in these characters."""
    kinds = kinds_of(codes)
    if kinds.max(initial=0) > OTHER:
        return _marked_places(kinds)
    word, other = kinds == WORD, kinds == OTHER
    first, last = word.copy(), word.copy()
    first[1:] &= ~word[:-1]
    last[:-1] &= ~word[1:]
    return np.flatnonzero(first | other), np.flatnonzero(last | other) + 1


def _marked_places(kinds: NDArray[np.uint8]) -> tuple[Offsets, Offsets]:
    """Return where tokens begin and end, some of which go on with marks."""
    filled = kinds != SPACE
    goes_on = kinds >= MARK
    goes_on[:1] = False
    goes_on[1:] &= filled[:-1]  # a mark behind white space is a token of its own
    bearer = np.maximum.accumulate(np.where(goes_on, 0, np.arange(len(kinds))))
    borne = np.minimum(kinds, OTHER)[bearer]  # SPACE, WORD or OTHER: the kind of each token
    joins = (kinds[1:] == TONE) | (kinds[:-1] == JOIN) | (borne[1:] == WORD)
    goes_on[1:] |= filled[1:] & joins & (borne[1:] == borne[:-1])
    last = filled.copy()
    last[:-1] &= ~goes_on[1:]
    return np.flatnonzero(filled & ~goes_on), np.flatnonzero(last) + 1
