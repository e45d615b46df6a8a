"""Inference over chains beside pytorch-crf, in nanoseconds per token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spacy_iobes import kernels

from .chain_problems import Problem, even, problem, ragged
from .chain_tools import JOBS, SOURCES
from .outcome import Outcome, agreeing, as_table, nanoseconds
from .table import Cell, Table
from .targets import at_least, at_most
from .timing import Alternative, race, steady_memory
from .tools import Tool, Tools, gather

LEGEND = [
    "ns/token: process CPU time, the median of all rounds; spread: its interquartile range.",
    "x PEER: how many times faster than that peer, the median of the ratios of every round.",
    "Scores are float32, normal, standard deviation 2; steps 1. Ours starts from plain arrays: the",
    "chain and the batch are made and checked within the time. pytorch-crf: one thread; tensors",
    "and masks are made before. It has no minus infinity: illegal steps score -30 there, which is",
    "enough for these scores; with -10,000, as is usual, its loss takes up to 4 times as long.",
]
LABELS = {17: 4, 73: 18, 257: 64}
WANTED = {17: 50, 73: 100, 257: 100}
GROWTH = 2.0


@dataclass(frozen=True)
class Plan:
    """How much to measure."""

    rounds: int
    floor: float
    sizes: tuple[int, ...]
    times: int


FULL = Plan(rounds=9, floor=0.05, sizes=(17, 73, 257), times=100)
QUICK = Plan(rounds=3, floor=0.01, sizes=(17, 73), times=10)


def measure(job: str, tools: Sequence[Tool], given: Problem, plan: Plan) -> Outcome:
    """Check that the tools agree, then time them in turns."""
    alike = agreeing(tools, [given])  # first, so that nothing is timed that is run but once
    alternatives = [Alternative(t.name, t.run, partial(t.prepare, given)) for t in tools]
    timings = race(alternatives, plan.rounds, plan.floor)
    return Outcome(job, given.tokens, tools, timings, alike)


def compared(tools: Tools, plan: Plan, shape: str, legal: bool) -> dict[str, Outcome]:
    """Both jobs for every number of states, by name."""
    lengths = even() if shape == "32 x 40" else ragged()
    found = {}
    for states in plan.sizes:
        given = problem(LABELS[states], lengths, legal)
        for job in JOBS:
            found[f"{job}, K = {states}"] = measure(job, tools[job], given, plan)
    return found


def as_rows(title: str, outcomes: dict[str, Outcome]) -> Table:
    """One table, the number of states in the name of each job."""
    table = as_table(title, list(outcomes.values()))
    names = [name for name, outcome in outcomes.items() for _ in outcome.tools]
    table.rows = [{**row, "job": name} for name, row in zip(names, table.rows)]
    return table


def linearity(tools: Tools, plan: Plan) -> Table:
    """Our time per token as there are more sequences, and as they are longer."""
    growing = {
        "more sequences": (even(32, 40), even(32 * plan.times, 40)),
        "longer sequences": (even(1, 1000), even(1, 1000 * plan.times)),
    }
    rows: list[dict[str, Cell]] = []
    for job in JOBS:
        for name, lengths in growing.items():
            inputs = [problem(LABELS[17], shape) for shape in lengths]
            alternatives = [
                Alternative(str(i), tools[job][0].run, partial(inputs.__getitem__, i))
                for i in range(len(inputs))
            ]
            timings = race(alternatives, plan.rounds, plan.floor)
            row: dict[str, Cell] = {"job": f"{job}, K = 17", "grows": name}
            for i, label in enumerate(("first", "last")):
                row[f"tokens, {label}"] = inputs[i].tokens
                row[f"ns/token, {label}"] = nanoseconds(timings[str(i)], inputs[i].tokens)[
                    "ns/token"
                ]
            slower = timings["0"].times_faster_than(timings["1"])
            row["growth"] = slower * inputs[0].tokens / inputs[1].tokens
            rows.append(row)
    return Table("linearity", rows)


def large_scores(tools: Tools, plan: Plan) -> Table:
    """Our time as scores grow, from where single precision is enough to where logarithms begin."""
    rows: list[dict[str, Cell]] = []
    for states in plan.sizes:
        inputs = {s: problem(LABELS[states], even(), spread=s) for s in (1.0, 10.0, 40.0, 100.0)}
        for job in JOBS:
            alternatives = [
                Alternative(f"{s:g}", tools[job][0].run, partial(inputs.get, s)) for s in inputs
            ]
            timings = race(alternatives, plan.rounds, plan.floor)
            row: dict[str, Cell] = {"job": f"{job}, K = {states}"}
            for name, timing in timings.items():
                row[f"ns/token at {name}"] = nanoseconds(timing, inputs[1.0].tokens)["ns/token"]
            rows.append(row)
    return Table("by the standard deviation of the scores, 32 x 40", rows)


def targets(measured: dict[str, dict[str, Outcome]], growth: Table) -> Table:
    """What we want, what was measured, and whether it is met."""
    rows: list[dict[str, Cell]] = []
    for shape, outcomes in measured.items():
        for name, outcome in outcomes.items():
            wanted = WANTED[int(name.rpartition(" ")[2])]
            ratio = outcome.ratio("ours", "pytorch-crf")
            target = f">= {wanted} x pytorch-crf"
            rows.append(target_row(f"{name}, {shape}", target, ratio, at_least(ratio, wanted)))
    for row in growth.rows:
        name = f"{row['job']}: linear, {row['grows']}"
        value = row["growth"]
        rows.append(target_row(name, f"<= {GROWTH:g}", value, at_most(value, GROWTH)))
    return Table("targets", rows)


def target_row(name: str, wanted: str, ratio: Cell, verdict: str) -> dict[str, Cell]:
    """One row of the table of targets."""
    return {"target": name, "wanted": wanted, "ratio": ratio, "verdict": verdict}


def run(quick: bool) -> Iterator[Table]:
    """Measure everything, table by table."""
    plan = QUICK if quick else FULL
    tools, missing = gather(SOURCES)
    shapes: list[dict[str, Cell]] = [
        {"batch": name, "sequences": len(lengths), "tokens": int(np.sum(lengths))}
        for name, lengths in (("32 x 40", even()), ("ragged", ragged()))
    ]
    in_use = f"Chain kernels in use: {kernels.CHAIN_IN_USE}."
    yield Table("input", shapes, [*LEGEND, steady_memory(), in_use, *missing])
    measured = {}
    for shape in ("32 x 40", "ragged"):
        measured[shape] = compared(tools, plan, shape, legal=True)
        yield as_rows(f"IOBES steps, {shape}", measured[shape])
    if not quick:
        yield as_rows("any step, 32 x 40", compared(tools, plan, "32 x 40", legal=False))
        yield large_scores(tools, plan)
    growth = linearity(tools, plan)
    yield growth
    yield targets(measured, growth)
