"""Pictures of recognisers, drawn from their tables: F1 against speed, and learning curves.

They are SVG files, complete in themselves, with a background of their own in light and in dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .ner_systems import CRFSUITE, OURS, SPACY
from .ner_tables import CURVE_TITLE

Tables = Sequence[dict[str, Any]]
Axis = Callable[[float], float]
WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 40, 76, 56
NAMES = {
    SPACY: "spaCy ner",
    CRFSUITE: "python-crfsuite",
    OURS: "spacy-iobes",
    "ours clusters and lists": "spacy-iobes, clusters and lists of names",
}
"""The systems in the pictures, and how they are called there."""
CLASSES = dict(zip(NAMES, ("peer", "other", "ours", "ours")))
STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1a1e27; }
.paper { fill: #ffffff; } .title { font-size: 16px; font-weight: 600; } .name { font-weight: 600; }
.small { font-size: 12px; fill: #4c5463; } .grid { stroke: #e0e4ea; }
.peer { fill: #c4571f; stroke: #c4571f; } .other { fill: #6a7282; stroke: #6a7282; }
.ours { fill: #2450c5; stroke: #2450c5; } .line { fill: none; stroke-width: 2.5; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf1; } .paper { fill: #11141a; } .small { fill: #a8b0bf; }
.grid { stroke: #2a313d; } .peer { fill: #ff9d66; stroke: #ff9d66; }
.other { fill: #a8b0bf; stroke: #a8b0bf; } .ours { fill: #94b4ff; stroke: #94b4ff; }
.line { fill: none; } }
"""


@dataclass(frozen=True)
class Point:
    """A system on a corpus."""

    system: str
    f1: float
    speed: float
    seconds: float

    @property
    def words(self) -> str:
        """What it reaches, for the label."""
        speed = f"{float(f'{self.speed:.2g}'):,.0f} words/s"
        return f"F1 {self.f1:.1f}, {speed}, trained in {self.seconds:,.0f} s"


def points(tables: Tables) -> tuple[str, list[Point]]:
    """The title of the first table of systems on a corpus, and the systems of the picture."""
    for table in tables:
        rows = {str(row.get("system")): row for row in table["rows"] if row.get("test F1")}
        if SPACY in rows and OURS in rows:
            found = [
                Point(name, row["test F1"], row["cached words/s"], row["training s"])
                for name in NAMES
                if (row := rows.get(name))
            ]
            return table["title"].partition(":")[0], found
    return "", []


def speed_chart(title: str, systems: Sequence[Point]) -> str:
    """F1 on the test data against words a second: up and to the right is better."""
    f1 = [point.f1 for point in systems]
    y, marks = vertical(max(0, min(f1) - 2), min(100, max(f1) + 2))
    tens = [math.log10(point.speed) for point in systems]
    low, high = math.floor(min(tens)), max(tens) + 0.25
    x = horizontal(low, high)
    body = [*rows_of(marks, y)]
    for power in range(low, math.floor(high) + 1):
        body += column(x(power), f"{10**power:,}")
    for point in systems:
        at, up = x(math.log10(point.speed)), y(point.f1)
        end = at > WIDTH / 2
        where = f'x="{at - 16 if end else at + 16:.1f}" text-anchor="{"end" if end else "start"}"'
        body += [
            f'<circle class="{CLASSES[point.system]}" cx="{at:.1f}" cy="{up:.1f}" r="9"/>',
            f'<text class="name" {where} y="{up - 2:.1f}">{escape(NAMES[point.system])}</text>',
            f'<text class="small" {where} y="{up + 13:.1f}">{escape(point.words)}</text>',
        ]
    head = f"Entities of {title}: F1 against speed"
    below = "F1 on the test data. Up and to the right is better."
    return framed(head, below, "words tagged in a second of CPU time, of words seen before", body)


def curves(tables: Tables) -> dict[str, list[tuple[float, float]]]:
    """Share of the training data and F1, by system."""
    rows: list[dict[str, Any]] = next(
        (table["rows"] for table in tables if table["title"] == CURVE_TITLE), []
    )
    found = {
        name: [(row["share"], row[f"{name} F1"]) for row in rows if row.get(f"{name} F1")]
        for name in NAMES
    }
    return {name: line for name, line in found.items() if line}


def curve_chart(lines: dict[str, list[tuple[float, float]]]) -> str:
    """F1 by the share of the training data that was learned from."""
    every = [point for line in lines.values() for point in line]
    f1 = [value for _, value in every]
    y, marks = vertical(max(0, min(f1) - 4), min(100, max(f1) + 4))
    shares = sorted({share for share, _ in every})
    x = horizontal(math.log10(shares[0]) - 0.1, math.log10(shares[-1]) + 0.1)
    body = [*rows_of(marks, y)]
    for share in shares:
        body += column(x(math.log10(share)), f"{share:.0%}")
    for number, (name, line) in enumerate(lines.items()):
        places = [(x(math.log10(share)), y(value)) for share, value in line]
        kind, down = CLASSES[name], HEIGHT - BOTTOM - 20 - 22 * (len(lines) - 1 - number)
        body += [
            f'<line class="{kind} line" x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>'
            for (one, _), (other, _), (a, b), (c, d) in zip(line, line[1:], places, places[1:])
            if shares.index(other) - shares.index(one) == 1  # not over what was not measured
        ]
        body += [f'<circle class="{kind}" cx="{at:.1f}" cy="{up:.1f}" r="5"/>' for at, up in places]
        body += [
            f'<circle class="{kind}" cx="{WIDTH - 190}" cy="{down - 4}" r="6"/>',
            f'<text x="{WIDTH - 176}" y="{down}">{escape(NAMES[name])}</text>',
        ]
    below = "F1 on the test data; means over the seeds."
    return framed("Learning from less", below, "share of the training data (CoNLL-2003)", body)


def horizontal(low: float, high: float) -> Axis:
    """Where a value lies from left to right."""
    return lambda value: LEFT + (value - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)


def vertical(low: float, high: float) -> tuple[Axis, list[float]]:
    """Where a value lies from top to bottom, and the marks of the axis."""
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (high - low) / step <= 8)
    first, last = math.floor(low / step), math.ceil(high / step)
    unit = (HEIGHT - TOP - BOTTOM) / (step * (last - first))

    def place(value: float) -> float:
        return HEIGHT - BOTTOM - (value - step * first) * unit

    return place, [float(step * number) for number in range(first, last + 1)]


def rows_of(marks: Sequence[float], y: Axis) -> Iterator[str]:
    """Lines across, with their values."""
    for mark in marks:
        yield (
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mark)}" y2="{y(mark)}"/>'
        )
        place = f'text-anchor="end" x="{LEFT - 8}" y="{y(mark) + 4}"'
        yield f'<text class="small" {place}>{mark:g}</text>'


def column(x: float, words: str) -> list[str]:
    """A line down, with its value."""
    return [
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>',
        f'<text class="small" text-anchor="middle" x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}">'
        f"{words}</text>",
    ]


def framed(title: str, below: str, axis: str, body: Sequence[str]) -> str:
    """The whole picture."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
            f'<text class="title" x="20" y="30">{escape(title)}</text>',
            f'<text class="small" x="20" y="52">{escape(below)}</text>',
            *body,
            f'<text class="small" text-anchor="middle" x="{(LEFT + WIDTH - RIGHT) / 2}" '
            f'y="{HEIGHT - 14}">{escape(axis)}</text>',
            "</svg>\n",
        ]
    )
