"""Inference over chains, in numpy: the readable twin of `_chain.pxi`, with the same contract.

A chain has K states: `start[K]`, `steps[M, K, K]` (variant, from, to) and `stop[K]`, all of them
logarithms, minus infinity for what is illegal. Sequences lie end to end: sequence `s` of S has the
scores `scores[offsets[s]:offsets[s + 1]]`, N rows in all. Token `t` is reached by the step
`steps[which[t]]`; what `which` says of a first token does not matter. A path has one state for each
token, and its score is the sum of all that it meets. An empty sequence has one path, of score 0.

Everything is one recursion over an algebra: sums of probabilities, maxima, or counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Ints, Offsets, Scores


class Algebra(NamedTuple):
    """How to join what two paths say (`plus`, along an axis), and what one path says (`times`)."""

    plus: Callable[[Any, int], Any]
    times: Callable[[Any, Any], Any]


def logsumexp(values: Floats, axis: int) -> Floats:
    """The logarithm of a sum of exponentials; minus infinity where there is nothing to add."""
    top: Floats = values.max(axis=axis, keepdims=True)
    top = np.where(top == -np.inf, 0.0, top)  # or infinities would be subtracted
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis)
    return found


LOG = Algebra(logsumexp, np.add)
MAX = Algebra(np.max, np.add)
COUNT = Algebra(np.sum, np.multiply)


def recursion(algebra: Algebra, scores: Any, first: Any, steps: Any, which: Ints) -> Any:
    """What reaches every state from the left: `[T, K]`, the score of the state itself left out."""
    reached = np.empty_like(scores)
    for t in range(len(scores)):
        if t == 0:
            reached[t] = first
        else:
            ways = algebra.times(reached[t - 1], scores[t - 1])[:, None]  # [from, 1]
            reached[t] = algebra.plus(algebra.times(ways, steps[which[t]]), 0)
    return reached


def reversed_recursion(algebra: Algebra, scores: Any, last: Any, steps: Any, which: Ints) -> Any:
    """What follows every state to its right: the same recursion, read backwards."""
    turned = np.concatenate([which[:1], which[:0:-1]])
    return recursion(algebra, scores[::-1], last, steps.transpose(0, 2, 1), turned)[::-1]


def _each(
    scores: Scores, offsets: Offsets, which: Ints | None
) -> Iterator[tuple[int, slice, Floats, Ints]]:
    """Every sequence that is not empty: its number, its place, its scores and its steps."""
    for s, (a, b) in enumerate(pairwise(offsets.tolist())):
        if b > a:
            steps = np.zeros(b - a, dtype=np.int32) if which is None else which[a:b]
            yield s, slice(a, b), scores[a:b].astype(np.float64), steps


def count(legal: Any, start: Any, steps: Any, stop: Any, which: Ints) -> int:
    """How many legal paths one sequence has; all arrays are 0 or 1, of Python's own integers."""
    if not len(legal):
        return 1
    reached = recursion(COUNT, legal, start, steps, which)
    return int((reached[-1] * legal[-1] * stop).sum())


def total(
    scores: Scores, offsets: Offsets, start: Floats, steps: Floats, stop: Floats, which: Ints | None
) -> Floats:
    """The logarithm of the summed exponentials of all paths, `[S]`; minus infinity: no path."""
    totals = np.zeros(len(offsets) - 1)
    for s, _, own, gaps in _each(scores, offsets, which):
        totals[s] = logsumexp(recursion(LOG, own, start, steps, gaps)[-1] + own[-1] + stop, 0)
    return totals


def messages(
    scores: Scores, offsets: Offsets, start: Floats, steps: Floats, stop: Floats, which: Ints | None
) -> tuple[Floats, Floats, Floats]:
    """What leads to every state, its own score included, what follows it, `[N, K]`, and `total`."""
    forward, backward = np.zeros(scores.shape), np.zeros(scores.shape)
    totals = np.zeros(len(offsets) - 1)
    for s, place, own, gaps in _each(scores, offsets, which):
        forward[place] = recursion(LOG, own, start, steps, gaps) + own
        backward[place] = reversed_recursion(LOG, own, stop, steps, gaps)
        totals[s] = logsumexp(forward[place.stop - 1] + stop, 0)
    return forward, backward, totals


