"""Begins and ends chosen each for itself, put together to spans of one label and a likely length.

Two classifiers say of every token what begins and what ends there. `pair` finds the spans that are
most probable together, `match` those of the rule of the literature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import kernels
from ..arrays import Floats, Ints, Offsets, refuse, whole_numbers
from ..errors import ChainError

FLOOR = 0.01
"""What is less probable begins and ends nothing, unless another floor is asked for."""


class Pairs(NamedTuple):
    """Spans, sorted by sentence and start; `label` counts from 0, without that of outside."""

    sentence: Ints
    start: Ints
    end: Ints
    label: Ints
    score: Floats


def length_scores(
    label: ArrayLike, length: ArrayLike, labels: int, longest: int = 0, alpha: float = 1.0
) -> Floats:
    """The logarithm of how probable a length is for a label, `[T, L]`; column 0 is a length of 1.

    `label[R]` and `length[R]` are those of known spans. As many spans as `alpha` says are added to
    those of a label, with lengths of a geometric distribution that has the same mean, so that every
    length has a chance. Lengths go up to `longest`, or to the longest that is known. With an
    `alpha` of 0, lengths that were not seen are ruled out.
    """
    which, sizes = whole_numbers("label", label), whole_numbers("length", length)
    if which.shape != sizes.shape or which.ndim != 1:
        raise ChainError(f"{which.shape} labels, but {sizes.shape} lengths: each span has both.")
    if which.size and not 0 <= which.min() <= which.max() < labels:
        raise ChainError(f"Labels are numbers from 0 to {labels - 1}.")
    if (sizes < 1).any() or alpha < 0:
        raise ChainError("A span has a length of 1 at least, and alpha is not negative.")
    width = longest or int(sizes.max(initial=1))
    counts = np.zeros((labels, width))
    kept = sizes <= width
    np.add.at(counts, (which[kept], sizes[kept] - 1), 1.0)
    tails = np.array([_geometric(sizes[which == t], sizes, width) for t in range(labels)])
    spans = counts.sum(axis=1, keepdims=True)
    # a label of which nothing is known has nothing but the tail
    weight = np.where(spans > 0, alpha, 1.0)
    shares = (counts + weight * tails.reshape(labels, width)) / (spans + weight)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(shares)
    return found


def _geometric(mine: Offsets, every: Offsets, width: int) -> Floats:
    """Probabilities of lengths up to `width`, with the mean of my lengths, or else of all."""
    known = mine if mine.size else every
    stays = 1 - 1 / (float(known.mean()) if known.size else 1.0)
    # one length alone says nothing of others: the tail falls by half then
    powers = np.power(stays or 0.5, np.arange(width), dtype=np.float64)
    found: Floats = powers / powers.sum()
    return found


def pair(
    begin: ArrayLike,
    end: ArrayLike,
    offsets: ArrayLike,
    lengths: ArrayLike,
    *,
    floor: float = FLOOR,
    bias: float = 0.0,
) -> Pairs:
    """The disjoint spans that are most probable together, by dynamic programming.

    `begin[N, T + 1]` and `end[N, T + 1]` are logarithms of probabilities, column 0 that of nothing;
    sentence `s` has the tokens from `offsets[s]` to `offsets[s + 1]`; `lengths[T, L]` are as
    `length_scores` gives them. The score of a span says how much more probable it makes all: its
    begin and its end against none, its length, and `bias`. Nothing begins or ends where that is not
    more probable than `floor`; 0 lets everything.
    """
    first, last, bounds, sizes = _checked(begin, end, offsets, lengths)
    if not (0 <= floor < 1 and np.isfinite(bias)):
        raise ChainError(f"A floor is a probability and a bias a number, not {floor} and {bias}.")
    limit = np.log(floor) if floor else -np.inf
    begins, ends = (
        np.where(rows[:, 1:] > limit, rows[:, 1:] - rows[:, :1], -np.inf) for rows in (first, last)
    )
    return Pairs(*kernels.pair(begins, ends, sizes + bias, bounds))


def match(
    begin: ArrayLike,
    end: ArrayLike,
    offsets: ArrayLike,
    lengths: ArrayLike,
    *,
    overlap: bool = True,
) -> Pairs:
    """The spans of the rule of ELIE (Finn and Kushmerick 2004), from the same arrays.

    Where the most probable begin is one of a label, it is paired with that of the ends of this
    label, the most probable at their tokens, which makes the likeliest length, the shortest of
    equals; without one whose length is possible it is dropped. How sure a begin or an end is does
    not matter. Spans may overlap and share ends; without `overlap`, the one with the highest
    product of the three probabilities, whose logarithm is its score, is kept, then the next that
    shares no token with it, and so on.
    """
    first, last, bounds, sizes = _checked(begin, end, offsets, lengths)
    opening, closing = first.argmax(axis=1), last.argmax(axis=1)
    starts = np.flatnonzero(opening)
    label = opening[starts] - 1
    sentence = np.searchsorted(bounds, starts, side="right") - 1
    chosen, likely = np.full(len(starts), -1), np.full(len(starts), -np.inf)
    for more in range(sizes.shape[1]):
        at = starts + more
        inside = at < bounds[sentence + 1]
        fits = inside & (closing[np.where(inside, at, 0)] == label + 1)
        better = fits & (sizes[label, more] > likely)
        chosen[better], likely[better] = at[better], sizes[label, more][better]
    kept = chosen >= 0
    starts, chosen, label, sentence = (a[kept] for a in (starts, chosen, label, sentence))
    score = likely[kept] + first[starts, label + 1] + last[chosen, label + 1]
    if not overlap:
        some = _apart(starts, chosen, score, len(first))
        rows = (starts, chosen, label, sentence, score)
        starts, chosen, label, sentence, score = (a[some] for a in rows)
    begins = bounds[sentence]
    columns = (sentence, starts - begins, chosen + 1 - begins, label)
    a, b, c, d = (column.astype(np.int32) for column in columns)
    return Pairs(a, b, c, d, score)


def _apart(
    starts: NDArray[np.intp], lasts: NDArray[np.intp], scores: Floats, tokens: int
) -> NDArray[np.intp]:
    """The spans that stay when the best are taken first, in their old order."""
    free = np.ones(tokens, dtype=bool)
    kept = []
    for row in np.argsort(-scores, kind="stable").tolist():
        within = slice(starts[row], lasts[row] + 1)
        if free[within].all():
            free[within] = False
            kept.append(row)
    return np.array(sorted(kept), dtype=np.intp)


def _checked(
    begin: ArrayLike, end: ArrayLike, offsets: ArrayLike, lengths: ArrayLike
) -> tuple[Floats, Floats, Offsets, Floats]:
    """The arrays in the types of the kernel, if they fit together."""
    first, last, sizes = (
        np.ascontiguousarray(values, dtype=np.float64) for values in (begin, end, lengths)
    )
    bounds = whole_numbers("offsets", offsets)
    if first.ndim != 2 or not first.shape[1] or first.shape != last.shape:
        raise ChainError(
            f"begin and end have a row for each token, and a column for nothing and each label: "
            f"they are {first.shape} and {last.shape}."
        )
    if sizes.ndim != 2 or len(sizes) != first.shape[1] - 1:
        raise ChainError(
            f"lengths has a row for each of {first.shape[1] - 1} labels, but is {sizes.shape}."
        )
    if bounds.ndim != 1 or not bounds.size or bounds[0] != 0 or (np.diff(bounds) < 0).any():
        raise ChainError("offsets rise from 0 to the number of tokens.")
    if bounds[-1] != len(first):
        raise ChainError(f"offsets end with {bounds[-1]}, but there are {len(first)} tokens.")
    for name, values in (("begin", first), ("end", last), ("lengths", sizes)):
        refuse(name, values)
        if name != "lengths" and not np.isfinite(values[:, 0]).all():
            raise ChainError(f"{name} rules out that there is nothing (column 0): give it a share.")
    return first, last, np.ascontiguousarray(bounds, dtype=np.int64), sizes
