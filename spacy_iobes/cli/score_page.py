"""A score as one HTML page: what it is made of, and the mistakes to browse."""

from __future__ import annotations

from pathlib import Path

from ..corpus.files import STANDARD, shown
from ..corpus.inputs import require_other
from ..scoring.files import ALL, FileReport, PairScorer
from ..scoring.signature import SPANS, Signature
from .application import counted, echo
from .tasks import Task

SHOWN = 10_000  # mistakes on the page, unless told otherwise


def make_page(
    task: Task, signature: Signature, output: str, limit: int | None, keep_matched: bool
) -> FileReport:
    """Write the page of a prediction, say what is on it, and return the score."""
    require_other(output, [task.gold, *filter(None, task.predictions)])
    locate = SHOWN if limit is None else limit or ALL
    report = write_page(task, signature, output, locate, keep_matched)
    total = sum(report.kinds.values())
    mistakes = counted(total, "mistake")
    if len(report.located) < total:
        mistakes += f", the first {len(report.located):,} of them on the page (--limit)"
    echo(f"{shown_output(output)}: {mistakes}", err=True)
    return report


def write_page(
    task: Task, signature: Signature, output: str, locate: int, keep_matched: bool
) -> FileReport:
    """Score a prediction under every policy in one go, and write the page of the chosen one."""
    from ..scoring.page import page  # here, since other commands do without it
    from ..scoring.side_by_side import under_policies

    chosen = PairScorer(signature, keep_matched, locate)
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
