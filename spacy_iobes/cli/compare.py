"""The command that tests a difference between systems: compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.formats.options import ReadOptions
from ..errors import FileError
from ..scoring.files import FileReport
from ..scoring.tables import percent
from .application import command, counted, echo
from .options import Json, SchemeName, read_options
from .output import print_json
from .tasks import (
    ROUNDS,
    Characters,
    GoldColumn,
    GoldPolicy,
    IgnoreTokens,
    Metric,
    PredictionPolicy,
    Rounds,
    Seed,
    Task,
    recipe,
)

if TYPE_CHECKING:
    from ..scoring.runs import Test


@command("compare")
@read_options
def compare_cli(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold file.")],
    first: Annotated[
        list[str], typer.Option("--a", "-a", help="Predictions of system A; repeat for runs.")
    ],
    second: Annotated[
        list[str], typer.Option("--b", "-b", help="Predictions of system B; repeat for runs.")
    ],
    how: ReadOptions,
    scheme: SchemeName = "",
    policy: PredictionPolicy = "raise",
    gold_policy: GoldPolicy = "raise",
    metric: Metric = "f1",
    gold_tag: GoldColumn = None,
    ignore_tokens: IgnoreTokens = False,
    characters: Characters = False,
    rounds: Rounds = ROUNDS,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Is the difference between two systems, or two sets of runs, more than chance?

    One prediction each: paired approximate randomisation and bootstrap over sentences. Several
    runs each: the Wilcoxon rank-sum test over their scores.
    """
    signature = recipe(scheme, policy, gold_policy, metric, "micro", "exact", characters)
    task = Task(gold, (*first, *second), how, scheme, gold_tag, ignore_tokens, characters)
    reports = [report for _, report in task.reports(signature, keep_matched=True)]
    sides = reports[: len(first)], reports[len(first) :]
    tests, lines = tested(*sides, metric, rounds, seed)
    values = [[report.value for report in side] for side in sides]
    if json:
        print_json(
            {"signature": str(reports[0].signature), "a": values[0], "b": values[1], **tests}
        )
        return
    for name, side in zip("AB", values):
        echo(f"{name}: {' '.join(percent(value) for value in side)}")
    echo(f"difference A - B: {100 * tests['difference']:+.2f}")
    for line in [*lines, f"signature {reports[0].signature}"]:
        echo(line)


def tested(
    first: Sequence[FileReport], second: Sequence[FileReport], metric: str, rounds: int, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """The tests that go with so many outputs on each side: as data, and in words."""
    if not first[0].counts.sentences:
        raise FileError("Nothing to compare: there are no sentences.")
    try:
        if len(first) == len(second) == 1:
            return over_sentences(first[0], second[0], metric, rounds, seed)
        return over_runs(first, second)
    except ValueError as error:  # a score that is undefined cannot be compared
        raise FileError(f"Nothing to compare: {error}") from error


def recipe_of(test: Test) -> str:
    """How a test was made: its method, and where numbers were drawn, how many and how."""
    drawn = "" if test.rounds is None else f", {test.rounds:,} rounds, seed {test.seed}"
    return f"{test.method}{drawn}"


def over_sentences(
    first: FileReport, second: FileReport, metric: str, rounds: int, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Two outputs, resampled sentence by sentence: as data, and in words."""
    from ..scoring.resampling import bootstrap_difference, randomisation

    a, b = first.by_sentence(), second.by_sentence()
    test = randomisation(a, b, metric, rounds, seed)  # type: ignore[arg-type]
    boot, interval = bootstrap_difference(a, b, metric, rounds, seed)  # type: ignore[arg-type]
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
