"""What a nested recogniser knows beyond its best answer: other answers, and how probable."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from itertools import product
from math import exp
from operator import index

import numpy as np
from spacy.tokens import Doc

from ..codes.columns import SpanColumns
from ..errors import SpanRangeError
from ..ml.asked import Asked
from ..span import Span
from .questions import Analysis, listed

Choice = tuple[float, list[Span]]  # the logarithm of a probability, and spans


class NestedQuestions:
    """Questions to a nested recogniser; what is set already in the Docs has no part in them."""

    def asked(self, docs: Sequence[Doc]) -> Asked:
        """What the model thinks of some Docs, without bias."""
        raise NotImplementedError

    def number(self, label: str) -> int:
        """The number of a label."""
        raise NotImplementedError

    def nbest(self, docs: Sequence[Doc], n: int) -> list[list[Analysis]]:
        """The n most probable annotations of each Doc, best first; fewer where there are fewer.

        Labels and sentences are independent of each other, so those of a Doc are the best
        combinations of the best of each.
        """
        docs = listed(docs)
        asked = self.asked(docs)
        choices = _choices(asked, n)
        found = []
        for number in range(len(docs)):
            mine = np.flatnonzero(asked.units.doc == number).tolist()
            best: list[Choice] = [(0.0, [])]
            for unit, label in product(mine, range(len(asked.labels))):
                best = _together(best, choices[unit, label], n)
            found.append([Analysis(min(exp(log), 1.0), sorted(s), log) for log, s in best])
        return found

    def expected_counts(self, docs: Sequence[Doc]) -> list[dict[str, float]]:
        """The expected number of mentions of each label in each Doc."""
        docs = listed(docs)
        asked = self.asked(docs)
        sums = np.zeros((len(docs), len(asked.labels)))
        np.add.at(sums, asked.units.doc, asked.expected())
        return [dict(zip(asked.labels, row)) for row in sums.tolist()]

    def span_probability(self, doc: Doc, start: int, end: int, label: str) -> float:
        """The probability that these tokens are a mention of this label."""
        (doc,) = listed([doc])
        span, size = Span(index(start), index(end), label), len(doc)
        if not 0 <= start < end <= size:
            reason = f"{tuple(span)} is no span of {size} tokens: 0 <= start < end <= {size}."
            raise SpanRangeError(reason, [span])
        number = self.number(label)
        asked = self.asked([doc])
        bounds = asked.units.tokens
        if np.searchsorted(bounds, span.start, side="right") < np.searchsorted(bounds, span.end):
            return 0.0  # it would leave its sentence
        row = (np.array([value], dtype=np.int32) for value in (0, span.start, span.end, number))
        found = asked.mentions(SpanColumns.trusted(row, asked.labels, 1))
        return min(float(np.exp(found[0])), 1.0)


def _choices(asked: Asked, n: int) -> dict[tuple[int, int], list[Choice]]:
    """The best annotations of every label in every unit, as spans of the Doc."""
    chains = asked.nbest(n)
    logs = chains.log_probability.transpose(1, 2, 0)  # [U, L, n]
    found: dict[tuple[int, int], list[Choice]] = {
        key: [(log, []) for log in logs[key].tolist() if np.isfinite(log)]
        for key in np.ndindex(logs.shape[:2])
    }
    for place, spans in enumerate(chains.spans):
        rows = zip(
            spans.sentence.tolist(), spans.label.tolist(), asked.units.outside(spans).spans()
        )
        for unit, label, span in rows:
            if place < len(found[unit, label]):
                found[unit, label][place][1].append(span)
    return found


def _together(some: list[Choice], others: list[Choice], n: int) -> list[Choice]:
    """The n best pairs of what does not depend on each other; the best come first in both."""
    pairs = ((a + b, s, t) for (a, s), (b, t) in product(some, others))
    return [(log, s + t) for log, s, t in nlargest(n, pairs, key=lambda pair: pair[0])]
