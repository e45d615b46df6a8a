"""What a recogniser knows beyond its best answer: other answers, and how probable they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..arrays import Floats
from ..chain import Batch, Chain, Posterior, nbest
from ..codes.span_columns import SpanColumns
from ..errors import SpanRangeError
from ..ml.tag_chain import TagChain
from ..span import Span


class Analysis(NamedTuple):
    """One complete annotation of a Doc, and its probability, which in long Docs may be near 0."""

    probability: float
    spans: list[Span]
    log_probability: float


class Questions:
    """Questions to a recogniser; with `clamp`, given the entities that the Docs have already."""

    @property
    def tags(self) -> TagChain:
        """The states of the chain."""
        raise NotImplementedError

    def posed(self, docs: Sequence[Doc], clamp: bool = False) -> tuple[Chain, Batch]:
        """The chain, without bias, and what it is asked about."""
        raise NotImplementedError

    def nbest(self, docs: Sequence[Doc], n: int, clamp: bool = False) -> list[list[Analysis]]:
        """The n most probable annotations of each Doc, best first; fewer where there are fewer."""
        docs = listed(docs)
        chain, batch = self.posed(docs, clamp)
        found = nbest(chain, batch, n)
        every: list[list[Analysis]] = [[] for _ in docs]
        for states, log_probability in zip(found.states, found.log_probability.tolist()):
            there = np.repeat(np.isfinite(log_probability), batch.lengths)
            spans = self.tags.spans(np.where(there, states, 0), batch)
            for analyses, value, members in zip(every, log_probability, spans):
                if np.isfinite(value):
                    analyses.append(Analysis(min(float(np.exp(value)), 1.0), members, value))
        return every

    def marginals(self, docs: Sequence[Doc], clamp: bool = False) -> list[NDArray[np.float64]]:
        """The probability of every tag (a column for each of `tags.states.tags`) of every token."""
        posterior = Posterior.of(*self.posed(listed(docs), clamp))
        bounds = pairwise(posterior.batch.offsets.tolist())
        return [posterior.marginals[start:end] for start, end in bounds]

    def expected_counts(self, docs: Sequence[Doc], clamp: bool = False) -> list[dict[str, float]]:
        """The expected number of entities of each label in each Doc."""
        counts = Posterior.of(*self.posed(listed(docs), clamp)).expected_counts()
        return [dict(zip(self.tags.labels, row.tolist())) for row in counts]

    def span_probability(
        self, doc: Doc, start: int, end: int, label: str, clamp: bool = False
    ) -> float:
        """The probability that exactly these tokens are an entity of this label."""
        (doc,) = listed([doc])
        span, size = Span(index(start), index(end), label), len(doc)
        if not 0 <= start < end <= size:
            reason = f"{tuple(span)} is no span of {size} tokens: 0 <= start < end <= {size}."
            raise SpanRangeError(reason, [span])
        return float(self.span_probabilities([doc], SpanColumns.of([[span]], [size]), clamp)[0])

    def span_probabilities(
        self, docs: Sequence[Doc], spans: SpanColumns, clamp: bool = False
    ) -> Floats:
        """Return the probability of each of some spans of Docs to be an entity of its label."""
        posterior = Posterior.of(*self.posed(listed(docs), clamp))
        return np.minimum(np.exp(posterior.span_log_probability(self.tags.rows(spans))), 1.0)


def listed(docs: Iterable[Doc] | Doc) -> list[Doc]:
    """Docs as a list; one Doc alone, or anything else, is refused."""
    if isinstance(docs, Doc):
        raise TypeError(
            "Ask about a list of Docs, [doc] instead of doc: the answers are a list, too."
        )
    found = list(docs)
    for doc in found:
        if not isinstance(doc, Doc):
            raise TypeError(
                f"Ask about Docs, not about {type(doc).__name__}: nlp(text), or nlp.make_doc(text)."
            )
    return found
