"""RESULTS.md: the tables of all benchmarks, each with its command, its day and its machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import results_chart as chart
from .everything import Job, Shelf, measured
from .machine import PACKAGES
from .table import shown

PAGE, SPEED, CURVE = "RESULTS.md", "speed.svg", "curve.svg"
HEAD = """# Results

Written by `python -m benchmarks all` from what each benchmark measured: nothing is typed by hand.
Ratios come from runs side by side on one machine; absolute times are of that machine alone. A dash
is what was not measured."""
QUICK = "**A quick run, to see that it works: its numbers mean nothing.**"
RIGHT, PLAIN = "---:", "---"


def write(shelf: Shelf, every: Sequence[Job], folder: Path) -> list[Path]:
    """Write the page and its pictures; returns the files."""
    texts = dict(pictures(shelf, every))
    texts[PAGE] = page(shelf, every, [*texts])
    for name, text in texts.items():
        temporary = folder / f".{name}.{os.getpid()}.tmp"
        temporary.write_text(text, encoding="utf8")
        os.replace(temporary, folder / name)
    return [folder / name for name in texts]


def pictures(shelf: Shelf, every: Sequence[Job]) -> Iterator[tuple[str, str]]:
    """Those that can be drawn: the names of their files, and the SVG."""
    found = next((shelf.read(job) for job in every if job.name == "ner"), None)
    tables = tables_of(found) if found else []
    title, systems = chart.points(tables)
    if systems:
        yield SPEED, chart.speed_chart(title, systems)
    if lines := chart.curves(tables):
        yield CURVE, chart.curve_chart(lines)


def page(shelf: Shelf, every: Sequence[Job], drawn: Sequence[str]) -> str:
    """The whole page."""
    alt = {SPEED: "F1 against speed", CURVE: "Learning curves"}
    parts = [HEAD, *[f"![{alt[name]}]({name})" for name in drawn], contents(shelf, every)]
    for job in every:
        parts += section(job, shelf.read(job))
    return "\n\n".join(parts) + "\n"


def contents(shelf: Shelf, every: Sequence[Job]) -> str:
    """What there is, and what was not run."""
    rows = ["| benchmark | what it measures | measured |", "|---|---|---|"]
    for job in every:
        found = shelf.read(job)
        day = found["machine"]["date"] if found and measured(found) else "not run"
        if day != "not run" and found and found["quick"]:
            day += ", a quick run"
        rows.append(f"| [{job.name}](#{job.name}) | {job.sentence} | {day} |")
    return "\n".join(rows)


def section(job: Job, found: dict[str, Any] | None) -> Iterator[str]:
    """A benchmark: how it was measured, and its tables."""
    yield f"## {job.name}"
    if found is None:
        yield f"Not run: `{job.command(False)}`"
        return
    yield f"`{job.command(found['quick'])}`, {about(found['machine'])}"
    if found["quick"]:
        yield QUICK
    for table in tables_of(found):
        yield f"### {table['title']}"
        if table["rows"]:
            yield as_markdown(table)
        if table["notes"]:
            yield "\n".join(table["notes"])


def tables_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables of a benchmark's results, without those that hold them against targets."""
    every = [table for tables in found["benchmarks"].values() for table in tables]
    return [table for table in every if not any("verdict" in row for row in table["rows"])]


def about(machine: dict[str, Any]) -> str:
    """Day, machine and versions in a sentence."""
    load = machine["load at start"]
    busy = "" if load is None else f", load {load:.1f} at the start"
    versions = [f"{name} {machine[name]}" for name in PACKAGES if machine.get(name)]
    kernels = f"{machine['kernels in use']} kernels (chain: {machine['chain kernels in use']})"
    return (
        f"{machine['date']}: {machine['processor']}, {machine['cores']} cores{busy}; "
        f"{machine['system']}, {machine['python']}; {', '.join(versions)}; {kernels}."
    )


def as_markdown(table: dict[str, Any]) -> str:
    """A table with its numbers to the right."""
    names = list(table["rows"][0])
    formats = table.get("formats", {})
    texts = {name: all(isinstance(row[name], str) for row in table["rows"]) for name in names}
    lines = [names, [PLAIN if texts[name] else RIGHT for name in names]]
    lines += [[shown(row[name], formats.get(name, "")) for name in names] for row in table["rows"]]
    return "\n".join("| " + " | ".join(map(escaped, line)) + " |" for line in lines)


def escaped(cell: str) -> str:
    """A cell in which nothing ends it, or is taken for markup."""
    return "".join(f"\\{sign}" if sign in "|*_<`[" else sign for sign in cell)
