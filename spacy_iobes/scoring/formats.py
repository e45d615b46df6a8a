"""Reports as text: for people, for papers, for programs, and as conlleval prints them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from .counts import Figures
from .report import Report

Row = tuple[str, ...]
HEADER: Row = ("label", "gold", "predicted", "correct", "precision", "recall", "F1")
UNDEFINED = "-"


def percent(figure: float | None) -> str:
    """Two decimals of a hundred; a dash if it is undefined."""
    return UNDEFINED if figure is None else f"{100 * figure:.2f}"


def _row(name: str, numbers: tuple[int, int, int], row: Figures) -> Row:
    correct, predicted, gold = (f"{number}" for number in numbers)
    return (name, gold, predicted, correct, *map(percent, row))


def rows(report: Report) -> Iterator[Row]:
    """One row for each label, then the averages."""
    for (label, row), numbers in zip(report.per_label.items(), report.counts.exact.tolist()):
        yield _row(label, numbers, row)
    for average in ("micro", "macro", "weighted"):
        yield _row(f"{average} average", report.counts.totals, getattr(report, average))


def remarks(report: Report) -> Iterator[str]:
    """What a table does not say."""
    counts = report.counts
    if report.accuracy is not None:
        yield f"token accuracy {percent(report.accuracy)} of {counts.tokens:,} tokens"
    if counts.violations or counts.gold_violations:
        sides = f"{counts.violations:,} in the predictions, {counts.gold_violations:,} in the gold"
        yield f"violations repaired: {sides}"
    yield f"signature {report.signature}"


def aligned(header: Row, body: Sequence[Row], aligns: str, rules: Collection[int] = (0,)) -> str:
    """A table for a terminal; `aligns` has l or r for each column, `rules` go before those rows."""
    widths = [max(map(len, column)) for column in zip(header, *body)]
    sides = [{"l": "<", "r": ">"}[align] for align in aligns]
    rule = "  ".join("-" * width for width in widths)
    lines = []
    for number, cells in enumerate([header, *body], -1):
        lines += [rule] * (number in rules)
        line = (f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths))
        lines.append("  ".join(line).rstrip())
    return "\n".join(lines)


def as_table(report: Report) -> str:
    """Aligned columns for a terminal."""
    body = list(rows(report))
    text = aligned(HEADER, body, "lrrrrrr", rules=(0, len(body) - 3))
    return "\n".join([text, "", *remarks(report)]) + "\n"


def as_markdown(report: Report) -> str:
    """A table for a README or an issue."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in [HEADER, *rows(report)]]
    lines = ["| " + " | ".join(row) + " |" for row in escaped]
    lines.insert(1, "|---|" + "---:|" * (len(HEADER) - 1))
    return "\n".join([*lines, "", *(f"{remark}  " for remark in remarks(report))]) + "\n"


def as_csv(report: Report) -> str:
    """Comma-separated values with full precision, the signature in every row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(name.lower() for name in HEADER), "signature"])
    counts = [*report.counts.exact.tolist(), *[list(report.counts.totals)] * 3]
    names = [*report.per_label, "micro average", "macro average", "weighted average"]
    figures = [*report.per_label.values(), report.micro, report.macro, report.weighted]
    for name, (correct, predicted, gold), row in zip(names, counts, figures):
        cells = ["" if figure is None else repr(figure) for figure in row]
        writer.writerow([name, gold, predicted, correct, *cells, str(report.signature)])
    return text.getvalue()


def as_json(report: Report) -> str:
    """Everything that was counted; null where a figure is undefined."""
    return json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n"


def as_latex(report: Report) -> str:
    """A table for a paper; the signature is a comment behind it."""
    special = {c: f"\\{c}" for c in "&%$#_{}"} | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
    }
    lines = [r"\begin{tabular}{lrrrrrr}", r"\hline"]
    body = list(rows(report))
    for number, row in enumerate([HEADER, *body]):
        cells = ["".join(special.get(c, c) for c in cell) for cell in row]
        lines.append(" & ".join(cells) + r" \\")
        if number in (0, len(body) - 3, len(body)):
            lines.append(r"\hline")
    return "\n".join([*lines, r"\end{tabular}", *(f"% {r}" for r in remarks(report))]) + "\n"


def as_conlleval(report: Report) -> str:
    """Byte for byte what conlleval prints, which has no word for undefined: it prints 0."""
    counts = report.counts
    correct, predicted, gold = counts.totals
    text = f"processed {counts.tokens} tokens with {gold} phrases; "
    text += f"found: {predicted} phrases; correct: {correct}.\n"
    if counts.tokens:
        text += f"accuracy: {100 * (counts.right_tokens or 0) / counts.tokens:6.2f}%; "
        text += f"{_hundred(correct, predicted, gold)}\n"
    for label, numbers in zip(counts.labels, counts.exact.tolist()):
        row = _hundred(*numbers)
        pad = " " * (17 - len(label.encode("utf8")))  # it counts bytes
        # an empty label is listed once for each side that has it
        times = 1 if label else bool(numbers[1]) + bool(numbers[2])
        text += f"{pad}{label}: {row}  {numbers[1]}\n" * times
    return text


def _hundred(correct: int, predicted: int, gold: int) -> str:
    """Precision, recall and F1 with the same operations in the same order as conlleval."""
    precision = 100 * correct / predicted if predicted else 0.0
    recall = 100 * correct / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


FORMATS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {
        "table": as_table,
        "conlleval": as_conlleval,
        "markdown": as_markdown,
        "json": as_json,
        "csv": as_csv,
        "latex": as_latex,
    }
)
"""Every output format by name."""
