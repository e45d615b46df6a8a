"""Recognisers on many corpora: F1, seconds of training, words a second, sizes, learning curves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from . import ner_cnn, ner_plot, ner_tables
from .corpora import PLACE
from .ner_corpora import CONLL, CORPORA
from .ner_keep import Keep
from .ner_measure import Task, in_own_process
from .ner_systems import CRFSUITE, OURS, SPACY, SYSTEMS, Crfsuite, modules, small, system_for
from .ner_tables import CURVE, LEGEND, QUICK, Results
from .ner_targets import targets
from .table import Table

SHARES = (0.01, 0.05, 0.1, 0.25, 1.0)
COMPARED = (SPACY, CRFSUITE, OURS)
SEEDS, QUICK_SENTENCES = 3, 100


@dataclass(frozen=True)
class Plan:
    """Which part of everything to measure."""

    parts: Sequence[str]
    systems: Sequence[str]
    seeds: int
    quick: bool

    def tasks(self, part: str) -> Iterator[Task]:
        """The measurements on a corpus, or those of the learning curves, seed after seed."""
        for seed in range(self.seeds):
            for name in self.systems:
                if part != CURVE:
                    yield from self.task(part, name, seed)
                elif name in COMPARED:
                    for share in SHARES:
                        yield from self.task(CONLL, name, seed, share)

    def task(self, corpus: str, name: str, seed: int, share: float = 1.0) -> Iterator[Task]:
        """One measurement, if there is one: crfsuite knows no chance but that of its data."""
        system = system_for(name, corpus)
        if system is None or (isinstance(system, Crfsuite) and share == 1.0 and seed):
            return
        system = small(system) if self.quick else system
        yield Task(corpus, name, system, seed, share, QUICK_SENTENCES if self.quick else 0)


def run(
    quick: bool,
    cnn: bool = False,
    keep: Path | None = None,
    kept: bool = False,
    only: Sequence[str] = (),
    systems: Sequence[str] = (),
    seeds: int | None = None,
    plot: Path | None = None,
) -> Iterator[Table]:
    """All tables; with `kept`, of what was measured before, and nothing is measured."""
    if cnn:
        yield from ner_cnn.run(quick)
        return
    parts, missing = at_hand(only or [*CORPORA, CURVE])
    names, left_out = installed(systems or list(SYSTEMS))
    plan = Plan(parts, names, seeds or (1 if quick else SEEDS), quick)
    store, results = Keep(keep), Results()
    notes = [*LEGEND, QUICK] if quick else LEGEND
    yield Table("how it was measured", [], [*notes, *missing, *left_out])
    for part in parts:
        for task in plan.tasks(part):
            results.add(task, store.get(task.key()) if kept else measured(task, store))
        if part == CURVE:
            yield ner_tables.curve(results, SHARES)
        else:
            yield ner_tables.corpus(results, part)
    yield ner_tables.costs(results)
    yield targets(results)
    if plot:
        ner_plot.draw(plot, ner_tables.points(results, SHARES))


def measured(task: Task, store: Keep) -> dict[str, object]:
    """The figures of a task; a line on the screen if that takes time."""
    found = store.get(task.key())
    if found is None:
        found = in_own_process(task)
        store.add(task.key(), found)
        line = f"{task}: F1 {found['test F1']:.2f}, trained in {found['training s']:.1f} s"
        print(line, file=sys.stderr, flush=True)
    return found


def at_hand(parts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The parts whose corpus is there, and a line for each of the others."""
    found, lines = [], []
    for part in parts:
        source = CORPORA[CONLL if part == CURVE else part]
        if source.at_hand():
            found.append(part)
        else:
            lines.append(f"{part} is left out: {source.title} is not at hand.")
    if lines:
        lines.append(PLACE)
    return found, lines


def installed(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The systems whose packages are there, and a line for each of the others."""
    lacking = {name: [m for m in modules(SYSTEMS[name]) if not find_spec(m)] for name in names}
    lines = [
        f'{name} is left out, {lacks[0]} is missing: pip install "spacy-iobes[bench]"'
        for name, lacks in lacking.items()
        if lacks
    ]
    return [name for name in names if not lacking[name]], lines
