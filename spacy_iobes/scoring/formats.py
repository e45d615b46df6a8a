"""Reports as text: for people, for papers, for programs, and as conlleval prints them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from .conlleval import as_conlleval
from .nested import MENTIONS, PARTS, NestedCounts
from .report import Report
from .signature import AVERAGES, MATCHES, known
from .tables import RENDERERS, Cell, Row, Table
from .tables import aligned as aligned
from .tables import percent as percent

if TYPE_CHECKING:
    from .resampling import Interval

HEADER: Row = ("label", "gold", "predicted", "correct", "precision", "recall", "F1")
MUC_HEADER: Row = (*HEADER[:4], "incorrect", "partial", "missed", "spurious", *HEADER[4:])
FORMATS = ("table", "conlleval", "markdown", "json", "csv", "latex")
"""What a report can be written as."""


def exact_rows(report: Report) -> Iterator[tuple[Cell, ...]]:
    """One row for each label, then the averages."""
    counts = report.counts
    for (label, row), (correct, predicted, gold) in zip(
        report.per_label.items(), counts.exact.tolist()
    ):
        yield label, gold, predicted, correct, *row
    correct, predicted, gold = counts.totals
    for average in AVERAGES:
        yield f"{average} average", gold, predicted, correct, *getattr(report, average)


def nested_rows(nested: NestedCounts) -> Iterator[tuple[Cell, ...]]:
    """The sentences with and without overlap, then the kinds of mentions whose recall is told."""
    for name, part in nested.parts.items():
        yield PARTS[name], part.gold, part.predicted, part.correct, *part.figures
    for name, row in nested.mentions.items():
        yield MENTIONS[name], row.gold, "", row.correct, "", row.recall, ""


def muc_rows(report: Report, kind: str) -> Iterator[tuple[Cell, ...]]:
    """One row for each label, then all labels together; gold spans are what the counts are of."""
    rows = {label: report.counts.muc_counts(kind, label) for label in report.counts.labels}
    for name, row in (*rows.items(), ("micro average", report.muc[kind])):
        yield name, row.possible, row.actual, *row[:5], *row[7:]


def headline(report: Report, interval: Interval | None = None) -> str:
    """The figure that the signature names, with its confidence interval if there is one."""
    text = f"score {percent(report.value)}"
    if interval is None:
        return text
    low, high = (percent(bound) for bound in (interval.low, interval.high))
    text += f", {100 * interval.level:g} % interval {low} to {high}"
    return f"{text} (bootstrap over sentences, {interval.rounds:,} rounds, seed {interval.seed})"


def remarks(report: Report, interval: Interval | None = None) -> Iterator[str]:
    """What a table does not say."""
    counts = report.counts
    if report.accuracy is not None:
        known = counts.tokens - counts.missing
        yield f"token accuracy {percent(report.accuracy)} of {known:,} tokens"
    if counts.missing:
        yield f"tokens that the gold does not annotate: {counts.missing:,}, left out of the score"
    if counts.untagged:
        yield f"tokens that the predictions do not annotate: {counts.untagged:,}, taken as O"
    if counts.violations or counts.gold_violations:
        sides = f"{counts.violations:,} in the predictions, {counts.gold_violations:,} in the gold"
        yield f"violations repaired: {sides}"
    yield headline(report, interval)
    yield f"signature {report.signature}"


def table_of(report: Report, interval: Interval | None = None) -> Table:
    """The labels and their averages, by the match that the signature names."""
    kind = report.signature.muc
    rows = list(exact_rows(report) if kind is None else muc_rows(report, kind))
    rules: tuple[int, ...] = (len(report.counts.labels),)
    if kind is None and report.nested is not None:
        rules = (*rules, len(rows), len(rows) + len(PARTS))
        rows += nested_rows(report.nested)
    more: dict[str, Cell] = {"score": report.value}
    if interval is not None:
        more |= {"low": interval.low, "high": interval.high, "level": interval.level}
        more |= {"rounds": interval.rounds, "seed": interval.seed}
    more["signature"] = str(report.signature)
    return Table(
        HEADER if kind is None else MUC_HEADER,
        rows,
        rules,
        tuple(remarks(report, interval)),
        [tuple(more), *[tuple(more.values())] * len(rows)],
    )


def as_json(report: Report, interval: Interval | None = None) -> str:
    """Everything that was counted; null where a figure is undefined."""
    more = {} if interval is None else {"interval": asdict(interval)}
    return json.dumps(report.as_dict() | more, indent=2, ensure_ascii=False) + "\n"


def formatted(
    report: Report, form: str = "table", interval: Interval | None = None, encoding: str = "utf8"
) -> str:
    """A report in one of the `FORMATS`; only conlleval cares for the encoding of the files."""
    known("format", form, FORMATS)
    if form == "json":
        return as_json(report, interval)
    if form == "conlleval":
        known("match for the format conlleval:", report.signature.match, MATCHES[:1])
        known("average for the format conlleval:", report.signature.average, AVERAGES[:1])
        return as_conlleval(report, encoding)
    return RENDERERS[form](table_of(report, interval))
