"""A comparison as a table."""

from __future__ import annotations

from ..scoring.paired import FEWEST
from ..scoring.runs import Runs
from ..scoring.tables import Table
from .comparison import ALL, BY_UNITS, MEASURES, Comparison, Row

TEST_WORDS = {
    "t": "a paired two-tailed t-test over the splits",
    "corrected": "a t-test over the splits, corrected for the data that they share",
    "wilcoxon": "a Wilcoxon signed-rank test over the splits",
    BY_UNITS: "randomisation over the documents",
}


def table_of(comparison: Comparison, wide: bool = True) -> Table:
    """The mean F1 of every row; behind it a mark where there is something to compare with.

    A table that is not `wide` has no columns of labels.
    """
    columns = comparison.columns if wide else (ALL,)
    rows, rules, before = [], list[int](), None
    for row in comparison.scores:
        block = row.learner, row.decoding
        if before is not None and block != before:
            rules.append(len(rows))
        before = block
        classes = str(comparison.classes.get(row.strategy, ""))
        names = (row.learner, row.decoding, row.strategy, classes)
        rows.append((*names, *(cell(comparison, row, column) for column in columns)))
    header = ("learner", "decoding", "strategy", "classes", *columns)
    told = [answer(comparison), *remarks(comparison)]
    if not wide:
        told.append("Figures of each label: --output or --json.")
    return Table(header, rows, tuple(rules), tuple(told), names=3)


def cell(comparison: Comparison, row: Row, column: str) -> str:
    """A figure and its mark."""
    return f"{figure(comparison, row, column)} {comparison.mark(row, column) or ' '}"


def figure(comparison: Comparison, row: Row, column: str) -> str:
    """A mean, with its standard deviation in the column of all labels."""
    runs = comparison.scores[row][column]
    return f"{100 * runs.mean:.1f}{spread(runs) if column == ALL else ''}"


def spread(runs: Runs) -> str:
    """The standard deviation, if there is one."""
    return "" if runs.sd is None else f" ±{100 * runs.sd:.1f}"


def answer(comparison: Comparison) -> str:
    """Which row is best, and what the baseline reaches in its place, in a sentence."""
    row = comparison.best
    if not comparison.scores[row][ALL].mean:
        return "Nothing right was found: every row is at 0."
    best = f"{row.strategy} with {row.learner}, {row.decoding}"
    found = f"Highest: {best}, {figure(comparison, row, ALL)}"
    base = row._replace(strategy=comparison.baseline)
    if row == base or base not in comparison.scores:
        return f"{found}."
    other = f"{comparison.baseline} in its place {figure(comparison, base, ALL)}"
    return f"{found}; {other}{chance(comparison, row)}."


def chance(comparison: Comparison, row: Row) -> str:
    """Whether a row and the baseline differ by more than chance; a doubt is told.

    Splits share data, so that a test that takes them for independent sees too much.
    """
    mark = comparison.mark(row, ALL)
    if mark != "+":
        return ", no different beyond chance" if mark == "~" else ""
    tests = comparison.tests[row][ALL]
    doubt = tests["corrected"].p if "corrected" in tests else None
    if doubt is None or doubt < comparison.level:
        return ", a difference beyond chance"
    return (
        f", a difference beyond chance (p = {tests[comparison.chosen].p:.2g}) if the splits were "
        f"independent, but not when corrected for the data that they share (p = {doubt:.2g})"
    )


def remarks(comparison: Comparison) -> list[str]:
    """How to read the table."""
    splits = next(iter(comparison.scores.values()))[ALL].n
    over = (
        f"mean of {splits} splits, ± one standard deviation over the splits"
        if splits > 1
        else "one split"
    )
    found = [f"F1, {MEASURES[comparison.measure]}, {over}."]
    if comparison.marked:
        found.append(
            f"+ better, - worse, ~ no different than {comparison.baseline} with the same learner "
            f"and decoding (p < {comparison.level:g} by {TEST_WORDS[comparison.chosen]})."
        )
    elif comparison.tests and splits > 1:
        found.append(
            f"No marks: a t-test needs at least {FEWEST} splits, and differences that vary."
        )
    elif splits == 1 and len(comparison.scores) > 1 and comparison.measure == "slots":
        found.append(
            "No marks: one split is tested by randomisation over its documents, and that is done "
            "in exact match alone."
        )
    for strategy, count in comparison.lost.items():
        if count:
            found.append(
                f"{strategy}: up to {count:,} training span{'s' * (count != 1)} touching another "
                "of the same label could not be learned apart from it."
            )
    return found
