"""Scores as HTML pages: of one prediction, or of two systems, with the mistakes to browse."""

from __future__ import annotations

from collections.abc import Sequence
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
    report = write_page(task, signature, output, most(limit), keep_matched)
    total = sum(report.kinds.values())
    tell_cut(output, counted(total, "mistake"), len(report.located), total)
    return report


def make_page_of_two(
    task: Task,
    reports: tuple[FileReport, FileReport],
    tests: Sequence[tuple[str, str]],
    output: str,
    limit: int | None,
) -> None:
    """Write the page of two systems, whose reports have all mistakes, and say what is on it."""
    from ..scoring.systems import cases, systems_page

    found = cases(reports)
    names = [Path(str(path)).name for path in (*task.predictions, task.gold)]
    title = "{} (A) and {} (B) against {}".format(*names)
    task.deliver(output, systems_page(reports, title, tests, found, most(limit)))
    what = f"{counted(len(found), 'place')} where a system is wrong"
    tell_cut(output, what, min(most(limit), len(found)), len(found))


def most(limit: int | None) -> int:
    """Return how many mistakes a page may hold; 0 is all."""
    return SHOWN if limit is None else limit or ALL


def tell_cut(output: str, what: str, there: int, total: int) -> None:
    """Say what a page is about, and how much of it is there."""
    cut = f", the first {there:,} of them on the page (--limit)" if there < total else ""
    name = "standard output" if output == STANDARD else output
    echo(f"{name}: {what}{cut}", err=True)


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
