"""One learner on one split: every strategy learned, decoded in every way, and scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from time import process_time
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..arrays import Offsets
from ..codes.scheme import Scheme, get_scheme
from ..learners.known import get_learner
from ..learners.options import Options
from ..scoring.counts import count
from ..scoring.matching import Matched, match
from ..scoring.slots import slot_counts
from . import ensemble
from .codec import Codec, lost
from .decoding import DECODINGS, Found, Scored, trimmed
from .material import Material
from .pairing import lengths_of
from .splits import Split

Value = TypeVar("Value")


@dataclass(frozen=True)
class Plan:
    """What is compared: strategies, learners and decodings by name."""

    strategies: tuple[str | Scheme, ...]
    learners: tuple[str, ...]
    decodings: tuple[str, ...] = ("greedy", "constrained")
    ensemble: bool = True
    by_unit: bool = False  # keep the counts of every unit, for tests over the units of one split
    options: Options = field(default_factory=Options)

    @property
    def schemes(self) -> list[Scheme]:
        """The schemes of the strategies."""
        return [get_scheme(strategy) for strategy in self.strategies]

    @property
    def votes(self) -> bool:
        """Whether there is an ensemble: of several, and where sequences are constrained."""
        return self.ensemble and len(self.strategies) > 1 and "constrained" in self.decodings

    def settings(self) -> dict[str, Any]:
        """What results depend on but their keys do not name."""
        return {
            "voters": [scheme.name for scheme in self.schemes] if self.votes else [],
            "options": asdict(self.options),
        }


class Cell(NamedTuple):
    """A place in the table."""

    split: int
    learner: str
    strategy: str
    decoding: str


def cells(plan: Plan, split: int, learner: str) -> list[Cell]:
    """What one learner on one split gives."""
    rows = [(scheme.name, name) for scheme in plan.schemes for name in plan.decodings]
    rows += [(ensemble.NAME, "constrained")] * plan.votes
    return [Cell(split, learner, strategy, decoding) for strategy, decoding in rows]


def results(
    material: Material, split: Split, number: int, learner: str, plan: Plan
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Learn and score all cells of a learner on a split."""
    train, test = material.part(split.train), material.part(split.test)
    row, lengths = get_learner(learner), lengths_of(train.gold)
    members = []
    for scheme in plan.schemes:
        codec = Codec(scheme, material.labels)
        begin = process_time()
        trained = row.make(codec.tags, codec.classes, plan.options)
        trained.learn(train.features, train.offsets, codec.path(train.gold, train.lengths))
        middle = process_time()
        scores = np.asarray(trained.class_scores(test.features), dtype=np.float64)
        scored = Scored(codec, trained.chain, scores, test.offsets, row.structured, lengths)
        seconds = {"learn": middle - begin, "score": process_time() - middle}
        for name in plan.decodings:
            begin = process_time()
            found = DECODINGS[name](scored)
            spent = {**seconds, "decode": process_time() - begin}
            kept = {"lost": lost(train.gold, scheme), "seconds": spent}
            yield Cell(number, learner, scheme.name, name), {**_counts(found, test, plan), **kept}
        if plan.votes:
            members.append(scored)
    if plan.votes:
        found = ensemble.vote(members)
        cell = Cell(number, learner, ensemble.NAME, "constrained")
        yield cell, _counts(found, test, plan)


def _counts(found: Found, test: Material, plan: Plan) -> dict[str, Any]:
    """What is right: of all mentions, and of the surest answer to each slot."""
    found = trimmed(found, test.space, test.offsets)
    matched = match(test.gold, found.spans)
    exact = count(matched)
    slots = slot_counts(
        list(test.gold), list(found.spans), _by_unit(found), by_unit(test.words, test.offsets)
    )
    every: dict[str, Any] = {
        "exact": _by_label(exact.labels, exact.exact.tolist()),
        "slots": _by_label(slots.labels, slots.exact.tolist()),
    }
    if plan.by_unit:
        every["units"] = {"count": len(test), "labels": _units(matched)}
    return every


def _by_unit(found: Found) -> list[Sequence[float]]:
    """The confidences of the spans of each unit."""
    bounds = np.searchsorted(found.spans.sentence, np.arange(len(found.spans) + 1))
    return by_unit(found.confidence.tolist(), bounds)


def by_unit(values: Sequence[Value], bounds: Offsets) -> list[Sequence[Value]]:
    """Cut a row of values."""
    return [values[a:b] for a, b in pairwise(bounds.tolist())]


def _units(matched: Matched) -> dict[str, list[list[int]]]:
    """Of each label: (unit, correct, predicted, gold), where one of them is not 0."""
    found = {}
    for number, label in enumerate(matched.labels):
        sides = [side.sentence[side.label == number] for side in (matched.predicted, matched.gold)]
        right = matched.predicted.sentence[matched.right & (matched.predicted.label == number)]
        counts = [np.bincount(side, minlength=matched.gold.sentences) for side in (right, *sides)]
        table = np.column_stack([np.arange(matched.gold.sentences), *counts])
        found[label] = table[table[:, 1:].any(axis=1)].tolist()
    return found


def _by_label(labels: tuple[str, ...], rows: list[list[int]]) -> Mapping[str, list[int]]:
    """(correct, predicted, gold) of each label."""
    return dict(zip(labels, rows))
