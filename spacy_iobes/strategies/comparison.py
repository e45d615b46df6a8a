"""What the results say: the F1 of every row on every split, and which rows differ beyond chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np

from ..codes.classes import classes
from ..codes.scheme import get_scheme
from ..errors import SettingError, UnknownNameError
from ..names import known_name
from ..scoring.counts import figures
from ..scoring.paired import Outcome, PairedTest, corrected_t, mark_of, paired_t, signed_rank
from ..scoring.resampling import randomisation
from ..scoring.runs import Runs
from .ensemble import NAME as ENSEMBLE
from .material import Material
from .plan import Cell, Plan
from .settings import Significance

Measure = Literal["exact", "slots"]
MEASURES: dict[Measure, str] = {
    "exact": "exact match of all mentions (all: micro average)",
    "slots": "one answer per slot and document (all: mean over labels)",
}
ALL = "all"
BY_UNITS = "randomisation"
ROUNDS = 10_000


class Row(NamedTuple):
    """What is learned, by whom, and how it is read."""

    learner: str
    decoding: str
    strategy: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """The figures of one corpus and one measure.

    `scores[row][column]` has the F1 on every split, and `tests[row][column]` compares them with the
    baseline strategy under the same learner and decoding, by the name of each test. `seconds` are
    those of learning, and `lost` the spans that a strategy cannot tell from others.
    """

    measure: Measure
    baseline: str
    level: float
    chosen: str
    columns: tuple[str, ...]
    scores: Mapping[Row, Mapping[str, Runs]]
    tests: Mapping[Row, Mapping[str, Mapping[str, Outcome]]]
    classes: Mapping[str, int]
    seconds: Mapping[Row, float]
    lost: Mapping[str, int]

    def mark(self, row: Row, column: str) -> str:
        """`+`, `-` or `~` against the baseline; nothing for itself, and where no test can tell."""
        test = self.tests.get(row, {}).get(column, {}).get(self.chosen)
        return "" if test is None else mark_of(test, self.level)

    @property
    def marked(self) -> bool:
        """Whether a row has a mark in any column."""
        return any(self.mark(row, column) for row in self.scores for column in self.columns)

    @property
    def best(self) -> Row:
        """The row with the highest mean over all labels."""
        return max(self.scores, key=lambda row: self.scores[row][ALL].mean)

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "measure": self.measure,
            "baseline": self.baseline,
            "level": self.level,
            "test": self.chosen,
            "classes": dict(self.classes),
            "lost": dict(self.lost),
            "rows": [
                {
                    **row._asdict(),
                    "learning_seconds": self.seconds.get(row),
                    "columns": {name: self._cell(row, name) for name in self.columns},
                }
                for row in self.scores
            ],
        }

    def _cell(self, row: Row, column: str) -> dict[str, Any]:
        runs = self.scores[row][column]
        tests = self.tests.get(row, {}).get(column, {})
        return {
            "mean": runs.mean,
            "sd": runs.sd,
            "splits": list(runs.values),
            "mark": self.mark(row, column),
            "tests": {name: {"difference": t.difference, "p": t.p} for name, t in tests.items()},
        }


def compare(
    found: Mapping[Cell, Mapping[str, Any]],
    material: Material,
    plan: Plan,
    measure: Measure,
    *,
    baseline: str = "bio",
    level: float = 0.05,
    test: str = "t",
    ratio: float = 1.0,
) -> Comparison:
    """Put the results of a run side by side.

    Several splits are compared by tests on pairs of scores; `ratio` is the size of the test part
    over that of the training part. One split is compared by randomisation over its units, and
    only by exact match.
    """
    base = require_known(plan, baseline, test, level)
    grouped: dict[Row, list[Mapping[str, Any]]] = {}
    for cell, result in sorted(found.items(), key=lambda item: item[0].split):
        grouped.setdefault(Row(cell.learner, cell.decoding, cell.strategy), []).append(result)
    rows = [row for row in _order(plan) if row in grouped]
    scores = {row: _scores(grouped[row], material.labels, measure) for row in rows}
    tests: dict[Row, dict[str, dict[str, Outcome]]] = {}
    several = len(grouped[rows[0]]) > 1
    for row in rows:
        other = row._replace(strategy=base)
        if row == other or other not in scores:
            continue
        if several:
            tests[row] = _by_splits(scores[row], scores[other], ratio)
        elif measure == "exact":
            tests[row] = _by_units(grouped[row][0], grouped[other][0], material.labels)
    learned = {row: grouped[row] for row in rows if row.strategy != ENSEMBLE}
    return Comparison(
        measure,
        base,
        level,
        test if several else BY_UNITS,
        (ALL, *material.labels),
        scores,
        tests,
        {s.name: len(classes(material.labels, s).names) for s in plan.schemes},
        {row: fmean(r["seconds"]["learn"] for r in each) for row, each in learned.items()},
        {row.strategy: max(r["lost"] for r in each) for row, each in learned.items()},
    )


def require_known(plan: Plan, baseline: str, test: str, level: float) -> str:
    """Refuse what cannot be compared; returns the name of the baseline."""
    names = [scheme.name for scheme in plan.schemes]
    base = get_scheme(baseline).name
    if base not in names:
        raise UnknownNameError(
            f"The baseline {base!r} is not among the strategies: {', '.join(names)}.", base, names
        )
    known_name("test", test, Significance)
    if not 0 < level < 1:
        raise SettingError(f"A level lies between 0 and 1 (0.05, say), it is not {level:g}.")
    return base


def _order(plan: Plan) -> Iterator[Row]:
    """The rows as they are shown: by learner, then by decoding, then as the plan has them."""
    for learner in plan.learners:
        for decoding in plan.decodings:
            for scheme in plan.schemes:
                yield Row(learner, decoding, scheme.name)
            if decoding == "constrained" and plan.votes:
                yield Row(learner, decoding, ENSEMBLE)


def _scores(
    each: Sequence[Mapping[str, Any]], labels: tuple[str, ...], measure: Measure
) -> dict[str, Runs]:
    """The F1 of all labels and of each on every split; what is undefined counts as 0."""
    tables = [
        np.array([result[measure].get(label, (0, 0, 0)) for label in labels]) for result in each
    ]
    by_label = [[figures(*row).f1 or 0.0 for row in table.tolist()] for table in tables]
    if measure == "exact":
        every = [figures(*table.sum(axis=0).tolist()).f1 or 0.0 for table in tables]
    else:
        every = [fmean(values) for values in by_label]
    return {ALL: Runs(every), **{x: Runs(v) for x, v in zip(labels, zip(*by_label))}}


def _by_splits(
    mine: Mapping[str, Runs], theirs: Mapping[str, Runs], ratio: float
) -> dict[str, dict[str, Outcome]]:
    """Is the difference on the splits more than chance? Every test answers, for every column."""
    kinds: dict[str, PairedTest] = {
        "t": paired_t,
        "corrected": partial(corrected_t, ratio=ratio),
        "wilcoxon": signed_rank,
    }
    return {
        column: {name: kind(runs, theirs[column]) for name, kind in kinds.items()}
        for column, runs in mine.items()
    }


def _by_units(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], labels: tuple[str, ...]
) -> dict[str, dict[str, Outcome]]:
    """Would swapping the two in half of the units differ as much?"""
    found: dict[str, dict[str, Outcome]] = {}
    for column in (ALL, *labels):
        a, b = (_units(side["units"], column) for side in (mine, theirs))
        if a[:, 1:].any() and b[:, 1:].any():
            found[column] = {BY_UNITS: randomisation(a, b, "f1", ROUNDS)}
    return found


def _units(stored: Mapping[str, Any], column: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """(correct, predicted, gold) of every unit, for one label or all."""
    table = np.zeros((stored["count"], 3), dtype=np.int64)
    for label, rows in stored["labels"].items():
        if column in (ALL, label) and rows:
            numbers = np.array(rows, dtype=np.int64)
            table[numbers[:, 0]] += numbers[:, 1:]
    return table
