"""Inference over mention separators: two states (EDGE) beside eight (STATE), words per second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spacy_iobes import kernels
from spacy_iobes.chain.gaps import Gaps
from spacy_iobes.chain.separators import Edge, Model, State, loss_of
from spacy_iobes.kernels import separators
from spacy_iobes.kernels.separators_numpy import Separators

from .chain import target_row
from .table import Cell, Table
from .targets import at_least, at_most
from .timing import Alternative, race, steady_memory

LEGEND = [
    "Words per second of process CPU time, the median of all rounds; a word has all labels. Scores",
    "are float32, normal, standard deviation 2. EDGE: two states. STATE: eight, one set of steps",
    "for all labels, without scores; own steps: scores for each label. x STATE: how many times",
    "faster than it EDGE is, the median of the ratios of every round. Loss: with its gradient,",
    "everything known. The scores are checked beforehand.",
]
RATIO = 3.5  # the paper's, for its whole decoder on GENIA (Muis and Lu 2017)
GROWTH = 2.0


@dataclass(frozen=True)
class Plan:
    """How much to measure."""

    rounds: int
    floor: float
    labels: tuple[int, ...]
    times: int


FULL = Plan(rounds=9, floor=0.05, labels=(1, 5, 20, 100, 200), times=100)
QUICK = Plan(rounds=3, floor=0.01, labels=(1, 5, 20), times=10)


@dataclass(frozen=True, eq=False)
class Problem:
    """Scores, and separators that are known."""

    gaps: Gaps
    known: Separators

    @property
    def words(self) -> int:
        """How many tokens there are."""
        return int(self.gaps.lengths.sum())


Job = Callable[[Model, Problem], object]
JOBS: dict[str, Job] = {
    "total": lambda model, given: model.total(given.gaps),
    "probabilities": lambda model, given: model.expect(given.gaps),
    "loss": lambda model, given: loss_of(model, given.gaps, given.known),
    "best": lambda model, given: model.best(given.gaps),
}


def problem(sentences: int, length: int, labels: int) -> Problem:
    """Random scores, and the best separators of others as known ones."""
    random = np.random.default_rng(0)
    shape = (sentences * (length + 1), labels, 8)
    scores, others = (random.standard_normal(shape, dtype=np.float32) * 2 for _ in range(2))
    lengths = [length] * sentences
    return Problem(Gaps.of(scores, lengths), Edge().best(Gaps.of(others, lengths)).separators)


def models(labels: int) -> dict[str, Model]:
    """All that are compared, the first one first."""
    own = np.random.default_rng(1).normal(size=(labels, 8, 8))
    return {"EDGE": Edge(), "STATE": State(np.zeros((8, 8))), "own steps": State(own)}


def compared(plan: Plan) -> Table:
    """Every job for all models, 5 labels, sentences of 28 tokens."""
    given = problem(256, 28, 5)
    rows: list[dict[str, Cell]] = []
    for name, job in JOBS.items():
        prepared = {what: partial(job, model) for what, model in models(5).items()}
        alternatives = [Alternative(what, run, lambda: given) for what, run in prepared.items()]
        timings = race(alternatives, plan.rounds, plan.floor)
        row: dict[str, Cell] = {"job": name}
        for what, timing in timings.items():
            row[what] = given.words / float(np.median([*timing.cpu.values()]))
        for what in ("STATE", "own steps"):
            row[f"x {what}"] = timings["EDGE"].times_faster_than(timings[what])
        rows.append(row)
    formats = dict.fromkeys(models(5), ",.0f")
    return Table("words/s, 256 sentences of 28 tokens, 5 labels", rows, [], formats)


def growing(
    title: str,
    unit: str,
    inputs: dict[int, Problem],
    plan: Plan,
    jobs: Sequence[str] = ("loss", "best"),
) -> Table:
    """Nanoseconds of EDGE for each token and label as there are more of something."""
    rows: list[dict[str, Cell]] = []
    for name in jobs:
        run = partial(JOBS[name], Edge())
        alternatives = [Alternative(str(n), run, partial(inputs.get, n)) for n in inputs]
        timings = race(alternatives, plan.rounds, plan.floor)
        row: dict[str, Cell] = {"job": f"EDGE, {name}"}
        costs = []
        for n, given in inputs.items():
            cost = float(np.median([*timings[str(n)].cpu.values()]))
            costs.append(cost * 1e9 / (given.words * given.gaps.labels))
            row[f"{n:,} {unit}"] = costs[-1]
        row["growth"] = costs[-1] / min(costs)
        rows.append(row)
    return Table(title, rows, ["Growth: the last beside the least."])


def targets(ratios: Table, growth: Sequence[Table]) -> Table:
    """What we want, what was measured, and whether it is met."""
    rows = [
        target_row(
            f"{row['job']}: EDGE",
            f">= {RATIO:g} x STATE",
            row["x STATE"],
            at_least(row["x STATE"], RATIO),
        )
        for row in ratios.rows
    ]
    rows += [
        target_row(
            f"{row['job']}: {table.title}",
            f"<= {GROWTH:g}",
            row["growth"],
            at_most(row["growth"], GROWTH),
        )
        for table in growth
        for row in table.rows
    ]
    return Table("targets", rows)


def run(quick: bool) -> Iterator[Table]:
    """Measure everything, table by table."""
    plan = QUICK if quick else FULL
    in_use = f"Kernels in use: {separators.IN_USE} for EDGE, {kernels.CHAIN_IN_USE} for STATE."
    yield Table("input", [], [*LEGEND, steady_memory(), in_use])
    ratios = compared(plan)
    yield ratios
    by_labels = {labels: problem(64, 28, labels) for labels in plan.labels}
    by_number = {n: problem(n, 28, 5) for n in (32, 32 * plan.times)}
    by_length = {n: problem(1, n, 5) for n in (1000, 1000 * plan.times)}
    growth = [
        growing("ns/token and label: more labels", "labels", by_labels, plan),
        growing("ns/token and label: more sentences", "sentences", by_number, plan),
        growing("ns/token and label: longer sentences", "tokens", by_length, plan),
    ]
    yield from growth
    yield targets(ratios, growth)
