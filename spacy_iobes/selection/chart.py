"""Curves over the sentences read, as a picture that is complete in itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 84, 56
POINTS = 400  # of a line at most
STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1a1e27; }
.title { font-size: 15px; font-weight: 600; } .small { font-size: 12px; fill: #555d6b; }
.grid { stroke: #d8dce3; } .line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.true { stroke: #2450c5; } .model { stroke: #c4571f; stroke-dasharray: 7 4; }
.corrected { stroke: #1f7a4a; stroke-dasharray: 2 3; }
.random { stroke: #7a8393; } .sequential { stroke: #7a8393; stroke-dasharray: 3 4; }
.band { fill: #2450c5; opacity: .13; } .mark { stroke: #7a8393; stroke-dasharray: 2 4; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf1; } .small { fill: #a8b0bf; } .grid { stroke: #343c4b; }
.true { stroke: #94b4ff; } .model { stroke: #ff9d66; } .corrected { stroke: #4cc38a; }
.random, .sequential { stroke: #a8b0bf; } .band { fill: #94b4ff; opacity: .2; } }
"""


class Line(NamedTuple):
    """A curve: what it is called, how it looks (a class of `STYLE`), and where it goes.

    `values` are shares, from 0 to 1; an unknown one is None, and left out.
    """

    name: str
    kind: str
    read: Sequence[int]
    values: Sequence[float | None]


class Band(NamedTuple):
    """What lies between two curves."""

    name: str
    read: Sequence[int]
    low: Sequence[float]
    high: Sequence[float]


class Curves(NamedTuple):
    """A picture: lines, perhaps a band, and marks with a name at numbers of sentences."""

    title: str
    total: int
    lines: Sequence[Line]
    band: Band | None = None
    marks: Sequence[tuple[int, str]] = ()
    x_label: str = "sentences read"
    y_label: str = "coverage, %"


def chart(curves: Curves) -> str:
    """An SVG picture."""
    body = [*_grid(curves), *_band(curves), *_lines(curves), *_marks(curves), *_legend(curves)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(curves.title)}">'
        f"<style>{STYLE}</style>"
        f'<text class="title" x="12" y="24">{escape(curves.title)}</text>{"".join(body)}</svg>'
    )


def _x(curves: Curves, read: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * read / max(curves.total, 1)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _grid(curves: Curves) -> Iterator[str]:
    for tick in range(0, 101, 20):
        y = _y(tick / 100)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="small" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>'
    step = tick_step(curves.total)
    for read in range(0, curves.total + 1, step):
        x = _x(curves, read)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        yield (
            f'<text class="small" x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{read:,}</text>"
        )
    yield (
        f'<text class="small" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" '
        f'text-anchor="middle">{escape(curves.x_label)}</text>'
        f'<text class="small" x="12" y="{TOP - 12}">{escape(curves.y_label)}</text>'
    )


def tick_step(total: int) -> int:
    """A round number of which no more than eight fit into the total."""
    rough = max(total / 8, 1.0)
    power = 10 ** math.floor(math.log10(rough))
    return next(int(power * k) for k in (1, 2, 5, 10) if power * k >= rough)


def _band(curves: Curves) -> Iterator[str]:
    if curves.band is None:
        return
    kept = thinned(len(curves.band.read))
    there = [(curves.band.read[i], curves.band.high[i]) for i in kept]
    back = [(curves.band.read[i], curves.band.low[i]) for i in reversed(kept)]
    places = " ".join(f"{_x(curves, r):.1f},{_y(v):.1f}" for r, v in there + back)
    yield f'<polygon class="band" points="{places}"/>'


def _lines(curves: Curves) -> Iterator[str]:
    for line in curves.lines:
        rows = [(r, v) for r, v in zip(line.read, line.values) if v is not None]
        places = " ".join(
            f"{_x(curves, rows[i][0]):.1f},{_y(rows[i][1]):.1f}" for i in thinned(len(rows))
        )
        name = f"<title>{escape(line.name)}</title>"
        yield f'<polyline class="line {line.kind}" points="{places}">{name}</polyline>'


def _marks(curves: Curves) -> Iterator[str]:
    for read, name in curves.marks:
        x = _x(curves, read)
        left = x > WIDTH / 2
        yield (
            f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
            f'<text class="small" x="{x + (-6 if left else 6):.1f}" y="{HEIGHT - BOTTOM - 10}" '
            f'text-anchor="{"end" if left else "start"}">{escape(name)}</text>'
        )


def _legend(curves: Curves) -> Iterator[str]:
    x = 12.0
    names = [(line.name, line.kind) for line in curves.lines]
    for name, kind in names:
        yield f'<line class="line {kind}" x1="{x:.0f}" x2="{x + 26:.0f}" y1="46" y2="46"/>'
        yield f'<text class="small" x="{x + 32:.0f}" y="50">{escape(name)}</text>'
        x += 48 + 6.6 * len(name)
    if curves.band is not None:
        yield f'<rect class="band" x="{x:.0f}" y="39" width="26" height="14"/>'
        yield f'<text class="small" x="{x + 32:.0f}" y="50">{escape(curves.band.name)}</text>'


def thinned(count: int) -> list[int]:
    """Some of so many places, the first and the last among them."""
    if count <= POINTS:
        return list(range(count))
    return [round(n * (count - 1) / (POINTS - 1)) for n in range(POINTS)]
