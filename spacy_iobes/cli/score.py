"""The command that scores files: score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions
from ..errors import FileError
from ..scoring.files import FileReport, PairScorer
from ..scoring.formats import FORMATS, formatted, headline
from ..scoring.side_by_side import runs
from ..scoring.signature import AVERAGES, MATCHES, Signature, known
from .application import SHOWN, command, echo
from .mistakes import show_mistakes
from .options import SchemeName, read_options
from .score_page import SHOWN as ON_PAGE
from .score_page import make_page
from .tasks import (
    ROUNDS,
    Average,
    Characters,
    Files,
    GoldColumn,
    GoldPolicy,
    IgnoreTokens,
    Match,
    Metric,
    PredictionPolicy,
    Rounds,
    Seed,
    Task,
    recipe,
)

if TYPE_CHECKING:
    from ..scoring.resampling import Interval

OutputFile = Annotated[str, typer.Option("--output", "-o", help="Where to write; - prints.")]
Layout = Annotated[str, typer.Option("--layout", help=f"One of: {', '.join(FORMATS)}.")]
Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        help="Also the interval of this level, 0.95 for example: a bootstrap over sentences.",
    ),
]


@command("score")
@read_options
def score_cli(
    files: Files,
    how: ReadOptions,
    scheme: SchemeName = "",
    policy: PredictionPolicy = "raise",
    gold_policy: GoldPolicy = "raise",
    layout: Layout = "table",
    policies: Annotated[
        bool, typer.Option("--policies", help="Score under every policy, side by side.")
    ] = False,
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="List every mistake with its line in place of the figures: missed, spurious, "
            "wrong label, wrong boundary.",
        ),
    ] = False,
    html: Annotated[
        str,
        typer.Option("--html", help="Write a page, too: the score, and the mistakes to browse."),
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            help="Of --errors and --html: at most so many mistakes; 0 is all (default: "
            f"{SHOWN}, as JSON all; {ON_PAGE:,} on the page).",
            min=0,
        ),
    ] = None,
    metric: Metric = "f1",
    average: Average = "micro",
    match: Match = "exact",
    confidence: Confidence = None,
    rounds: Rounds = ROUNDS,
    seed: Seed = 0,
    gold_tag: GoldColumn = None,
    ignore_tokens: IgnoreTokens = False,
    characters: Characters = False,
    output: OutputFile = STANDARD,
) -> None:
    """Score predictions against gold; the score says how it was made.

    Files may be of any format, each of its own. Where mentions overlap, there are also the figures
    of sentences with and without overlap, and the recall of nested ones.
    """
    signature = recipe(scheme, policy, gold_policy, metric, average, match, characters)
    if how.format in FORMATS:
        message = f"{how.format} is a layout of scores: --layout {how.format}"
        raise typer.BadParameter(message, param_hint="--format")
    several = policies or len(files) > 2
    require_one_recipe(layout, signature, several=several, confidence=confidence)
    if errors and (policies or layout not in ("table", "json")):
        message = "mistakes are listed under one policy, as lines or as JSON (--layout json)"
        raise typer.BadParameter(message, param_hint="--errors")
    if errors and html:
        message = "mistakes are listed or put on a page: choose one of them"
        raise typer.BadParameter(message, param_hint="--errors")
    if html and several:
        raise typer.BadParameter("a page is about one prediction", param_hint="--html")
    if layout == "conlleval":  # it counts document markers as tokens
        how = replace(how, documents="tokens")
    task = Task.of(files, how, scheme, gold_tag, ignore_tokens, characters)
    if errors:
        show_mistakes(task, signature, limit, layout == "json")
    elif policies:
        task.deliver(output, policy_table(task, signature, layout))
    elif len(task.predictions) > 1:
        task.deliver(output, runs_table(task, signature, layout))
    else:
        keep = confidence is not None
        if html:
            report = make_page(task, signature, html, limit, keep)
        else:
            ((_, report),) = task.reports(signature, keep_matched=keep)
        if html == STANDARD:  # the page is printed, and nothing else
            return
        interval = None if confidence is None else interval_of(report, confidence, rounds, seed)
        show(task, report, layout, interval, output)


def require_one_recipe(
    layout: str, signature: Signature, several: bool, confidence: float | None
) -> None:
    """Refuse what a format has no room for, before anything is read."""
    known("layout", layout, FORMATS)
    if layout == "conlleval":
        if several:
            raise typer.BadParameter("conlleval knows one score only", param_hint="--layout")
        known("match for the layout conlleval:", signature.match, MATCHES[:1])
        known("average for the layout conlleval:", signature.average, AVERAGES[:1])
    if confidence is None:
        return
    hint = "--confidence"
    if several:
        raise typer.BadParameter("an interval goes with one score", param_hint=hint)
    if not 0 < confidence < 1:
        raise typer.BadParameter("a level lies between 0 and 1", param_hint=hint)
    if (signature.match, signature.average) != (MATCHES[0], AVERAGES[0]):
        message = "an interval is for the micro average of exact matches"
        raise typer.BadParameter(message, param_hint=hint)


def show(task: Task, report: FileReport, form: str, interval: Interval | None, output: str) -> None:
    """Write a report; conlleval has no line for the signature, so that goes beside it."""
    if form != "conlleval":
        task.deliver(output, formatted(report, form, interval))
        return
    if report.counts.right_tokens is None:
        message = "conlleval compares tags: both files need one column of them, in one scheme"
        raise typer.BadParameter(message, param_hint="--layout")
    encoding = task.how.encoding
    task.deliver(output, formatted(report, form, encoding=encoding), encoding)
    echo(f"{headline(report, interval)}\nsignature {report.signature}", err=True)


def interval_of(report: FileReport, level: float, rounds: int, seed: int) -> Interval:
    """The confidence interval of a score over its sentences."""
    from ..scoring.resampling import bootstrap

    metric = report.signature.metric
    if report.value is None:
        raise FileError(f"There is no interval, since the {metric} is undefined.")
    return bootstrap(report.by_sentence(), metric, rounds, seed, level)  # type: ignore[arg-type]


def policy_table(task: Task, signature: Signature, form: str) -> str:
    """Every prediction under every policy."""
    from ..scoring.side_by_side import PolicyScore, policies, under_policies

    scores = []
    for predicted in task.predictions:
        scorers = [PairScorer(each, count_refused=True) for each in under_policies(signature)]
        task.score(predicted, scorers)
        with task.naming_schemes(predicted):
            scores += [PolicyScore.of(task.name(predicted), scorer) for scorer in scorers]
    return policies(scores, form)


def runs_table(task: Task, signature: Signature, form: str) -> str:
    """Several predictions as runs of one system."""
    return runs(task.reports(signature), form)
