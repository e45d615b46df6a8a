"""Recognisers of nested mentions on GENIA and GermEval 2014: F1, and words a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import nested_ner_tables
from .corpora import not_at_hand
from .ner_keep import Figures, Keep
from .nested_ner_corpora import CORPORA, GERMEVAL
from .nested_ner_measure import Task, in_own_process, measure
from .nested_ner_systems import SYSTEMS
from .nested_ner_tables import LEGEND, QUICK, Results
from .table import Table

BUDGET, QUICK_BUDGET, QUICK_SENTENCES = 300.0, 1.0, 100


def run(
    quick: bool,
    keep: Path | None = None,
    kept: bool = False,
    only: Sequence[str] = (),
    systems: Sequence[str] = (),
    budget: float | None = None,
) -> Iterator[Table]:
    """All tables; with `kept`, of what was measured before, and nothing is measured."""
    seconds = budget or (QUICK_BUDGET if quick else BUDGET)
    chosen = only or list(CORPORA)
    there = [name for name in chosen if CORPORA[name].at_hand()]
    missing = [CORPORA[name].title for name in chosen if name not in there]
    notes = [*LEGEND, *[QUICK] * quick]
    notes += not_at_hand(missing)
    yield Table("how recognisers were measured", [], notes)
    store, results = Keep(keep), Results()
    for corpus in there:
        mine = results.setdefault(corpus, {})
        for name in systems or SYSTEMS:
            limit = QUICK_SENTENCES if quick else 0
            task = Task(corpus, name, SYSTEMS[name], seconds, limit)
            found = store.get(task.key()) if kept else measured(task, store)
            if found is not None:
                mine[name] = found
        yield nested_ner_tables.corpus(results, corpus, seconds)
        if corpus == GERMEVAL:
            yield nested_ner_tables.level_table(results, corpus)
    yield nested_ner_tables.targets(results)


def measured(task: Task, store: Keep) -> Figures:
    """The figures of a task; a line on the screen if that takes time."""
    found = store.get(task.key())
    if found is None:
        found = measure(task) if task.limit else in_own_process(task)
        store.add(task.key(), found)
        line = f"{task}: F1 {found['test F1']:.2f}, {found['tagging words/s']:,.0f} words/s"
        print(line, file=sys.stderr, flush=True)
    return found
