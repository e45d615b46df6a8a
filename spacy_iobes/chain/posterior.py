"""What a chain believes of the sequences of a batch: spans, how many there are, how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import kernels
from ..arrays import Floats, Ints, Offsets
from ..kernels.chain_numpy import logsumexp
from .inference import require_paths
from .model import Arguments, Batch, Chain
from .products import log_product
from .spans import Spans


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution over the paths of every sequence.

    `forward[N, K]`: what leads to a state, its own score included; `backward[N, K]`: what follows
    it; `total[S]`: the sum over all paths. All are logarithms.
    """

    chain: Chain
    batch: Batch
    forward: Floats
    backward: Floats
    total: Floats

    @classmethod
    def of(cls, chain: Chain, batch: Batch) -> Posterior:
        """Ask a chain about a batch."""
        forward, backward, total = kernels.messages(*chain.arguments(batch))
        require_paths(total)
        return cls(chain, batch, forward, backward, total)

    @cached_property
    def marginals(self) -> Floats:
        """The probability of every state at every token, `[N, K]`."""
        return np.exp(self.forward + self.backward - self._token_total)

    @cached_property
    def begins(self) -> Floats:
        """The probability that a span of each label begins at each token, `[N, L]`."""
        states = np.exp(self._opened + self.backward - self._token_total)
        found: Floats = states @ self.chain.spans.members.T.astype(np.float64)
        return found

    def expected_counts(self) -> Floats:
        """The expected number of spans of each label in each sequence, `[S, L]`."""
        return self.batch.summed(self.begins)

    def entropy(self) -> Floats:
        """The entropy of the distribution over paths, in nats, `[S]`."""
        first, last = self.batch.edges
        marginals = self.marginals
        scores = np.where(marginals > 0, self.batch.scores, 0.0)
        mean = np.einsum("nk,nk->n", marginals, scores)
        for at, boundary in ((first, self.chain.start), (last, self.chain.stop)):
            mean[at] += marginals[at] @ np.where(boundary > -np.inf, boundary, 0.0)
        mean += self._mean_steps
        return np.maximum(self.total - self.batch.summed(mean), 0.0)

    def span_log_probability(self, spans: Spans) -> Floats:
        """The logarithm of the probability that exactly these are spans, each for itself, `[R]`."""
        spans.check(self.batch, self.chain.spans.labels)
        found = np.empty(len(spans.start))
        for label in np.unique(spans.label).tolist():
            mine = np.flatnonzero(spans.label == label)
            found[mine] = self._of_label(spans.at(mine), label)
        first = self.batch.offsets[spans.sequence] + spans.start
        logs: Floats = found - self._token_total[first, 0]
        return logs

    def _of_label(self, spans: Spans, label: int) -> Floats:
        """The sum over all paths with a span: it opens, goes on while steps join, and closes."""
        states = np.flatnonzero(self.chain.spans.members[label])
        joins = np.where(self.chain.spans.joins, self._arguments.steps, -np.inf)
        joins = joins[:, states][:, :, states]
        begin, lengths = self.batch.offsets[spans.sequence] + spans.start, spans.end - spans.start
        reached = self._opened[begin][:, states]  # [R, states of the label]
        for length in range(1, int(lengths.max(initial=0))):
            longer = np.flatnonzero(lengths > length)
            at = begin[longer] + length
            ways = reached[longer, :, None] + joins[self._which[at]]
            reached[longer] = logsumexp(ways, 1) + self.batch.scores[at][:, states]
        return logsumexp(reached + self._closed[begin + lengths - 1][:, states], 1)

    @cached_property
    def _arguments(self) -> Arguments:
        return self.chain.arguments(self.batch)

    @cached_property
    def _which(self) -> Ints:
        which = self._arguments.which
        return np.zeros(len(self.forward), dtype=np.int32) if which is None else which

    @cached_property
    def _token_total(self) -> Floats:
        """The total of the sequence of every token, `[N, 1]`.

        Taken from the token itself it is off by just as much as what it is compared with.
        """
        return logsumexp(self.forward + self.backward, 1)[:, None]

    @cached_property
    def _opened(self) -> Floats:
        """What leads to a state by steps that do not join, its own score included, `[N, K]`."""
        first, _ = self.batch.edges
        reached = np.full_like(self.forward, -np.inf)
        for at, step in self._gaps():
            apart = np.where(self.chain.spans.joins, -np.inf, step)
            reached[at] = log_product(self.forward[at - 1], apart)
        reached[first] = self.chain.start
        return reached + self.batch.scores

    @cached_property
    def _closed(self) -> Floats:
        """What follows a state by steps that do not join, `[N, K]`."""
        _, last = self.batch.edges
        onward = self.batch.scores + self.backward
        following = np.full_like(self.backward, -np.inf)
        for at, step in self._gaps():
            apart = np.where(self.chain.spans.joins, -np.inf, step)
            following[at - 1] = log_product(onward[at], apart.T)
        following[last] = self.chain.stop
        return following

    @cached_property
    def _mean_steps(self) -> Floats:
        """The expected score of the step to every token, `[N]`."""
        mean = np.zeros(len(self.forward))
        for at, step in self._gaps():
            legal = step > -np.inf
            lowest = step.min(where=legal, initial=np.inf)
            with np.errstate(divide="ignore"):
                weighted = np.where(legal, step, -np.inf) + np.log(
                    np.where(legal, step - lowest, 0)
                )
            ways = log_product(self.forward[at - 1], weighted)
            ways += self.batch.scores[at] + self.backward[at] - self._token_total[at]
            mean[at] = np.exp(ways).sum(axis=1) + lowest
        return mean

    def _gaps(self) -> list[tuple[Offsets, Floats]]:
        """The tokens behind the gaps of each variant of the steps, and the steps."""
        inner, steps = self.batch.inner, self._arguments.steps
        tokens = [inner[self._which[inner] == v] for v in range(len(steps))]
        return [(at, step) for at, step in zip(tokens, steps) if len(at)]
