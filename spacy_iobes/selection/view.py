"""What a model thinks of the sentences of a pool: how many mentions, and which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Offsets
from ..chain import Batch, Chain, Posterior, expected_spans, nbest
from ..chain.gaps import Gaps
from ..chain.separators import Edge
from ..codes.readings import DEFAULT_READING, get_reading
from ..ml.asked_separators import AskedSeparators
from ..ml.combinations import best_of_docs
from ..ml.tag_chain import TagChain
from ..ml.units import Units
from ..span import Span


class Suggestion(NamedTuple):
    """One complete annotation of a sentence, and its probability."""

    probability: float
    spans: list[Span]


class View(Protocol):
    """What a model thought of the pool when it had learned; it does not change any more."""

    @property
    def expected(self) -> Floats:
        """The expected number of mentions of each sentence, `[S]`; 0 where it was not asked."""

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        """The `n` most probable annotations of a sentence, best first; none if it was not asked."""

    def entropy(self) -> Floats:
        """How uncertain the annotation of each sentence is, in nats, `[S]`."""

    def margin(self) -> Floats:
        """By how much the best annotation of each sentence is more probable than the next, `[S]`.

        Where a sentence was not asked about it is 1.
        """


@dataclass(frozen=True, eq=False)
class Asked:
    """The sentences of a pool that a model was asked about, in this order."""

    sentences: Offsets
    size: int

    @cached_property
    def at(self) -> dict[int, int]:
        """The place of each sentence among those that were asked about."""
        return {sentence: place for place, sentence in enumerate(self.sentences.tolist())}

    def spread(self, values: Floats, rest: float = 0.0) -> Floats:
        """Values of the sentences that were asked about as values of all."""
        found = np.full(self.size, rest)
        found[self.sentences] = values
        return found


@dataclass(frozen=True, eq=False)
class TagView:
    """The view of a chain of tags; `batch` has what is ruled out already."""

    asked: Asked
    tags: TagChain
    chain: Chain
    batch: Batch

    @cached_property
    def expected(self) -> Floats:
        """The exact expectation over all legal sequences."""
        return self.asked.spread(expected_spans(self.chain, self.batch).sum(axis=1))

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        """The best sequences of tags."""
        if sentence not in self.asked.at:
            return []
        batch = self.batch.repeated(np.array([self.asked.at[sentence]]))
        found = nbest(self.chain, batch, n)
        return [
            Suggestion(min(exp(log), 1.0), next(iter(self.tags.spans(states, batch))))
            for states, log in zip(found.states, found.log_probability[:, 0].tolist())
            if np.isfinite(log)
        ]

    def entropy(self) -> Floats:
        """The entropy of the distribution over sequences."""
        return self.asked.spread(Posterior.of(self.chain, self.batch).entropy())

    def margin(self) -> Floats:
        """The difference between the two best sequences."""
        return self.asked.spread(_margin(nbest(self.chain, self.batch, 2).log_probability), 1.0)


@dataclass(frozen=True, eq=False)
class SeparatorView:
    """The view of chains of separators, one for each label."""

    asked: Asked
    labels: tuple[str, ...]
    gaps: Gaps

    @cached_property
    def expected(self) -> Floats:
        """The exact expectation over all legal separators, as they are read."""
        return self.asked.spread(self._questions(self.gaps).expected().sum(axis=1))

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        """The best combinations of the best separators of each label."""
        if sentence not in self.asked.at:
            return []
        place = self.asked.at[sentence]
        a, b = self.gaps.offsets[place : place + 2].tolist()
        alone = Gaps(self.gaps.scores[a:b], np.array([0, b - a]))
        (best,) = best_of_docs(self._questions(alone), n)
        return [Suggestion(min(exp(log), 1.0), spans) for log, spans in best]

    def entropy(self) -> Floats:
        """The sum over the labels; of a chain, that of its separators given those before them."""
        probability = Edge().expect(self.gaps)
        scores = np.where(probability.separators > 0, self.gaps.scores, 0.0)
        mean = (probability.separators * scores).sum(axis=2)
        sums = np.add.reduceat(mean, self.gaps.offsets[:-1], axis=0, dtype=np.float64)
        return self.asked.spread(np.maximum(probability.total - sums, 0.0).sum(axis=1))

    def margin(self) -> Floats:
        """The product over the labels of what the best have, less the best with one exchanged."""
        logs = self._questions(self.gaps).nbest(2).log_probability  # [2, S, L]
        best = logs[0].sum(axis=1)
        with np.errstate(invalid="ignore"):
            second = best + np.nan_to_num(logs[1] - logs[0], nan=-np.inf).max(axis=1)
        return self.asked.spread(_margin(np.stack([best, second])), 1.0)

    def _questions(self, gaps: Gaps) -> AskedSeparators:
        bounds = gaps.offsets - np.arange(len(gaps.offsets))
        reading = get_reading(DEFAULT_READING)
        return AskedSeparators(Edge(), gaps, Units(bounds, bounds), self.labels, reading)


def _margin(logs: Floats) -> NDArray[np.float64]:
    """What the first of two has more than the second, `[2, S]` logarithms in."""
    best, second = np.exp(logs)
    found: NDArray[np.float64] = best - second
    return found


class UniformView:
    """The view of somebody who has learnt nothing: every sentence is as likely as any other."""

    def __init__(self, sentences: int):
        self.sentences = sentences

    @property
    def expected(self) -> Floats:
        """Return that no mention is expected."""
        return np.zeros(self.sentences)

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        """Return no suggestion."""
        return []

    def entropy(self) -> Floats:
        """Return the same entropy for all sentences."""
        return np.zeros(self.sentences)

    def margin(self) -> Floats:
        """Return the same margin for all sentences."""
        return np.zeros(self.sentences)
