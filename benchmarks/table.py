"""A table of results: printed aligned, kept as JSON with full precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wasabi.tables import table as aligned

Cell = str | float | int | None
"""None is what was not measured; a str in place of a number says why there is none."""


@dataclass
class Table:
    """Rows that share their columns, with a title and notes.

    `formats` says how to print the numbers of a column; otherwise they have three digits.
    """

    title: str
    rows: list[dict[str, Cell]]
    notes: list[str] = field(default_factory=list)
    formats: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.rows:
            return "\n".join([f"== {self.title} ==", *self.notes])
        header = list(self.rows[0])
        body = [[shown(row[c], self.formats.get(c, "")) for c in header] for row in self.rows]
        numeric = [any(not isinstance(row[column], str) for row in self.rows) for column in header]
        aligns: list[Any] = ["r" if number else "l" for number in numeric]
        text = aligned(body, header=header, divider=True, aligns=aligns, max_col=80)
        lines = [line.rstrip() for line in text.strip("\n").split("\n")]
        return "\n".join([f"== {self.title} ==", *lines, *self.notes])

    def as_json(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "title": self.title,
            "rows": self.rows,
            "notes": self.notes,
            "formats": self.formats,
        }


def shown(cell: Cell, form: str = "") -> str:
    """A cell as people read it: as `form` says, or three digits, thousands with a comma."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if form:
        return f"{cell:{form}}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}"
