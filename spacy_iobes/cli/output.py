"""What commands print: JSON, sizes and tables of counts."""

from __future__ import annotations

from json import dumps
from typing import Any

from ..corpus.files import STANDARD
from ..corpus.findings import finding_lines
from ..corpus.summary import Summary
from ..scoring.tables import aligned
from .application import counted, echo


def json_text(value: Any) -> str:
    """A value as JSON that people can read, too."""
    return dumps(value, indent=2, ensure_ascii=False)


def print_json(value: Any, err: bool = False) -> None:
    """Print a value as JSON that people can read, too."""
    echo(json_text(value), err=err)


def say(text: str, report: dict[str, Any], output: str, json: bool) -> None:
    """Say what was written, on standard output unless that is where the file goes."""
    if json:
        print_json(report, err=output == STANDARD)
    else:
        echo(text, err=output == STANDARD)


def size(summary: Summary) -> dict[str, int]:
    """How large what was read is."""
    return {
        "documents": summary.documents,
        "sentences": summary.sentences,
        "tokens": summary.tokens,
    }


def size_in_words(summary: Summary) -> str:
    """How large what was read is, for people; an empty file is said to be one."""
    if not summary.sentences:
        return "0 sentences: the file holds no tokens"
    words = ", ".join(counted(count, word[:-1]) for word, count in size(summary).items())
    return f"{words} ({summary.missing:,} not annotated)" if summary.missing else words


def print_status(name: str, summary: Summary) -> None:
    """Say beside the output what it does not say: that a file is empty, or was repaired."""
    if not summary.sentences:
        echo(f"{name}: {size_in_words(summary)}", err=True)
    elif summary.missing:
        echo(f"{name}: {counted(summary.missing, 'token')} not annotated", err=True)
    if summary.repaired:
        echo(f"{name}: {counted(summary.repaired, 'violation')} repaired", err=True)
    for line in finding_lines(summary.findings):
        echo(f"{name}: {line}", err=True)


def counts_table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """A table of numbers with their sum."""
    total = ("total", *(sum(column) for column in list(zip(*rows))[1:]))
    lines = [*rows, total] if len(rows) > 1 else rows
    cells = [(str(name), *(f"{number:,}" for number in numbers)) for name, *numbers in lines]
    return aligned(header, cells, "l" + "r" * (len(header) - 1), rules=(0, len(rows))) + "\n\n"
