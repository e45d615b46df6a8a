"""Tables of figures: for a terminal, for a README, for a paper, for a program."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..corpus.files import visible

Cell = str | int | float | None
"""A name, a count, a share of 1 (printed in hundredths), or a figure that is undefined."""
Row = tuple[str, ...]

UNDEFINED = "-"
MARKUP = {character: f"\\{character}" for character in "\\`*_[]<>&|~"}
LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def percent(figure: float | None) -> str:
    """Two decimals of a hundred; a dash if it is undefined."""
    return UNDEFINED if figure is None else f"{100 * figure:.2f}"


def _text(cell: Cell) -> str:
    return percent(cell) if cell is None or isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Table:
    """Rows under a header, the first `names` columns being names.

    There is a rule before each of the rows `rules`, and `remarks` stand below the table. Programs
    do not read those: for them there are the columns `more` behind the others, header and rows.
    """

    header: Row
    rows: Sequence[Sequence[Cell]]
    rules: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()
    more: Sequence[Sequence[Cell]] = ()
    names: int = 1

    def texts(self) -> list[Row]:
        """The rows as people read them."""
        return [tuple(map(_text, row)) for row in self.rows]

    @property
    def aligns(self) -> str:
        """l or r for each column."""
        return "l" * self.names + "r" * (len(self.header) - self.names)


def aligned(header: Row, body: Sequence[Row], aligns: str, rules: Collection[int] = (0,)) -> str:
    """A table for a terminal; `aligns` has l or r for each column, `rules` go before those rows.

    What would steer a terminal is escaped.
    """
    rows = [[visible(cell) for cell in row] for row in (header, *body)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    sides = [{"l": "<", "r": ">"}[align] for align in aligns]
    rule = "  ".join("-" * width for width in widths)
    lines = []
    for number, cells in enumerate(rows, -1):
        lines += [rule] * (number in rules)
        line = (f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths))
        lines.append("  ".join(line).rstrip())
    return "\n".join(lines)


def as_text(table: Table) -> str:
    """Aligned columns for a terminal."""
    text = aligned(table.header, table.texts(), table.aligns, (0, *table.rules))
    return "\n".join([text, "", *table.remarks]) + "\n"


def as_markdown(table: Table) -> str:
    """A table for a README or an issue; names that look like markup are text."""
    names = range(table.names)
    lines = ["| " + " | ".join(table.header) + " |"]
    lines.append("|" + "---|" * table.names + "---:|" * (len(table.header) - table.names))
    for row in table.texts():
        cells = [_escaped(cell, MARKUP) if i in names else cell for i, cell in enumerate(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *(f"{remark}  " for remark in table.remarks)]) + "\n"


def as_csv(table: Table) -> str:
    """Comma-separated values with full precision; what is undefined is empty."""
    import csv  # here: every command starts with this module, and few write this

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    more: Sequence[Sequence[Cell]] = table.more or [()] * (len(table.rows) + 1)
    writer.writerow([name.lower() for name in table.header] + list(more[0]))
    for row, rest in zip(table.rows, more[1:]):
        cells = (*row, *rest)
        writer.writerow([repr(cell) if isinstance(cell, float) else cell for cell in cells])
    return text.getvalue()


def as_latex(table: Table) -> str:
    """A table for a paper; the remarks are comments behind it."""
    ruled = {-1, 0, *table.rules, len(table.rows)}
    lines = [rf"\begin{{tabular}}{{{table.aligns}}}"]
    for number, row in enumerate([table.header, *table.texts()], -1):
        lines += [r"\hline"] * (number in ruled)
        lines.append(" & ".join(_escaped(cell, LATEX) for cell in row) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {remark}" for remark in table.remarks)]) + "\n"


def _escaped(text: str, special: Mapping[str, str]) -> str:
    return "".join(special.get(character, character) for character in text)


RENDERERS: Mapping[str, Callable[[Table], str]] = MappingProxyType(
    {"table": as_text, "markdown": as_markdown, "csv": as_csv, "latex": as_latex}
)
"""How a table can be written, by name."""
