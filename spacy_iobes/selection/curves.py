"""A simulation as curves: what was found, what was estimated, and reading without a ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import ranked, simulation
from .chart import Band, Curves, Line
from .pictures import draw
from .pool import Pool
from .ranked import Ranked
from .simulation import Round, Simulation


def draw_simulation(path: str, found: Simulation, title: str) -> None:
    """Write a picture or a page of a simulation."""
    curves = of_simulation(found.pool, found.rounds, title, found.stop)
    draw(path, curves, found.facts, simulation.HEADER, [found.row(each) for each in found.rounds])


def draw_ranking(path: str, found: Ranked, title: str, count: int) -> None:
    """Write a picture or a page of a ranking, of which a page lists the first sentences."""
    curves = of_ranking(found.expected, title)
    draw(path, curves, found.facts(count), ranked.HEADER, found.table_rows(count))


def of_simulation(pool: Pool, rounds: Sequence[Round], title: str, stop: Round | None) -> Curves:
    """Return coverage, true and estimated, beside sequential and random reading."""
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
