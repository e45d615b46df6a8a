"""Spans that are known to be wrong: the loss is that of every path without the span."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..arrays import Floats
from .inference import require_paths
from .loss import Gradient, expectation
from .model import Arguments, Batch, Chain
from .spans import Spans

# What the gap before a token is to a wrong span; at OPENING + label a span of that label may open.
PLAIN, INSIDE, CLOSING, OPENING = range(4)


def reject(chain: Chain, batch: Batch, spans: Spans) -> tuple[Floats, Gradient]:
    """`-log(1 - P(span))` for each span `[R]`, and the gradient of the sum.

    Exact also where the chain is all but certain of the span: the paths without it are summed, not
    subtracted.
    """
    spans.check(batch, chain.spans.labels)
    copies = batch.repeated(spans.sequence)
    every, gradient = expectation(chain, copies)
    require_paths(every)
    remaining, without = _without(chain, copies, spans)
    require_paths(remaining, "no legal path without the span")
    difference = gradient.minus(without)
    scores = np.zeros_like(batch.scores)
    np.add.at(scores, batch.tokens(spans.sequence), difference.scores)
    return np.maximum(every - remaining, 0.0), difference._replace(scores=scores)


def _without(chain: Chain, copies: Batch, spans: Spans) -> tuple[Floats, Gradient]:
    """The total over all paths of copy `r` that do not have span `r`, and the gradient of its sum.

    Every state gets a twin, for paths that have been in the span since it began. From there a path
    goes on as a twin while it stays in the span, and becomes plain where it leaves too early or
    stays too long; to leave at the end of the span is illegal.
    """
    totals, states, pairs = kernels.expect(*_doubled(chain, copies, spans))
    n = len(chain.start)
    folded = states[:, :n] + states[:, n:]
    steps = pairs.sum(axis=0).reshape(2, n, 2, n).sum(axis=(0, 2))
    first, last = copies.edges
    start, stop = (folded[at].sum(axis=0, dtype=np.float64) for at in (first, last))
    return totals, Gradient(folded, start, steps, stop)


def _doubled(chain: Chain, copies: Batch, spans: Spans) -> Arguments:
    """The chain with twins, and the copies of the sequences in its terms."""
    label_of = chain.spans.label_of
    scores, offsets, start, steps, stop, which = chain.arguments(copies)
    roles = _roles(copies, spans)
    within = roles.within[:, None] & (label_of == roles.label[:, None])
    opened = roles.opened_by_start[:, None] & (label_of == roles.label[:, None])
    nothing = scores.dtype.type(-np.inf)
    both = np.hstack([np.where(opened, nothing, scores), np.where(within, scores, nothing)])
    variants = 0 if which is None else which.astype(np.int64)
    kinds = OPENING + chain.spans.labels
    used, chosen = np.unique(variants * kinds + roles.gap, return_inverse=True)
    doubled = [_doubled_step(steps[u // kinds], chain, int(u % kinds)) for u in used.tolist()]
    return Arguments(
        both,
        offsets,
        np.concatenate([start, start]),
        np.array(doubled).reshape(-1, 2 * len(start), 2 * len(start)),
        np.concatenate([stop, np.full_like(stop, -np.inf)]),
        chosen.astype(np.int32),
    )


class Roles(NamedTuple):
    """What every token of the copies is to the wrong span of its sequence.

    `within[N]`: it is one of its tokens; `label[N]`: the label of that span; `gap[N]`: the role of
    the gap before it; `opened_by_start[N]`: the span begins here and with the sequence.
    """

    within: NDArray[np.bool_]
    label: NDArray[np.int64]
    gap: NDArray[np.int64]
    opened_by_start: NDArray[np.bool_]


def _roles(copies: Batch, spans: Spans) -> Roles:
    """Place one span in each copy."""
    lengths = copies.lengths
    place = np.arange(len(copies.scores)) - np.repeat(copies.offsets[:-1], lengths)
    start, end, label = (np.repeat(c, lengths) for c in (spans.start, spans.end, spans.label))
    gap = np.full(len(place), PLAIN, dtype=np.int64)
    gap[(start < place) & (place < end)] = INSIDE
    gap[place == end] = CLOSING
    gap = np.where(place == start, OPENING + label, gap)
    return Roles((start <= place) & (place < end), label, gap, (place == start) & (start == 0))


def _doubled_step(step: Floats, chain: Chain, role: int) -> Floats:
    """A step matrix over states and their twins, `[2K, 2K]`, for one role of a gap."""
    joins = chain.spans.joins
    plain = step
    to_twin, twin_to_plain, twins = (np.full_like(step, -np.inf) for _ in range(3))
    if role == INSIDE:
        twins = np.where(joins, step, -np.inf)
        twin_to_plain = np.where(joins, -np.inf, step)
    elif role == CLOSING:
        twin_to_plain = np.where(joins, step, -np.inf)
    elif role >= OPENING:
        opens = ~joins & (chain.spans.label_of == role - OPENING)
        plain, to_twin = np.where(opens, -np.inf, step), np.where(opens, step, -np.inf)
    return np.block([[plain, to_twin], [twin_to_plain, twins]])
