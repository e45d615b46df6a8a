"""What scoring counts: integers that add up, whatever the order of the parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..errors import TagError
from .matching import Matched
from .signature import known

MUC = ("strict", "exact", "partial", "type")
OUTCOMES = ("correct", "incorrect", "partial", "unpaired")
CORRECT, INCORRECT, PARTIAL, UNPAIRED = range(4)
OUTCOME = np.eye(len(OUTCOMES), dtype=np.int64)[
    [
        [UNPAIRED, INCORRECT, INCORRECT, INCORRECT, CORRECT],
        [UNPAIRED, INCORRECT, INCORRECT, CORRECT, CORRECT],
        [UNPAIRED, PARTIAL, PARTIAL, CORRECT, CORRECT],
        [UNPAIRED, INCORRECT, CORRECT, INCORRECT, CORRECT],
    ]
]
"""Of each kind of match, what it is to have no partner, or to share with it nothing but a token,
the label, the boundaries, or both."""
TABLES = ("exact", "muc", "confusion")
Table = NDArray[np.int64]


class Figures(NamedTuple):
    """Precision, recall and F1; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None


def figures(correct: float, predicted: int, gold: int) -> Figures:
    """P = correct / predicted, R = correct / gold, F1 = 2 correct / (predicted + gold)."""
    return Figures(
        float(correct / predicted) if predicted else None,
        float(correct / gold) if gold else None,
        float(2 * correct / (predicted + gold)) if predicted + gold else None,
    )


