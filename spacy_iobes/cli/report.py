"""The command that writes a score as one HTML page: report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..codes.policy import POLICIES
from ..corpus.conll import Columns
from ..corpus.files import STANDARD, shown
from ..scoring.files import FileReport, PairScorer
from ..scoring.signature import Signature
from .app import command, counted
from .options import SchemeName, column_options
from .score import (
    Average,
    GoldIndex,
    GoldRepair,
    IgnoreTokens,
    Match,
    Metric,
    Repair,
    Task,
    deliver,
    recipe,
)

GoldAndPrediction = Annotated[
    list[str],
    typer.Argument(
        metavar="GOLD [PRED]",
        help="A gold file and predictions for it; or one file that holds both in its last columns.",
    ),
]
PageFile = Annotated[str, typer.Option("--output", "-o", help="The HTML file; - prints.")]


@command("report")
@column_options
def report_cli(
    files: GoldAndPrediction,
    scheme: SchemeName,
    output: PageFile,
    columns: Columns,
    repair: Repair = None,
    gold_repair: GoldRepair = "raise",
    metric: Metric = "f1",
    average: Average = "micro",
    match: Match = "exact",
    gold_index: GoldIndex = -2,
    ignore_tokens: IgnoreTokens = False,
) -> None:
    """Write one HTML page with the score, what it is made of, and every mistake to browse."""
    if len(files) > 2:
        raise typer.BadParameter("a page is about one prediction", param_hint="GOLD [PRED]")
    signature = recipe(scheme, repair, gold_repair, metric, average, match)
    task = Task.of(files, columns, gold_index, ignore_tokens)
    report = write_page(task, signature, output)
    mistakes = counted(len(report.located), "mistake")
    typer.echo(f"{shown_output(output)}: {report}, {mistakes}", err=output == STANDARD)


def write_page(task: Task, signature: Signature, output: str) -> FileReport:
    """Score a prediction under every policy in one go, and write the page of the chosen one."""
    from ..scoring.page import page  # here, since other commands do without it

    scorers = {}
    for name in POLICIES:
        keep = name == signature.repair  # the mistakes of the other policies are not shown
        scorers[name] = PairScorer(replace(signature, repair=name), keep, keep)
    (predicted,) = task.predictions
    with task.pairs(predicted) as pairs:
        for pair in pairs:
            for scorer in scorers.values():
                scorer.add(pair)
    report = scorers[signature.repair].report()
    deliver(output, page(report, list(scorers.values()), title_of(task)))
    return report


def title_of(task: Task) -> str:
    """`predictions against gold`, or the one file that holds both."""
    (predicted,) = task.predictions
    paths = [shown(path) for path in (predicted, task.gold) if path is not None]
    names = [Path(path).name for path in paths]
    return " against ".join(names if len(set(names)) == len(names) else paths)


def shown_output(output: str) -> str:
    """How the line about the page names it."""
    return "standard output" if output == STANDARD else output
