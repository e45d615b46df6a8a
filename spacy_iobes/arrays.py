"""Types of arrays, and checks at the boundary: what a kernel trusts is checked here."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ChainError

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Flags = NDArray[np.bool_]
Table = NDArray[np.uint8]
Values = NDArray[np.uint64]
Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Scores = Singles | Floats
Number = TypeVar("Number", np.int32, np.int64)


def integers(what: str, values: ArrayLike, kind: type[Number]) -> NDArray[Number]:
    """A copy as an array of integers that nobody can write to: the kernels trust what is in it."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{what} are integers, not {array.dtype}.")
    if array.ndim != 1:
        raise ValueError(f"{what} have one dimension, not {array.ndim}.")
    limits = np.iinfo(kind)
    if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
        raise ValueError(f"{what} lie between {limits.min} and {limits.max}.")
    copy = array.astype(kind)
    copy.setflags(write=False)
    return copy


def sentence_bounds(sentence: Ints, sentences: int) -> list[int]:
    """Where the rows of each sentence begin in a column that is sorted by sentence."""
    bounds: list[int] = np.searchsorted(sentence, np.arange(sentences + 1)).tolist()
    return bounds


def finite_or_illegal(name: str, values: ArrayLike) -> Scores:
    """The scores as a plain matrix of float32 or float64; NaN and plus infinity are refused."""
    array = np.ascontiguousarray(values)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != 2 or not array.shape[1]:
        raise ChainError(f"The {name} are one row of states for each token, not {array.shape}.")
    refuse(name, array)
    return array


def logarithms(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """A part of a chain in float64; NaN, plus infinity and another shape are refused."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape or not array.size:
        raise ChainError(f"{name} has the shape {array.shape}, not {shape}.")
    refuse(name, array)
    return array


def whole_numbers(name: str, values: ArrayLike) -> Offsets:
    """Integers; what has a fraction, and truth values, are refused and not rounded."""
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ChainError(f"The {name} are whole numbers, not {array.dtype}.")
    return array.astype(np.int64, copy=False)


def refuse(name: str, array: Scores) -> None:
    """Say where there is NaN or plus infinity."""
    if array.size and not array.max() < np.inf:  # the maximum is NaN if any of them is
        wrong = np.argwhere(~(array < np.inf))[0]
        place = ", ".join(map(str, wrong.tolist()))
        raise ChainError(
            f"{name}[{place}] is {array[tuple(wrong)]}: a score is a number, or minus infinity "
            "for what is illegal."
        )


def picked(offsets: Offsets, chosen: Ints | Offsets) -> tuple[Offsets, Offsets]:
    """The rows of the chosen parts, one after the other, and where each begins and the last ends.

    Part `p` has the rows `offsets[p]:offsets[p + 1]`.
    """
    lengths = np.diff(offsets)[chosen]
    bounds = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    rows = np.arange(bounds[-1]) + np.repeat(offsets[:-1][chosen] - bounds[:-1], lengths)
    return rows, bounds
