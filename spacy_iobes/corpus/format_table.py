"""Which command takes which format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

from .formats import FORMATS, Format

NEEDS: dict[str, Callable[[Format], bool]] = {
    "read": lambda row: True,
    "tags": lambda row: row.tagged,
    "gold": lambda row: row.annotated,
    "write": lambda row: row.writable,
    "hold": lambda row: row.writable and row.annotated,
}
"""What a command may need of a format."""
TAKES = {
    "validate": "tags",
    "summarize": "read",
    "convert": "read",
    "convert --to": "write",
    "repair": "write",
    "score GOLD": "gold",
    "score": "read",
    "compare GOLD": "gold",
    "compare": "read",
    "train": "gold",
    "predict": "read",
    "tune": "gold",
    "explain": "read",
    "annotate": "read",
    "select": "read",
    "simulate": "gold",
    "strategies": "gold",
    "predict --to": "hold",
    "generate": "write",
}
"""What each command needs of the formats that it takes."""


def formats_as_data() -> Iterator[dict[str, Any]]:
    """Yield every format, and whether each command takes it."""
    for row in FORMATS.values():
        commands = {name: NEEDS[need](row) for name, need in TAKES.items()}
        yield {"name": row.name, "about": row.about, "endings": row.endings, "commands": commands}


def format_rows() -> tuple[list[tuple[str, ...]], int]:
    """Return the rows of a table that says which command takes which format.

    Commands that need the same of a format share a column, which begins with all of their names:
    so many rows of the table are its header.
    """
    names = ([name for name, wanted in TAKES.items() if wanted == need] for need in NEEDS)
    header = [("", *line) for line in zip_longest(*names, fillvalue="")]
    rows = [
        (row.name, *("yes" if holds(row) else "-" for holds in NEEDS.values()))
        for row in FORMATS.values()
    ]
    return [*header, *rows], len(header)
