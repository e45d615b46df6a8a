"""The command that tests a difference between systems: compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from ..corpus.conll import Columns
from ..errors import FileError
from ..scoring.files import FileReport
from ..scoring.formats import percent
from .app import command
from .options import Json, SchemeName, column_options
from .score import GoldRepair, IgnoreTokens, Metric, Repair, Task, recipe
from .survey import print_json


@command("compare")
@column_options
def compare_cli(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold file.")],
    first: Annotated[
        list[str], typer.Option("--a", "-a", help="Predictions of system A; repeat for runs.")
    ],
    second: Annotated[
        list[str], typer.Option("--b", "-b", help="Predictions of system B; repeat for runs.")
    ],
    scheme: SchemeName,
    columns: Columns,
    repair: Repair = None,
    gold_repair: GoldRepair = "raise",
    metric: Metric = "f1",
    ignore_tokens: IgnoreTokens = False,
    rounds: Annotated[int, typer.Option("--rounds", help="Of resampling.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Of the random numbers.")] = 0,
    json: Json = False,
) -> None:
    """Is the difference between two systems, or two sets of runs, more than chance?

    One prediction each: paired approximate randomisation and bootstrap over sentences. Several
    runs each: the Wilcoxon rank-sum test over their scores.
    """
    signature = recipe(scheme, repair, gold_repair, metric, "micro", "exact")
    tasks = [
        Task(gold, tuple(side), columns, ignore_tokens=ignore_tokens) for side in (first, second)
    ]
    sides = [task.reports(signature, keep_matched=True) for task in tasks]
    try:
        if len(first) == len(second) == 1:
            tests, lines = over_sentences(sides[0][0], sides[1][0], metric, rounds, seed)
        else:
            tests, lines = over_runs(*sides)
    except ValueError as error:  # a score that is undefined cannot be compared
        raise FileError(f"Nothing to compare: {error}") from error
    values = [[report.value for report in side] for side in sides]
    if json:
        print_json({"signature": str(signature), "a": values[0], "b": values[1], **tests})
        return
    for name, side in zip("AB", values):
        typer.echo(f"{name}: {' '.join(percent(value) for value in side)}")
    typer.echo(f"difference A - B: {100 * tests['difference']:+.2f}")
    for line in [*lines, f"signature {signature}"]:
        typer.echo(line)


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
        f"approximate randomisation over sentences: p = {test.p:.4f} ({test.method})",
        f"paired bootstrap over sentences: p = {boot.p:.4f}, 95 % interval of the difference "
        f"{100 * interval.low:+.2f} to {100 * interval.high:+.2f}",
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
        f"{name}: {run.n} runs, mean {percent(run.mean)}, standard deviation {percent(run.sd)}"
        for name, run in zip("AB", runs)
    ]
    lines.append(f"Wilcoxon rank-sum over runs: p = {test.p:.4f} ({test.method})")
    return {"difference": test.difference, "rank_sum": asdict(test)}, lines
