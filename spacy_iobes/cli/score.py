"""The command that scores files: score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions, option
from ..errors import OptionError
from ..scoring.file_pairs import FilePairs, ScoreOptions
from ..scoring.files import ALL, FileReport
from ..scoring.formats import FORMATS, formatted, headline
from ..scoring.side_by_side import runs
from ..scoring.signature import AVERAGES, MATCHES, Signature, known
from .application import SHOWN, command, counted, echo, tell
from .options import FILES, SchemeName, fields_of, read_options
from .output import ON_PAGE, most_on_page, print_json, tell_cut

if TYPE_CHECKING:
    from ..scoring.resampling import Interval

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="GOLD [PRED...]",
        help="A gold file and predictions for it; or one column file with both in its last "
        "columns.",
    ),
]


@dataclass(frozen=True)
class View:
    """The parts of a score to show: figures, interval, mistakes or a page; and where to write."""

    layout: str = option("table", f"One of: {', '.join(FORMATS)}.")
    policies: bool = option(False, "Score under every policy, side by side.")
    errors: bool = option(False, "List every mistake with its place, not the figures.")
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
    quiet: bool = option(False, "Print only the score and its signature.")


@command("score")
@fields_of("view", View)
@fields_of("compared", ScoreOptions)
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
    gold, *predictions = files
    pairs = FilePairs(FILES, gold, tuple(predictions) or (None,), how, scheme, compared)
    show(view, pairs, signature)


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
    if view.quiet and (several or view.errors or view.layout != "table"):
        refuse("--quiet", "this is for one score, as a line of text")
    if view.errors and view.html:
        refuse("--errors", "mistakes are listed or put on a page: choose one of them")
    if view.html and several:
        refuse("--html", "a page is about one prediction; 'compare' makes one of two systems")


def show(view: View, pairs: FilePairs, signature: Signature) -> None:
    """Score files, and show what was asked for."""
    if view.errors:
        show_mistakes(view, pairs, signature)
    elif view.policies:
        pairs.write(view.output, pairs.under_policies(signature, view.layout))
    elif len(pairs.predictions) > 1:
        pairs.write(view.output, runs(pairs.reports(signature), view.layout))
    else:
        show_one(view, pairs, signature)


def show_mistakes(view: View, pairs: FilePairs, signature: Signature) -> None:
    """List the mistakes of every prediction, at most so many; 0 is all."""
    json, results = view.layout == "json", []
    locate = (ALL if json else SHOWN) if view.limit is None else view.limit or ALL
    for name, report in pairs.reports(signature, locate=locate):
        if json:
            results.append(report.mistakes_data(name))
        else:
            for line in report.mistake_lines(name):
                echo(line)
    if json:
        print_json(results)
    else:
        echo(f"signature {report.signature}")


def show_one(view: View, pairs: FilePairs, signature: Signature) -> None:
    """Score one prediction: write its page if there is to be one, and its figures."""
    keep = view.confidence is not None
    if view.html:
        pairs.require_other(view.html)
        report, page = pairs.page(signature, most_on_page(view.limit), keep)
        pairs.write(view.html, page)
        total = sum(report.kinds.values())
        tell_cut(view.html, counted(total, "mistake"), len(report.located), total)
    else:
        ((_, report),) = pairs.reports(signature, keep_matched=keep)
    if view.html == STANDARD:  # the page is printed, and nothing else
        return
    interval = None if view.confidence is None else pairs.interval(report, view.confidence)
    if view.layout == "conlleval":
        write_conlleval(view, pairs, report, interval)
    elif view.quiet:
        said = f"{headline(report, interval)}\nsignature {report.signature}\n"
        pairs.write(view.output, said)
    else:
        pairs.write(view.output, formatted(report, view.layout, interval))


def write_conlleval(
    view: View, pairs: FilePairs, report: FileReport, interval: Interval | None
) -> None:
    """Write a report as conlleval does, and its signature to standard error."""
    if report.counts.right_tokens is None:
        message = "conlleval compares tags: both files need one column of them, in one scheme"
        refuse("--layout", message)
    encoding = pairs.how.encoding
    pairs.write(view.output, formatted(report, view.layout, encoding=encoding), encoding)
    tell(f"{headline(report, interval)}\nsignature {report.signature}")


def refuse(option: str, message: str) -> NoReturn:
    """Raise for an option that cannot be had, or not beside the others."""
    raise OptionError(message, option)


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
