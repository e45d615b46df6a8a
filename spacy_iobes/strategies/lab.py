"""The laboratory: studies of corpora, on several cores, going on where an earlier run ended."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from pathlib import Path
from time import process_time
from typing import Any

from spacy.tokens import Doc

from ..about import __version__
from .comparison import MEASURES, Comparison, compare, require_known
from .material import Material, material_of
from .plan import Cell, Plan, cells, results
from .settings import Settings
from .splits import Split, own_split, random_splits
from .store import Store, key
from .workers import working

Job = tuple[int, str]  # the number of a split, and a learner
Made = list[tuple[Cell, dict[str, Any]]]
Progress = Callable[[int, int], None]
"""Told how many jobs are done, of how many."""

SHARED = "material.pickle"


@dataclass(frozen=True)
class Study:
    """What was found on a corpus, and the CPU seconds that it took, also in earlier runs."""

    name: str
    units: int
    tokens: int
    spans: int
    labels: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    cpu_seconds: float

    @property
    def facts(self) -> str:
        """What is in the corpus."""
        return (
            f"{self.units:,} documents, {self.tokens:,} tokens, {self.spans:,} spans of "
            f"{len(self.labels)} label{'s' * (len(self.labels) != 1)}: {', '.join(self.labels)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "corpus": self.name,
            "documents": self.units,
            "tokens": self.tokens,
            "spans": self.spans,
            "labels": list(self.labels),
            "cpu_seconds": self.cpu_seconds,
            "comparisons": [comparison.as_dict() for comparison in self.comparisons],
        }


def study(
    name: str,
    docs: Sequence[Doc],
    settings: Settings,
    *,
    test: Sequence[Doc] = (),
    keep: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """Compare tagging strategies on the entities of Docs.

    With `test` Docs, what was learned from the others is scored on these; without, on random
    splits. Results are appended to the file `keep` as they are found, and a run that was ended goes
    on with it; a `fresh` one does not.
    """
    plan = settings.plan
    require_known(plan, settings.baseline, settings.significance, settings.level)
    material = material_of([*docs, *test])
    splits: list[Split] = (
        own_split(len(docs), len(test))
        if test
        else random_splits(len(docs), settings.splits, settings.share, settings.seed)
    )
    store = Store(
        None if keep is None else Path(keep), _held(settings, material, bool(test)), fresh
    )
    if len(splits) == 1:  # what differs by chance is asked of its documents
        plan = replace(plan, by_unit=True)
    found = run(material, splits, plan, store, workers, progress)
    comparisons = [
        compare(
            found,
            material,
            plan,
            measure,
            baseline=settings.baseline,
            level=settings.level,
            test=settings.significance,
            ratio=1.0 if test else (1 - settings.share) / settings.share,
        )
        for measure in MEASURES
    ]
    return Study(
        name,
        len(material),
        material.tokens,
        material.gold.total,
        material.labels,
        tuple(comparisons),
        sum(result.get("job_seconds", 0.0) for result in found.values()),
    )


def _held(settings: Settings, material: Material, own: bool) -> dict[str, Any]:
    """What results depend on; those of a run with anything else of it are not mixed in."""
    return {
        "version": __version__,
        "corpus": material.digest,
        "split": "own" if own else f"{settings.share:g} of the documents, seed {settings.seed}",
        "by_unit": settings.plan.by_unit,
        **settings.plan.settings(),
    }


def run(
    material: Material,
    splits: Sequence[Split],
    plan: Plan,
    store: Store,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[Cell, dict[str, Any]]:
    """The result of every cell; those that the store holds are not worked out again."""
    every = [(number, learner) for number in range(len(splits)) for learner in plan.learners]
    open_jobs = [job for job in every if any(_lacks(store, c, plan) for c in cells(plan, *job))]
    done = len(every) - len(open_jobs)
    tell = progress or (lambda done, jobs: None)
    tell(done, len(every))
    with _working(material, splits, plan, min(workers or cores(), len(open_jobs))) as work:
        for made in work(open_jobs):
            for cell, result in made:
                if _lacks(store, cell, plan):
                    store.add(cell._asdict(), result)
            done += 1
            tell(done, len(every))
    found = {}
    for job in every:
        for cell in cells(plan, *job):
            found[cell] = store.rows[key(cell._asdict())]
    return found


def _lacks(store: Store, cell: Cell, plan: Plan) -> bool:
    """Whether there is no result, or one of a run that had no need of the counts of units."""
    found = store.get(cell._asdict())
    return found is None or (plan.by_unit and "units" not in found)


def cores() -> int:
    """How many processes can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _working(
    material: Material, splits: Sequence[Split], plan: Plan, workers: int
) -> Iterator[Callable[[list[Job]], Iterator[Made]]]:
    """A function that does jobs, here or in processes of their own, in whatever order."""
    if workers <= 1:
        yield lambda jobs: (_made(material, splits, plan, job) for job in jobs)
        return
    known = replace(plan, strategies=tuple(plan.schemes))  # a worker knows no scheme that was added
    with working(_work, workers) as (folder, work):
        with (Path(folder) / SHARED).open("wb") as file:
            pickle.dump((material, list(splits), known), file, protocol=5)
        yield work


def _work(folder: str, job: Job) -> Made:
    """Do a job in a worker."""
    return _made(*_shared(folder), job)


@cache
def _shared(folder: str) -> tuple[Material, Sequence[Split], Plan]:
    """Read what all jobs share."""
    with (Path(folder) / SHARED).open("rb") as file:
        material, splits, plan = pickle.load(file)
    return material, splits, plan


def _made(material: Material, splits: Sequence[Split], plan: Plan, job: Job) -> Made:
    """The cells of a job; the last one has the CPU seconds of all."""
    (number, learner), begin = job, process_time()
    made = list(results(material, splits[number], number, learner, plan))
    made[-1][1]["job_seconds"] = process_time() - begin
    return made


def titles(paths: Sequence[str]) -> list[str]:
    """Return what corpora are called: the names of their files, numbered where they are equal."""
    found: list[str] = []
    for path in paths:
        name = Path(path).name.removesuffix(".gz").removesuffix(".tar")
        stem = name.rpartition(".")[0] or name or "corpus"
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        found.append(next(name for name in names if name not in found))
    return found
