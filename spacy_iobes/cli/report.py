"""The command that writes a score as one HTML page: report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..corpus.files import STANDARD, shown
from ..corpus.formats.options import ReadOptions
from ..corpus.inputs import require_other
from ..scoring.files import ALL, FileReport, PairScorer
from ..scoring.signature import SPANS, Signature
from .application import command, counted, echo
from .options import SchemeName, read_options
from .tasks import (
    Average,
    Characters,
    GoldColumn,
    GoldPolicy,
    IgnoreTokens,
    Match,
    Metric,
    PredictionPolicy,
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
@read_options
def report_cli(
    files: GoldAndPrediction,
    output: PageFile,
    how: ReadOptions,
    scheme: SchemeName = "",
    policy: PredictionPolicy = None,
    gold_policy: GoldPolicy = "raise",
    metric: Metric = "f1",
    average: Average = "micro",
    match: Match = "exact",
    gold_tag: GoldColumn = None,
    ignore_tokens: IgnoreTokens = False,
    characters: Characters = False,
    limit: HowMany = SHOWN,
) -> None:
    """Write one HTML page with the score, what it is made of, and the mistakes to browse."""
    if len(files) > 2:
        raise typer.BadParameter("a page is about one prediction", param_hint="GOLD [PRED]")
    task = Task.of(files, how, scheme, gold_tag, ignore_tokens, characters)
    require_other(output, files)
    signature = recipe(scheme, policy, gold_policy, metric, average, match, characters)
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
    others = [] if signature.scheme == SPANS else under_policies(signature)
    scorers = [
        chosen if each == signature else PairScorer(each, count_refused=True) for each in others
    ]
    (predicted,) = task.predictions
    task.score(predicted, scorers or [chosen])
    with task.naming_schemes(predicted):
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
