"""The attributes of words that a kernel may work out; `ml/lexemes.py` says what each of them is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Values

TEXT, LOWER, DIGITS, SHAPE, KINDS, CASING = range(6)
PREFIX, SUFFIX = 10, 20  # to which the length is added
LONG = 8  # characters of a shape


def describe(texts: list[str], asked: Ints) -> tuple[Values, NDArray[np.bool_]]:
    """The attributes `asked[A]` of some words, as hashes `[W, A]`, and which words are done.

    The compiled kernel does what is in ASCII and not too long; without it nothing is done, and
    the functions of `ml/lexemes.py` do it all.
    """
    return np.zeros((len(texts), len(asked)), dtype=np.uint64), np.zeros(len(texts), dtype=bool)
