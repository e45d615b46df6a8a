"""A study of one corpus: what is compared on it, what was found, and where that is kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ..about import __version__
from .cells import Plan
from .comparison import MEASURES, Comparison, compare, require_known
from .lab import Progress, run
from .material import Material, material_of
from .splits import Split, own_split, random_splits
from .store import Store

STRATEGIES = ("io", "iob1", "bio", "bia", "bie", "be")
"""Those of Siefkes (2006)."""


@dataclass(frozen=True)
class Settings:
    """How a study is done: the plan, and the splits and tests of it.

    `splits` random ones, a `share` of the documents to learn from, unless the corpus has a split of
    its own. Strategies are compared with the `baseline` by a `test`, at a `level`.
    """

    plan: Plan = field(default_factory=lambda: Plan(STRATEGIES, ("crf", "softmax", "winnow")))
    splits: int = 5
    share: float = 0.5
    seed: int = 0
    baseline: str = "bio"
    test: str = "t"
    level: float = 0.05


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
    require_known(plan, settings.baseline, settings.test, settings.level)
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
            test=settings.test,
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
