"""The command that scores files: score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions, option
from ..errors import FileError
from ..scoring.files import FileReport, PairScorer
from ..scoring.formats import FORMATS, formatted, headline
from ..scoring.side_by_side import runs
from ..scoring.signature import AVERAGES, MATCHES, Signature, known
from .application import SHOWN, command, echo
from .mistakes import show_mistakes
from .options import SchemeName, fields_of, read_options
from .score_page import SHOWN as ON_PAGE
from .score_page import make_page
from .tasks import Files, ScoreOptions, Task, score_options

if TYPE_CHECKING:
    from ..scoring.resampling import Interval


@dataclass(frozen=True)
class View:
    """What to show of a score: figures, intervals, mistakes or a page; and where to write it."""

    layout: str = option("table", f"One of: {', '.join(FORMATS)}.")
    policies: bool = option(False, "Score under every policy, side by side.")
    errors: bool = option(
        False,
        "List every mistake with its line in place of the figures: missed, spurious, wrong label, "
        "wrong boundary.",
    )
    html: str = option("", "Write a page, too: the score, and the mistakes to browse.")
    limit: int | None = option(
        None,
        "Of --errors and --html: at most so many mistakes; 0 is all (default: "
        f"{SHOWN}, as JSON all; {ON_PAGE:,} on the page).",
    )
    confidence: float | None = option(
        None,
        "Also the interval of this level, 0.95 for example: a bootstrap over sentences.",
    )
    output: str = option(STANDARD, "Where to write; - prints.")


@command("score")
@fields_of("view", View)
@score_options
@read_options
def score_cli(
    files: Files,
    how: ReadOptions,
    compared: ScoreOptions,
    view: View,
    scheme: SchemeName = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON: --layout json.")] = False,
) -> None:
    """Score predictions against gold; the score says how it was made.

    Files may be of any format, each of its own. Where mentions overlap, there are also the figures
    of sentences with and without overlap, and the recall of nested ones.
    """
    signature = compared.signature(scheme)
    view = replace(view, layout="json") if json else view
    require_room(view, signature, how.format, several=view.policies or len(files) > 2)
    if view.layout == "conlleval":  # it counts document markers as tokens
        how = replace(how, documents="tokens")
    show(view, Task.of(files, how, scheme, compared), signature)


def require_room(view: View, signature: Signature, form: str, several: bool) -> None:
    """Refuse options that exclude each other, before anything is read."""
    if form in FORMATS:
        refuse("--format", f"{form} is a layout of scores: --layout {form}")
    known("layout", view.layout, FORMATS)
    if view.layout == "conlleval":
        require_conlleval(signature, several)
    if view.confidence is not None:
        require_interval(signature, view.confidence, several)
    if view.errors and (view.policies or view.layout not in ("table", "json")):
        refuse(
            "--errors",
            "mistakes are listed under one policy, as lines or as JSON (--layout json)",
        )
    if view.errors and view.html:
        refuse("--errors", "mistakes are listed or put on a page: choose one of them")
    if view.html and several:
        refuse("--html", "a page is about one prediction; 'compare' makes one of two systems")


def show(view: View, task: Task, signature: Signature) -> None:
    """Score the files of a task, and show what was asked for."""
    if view.errors:
        show_mistakes(task, signature, view.limit, view.layout == "json")
    elif view.policies:
        task.deliver(view.output, policy_table(task, signature, view.layout))
    elif len(task.predictions) > 1:
        task.deliver(view.output, runs(task.reports(signature), view.layout))
    else:
        show_one(view, task, signature)


def show_one(view: View, task: Task, signature: Signature) -> None:
    """Score one prediction: write its page if there is to be one, and its figures."""
    keep = view.confidence is not None
    if view.html:
        report = make_page(task, signature, view.html, view.limit, keep)
    else:
        ((_, report),) = task.reports(signature, keep_matched=keep)
    if view.html == STANDARD:  # the page is printed, and nothing else
        return
    interval = interval_of(view, task, report)
    if view.layout == "conlleval":
        write_conlleval(view, task, report, interval)
    else:
        task.deliver(view.output, formatted(report, view.layout, interval))


def interval_of(view: View, task: Task, report: FileReport) -> Interval | None:
    """Return the confidence interval of a score over its sentences, if it was asked for."""
    if view.confidence is None:
        return None
    from ..scoring.resampling import bootstrap

    metric = report.signature.metric
    if report.value is None:
        raise FileError(f"There is no interval, since the {metric} is undefined.")
    figures = report.by_sentence()
    return bootstrap(figures, metric, task.compared.rounds, task.compared.seed, view.confidence)  # type: ignore[arg-type]


def write_conlleval(view: View, task: Task, report: FileReport, interval: Interval | None) -> None:
    """Write a report as conlleval does, and its signature to standard error."""
    if report.counts.right_tokens is None:
        message = "conlleval compares tags: both files need one column of them, in one scheme"
        refuse("--layout", message)
    encoding = task.how.encoding
    task.deliver(view.output, formatted(report, view.layout, encoding=encoding), encoding)
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