class MucCounts(NamedTuple):
    """The outcomes of one kind of match, and what follows from them."""

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int
    possible: int
    actual: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of a corpus or a part of it; parts are put together with `+`.

    Over L labels: `exact` is [L, 3], correct, predicted and gold spans. `muc` is [4, 2, L, 4]: kind
    of match, side (gold, predicted), label on that side, outcome; an unpaired gold span was missed,
    an unpaired prediction is spurious. `confusion` is [L + 1, L + 1], gold label by predicted
    label, the last row spurious, the last column missed. Of the `tokens`, `right_tokens` have the
    same tag on both sides before any repair, and `tagged` are those whose tag is not `O`: right,
    predicted and gold ones. Both are None if the spans were given as such. Gold does not annotate
    `missing` of the tokens, which count neither as right nor as wrong; the predictions have no tag
    for `untagged` of them, which count as `O`.
    """

    labels: tuple[str, ...]
    exact: Table
    muc: Table
    confusion: Table
    sentences: int = 0
    tokens: int = 0
    right_tokens: int | None = 0
    tagged: tuple[int, int, int] | None = (0, 0, 0)
    violations: int = 0
    gold_violations: int = 0
    missing: int = 0
    untagged: int = 0

    @classmethod
    def none(cls) -> Counts:
        """The counts of nothing."""
        return cls((), *_tables(0))

    def __post_init__(self) -> None:
        for name in TABLES:  # copies that nobody can write to
            table = np.array(getattr(self, name), dtype=np.int64)
            table.setflags(write=False)
            object.__setattr__(self, name, table)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)

    def __radd__(self, other: object) -> Counts:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __add__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return self.__radd__(other)
        labels = tuple(sorted({*self.labels, *other.labels}))
        tables = _tables(len(labels))
        for part in (self, other):
            at = np.array([labels.index(label) for label in part.labels], dtype=np.intp)
            rim = np.append(at, len(labels))
            tables[0][at] += part.exact
            tables[1][:, :, at] += part.muc
            tables[2][np.ix_(rim, rim)] += part.confusion
        right = (self.right_tokens, other.right_tokens)
        tagged = (self.tagged, other.tagged)
        return Counts(
            labels,
            *tables,
            self.sentences + other.sentences,
            self.tokens + other.tokens,
            None if None in right else sum(right),  # type: ignore[arg-type]
            None if None in tagged else tuple(map(sum, zip(*tagged))),  # type: ignore[arg-type]
            self.violations + other.violations,
            self.gold_violations + other.gold_violations,
            self.missing + other.missing,
            self.untagged + other.untagged,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        keys = self.__dataclass_fields__
        return all(np.array_equal(mine[key], theirs[key]) for key in keys)

    def __hash__(self) -> int:
        return hash((self.labels, self.exact.tobytes(), self.sentences, self.tokens))

    @property
    def labels_apart(self) -> bool:
        """Whether gold and predictions both have labels, and not one in common."""
        used = self.exact[:, 1:] > 0
        return bool(used.any(axis=0).all() and not used.all(axis=1).any())

    @cached_property
    def totals(self) -> tuple[int, int, int]:
        """Correct, predicted and gold spans of all labels."""
        correct, predicted, gold = self.exact.sum(axis=0).tolist()
        return correct, predicted, gold

    @property
    def accuracy(self) -> float | None:
        """The share of annotated tokens whose tags were the same before any repair."""
        if self.right_tokens is None or self.tokens == self.missing:
            return None
        return self.right_tokens / (self.tokens - self.missing)

    def require_annotation(self) -> None:
        """Raise if gold annotates no token at all: no figure would mean anything."""
        if self.tokens and self.missing == self.tokens:
            raise TagError(
                f"The gold annotates none of its {self.tokens:,} tokens: there is nothing to score "
                "against. Is it the right file, column or span group?"
            )

    def muc_counts(self, kind: str, label: str | None = None) -> MucCounts:
        """One kind of match, for one label or all of them.

        `possible` are the gold spans and `actual` the predicted ones. Recall looks at the outcomes
        of gold spans, precision at those of predictions, so that the figures of the labels add up.
        """
        tables = self.muc[MUC.index(known("match", kind, MUC))]
        if label is not None:
            tables = tables[:, [self.labels.index(known("label", label, self.labels))]]
        gold, predicted = tables.sum(axis=1).tolist()
        right = [side[CORRECT] + side[PARTIAL] / 2 for side in (gold, predicted)]
        possible, actual = sum(gold), sum(predicted)
        recall = right[0] / possible if possible else None
        precision = right[1] / actual if actual else None
        f1 = figures(sum(right) / 2, actual, possible).f1
        ends = (gold[UNPAIRED], predicted[UNPAIRED], possible, actual, precision, recall, f1)
        return MucCounts(gold[CORRECT], gold[INCORRECT], gold[PARTIAL], *ends)


def _tables(labels: int) -> tuple[Table, Table, Table]:
    shapes = ((labels, 3), (len(MUC), 2, labels, len(OUTCOMES)), (labels + 1, labels + 1))
    exact, muc, confusion = (np.zeros(shape, dtype=np.int64) for shape in shapes)
    return exact, muc, confusion


def _shared(
    matched: Matched, partner: Ints, label: NDArray[np.bool_], boundaries: NDArray[np.bool_] | None
) -> Table:
    """What spans share with their partners, [2, L, 5]: side, label, as in the rows of OUTCOME."""
    paired = partner >= 0
    shared = paired.astype(np.uint8) + label
    if boundaries is not None:
        shared += boundaries
        shared += boundaries
    of_gold = np.zeros(len(matched.gold.label), dtype=np.uint8)
    of_gold[partner[paired]] = shared[paired]
    sides = ((matched.gold.label, of_gold), (matched.predicted.label, shared))
    size = len(matched.labels) * len(OUTCOME[0])
    cells = [np.bincount(labels * len(OUTCOME[0]) + what, minlength=size) for labels, what in sides]
    return np.stack(cells).reshape(2, -1, len(OUTCOME[0]))


def count(matched: Matched, **sizes: Any) -> Counts:
    """Count the outcomes of a matching; `sizes` are the other fields of `Counts`."""
    labels = len(matched.labels)
    exact, muc, confusion = _tables(labels)
    gold, predicted = matched.gold.label, matched.predicted.label
    same_label, boundaries = matched.same_label, matched.same_boundaries
    for column, found in enumerate((predicted[same_label & boundaries], predicted, gold)):
        exact[:, column] = np.bincount(found, minlength=labels)
    by_boundary = _shared(matched, matched.by_boundary, same_label, boundaries)
    by_label = _shared(matched, matched.by_label, matched.label_found, None)
    for kind, (name, outcome) in enumerate(zip(MUC, OUTCOME)):
        muc[kind] = (by_label if name == "type" else by_boundary) @ outcome
    answered = np.full(len(gold), labels)
    paired = matched.by_boundary >= 0
    answered[matched.by_boundary[paired]] = predicted[paired]
    cells = np.bincount(gold * (labels + 1) + answered, minlength=(labels + 1) ** 2)
    confusion += cells.reshape(labels + 1, labels + 1)
    confusion[labels, :labels] += np.bincount(predicted[~paired], minlength=labels)
    sizes.setdefault("sentences", matched.gold.sentences)
    return Counts(matched.labels, exact, muc, confusion, **sizes)
