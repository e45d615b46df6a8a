"""A comparison as a picture: what each strategy reaches, and what constrained decoding changes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from .comparison import ALL, MEASURES, Comparison, Row

WIDTH, LEFT, RIGHT = 460, 84, 20
LINE, HEAD, FOOT, GAP = 24, 66, 60, 14
SHOWN = 1.25  # times as large, where there is room
LONGEST = 52  # letters of a title
STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1a1e27; }
.title { font-size: 15px; font-weight: 600; } .small { font-size: 12px; fill: #555d6b; }
.head { font-weight: 600; } .grid { stroke: #d8dce3; }
.whisker-greedy { stroke: #c4571f; } .whisker-constrained { stroke: #2450c5; }
.moved { stroke: #94b4ff; stroke-width: 5; stroke-linecap: round; }
.greedy { fill: #fff; stroke: #c4571f; stroke-width: 2; } .constrained { fill: #2450c5; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf1; } .small { fill: #a8b0bf; } .grid { stroke: #343c4b; }
.moved { stroke: #2f4a8f; } .greedy { fill: #11141a; stroke: #ff9d66; }
.constrained { fill: #94b4ff; }
.whisker-greedy { stroke: #ff9d66; } .whisker-constrained { stroke: #94b4ff; } }
"""


def chart_of(comparison: Comparison, title: str) -> str:
    """An SVG picture, complete in itself: a panel for each learner, a line for each strategy."""
    learners = list(dict.fromkeys(row.learner for row in comparison.scores))
    strategies = {
        learner: list(dict.fromkeys(r.strategy for r in comparison.scores if r.learner == learner))
        for learner in learners
    }
    low, high, step = scale(comparison)
    body, y = list[str](), HEAD
    for learner in learners:
        body.append(f'<text class="head" x="12" y="{y + 4}">{escape(learner)}</text>')
        top = y + 10
        for strategy in strategies[learner]:
            y += LINE
            body += _line(comparison, learner, strategy, y, low, high)
        bottom = y + 12
        body[0:0] = _grid(top, bottom, low, high, step)  # behind everything
        y = bottom + GAP + 12
    height = y + FOOT - 20
    shown = title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{SHOWN * WIDTH:g}" height="{SHOWN * height:g}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<text class="title" x="12" y="22">{escape(shown)}</text>{_legend()}'
        f"{''.join(body)}{''.join(_foot(comparison, height, low, high, step))}</svg>"
    )


def _foot(
    comparison: Comparison, height: int, low: float, high: float, step: float
) -> Iterator[str]:
    """The numbers of the axis, and what they are."""
    for tick in _ticks(low, high, step):
        x, y = _x(tick, low, high), height - FOOT + 14
        yield f'<text class="small" text-anchor="middle" x="{x:.1f}" y="{y}">{tick:g}</text>'
    captions = [f"F1, {MEASURES[comparison.measure]}"]
    if any(row[ALL].sd is not None for row in comparison.scores.values()):
        captions.append("thin lines: one standard deviation")
    for number, caption in enumerate(captions):
        yield f'<text class="small" x="12" y="{height - 24 + 16 * number}">{escape(caption)}</text>'


def _legend() -> str:
    return (
        '<circle class="greedy" cx="18" cy="40" r="5"/><text class="small" x="30" y="44">greedy'
        '</text><circle class="constrained" cx="90" cy="40" r="5.5"/>'
        '<text class="small" x="102" y="44">constrained: only legal sequences</text>'
    )


def _line(
    comparison: Comparison, learner: str, strategy: str, y: int, low: float, high: float
) -> Iterator[str]:
    """One strategy: its name, what constraints moved, and a dot for each decoding."""
    yield f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(strategy)}</text>'
    runs = {
        decoding: comparison.scores[Row(learner, decoding, strategy)][ALL]
        for decoding in ("greedy", "constrained")
        if Row(learner, decoding, strategy) in comparison.scores
    }
    places = {name: _x(100 * found.mean, low, high) for name, found in runs.items()}
    if len(places) == 2:
        a, b = places.values()
        yield f'<line class="moved" x1="{a:.1f}" x2="{b:.1f}" y1="{y}" y2="{y}"/>'
    for (name, found), at in zip(runs.items(), (y - 1, y + 1)):
        if found.sd is not None:
            a, b = (_x(100 * (found.mean + sign * found.sd), low, high) for sign in (-1, 1))
            place = f'x1="{a:.1f}" x2="{b:.1f}" y1="{at}" y2="{at}"'
            yield f'<line class="whisker-{name}" {place}/>'
    for name, found in runs.items():
        words = f"{learner}, {name}, {strategy}: {100 * found.mean:.1f}"
        yield (
            f'<circle class="{name}" cx="{places[name]:.1f}" cy="{y}" r="5.5">'
            f"<title>{escape(words)}</title></circle>"
        )


def _grid(top: int, bottom: int, low: float, high: float, step: float) -> list[str]:
    return [
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'
        for x in (_x(tick, low, high) for tick in _ticks(low, high, step))
    ]


def scale(comparison: Comparison) -> tuple[float, float, float]:
    """The ends of the axis in hundredths, and the step between its marks."""
    ends = [
        100 * (runs.mean + sign * (runs.sd or 0.0))
        for row in comparison.scores.values()
        for runs in (row[ALL],)
        for sign in (-1, 1)
    ]
    width = max(max(ends) - min(ends), 1.0)
    step = next(s for s in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0) if width / s <= 8)
    low, high = math.floor(min(ends) / step) * step, math.ceil(max(ends) / step) * step
    return max(low, 0.0), max(high, low + step), step


def _ticks(low: float, high: float, step: float) -> list[float]:
    return [low + step * number for number in range(round((high - low) / step) + 1)]


def _x(value: float, low: float, high: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)
