"""Scoring beside other tools: from lists of tags in memory, and whole commands from files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from .commands import MEASURABLE
from .corpora import Corpus, load, repeated
from .outcome import Outcome, agreeing, as_table, enlarged
from .score_files import as_table as files_table
from .score_files import measure_large, measure_small, write_files
from .score_memory import memory_table
from .score_targets import Results, targets
from .score_tools import JOB, SOURCES, inputs
from .table import Cell, Table
from .timing import Alternative, race
from .tools import Tool, gather

LEGEND = [
    "Predictions: gold with 5 % of the tags changed (seed 0), then made legal: all tools agree.",
    "In memory every sentence is a list of its own and equal tags are one object.",
    "ns/token: process CPU time, the median of all rounds; spread: its interquartile range.",
    "x PEER: how many times faster than that peer, the median of the ratios of every round; only",
    "for tools that count the same correct, predicted and gold spans, or write the same bytes.",
    "On the large input each peer runs once, ours several times; nervaluate is left out there.",
]


@dataclass(frozen=True)
class Plan:
    """How much to measure: `large` is in tokens, to which the corpus is repeated."""

    rounds: int
    floor: float
    file_rounds: int
    large: int | None = None
    large_rounds: int = 11
    large_file_rounds: int = 5


FULL = Plan(rounds=9, floor=0.01, file_rounds=11, large=5_000_000)
QUICK = Plan(rounds=2, floor=0.002, file_rounds=1)


def lists(corpus: Corpus, tools: Sequence[Tool], plan: Plan) -> Outcome:
    """Check that the tools agree on the corpus, then time all of them in all rounds."""
    pair = inputs(corpus)
    alike = agreeing(tools, [pair])
    alternatives = [Alternative(tool.name, tool.run, partial(tool.prepare, pair)) for tool in tools]
    timings = race(alternatives, plan.rounds, plan.floor)
    return Outcome(JOB, corpus.tokens, tools, timings, alike)


def many_lists(corpus: Corpus, small: Outcome, plan: Plan, times: int) -> Outcome:
    """The same on the corpus many times over."""
    gold, predicted = (repeated(side, times) for side in inputs(corpus))
    return enlarged(small, lambda: (gold, predicted), times, plan.large_rounds)


def first_call(large: Outcome) -> list[str]:
    """Peers run once, so what our own first call took belongs beside the median of all."""
    ours = large.timings["ours score"]
    seconds = ours.at(min(ours.cpu))
    others = {tool.peer: large.timings[tool.name] for tool in large.tools if tool.peer}
    ratios = (f"{median(t.cpu.values()) / seconds:.3g} x {peer}" for peer, t in others.items())
    return [
        f"The first call of ours score took {seconds / large.tokens * 1e9:.3g} ns/token: "
        f"{', '.join(ratios)}."
    ]


def run(quick: bool) -> Iterator[Table]:
    """Measure everything, table by table."""
    plan = QUICK if quick else FULL
    corpus = load()
    times = round((plan.large or 0) / corpus.tokens)
    tools, missing = gather(SOURCES)
    size: dict[str, Cell] = {"sentences": len(corpus.bio), "tokens": corpus.tokens}
    yield Table("input", [{"corpus": corpus.name, **size}], LEGEND + missing)
    results = Results()
    small = lists(corpus, tools[JOB], plan)
    yield as_table("score lists of tags", [small])
    if plan.large:
        results.lists = many_lists(corpus, small, plan, times)
        table = as_table("score lists of tags", [results.lists])
        table.notes += first_call(results.lists)
        yield table
        results.memory = memory_table((plan.large // 10, plan.large), missing)
        yield results.memory
    if MEASURABLE:
        with TemporaryDirectory() as directory:
            yield from files(corpus, plan, times, Path(directory), results)
    yield targets(results)


def files(
    corpus: Corpus, plan: Plan, times: int, directory: Path, results: Results
) -> Iterator[Table]:
    """The commands on both sizes of files."""
    written = write_files(corpus, 1, directory)
    results.small, missing = measure_small(written, plan.file_rounds, directory)
    yield files_table(written, results.small, missing)
    if plan.large:
        written = write_files(corpus, times, directory)
        results.large = measure_large(written, plan.large_file_rounds, directory)
        yield files_table(written, results.large)
