"""The command that tests a difference between systems: compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions
from ..errors import FileError
from ..scoring.files import ALL, FileReport
from ..scoring.tables import percent
from .application import command, counted, echo
from .options import Json, SchemeName, fields_of, read_options
from .output import print_json
from .score_page import SHOWN, make_page_of_two
from .tasks import ScoreOptions, Task

if TYPE_CHECKING:
    from ..scoring.runs import Test

Html = Annotated[
    str,
    typer.Option("--html", help="Write a page, too: who is right where, with every sentence."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help=f"Of --html: at most so many mistakes; 0 is all (default: {SHOWN:,}).",
        min=0,
    ),
]


@command("compare")
@fields_of("compared", ScoreOptions, ("average", "match"))
@read_options
def compare_cli(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold file.")],
    first: Annotated[
        list[str],
        typer.Option(
            "--a",
            "-a",
            metavar="FILE",
            help="A file of predictions of system A; repeat -a for its runs.",
        ),
    ],
    second: Annotated[
        list[str],
        typer.Option(
            "--b",
            "-b",
            metavar="FILE",
            help="A file of predictions of system B; repeat -b for its runs.",
        ),
    ],
    how: ReadOptions,
    compared: ScoreOptions,
    scheme: SchemeName = "",
    html: Html = "",
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Is the difference between two systems, or two sets of runs, more than chance?

    One prediction each: paired approximate randomisation and bootstrap over sentences. Several
    runs each: the Wilcoxon rank-sum test over their scores.
    """
    signature = compared.signature(scheme)
    if html and len(first) + len(second) > 2:
        message = "a page is about one prediction of each system: name one -a and one -b"
        raise typer.BadParameter(message, param_hint="--html")
    task = Task(gold, (*first, *second), how, scheme, compared)
    locate = ALL if html else 0
    reports = [report for _, report in task.reports(signature, True, locate)]
    sides = reports[: len(first)], reports[len(first) :]
    tests, lines = tested(*sides, compared)
    if html:
        make_page_of_two(task, (reports[0], reports[1]), in_short(tests), html, limit)
    if html == STANDARD:  # the page is printed, and nothing else
        return
    values = [[report.value for report in side] for side in sides]
    if json:
        print_json(
            {"signature": str(reports[0].signature), "a": values[0], "b": values[1], **tests}
        )
        return
    for name, side in zip("AB", values):
        echo(f"{name}: {' '.join(percent(value) for value in side)}")
    echo(f"difference A - B: {100 * tests['difference']:+.2f}")
    for line in [*lines, *signature_lines(*sides)]:
        echo(line)


def signature_lines(first: Sequence[FileReport], second: Sequence[FileReport]) -> list[str]:
    """Return the signature of both systems, or those of each system if they differ."""
    a, b = ({str(report.signature): None for report in side} for side in (first, second))
    if a == b and len(a) == 1:
        return [f"signature {next(iter(a))}"]
    return [f"signature of {name} {text}" for name, side in zip("AB", (a, b)) for text in side]


def tested(
    first: Sequence[FileReport], second: Sequence[FileReport], compared: ScoreOptions
) -> tuple[dict[str, Any], list[str]]:
    """The tests that go with so many outputs on each side: as data, and in words."""
    if not first[0].counts.sentences:
        raise FileError("Nothing to compare: there are no sentences.")
    try:
        if len(first) == len(second) == 1:
            return over_sentences(first[0], second[0], compared)
        return over_runs(first, second)
    except ValueError as error:  # a score that is undefined cannot be compared
        raise FileError(f"Nothing to compare: {error}") from error


def in_short(tests: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names and values of tests over sentences, for a page."""
    interval = tests["interval"]
    low, high = (f"{100 * interval[end]:+.2f}" for end in ("low", "high"))
    return [
        ("p of the difference (randomisation)", f"{tests['randomisation']['p']:.4f}"),
        (f"{100 * interval['level']:g} % interval of it (bootstrap)", f"{low} to {high}"),
    ]


def recipe_of(test: Test) -> str:
    """How a test was made: its method, and where numbers were drawn, how many and how."""
    drawn = "" if test.rounds is None else f", {test.rounds:,} rounds, seed {test.seed}"
    return f"{test.method}{drawn}"


def over_sentences(
    first: FileReport, second: FileReport, compared: ScoreOptions
) -> tuple[dict[str, Any], list[str]]:
    """Two outputs, resampled sentence by sentence: as data, and in words."""
    from ..scoring.resampling import bootstrap_difference, randomisation

    a, b = first.by_sentence(), second.by_sentence()
    how: Any = compared.metric, compared.rounds, compared.seed
    test = randomisation(a, b, *how)
    boot, interval = bootstrap_difference(a, b, *how)
    data = {"difference": test.difference, "randomisation": asdict(test)}
    lines = [
        f"approximate randomisation over sentences: p = {test.p:.4f} ({recipe_of(test)})",
        f"paired bootstrap over sentences: p = {boot.p:.4f}, {100 * interval.level:g} % interval "
        f"of the difference {100 * interval.low:+.2f} to {100 * interval.high:+.2f} "
        f"({recipe_of(boot)})",
    ]
    return data | {"bootstrap": asdict(boot), "interval": asdict(interval)}, lines


def over_runs(
    first: Sequence[FileReport], second: Sequence[FileReport]
) -> tuple[dict[str, Any], list[str]]:
    """Two sets of runs by their scores: as data, and in words."""
    from ..scoring.runs import Runs, rank_sum

    runs = [Runs(report.value for report in side) for side in (first, second)]
    test = rank_sum(runs[0], runs[1])
    lines = [
        f"{name}: {counted(run.n, 'run')}, mean {percent(run.mean)}, "
        f"standard deviation {percent(run.sd)}"
        for name, run in zip("AB", runs)
    ]
    lines.append(f"Wilcoxon rank-sum over runs: p = {test.p:.4f} ({recipe_of(test)})")
    return {"difference": test.difference, "rank_sum": asdict(test)}, lines
