"""Curves in files: .svg and .html need nothing else, .png is drawn by matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path

from ..corpus.files import write_bytes
from ..errors import FileError
from ..scoring.alone import alone
from .chart import Curves, chart

ENDINGS = (".svg", ".html", ".png")
COLOURS = {
    "true": ("#2450c5", "-"),
    "model": ("#c4571f", "--"),
    "corrected": ("#1f7a4a", ":"),
    "random": ("#7a8393", "-"),
    "sequential": ("#7a8393", ":"),
}
FIGURES = re.compile(r"[\d.,%<> -]*( to [\d.,%<> -]*)?")
"""A number, a share, an interval of them, or that there is none."""
Rows = Sequence[Sequence[str]]


def require_pictures(paths: Sequence[str]) -> None:
    """Refuse files that could not be drawn, before any work is done."""
    for path in paths:
        ending = Path(path).suffix.lower()
        if ending not in ENDINGS:
            raise FileError(f"{path}: a picture ends in one of {', '.join(ENDINGS)}.", path)
        if ending == ".png" and not find_spec("matplotlib"):
            raise FileError(f"{path}: needs matplotlib: pip install 'spacy-iobes[plot]'", path)
        if not Path(path).absolute().parent.is_dir():
            raise FileError(f"{path}: there is no directory for it.", path)


def draw(path: str, curves: Curves, facts: str, header: Sequence[str], rows: Rows) -> None:
    """Write a picture; a page has a table, too."""
    ending = Path(path).suffix.lower()
    if ending == ".png":
        data = png(curves)
    else:
        text = chart(curves) if ending == ".svg" else page(curves, facts, header, rows)
        data = text.encode("utf8", "backslashreplace")
    with write_bytes(path) as put:
        put(data)


def page(curves: Curves, facts: str, header: Sequence[str], rows: Rows) -> str:
    """A page with the picture, and its figures as a table."""
    picture = chart(curves)
    shown = {"facts": escape(facts), "picture": picture, "table": table(header, rows)}
    return alone(__package__, curves.title, trusted=picture, **shown)


def table(header: Sequence[str], rows: Rows) -> str:
    """A table whose columns of text are marked as such; others have figures alone."""
    columns = [[row[i] for row in rows] for i in range(len(header))]
    marks = ["" if all(map(FIGURES.fullmatch, cells)) else ' class="text"' for cells in columns]
    head = (f'<th scope="col"{mark}>{escape(name)}</th>' for name, mark in zip(header, marks))
    body = (
        "".join(f"<td{mark}>{escape(cell)}</td>" for cell, mark in zip(row, marks)) for row in rows
    )
    lines = "".join(f"<tr>{line}</tr>" for line in body)
    return f"<table><thead><tr>{''.join(head)}</tr></thead><tbody>{lines}</tbody></table>"


def png(curves: Curves) -> bytes:
    """The same curves, drawn by matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for line in curves.lines:
        known = [(read, 100 * v) for read, v in zip(line.read, line.values) if v is not None]
        colour, style = COLOURS[line.kind]
        axes.plot(*zip(*known), style, color=colour, label=line.name) if known else None
    if curves.band is not None:
        band = curves.band
        low, high = ([100 * value for value in side] for side in (band.low, band.high))
        axes.fill_between(band.read, low, high, color="#2450c5", alpha=0.13, label=band.name)
    for read, name in curves.marks:
        axes.axvline(read, color="#7a8393", linestyle=":")
        axes.annotate(name, (read, 2), rotation=90, fontsize=8)
    axes.set(
        title=curves.title,
        xlabel=curves.x_label,
        ylabel=curves.y_label,
        xlim=(0, curves.total),
        ylim=(0, 101),
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    held = io.BytesIO()
    figure.savefig(held, format="png", dpi=130)
    return held.getvalue()
