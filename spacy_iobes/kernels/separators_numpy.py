"""Inference over mention separators in numpy: the readable twin of `_separators.pxi`, in log space.

`scores[G, L, 8]` has a score for every gap, label and separator; sentences lie end to end, and
sentence `s` of S has the gaps `offsets[s]:offsets[s + 1]`, one more than it has tokens. Every label
of every sentence is a chain of its own. A token is outside (0) or inside (1) the mentions of the
label, and a separator is an edge from what the token before the gap is to what the one behind it
is; beyond both ends of the sentence all is outside. So there are two states and eight edges, five
of which lead from inside to inside and can be summed up before anything else is done.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Offsets, Scores
from .chain_numpy import LOG, MAX, Algebra, logsumexp

START, END, GO_ON = 1, 2, 4  # the bits of a separator: a mention starts, ends, goes on
KINDS = np.arange(8)  # X S E ES C CS EC ECS
BEFORE = (KINDS & (END | GO_ON) > 0).astype(np.intp)  # the state of the token before the gap
BEHIND = (KINDS & (START | GO_ON) > 0).astype(np.intp)  # the state of the token behind it
INSIDE = (BEFORE & BEHIND) > 0  # those that lead from inside to inside

Separators = NDArray[np.uint8]
OUTSIDE = np.array([0.0, -np.inf])  # at both ends of a sentence


def edges(algebra: Algebra, scores: Scores) -> Floats:
    """What leads from each state to each, `[G, L, from, to]`, over all separators that do."""
    found = np.empty((*scores.shape[:2], 2, 2))
    for start in (0, 1):
        for end in (0, 1):
            kinds = (start == BEFORE) & (end == BEHIND)
            found[:, :, start, end] = algebra.plus(scores[:, :, kinds].astype(np.float64), 2)
    return found


def forward(algebra: Algebra, steps: Floats, offsets: Offsets) -> Floats:
    """What leads to each state of the token before every gap, `[G, L, 2]`."""
    reached = np.empty(steps.shape[:3])
    reached[offsets[:-1]] = OUTSIDE
    for at in places(offsets):
        reached[at] = algebra.plus(reached[at - 1][..., None] + steps[at - 1], 2)
    return reached


def backward(algebra: Algebra, steps: Floats, offsets: Offsets) -> Floats:
    """What follows each state of the token behind every gap, `[G, L, 2]`."""
    ahead = np.empty(steps.shape[:3])
    ahead[offsets[1:] - 1] = OUTSIDE
    for at in places(offsets, backwards=True):
        ahead[at - 1] = algebra.plus(steps[at] + ahead[at][:, :, None, :], 3)
    return ahead


def places(offsets: Offsets, backwards: bool = False) -> Iterator[Offsets]:
    """The second gaps of all sentences, then the third, and so on; or all of it from the end."""
    lengths = np.diff(offsets)
    for place in range(1, int(lengths.max(initial=0))):
        long = lengths > place
        yield offsets[1:][long] - place if backwards else offsets[:-1][long] + place


def total(scores: Scores, offsets: Offsets) -> Floats:
    """The logarithm of the summed exponentials of all legal sequences, `[S, L]`."""
    steps = edges(LOG, scores)
    return _totals(LOG, forward(LOG, steps, offsets), steps, offsets)


def _totals(algebra: Algebra, reached: Floats, steps: Floats, offsets: Offsets) -> Floats:
    last = offsets[1:] - 1
    found: Floats = algebra.plus(reached[last] + steps[last, :, :, 0], 2)
    return found


def messages(scores: Scores, offsets: Offsets) -> tuple[Floats, Floats, Floats]:
    """`forward`, `backward`, and `total`."""
    steps = edges(LOG, scores)
    before, behind = forward(LOG, steps, offsets), backward(LOG, steps, offsets)
    return before, behind, _totals(LOG, before, steps, offsets)


def expect(scores: Scores, offsets: Offsets) -> tuple[Floats, Scores]:
    """`total`, and the probability of every separator `[G, L, 8]`: the gradient of the totals.

    They are as precise as the scores. Where a chain has no legal sequence, its part of them is 0.
    """
    before, behind, totals = messages(scores, offsets)
    ways = before[:, :, BEFORE] + scores + behind[:, :, BEHIND]
    sums = logsumexp(ways, 2)  # all are the total, up to what rounding has added up
    none = sums == -np.inf
    probabilities = np.exp(ways - np.where(none, 0.0, sums)[..., None])
    return totals, _as_precise(scores, probabilities)


def _as_precise(scores: Scores, values: Floats) -> Scores:
    return values.astype(np.float32) if scores.dtype == np.float32 else values


def loss(scores: Scores, offsets: Offsets, path: Separators) -> tuple[Floats, Scores]:
    """The negative log-likelihood of one sequence for each chain `[S, L]`, and its gradient.

    Where that sequence is illegal, the loss is infinite and the gradient means nothing.
    """
    totals, gradient = expect(scores, offsets)
    known = follow(path, scores, offsets)
    gradient -= path[..., None] == KINDS
    illegal = known == -np.inf
    return np.where(
        illegal, np.inf, np.maximum(totals - np.where(illegal, 0.0, known), 0.0)
    ), gradient


def best(scores: Scores, offsets: Offsets) -> tuple[Separators, Floats]:
    """The legal sequence of the highest score `[G, L]`, and that score `[S, L]`.

    Of several, the one that comes first when read from the left, lower separators first. Where
    there is none, the score is minus infinity and the separators mean nothing.
    """
    steps = edges(MAX, scores)
    ahead = backward(MAX, steps, offsets)
    ways = steps + ahead[:, :, None, :]  # [G, L, from, to]
    kinds = np.where(INSIDE, scores, -np.inf).argmax(2)  # the best of the five
    onward = ways[..., 1] > ways[..., 0]
    choice = [onward[..., 0], np.where(onward[..., 1], np.maximum(kinds, 3), END)]
    first = offsets[:-1]
    found = np.empty(scores.shape[:2], dtype=np.uint8)
    found[first] = choice[0][first]
    for at in places(offsets):
        found[at] = np.where(BEHIND[found[at - 1]], choice[1][at], choice[0][at])
    return found, ways[first][:, :, 0].max(2, initial=-np.inf)


def follow(path: Separators, scores: Scores, offsets: Offsets) -> Floats:
    """The score of one sequence of separators for each chain, `[S, L]`; minus infinity: illegal."""
    chosen = np.take_along_axis(scores, path[..., None].astype(np.intp), 2)[..., 0]
    said = np.zeros(path.shape, dtype=np.intp)  # the state that the gap before leads to
    said[1:] = BEHIND[path[:-1]]
    said[offsets[:-1]] = 0
    wrong = BEFORE[path] != said
    last = offsets[1:] - 1
    wrong[last] |= BEHIND[path[last]] == 1
    values = np.where(wrong, -np.inf, chosen.astype(np.float64))
    return np.add.reduceat(values, offsets[:-1], axis=0) if len(offsets) > 1 else values[:0]
