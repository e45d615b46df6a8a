"""A score: a value that holds the counts, the figures that follow from them, and their recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .counts import MUC, Counts, Figures, MucCounts, figures
from .matching import Kept
from .mistakes import Mistake, kinds_of, mistakes
from .nested import NestedCounts
from .signature import Signature


@dataclass(frozen=True, eq=False)
class Report:
    """A score with its recipe. `value` is the figure that the signature names.

    Reports are equal if their recipes and their counts are.
    """

    signature: Signature
    counts: Counts
    kept: tuple[Kept, ...] = ()
    nested: NestedCounts | None = None  # of spans that were given as such

    def __str__(self) -> str:
        value = "undefined" if self.value is None else f"{100 * self.value:.2f}"
        return f"{value} {self.signature}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Report):
            return NotImplemented
        return (self.signature, self.counts) == (other.signature, other.counts)

    def __hash__(self) -> int:
        return hash((self.signature, self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @cached_property
    def per_label(self) -> Mapping[str, Figures]:
        """The figures of every label that occurs in the gold spans or the predictions."""
        rows = zip(self.counts.labels, self.counts.exact.tolist())
        return MappingProxyType({label: figures(*row) for label, row in rows})

    @cached_property
    def micro(self) -> Figures:
        """The figures of all spans together."""
        return figures(*self.counts.totals)

    @cached_property
    def macro(self) -> Figures:
        """The mean over the labels; what is undefined counts as 0."""
        return self._mean(np.ones(len(self.counts.labels)))

    @cached_property
    def weighted(self) -> Figures:
        """The mean over the labels, weighted by their gold spans; what is undefined counts as 0."""
        return self._mean(self.counts.exact[:, 2].astype(float))

    def _mean(self, weights: NDArray[np.float64]) -> Figures:
        if not weights.sum():
            return Figures(None, None, None)
        table = np.array([[figure or 0.0 for figure in row] for row in self.per_label.values()])
        precision, recall, f1 = (weights @ table / weights.sum()).tolist()
        return Figures(precision, recall, f1)

    @property
    def accuracy(self) -> float | None:
        """The share of tokens whose tags were the same before any repair."""
        return self.counts.accuracy

    @cached_property
    def tagged(self) -> Figures:
        """The figures of single tokens: the same tag, and not `O`; None where spans were given."""
        return (
            Figures(None, None, None)
            if self.counts.tagged is None
            else figures(*self.counts.tagged)
        )

    @cached_property
    def muc(self) -> Mapping[str, MucCounts]:
        """The four MUC-style matches over all labels."""
        return MappingProxyType({kind: self.counts.muc_counts(kind) for kind in MUC})

    @cached_property
    def figures(self) -> Figures:
        """Precision, recall and F1 of the average and the match that the signature names."""
        kind = self.signature.muc
        if kind is not None:
            return Figures(*self.muc[kind][-3:])
        found: Figures = getattr(self, self.signature.average)
        return found

    @property
    def value(self) -> float | None:
        """The figure that the signature names."""
        value: float | None = getattr(self.figures, self.signature.metric)
        return value

    @property
    def kinds(self) -> dict[str, int]:
        """How many mistakes of each kind there are."""
        return kinds_of(self.counts)

    def by_sentence(self) -> NDArray[np.int64]:
        """(correct, predicted, gold) of every sentence, for tests of significance."""
        nothing = np.zeros((0, 3), dtype=np.int64)
        return np.concatenate([nothing, *(part.tallies for part in self.kept)], dtype=np.int64)

    @property
    def mistakes(self) -> Iterator[Mistake]:
        """Every false positive and false negative, sentence by sentence."""
        before = 0
        for part in self.kept:
            yield from mistakes(part.matched(), before)
            before += len(part.tallies)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the mistakes, ready for JSON; None where a figure is undefined."""
        counts = self.counts
        correct, predicted, gold = counts.totals
        nested = {} if self.nested is None else {"nested": self.nested.as_dict()}
        return {
            "signature": str(self.signature),
            "value": self.value,
            "micro": self.micro._asdict(),
            "macro": self.macro._asdict(),
            "weighted": self.weighted._asdict(),
            "accuracy": self.accuracy,
            "tagged": self.tagged._asdict(),
            "correct": correct,
            "predicted": predicted,
            "gold": gold,
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "missing": {"predicted": counts.untagged, "gold": counts.missing},
            "violations": {"predicted": counts.violations, "gold": counts.gold_violations},
            "labels": {
                label: {**row._asdict(), **dict(zip(("correct", "predicted", "gold"), numbers))}
                for (label, row), numbers in zip(self.per_label.items(), counts.exact.tolist())
            },
            "muc": {
                kind: {
                    **row._asdict(),
                    "labels": {x: counts.muc_counts(kind, x)._asdict() for x in counts.labels},
                }
                for kind, row in self.muc.items()
            },
            "confusion": {"labels": list(counts.labels), "rows": counts.confusion.tolist()},
            **nested,
        }
