"""The command that writes a score as one HTML page: report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..corpus.conll import Columns
from ..corpus.files import STANDARD, shown
from ..corpus.inputs import require_other
from ..scoring.files import ALL, FileReport, PairScorer
from ..scoring.signature import Signature
from .application import command, counted, echo
from .nested_options import NestedOptions, nested_options
from .nested_tasks import nested_recipe, nested_reports
from .options import SchemeName, column_options, require_scheme
from .score import refuse_nested
from .tasks import (
    Average,
    GoldIndex,
    GoldRepair,
    IgnoreTokens,
    Match,
    Metric,
    Repair,
    Task,
    recipe,
)

SHOWN = 10_000  # mistakes on the page, unless told otherwise

GoldAndPrediction = Annotated[
    list[str],
    typer.Argument(
        metavar="GOLD [PRED]",
        help="A gold file and predictions for it; or one file that holds both in its last columns.",
    ),
]
HowMany = Annotated[
    int, typer.Option("--limit", help="Put at most so many mistakes on it; 0 is all.", min=0)
]
PageFile = Annotated[str, typer.Option("--output", "-o", help="The HTML file; - prints.")]


@command("report")
@column_options
@nested_options
def report_cli(
    files: GoldAndPrediction,
    output: PageFile,
    columns: Columns,
    nested: NestedOptions,
    scheme: SchemeName = "",
    repair: Repair = None,
    gold_repair: GoldRepair = "raise",
    metric: Metric = "f1",
    average: Average = "micro",
    match: Match = "exact",
    gold_index: GoldIndex = None,
    ignore_tokens: IgnoreTokens = False,
    limit: HowMany = SHOWN,
) -> None:
    """Write one HTML page with the score, what it is made of, and the mistakes to browse."""
    if len(files) > 2:
        raise typer.BadParameter("a page is about one prediction", param_hint="GOLD [PRED]")
    task = Task.of(files, columns, gold_index, ignore_tokens)
    require_other(output, files)
    if nested.applies(files):
        from ..scoring.page import page

        refuse_nested(False, "", gold_index, ignore_tokens)
        signature = nested_recipe(scheme, repair, gold_repair, metric, average, match)
        reports = nested_reports(files, nested, columns, scheme, signature, limit or ALL)
        ((_, report),) = reports
        task.deliver(output, page(report, (), title_of(task)))
    else:
        require_scheme(scheme)
        signature = recipe(scheme, repair, gold_repair, metric, average, match)
        report = write_page(task, signature, output, limit or ALL)
    total = sum(report.kinds.values())
    mistakes = counted(total, "mistake")
    if len(report.located) < total:
        mistakes += f", the first {len(report.located):,} of them on the page (--limit)"
    echo(f"{shown_output(output)}: {report}, {mistakes}", err=output == STANDARD)


def write_page(task: Task, signature: Signature, output: str, locate: int) -> FileReport:
    """Score a prediction under every policy in one go, and write the page of the chosen one."""
    from ..scoring.page import page  # here, since other commands do without it
    from ..scoring.side_by_side import under_policies

    chosen = PairScorer(signature, locate=locate)
    scorers = [
        chosen if each == signature else PairScorer(each, count_refused=True)
        for each in under_policies(signature)
    ]
    (predicted,) = task.predictions
    task.score(predicted, scorers)
    with task.naming_schemes(predicted, chosen.scheme):
        report = chosen.report()
    task.deliver(output, page(report, scorers, title_of(task)))
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
