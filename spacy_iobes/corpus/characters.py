"""Kinds of characters, and the words and other tokens that these make: many texts at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Offsets
from .marked_text import TOKENS

SPACE, WORD, OTHER = 1, 2, 3
Codes = NDArray[np.unsignedinteger[Any]]
"""Characters as numbers."""
_TABLE = np.zeros(0x110000, dtype=np.uint8)  # the kind of each character that was met so far


def kinds_of(codes: Codes) -> NDArray[np.uint8]:
    """Return for each character whether it is SPACE, part of a WORD, or any OTHER token."""
    kinds: NDArray[np.uint8] = _TABLE[codes]
    if not kinds.all():
        for code in np.unique(codes[kinds == 0]).tolist():
            _TABLE[code] = _kind(chr(code))
        kinds = _TABLE[codes]
    return kinds


def _kind(character: str) -> int:
    if not TOKENS.match(character):
        return SPACE
    return WORD if len(TOKENS.findall(character * 2)) == 1 else OTHER


def simple_places(codes: Codes) -> tuple[Offsets, Offsets]:
    """Return where the tokens of `TOKENS` begin and end in a text of these characters."""
    kinds = kinds_of(codes)
    word, other = kinds == WORD, kinds == OTHER
    first, last = word.copy(), word.copy()
    first[1:] &= ~word[:-1]
    last[:-1] &= ~word[1:]
    return np.flatnonzero(first | other), np.flatnonzero(last | other) + 1
