"""A simulation as curves: what was found, what was estimated, and reading without a ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chart import Band, Curves, Line
from .pool import Pool
from .simulation import Round


def of_simulation(pool: Pool, rounds: Sequence[Round], title: str, stop: Round | None) -> Curves:
    """Coverage, true and estimated, beside sequential and random reading."""
    read = [each.estimate.read for each in rounds]
    lines = [
        Line("found", "true", read, [each.coverage for each in rounds]),
        Line("estimated", "model", read, [each.estimate.coverage for each in rounds]),
        Line("in order", "sequential", *in_order(pool)),
        Line("at random", "random", [0, len(pool)], [0.0, 1.0]),
    ]
    band = None
    if any(each.estimate.audited for each in rounds):
        values = [each.estimate for each in rounds]
        lines.insert(2, Line("corrected", "corrected", read, [e.corrected for e in values]))
        name = f"audit, {100 * values[0].level:g} %"
        band = Band(name, read, [e.low for e in values], [e.high for e in values])
    marks = [(stop.estimate.read, "stop")] if stop else []
    return Curves(title, len(pool), lines, band, marks)


def in_order(pool: Pool) -> tuple[list[int], list[float | None]]:
    """The coverage of somebody who reads the sentences as they come."""
    found = np.concatenate([[0], np.cumsum(pool.counts)])
    return list(range(len(pool) + 1)), (found / max(int(found[-1]), 1)).tolist()


def of_ranking(expected: Sequence[float], title: str) -> Curves:
    """The share of the mentions expected in all sentences that the first ones have."""
    sums = np.concatenate([[0.0], np.cumsum(expected)])
    share = sums / sums[-1] if sums[-1] else sums
    read = list(range(len(sums)))
    return Curves(
        title,
        len(expected),
        [
            Line("by rank", "true", read, share.tolist()),
            Line("at random", "random", [0, len(expected)], [0.0, 1.0]),
        ],
        y_label="of the mentions expected, %",
    )
