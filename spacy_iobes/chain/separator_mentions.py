"""How probable mentions are: one starts at a gap, one ends at another, some go on between.

Messages are logarithms: what leads to a state and what follows it. Of a span, only its gaps matter.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Offsets, Scores
from ..kernels.chain_numpy import logsumexp
from ..kernels.separators_numpy import BEFORE, BEHIND, END, GO_ON, KINDS, START
from .gaps import Gaps
from .spans import Spans


def edge_mentions(
    gaps: Gaps, before: Floats, behind: Floats, totals: Floats, spans: Spans
) -> Floats:
    """From what leads to the states before every gap and what follows those behind it, `[G, L, 2]`.

    As soon as a mention has started, what comes next does not depend on what was before: the
    probabilities to go on are multiplied, and that takes the same time for all lengths.
    """
    first, label = gaps.offsets[spans.sequence], spans.label
    start, end = first + spans.start, first + spans.end
    inside = np.full(behind.shape[:2], -np.inf)  # what follows a token before a gap that is inside
    inside[1:] = behind[:-1, :, 1]
    starts = _some(before[:, :, BEFORE] + gaps.scores, START) + behind[:, :, 1]
    ends = _ratio(_some(gaps.scores + behind[:, :, BEHIND], END), inside)
    on = _ratio(_some(gaps.scores, GO_ON) + behind[:, :, 1], inside)
    found = starts[start, label] - totals[spans.sequence, label] + ends[end, label]
    logs: Floats = found + _between(on, start, end, label)
    return logs


def state_mentions(
    gaps: Gaps, step: Floats, forward: Floats, backward: Floats, totals: Floats, spans: Spans
) -> Floats:
    """From what leads to every separator, its own score included, and what follows it, `[G, L, 8]`.

    `step[L, from, to]`. Every separator depends on the one before, so spans are walked through.
    """
    first, label = gaps.offsets[spans.sequence], spans.label
    start, lengths = first + spans.start, spans.end - spans.start
    on = np.where(KINDS & GO_ON, gaps.scores, -np.inf)
    closed = np.where(KINDS & END, gaps.scores + backward, -np.inf)
    reached = np.where(KINDS & START, forward[start, label], -np.inf)
    for length in range(1, int(lengths.max(initial=0)) + 1):
        now = np.flatnonzero(lengths >= length)
        at, which = start[now] + length, label[now]
        own = np.where((lengths[now] == length)[:, None], closed[at, which], on[at, which])
        reached[now] = logsumexp(reached[now, :, None] + step[which], 1) + own
    logs: Floats = logsumexp(reached, 1) - totals[spans.sequence, label]
    return logs


def _some(values: Scores, bit: int) -> Floats:
    """The sum over the separators with a bit, `[G, L]`."""
    return logsumexp(values[:, :, KINDS & bit > 0].astype(np.float64), 2)


def _ratio(part: Floats, every: Floats) -> Floats:
    """A probability, 0 where there is nothing at all."""
    found: Floats = np.where(every == -np.inf, -np.inf, part - np.where(every == -np.inf, 0, every))
    return found


def _between(values: Floats, start: Offsets, end: Offsets, label: Offsets) -> Floats:
    """The sum of `values[G, L]` over the gaps strictly between two, in constant time for each."""
    never = values == -np.inf
    sums = np.cumsum(np.where(never, 0.0, values), axis=0)
    illegal = np.cumsum(never, axis=0)
    through, upto = (end - 1, label), (start, label)
    found = sums[through] - sums[upto]
    return np.where(illegal[through] > illegal[upto], -np.inf, found)