def expect(
    scores: Scores, offsets: Offsets, start: Floats, steps: Floats, stop: Floats, which: Ints | None
) -> tuple[Floats, Scores, Floats]:
    """`total`, the probability of every state `[N, K]`, and how often each step is expected in all
    sequences together `[M, K, K]`: the gradient of the summed totals.

    Where a sequence has no path, its part of everything is 0.
    """
    forward, backward, totals = messages(scores, offsets, start, steps, stop, which)
    states, pairs = np.zeros_like(scores), np.zeros(steps.shape)
    for s, place, own, gaps in _each(scores, offsets, which):
        if totals[s] == -np.inf:
            continue
        before, after = forward[place], backward[place]
        sums = logsumexp(before + after, 1)  # all are the total, up to what rounding has added up
        states[place] = np.exp(before + after - sums[:, None])
        for t in range(1, len(own)):
            ways = before[t - 1][:, None] + steps[gaps[t]] + (own[t] + after[t] - sums[t])
            pairs[gaps[t]] += np.exp(ways)
    return totals, states, pairs


def follow(
    path: Ints,
    scores: Scores,
    offsets: Offsets,
    start: Floats,
    steps: Floats,
    stop: Floats,
    which: Ints | None,
    states: Scores | None = None,
    pairs: Floats | None = None,
) -> Floats:
    """The score of one path for each sequence, `[S]`, given as a state for each token.

    If there are any, 1 is taken off `states[N, K]` and `pairs[M, K, K]` wherever the path goes.
    """
    totals = np.zeros(len(offsets) - 1)
    for s, place, own, gaps in _each(scores, offsets, which):
        mine = path[place]
        totals[s] = _score(mine, own, start, steps, gaps) + stop[mine[-1]]
        if states is not None and pairs is not None:
            states[np.arange(place.start, place.stop), mine] -= 1
            np.subtract.at(pairs, (gaps[1:], mine[:-1], mine[1:]), 1)
    return totals


def best(
    scores: Scores, offsets: Offsets, start: Floats, steps: Floats, stop: Floats, which: Ints | None
) -> tuple[Ints, Floats]:
    """The path of the highest score `[N]` and that score `[S]`; states -1 where there is no path.

    Of several such paths, the one that comes first when read from the left, lower states first.
    """
    found, peaks = nbest(scores, offsets, start, steps, stop, which, 1)
    return found[0], peaks[0]


def nbest(
    scores: Scores,
    offsets: Offsets,
    start: Floats,
    steps: Floats,
    stop: Floats,
    which: Ints | None,
    n: int,
) -> tuple[Ints, Floats]:
    """The `n` paths of the highest scores `[n, N]`, best first, and those scores `[n, S]`.

    Where there are fewer paths, the rest have states -1 and scores of minus infinity. Paths that
    tie come in the order in which they are found.
    """
    states = np.full((n, len(scores)), -1, dtype=np.int32)
    peaks = np.full((n, len(offsets) - 1), -np.inf)
    peaks[:1, offsets[1:] == offsets[:-1]] = 0.0
    for s, place, own, gaps in _each(scores, offsets, which):
        ahead = own + reversed_recursion(MAX, own, stop, steps, gaps)  # the best from here on
        for rank, (peak, path) in enumerate(_in_order(ahead, own, start, steps, gaps, n)):
            states[rank, place], peaks[rank, s] = path, peak
    return states, peaks


def _in_order(
    ahead: Floats, own: Floats, start: Floats, steps: Floats, gaps: Ints, n: int
) -> Iterator[tuple[float, Ints]]:
    """Up to `n` paths, best first: each leaves an earlier one at a token, then goes on at its best.

    `queue` holds what is known of paths to come: (minus the score, order of discovery, the path it
    leaves, where, to which state). Every path is found once: those that leave a path do so behind
    the place where that path itself left another.
    """
    queue: list[tuple[float, int, Ints, int, int]] = []
    found = 0

    def offer(path: Ints, t: int, ways: Floats) -> None:
        nonlocal found
        for state in np.flatnonzero(ways > -np.inf).tolist():
            heappush(queue, (-float(ways[state]), found, path, t, state))
            found += 1

    offer(np.empty(len(own), dtype=np.int32), 0, start + ahead[0])
    while queue and n:
        peak, _, parent, place, state = heappop(queue)
        path = parent.copy()
        path[place] = state
        sofar = _score(path[: place + 1], own, start, steps, gaps)
        for t in range(place + 1, len(own)):
            step = steps[gaps[t], path[t - 1]]
            ways = step + ahead[t]
            path[t] = state = int(ways.argmax())
            ways[state] = -np.inf
            offer(path, t, sofar + ways)
            sofar = float(sofar + step[state] + own[t, state])
        yield -peak, path
        n -= 1


def _score(path: Ints, own: Floats, start: Floats, steps: Floats, gaps: Ints) -> float:
    """The score of the first part of a path."""
    sofar = float(start[path[0]] + own[0, path[0]])
    for t in range(1, len(path)):
        sofar = float(sofar + steps[gaps[t], path[t - 1], path[t]] + own[t, path[t]])
    return sofar
