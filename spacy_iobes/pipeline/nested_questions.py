"""What a nested recogniser knows beyond its best answer: other answers, and how probable."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from operator import index

import numpy as np
from spacy.tokens import Doc

from ..arrays import Floats
from ..codes.span_columns import SpanColumns
from ..errors import SpanRangeError
from ..ml.asked import Asked
from ..ml.combinations import best_of_docs
from ..span import Span
from .questions import Analysis, listed


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
        return [
            [Analysis(min(exp(log), 1.0), spans, log) for log, spans in best]
            for best in best_of_docs(self.asked(listed(docs)), n)
        ]

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
        return float(self.span_probabilities([doc], SpanColumns.of([[span]], [size]))[0])

    def span_probabilities(self, docs: Sequence[Doc], spans: SpanColumns) -> Floats:
        """Return the probability of each of some spans of Docs to be a mention of its label."""
        for label in spans.labels:
            self.number(label)  # raises for one that there is not
        asked, found = self.asked(listed(docs)), np.zeros(spans.total)
        first = asked.units.docs[spans.sentence]
        units = asked.units.tokens
        begin = np.searchsorted(units, first + spans.start, side="right")
        inside = begin >= np.searchsorted(units, first + spans.end)
        rows = spans.numbered(asked.labels).where(inside)  # others would leave their sentence
        found[inside] = np.minimum(np.exp(asked.mentions(rows)), 1.0)
        return found
