"""What commands print: JSON, lists that are cut, and tables of counts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from json import dumps
from typing import Any

from ..corpus.files import STANDARD, shown_output
from ..corpus.summary import Summary
from ..names import counted
from ..scoring.tables import aligned
from .application import echo, tell
from .options import FILES

ON_PAGE = 10_000  # mistakes on a page, unless told otherwise


def json_text(value: Any) -> str:
    """Return a value as JSON that people can read, too."""
    return dumps(value, indent=2, ensure_ascii=False)


def print_json(value: Any, err: bool = False) -> None:
    """Print a value as JSON that people can read, too."""
    echo(json_text(value), err=err)


def say(text: str, report: dict[str, Any], output: str, json: bool) -> None:
    """Print what was written, on standard output unless that is where the file goes."""
    echo(json_text(report) if json else text, err=output == STANDARD)


def print_first(lines: Sequence[object], limit: int, name: str, total: int = 0) -> None:
    """Print the first lines of a list, and how many more there are; a limit of 0 is none."""
    for line in lines[: limit or None]:
        echo(str(line))
    if limit and (more := (total or len(lines)) - min(limit, len(lines))):
        echo(f"{name}: and {more:,} more (--limit 0 shows all)")


def print_status(name: str, summary: Summary) -> None:
    """Say beside the output what it does not say: that a file is empty, or was repaired."""
    if not summary.sentences:
        tell(f"{name}: {summary}")
    elif summary.missing:
        tell(f"{name}: {counted(summary.missing, 'token')} not annotated")
    tell_repaired(name, summary)
    FILES.tell_findings(name, summary.findings)


def tell_repaired(name: str, summary: Summary) -> None:
    """Say how many violations of a file were repaired, if any."""
    if summary.repaired:
        tell(f"{name}: {counted(summary.repaired, 'violation')} repaired")


def most_on_page(limit: int | None) -> int:
    """Return how many mistakes a page may hold; 0 is all."""
    return ON_PAGE if limit is None else limit or sys.maxsize


def tell_cut(page: str, what: str, there: int, total: int) -> None:
    """Say what a page is about, and how much of it is there."""
    cut = f", the first {there:,} of them on the page (--limit)" if there < total else ""
    tell(f"{shown_output(page)}: {what}{cut}")


def counts_table(header: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> str:
    """Return a table of numbers with their sum."""
    total = ("total", *(sum(column) for column in list(zip(*rows))[1:]))
    lines = [*rows, total] if len(rows) > 1 else rows
    cells = [(str(name), *(f"{number:,}" for number in numbers)) for name, *numbers in lines]
    return aligned(header, cells, "l" + "r" * (len(header) - 1), rules=(0, len(rows)))
