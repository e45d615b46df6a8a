"""A comparison as a page that needs nothing else: the picture, and tables that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from json import dumps
from pathlib import Path
from typing import NamedTuple

from ..corpus.files import write_bytes
from ..scoring.alone import alone
from ..scoring.tables import UNDEFINED
from .chart import chart_of
from .comparison import ALL, MEASURES, Comparison, Row
from .lab import Study
from .tables import answer, figure, remarks

MARKS = {"+": "better", "-": "worse", "~": "same", "": "base"}


class Section(NamedTuple):
    """A corpus: its name, what is in it, and its comparisons."""

    name: str
    facts: str
    comparisons: Sequence[Comparison]


def store_studies(studies: Sequence[Study], folder: Path) -> None:
    """Write results, a page and a picture of each comparison, each of these files whole."""
    sections = [Section(study.name, study.facts, study.comparisons) for study in studies]
    found = {
        "comparison.json": dumps([study.as_dict() for study in studies], indent=1) + "\n",
        "index.html": page_of(sections, "Tagging strategies"),
    }
    for study in studies:
        for comparison in study.comparisons:
            name = f"{study.name}.{comparison.measure}.svg"
            found[name] = chart_of(comparison, f"{study.name}: {short(comparison)}")
    for name, text in found.items():
        with write_bytes(folder / name) as put:
            put(text.encode("utf8"))


def page_of(sections: Sequence[Section], title: str) -> str:
    """The page of some corpora."""
    body = "".join(_section(number, section) for number, section in enumerate(sections))
    links = "".join(
        f'<a href="#corpus{number}">{escape(section.name)}</a>'
        for number, section in enumerate(sections)
    )
    # the pictures carry styles of their own
    return alone(__package__, title, trusted=body, links=links, body=body)


def _section(number: int, section: Section) -> str:
    parts = [f'<section id="corpus{number}"><h2>{escape(section.name)}</h2>']
    parts.append(f'<p class="muted">{escape(section.facts)}</p>')
    for comparison in section.comparisons:
        picture = chart_of(comparison, f"{section.name}: {short(comparison)}")
        parts.append(f'<div class="panel"><p>{escape(answer(comparison))}</p>')
        parts.append(f'<div class="picture">{picture}</div>')
        parts.append(f"{_table(comparison)}{_notes(comparison)}</div>")
    return "".join(parts) + "</section>"


def short(comparison: Comparison) -> str:
    """What was measured, in a few words."""
    return MEASURES[comparison.measure].split(" (")[0]


def _table(comparison: Comparison) -> str:
    head = ("strategy", "classes", *comparison.columns)
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    caption = escape(f"F1, {MEASURES[comparison.measure]}")
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in comparison.scores:
        groups.setdefault((row.learner, row.decoding), []).append(row)
    body = "".join(
        f'<tbody><tr class="group"><th colspan="{len(head)}" scope="rowgroup">'
        f"{escape(learner)}, {escape(decoding)}</th></tr>"
        f"{''.join(_row(comparison, row) for row in rows)}</tbody>"
        for (learner, decoding), rows in groups.items()
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{caption}</caption><thead><tr>{cells}'
        f"</tr></thead>{body}</table></div>"
    )


def _row(comparison: Comparison, row: Row) -> str:
    classes = str(comparison.classes.get(row.strategy, ""))
    cells = [f'<th scope="row">{escape(row.strategy)}</th><td class="number">{classes}</td>']
    cells += [_cell(comparison, row, column) for column in comparison.columns]
    best = ' class="best"' if row == comparison.best else ""
    return f"<tr{best}>{''.join(cells)}</tr>"


def _cell(comparison: Comparison, row: Row, column: str) -> str:
    """A figure with its mark; p values are shown where a pointer rests on it."""
    tests = comparison.tests.get(row, {}).get(column, {})
    told = "; ".join(f"{name}: p = {shown_p(test.p)}" for name, test in tests.items())
    hint = f' title="{escape(told)}"' if told else ""
    kind = MARKS[comparison.mark(row, column)] + (" all" if column == ALL else "")
    mark = f'<span class="mark">{comparison.mark(row, column)}</span>'
    return f'<td class="number {kind}"{hint}>{figure(comparison, row, column)}{mark}</td>'


def shown_p(p: float | None) -> str:
    """A p value; where a test cannot tell, a dash."""
    return UNDEFINED if p is None else f"{p:.3g}"


def _notes(comparison: Comparison) -> str:
    return "".join(f'<p class="muted">{escape(remark)}</p>' for remark in remarks(comparison))
