"""The command that scores files: score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NoReturn

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
Policies = Annotated[
    bool, typer.Option("--policies", help="Score under every policy, side by side.")
]
Errors = Annotated[
    bool,
    typer.Option(
        "--errors",
        help="List every mistake with its line in place of the figures: missed, spurious, wrong "
        "label, wrong boundary.",
    ),
]
Html = Annotated[
    str, typer.Option("--html", help="Write a page, too: the score, and the mistakes to browse.")
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help="Of --errors and --html: at most so many mistakes; 0 is all (default: "
        f"{SHOWN}, as JSON all; {ON_PAGE:,} on the page).",
        min=0,
    ),
]
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
    policies: Policies = False,
    errors: Errors = False,
    html: Html = "",
    limit: Limit = None,
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
    view = View(layout, policies, errors, html, limit, confidence, rounds, seed, output)
    view.require_room(signature, how.format, several=policies or len(files) > 2)
    if layout == "conlleval":  # it counts document markers as tokens
        how = replace(how, documents="tokens")
    view.show(Task.of(files, how, scheme, gold_tag, ignore_tokens, characters), signature)


@dataclass(frozen=True)
class View:
    """What to show of a score: figures, intervals, mistakes or a page; and where to write it."""

    layout: str
    policies: bool
    errors: bool
    html: str
    limit: int | None
    confidence: float | None
    rounds: int
    seed: int
    output: str

    def require_room(self, signature: Signature, form: str, several: bool) -> None:
        """Refuse options that exclude each other, before anything is read."""
        if form in FORMATS:
            refuse("--format", f"{form} is a layout of scores: --layout {form}")
        known("layout", self.layout, FORMATS)
        if self.layout == "conlleval":
            require_conlleval(signature, several)
        if self.confidence is not None:
            require_interval(signature, self.confidence, several)
        if self.errors and (self.policies or self.layout not in ("table", "json")):
            refuse(
                "--errors",
                "mistakes are listed under one policy, as lines or as JSON (--layout json)",
            )
        if self.errors and self.html:
            refuse("--errors", "mistakes are listed or put on a page: choose one of them")
        if self.html and several:
            refuse("--html", "a page is about one prediction; 'compare' makes one of two systems")

    def show(self, task: Task, signature: Signature) -> None:
        """Score the files of a task, and show what was asked for."""
        if self.errors:
            show_mistakes(task, signature, self.limit, self.layout == "json")
        elif self.policies:
            task.deliver(self.output, policy_table(task, signature, self.layout))
        elif len(task.predictions) > 1:
            task.deliver(self.output, runs(task.reports(signature), self.layout))
        else:
            self.show_one(task, signature)

    def show_one(self, task: Task, signature: Signature) -> None:
        """Score one prediction: write its page if there is to be one, and its figures."""
        keep = self.confidence is not None
        if self.html:
            report = make_page(task, signature, self.html, self.limit, keep)
        else:
            ((_, report),) = task.reports(signature, keep_matched=keep)
        if self.html == STANDARD:  # the page is printed, and nothing else
            return
        interval = self.interval(report)
        if self.layout == "conlleval":
            self.write_conlleval(task, report, interval)
        else:
            task.deliver(self.output, formatted(report, self.layout, interval))

    def interval(self, report: FileReport) -> Interval | None:
        """Return the confidence interval of a score over its sentences, if it was asked for."""
        if self.confidence is None:
            return None
        from ..scoring.resampling import bootstrap

        metric = report.signature.metric
        if report.value is None:
            raise FileError(f"There is no interval, since the {metric} is undefined.")
        figures = report.by_sentence()
        return bootstrap(figures, metric, self.rounds, self.seed, self.confidence)  # type: ignore[arg-type]

    def write_conlleval(self, task: Task, report: FileReport, interval: Interval | None) -> None:
        """Write a report as conlleval does, and its signature to standard error."""
        if report.counts.right_tokens is None:
            message = "conlleval compares tags: both files need one column of them, in one scheme"
            refuse("--layout", message)
        encoding = task.how.encoding
        task.deliver(self.output, formatted(report, self.layout, encoding=encoding), encoding)
        echo(f"{headline(report, interval)}\nsignature {report.signature}", err=True)


def refuse(option: str, message: str) -> NoReturn:
    """Raise for an option that cannot be had, or not beside the others."""
    raise typer.BadParameter(message, param_hint=option)


def require_conlleval(signature: Signature, several: bool) -> None:
    """Raise for what the layout conlleval has no room for."""
    if several:
        refuse("--layout", "conlleval knows one score only")
    known("match for the layout conlleval:", signature.match, MATCHES[:1])
    known("average for the layout conlleval:", signature.average, AVERAGES[:1])


def require_interval(signature: Signature, level: float, several: bool) -> None:
    """Raise unless there is a confidence interval of such a score."""
    if several:
        refuse("--confidence", "an interval goes with one score")
    if not 0 < level < 1:
        refuse("--confidence", "a level lies between 0 and 1")
    if (signature.match, signature.average) != (MATCHES[0], AVERAGES[0]):
        refuse("--confidence", "an interval is for the micro average of exact matches")


def policy_table(task: Task, signature: Signature, form: str) -> str:
    """Return a table of every prediction under every policy."""
    from ..scoring.side_by_side import PolicyScore, policies, under_policies

    scores = []
    for predicted in task.predictions:
        scorers = [PairScorer(each, count_refused=True) for each in under_policies(signature)]
        task.score(predicted, scorers)
        with task.naming_schemes(predicted):
            scores += [PolicyScore.of(task.name(predicted), scorer) for scorer in scorers]
    return policies(scores, form)
