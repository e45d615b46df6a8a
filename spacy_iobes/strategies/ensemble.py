"""Strategies that vote on spans: what most of them find probable, and no two that overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..codes.span_columns import SpanColumns
from .decoding import Found, Scored, constrained, probabilities

NAME = "ensemble"
ROUNDS = 20  # at most; the expected F1 settles in a few


def vote(members: Sequence[Scored]) -> Found:
    """The disjoint spans with the most votes.

    Each strategy gives every span that one of them finds its probability, and the mean of these is
    the vote. A span is worth what its vote is above half of the F1 that is expected: those that
    raise the expected F1 are taken, and those that would lower it are not.
    """
    spans = union([constrained(member).spans for member in members])
    mean = np.mean([probabilities(member.posterior, spans) for member in members], axis=0)
    gold = float(np.mean([member.posterior.expected_counts().sum() for member in members]))
    chosen, expected = disjoint(spans, mean - 0.5), 1.0
    for _ in range(ROUNDS):
        before, expected = expected, 2 * mean[chosen].sum() / max(len(chosen) + gold, 1e-9)
        if abs(expected - before) < 1e-6:
            break
        chosen = disjoint(spans, mean - expected / 2)
    return Found(taken(spans, chosen), mean[chosen])


def union(each: Sequence[SpanColumns]) -> SpanColumns:
    """Every span that is in one of them, once, sorted by sentence and start."""
    names = ("sentence", "start", "end", "label")
    columns = [np.concatenate([getattr(spans, name) for spans in each]) for name in names]
    rows = np.unique(np.stack(columns, axis=1), axis=0)
    columns = [np.ascontiguousarray(column) for column in rows.T.astype(np.int32)]
    return SpanColumns.trusted(columns, each[0].labels, each[0].sentences)


def taken(spans: SpanColumns, rows: Floats) -> SpanColumns:
    """Some rows of spans."""
    columns = (column[rows] for column in (spans.sentence, spans.start, spans.end, spans.label))
    return SpanColumns.trusted(columns, spans.labels, spans.sentences)


def disjoint(spans: SpanColumns, weights: Floats) -> Floats:
    """The rows of the spans without a common token whose weights have the highest sum.

    Rows that weigh nothing or less are left out.
    """
    wanted = np.flatnonzero(weights > 0)
    order = wanted[np.lexsort((spans.end[wanted], spans.sentence[wanted]))]
    sentence, start, end = (column[order] for column in (spans.sentence, spans.start, spans.end))
    # ends in one row for all sentences: what comes before a start is what may be kept beside it
    width = int(end.max(initial=0)) + 1
    ends, starts = sentence * np.int64(width) + end, sentence * np.int64(width) + start
    before = np.searchsorted(ends, starts, side="right").tolist()
    best, taking = [0.0], list[bool]()
    for weight, earlier in zip(weights[order].tolist(), before):
        with_it = best[earlier] + weight
        taking.append(with_it > best[-1])
        best.append(max(best[-1], with_it))
    chosen, at = list[int](), len(order)
    while at:
        if taking[at - 1]:
            chosen.append(int(order[at - 1]))
            at = before[at - 1]
        else:
            at -= 1
    return np.array(sorted(chosen), dtype=np.int64)
