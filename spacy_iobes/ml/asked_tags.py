"""Mentions as tags of their label alone: one IOBES chain over the tokens of a unit for each label.

Mentions of different labels may overlap in any way; of one label, only the outermost can be told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..chain import Batch, Chain, Limits, Posterior, Spans, best, loss, nbest
from ..codes.scheme import get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.write import write_spans
from .asked import Chains
from .chain_scores import ChainScores
from .gap_scores import GapScores
from .tag_chain import TagChain, advising, to_numpy
from .units import Units

TAGS = TagChain(get_scheme("iobes"), ("mention",))
BITS = (TAGS.states.label_of >= 0).astype(np.int32)


@dataclass(frozen=True, eq=False)
class AskedTags:
    """Scores of tags; sequence `l * U + u` of the batch is label `l` of unit `u`."""

    chain: Chain
    batch: Batch
    units: Units
    labels: tuple[str, ...]

    @classmethod
    def of(cls, scores: GapScores, labels: tuple[str, ...]) -> AskedTags:
        """What a model says; all labels have the same steps."""
        units, states, none = scores.units, len(TAGS), np.zeros(len(TAGS))
        tokens = int(units.tokens[-1])
        rows = to_numpy(scores.scores).reshape(tokens, len(labels), states).transpose(1, 0, 2)
        flat, lengths = rows.reshape(-1, states), np.tile(units.lengths, len(labels)).tolist()
        with advising():
            batch = Batch.of(np.ascontiguousarray(flat), lengths)
        step = ChainScores(flat, lengths, none, to_numpy(scores.steps), none)
        return cls(TAGS.chain(step), batch, units, labels)

    def apart(self, blank: Flags) -> AskedTags:
        """The same, but no mention begins or ends with one of these tokens, `[N]`."""
        if not blank.any():
            return self
        limits = Limits(TAGS.layout, self.batch)
        limits.blank(np.flatnonzero(np.tile(blank, len(self.labels))))
        return replace(self, batch=limits.applied())

    def biased(self, bias: float) -> AskedTags:
        """The same with `bias` added to the score of every mention."""
        return replace(self, chain=self.chain.biased(bias)) if bias else self

    def best(self) -> SpanColumns:
        """The mentions of the best annotation."""
        return self.units.outside(self._read(best(self.chain, self.batch).states))

    def nbest(self, n: int) -> Chains:
        """The n best annotations of every chain, without regard to the others."""
        scores = self.batch.scores.astype(np.float64)  # so that all probabilities sum to 1
        states, logs = nbest(self.chain, replace(self.batch, scores=scores), n)
        there = np.repeat(np.isfinite(logs), self.batch.lengths, axis=1)
        spans = [self._read(path) for path in np.where(there, states, 0).astype(np.int32)]
        return Chains(spans, logs.reshape(n, len(self.labels), -1).transpose(0, 2, 1))

    def _read(self, states: Ints) -> SpanColumns:
        """The spans of units, sorted, with the labels back in place."""
        found = TAGS.spans(states, self.batch)
        label, unit = np.divmod(found.sentence, max(len(self.units), 1))
        order = np.lexsort((label, found.end, found.start, unit))
        rows = (column[order] for column in (unit, found.start, found.end, label))
        return SpanColumns.trusted(rows, self.labels, len(self.units))

    def loss(self, gold: SpanColumns, missing: Flags) -> tuple[float, GapScores]:
        """The negative log-likelihood of the outermost mentions, and its gradient."""
        spans = self._chained(outermost(gold))
        if missing.any():
            columns = (spans.sentence, spans.start, spans.end, spans.label)
            limits = Limits(TAGS.layout, self.batch)
            limits.require(Spans(*(column.astype(np.int64) for column in columns)))
            inside = np.zeros(len(self.batch.scores), dtype=bool)
            first = self.batch.offsets[spans.sentence]
            for a, b in zip((first + spans.start).tolist(), (first + spans.end).tolist()):
                inside[a:b] = True
            limits.outside(np.flatnonzero(~(inside | np.tile(missing, len(self.labels)))))
            values, gradient = loss(self.chain, self.batch, limits.applied())
        else:
            path = write_spans(spans, self.batch.offsets, TAGS.scheme).codes
            values, gradient = loss(self.chain, self.batch, path)
        shape = (len(self.labels), int(self.units.tokens[-1]), len(TAGS))
        rows = gradient.scores.reshape(shape).transpose(1, 0, 2).reshape(shape[1], -1)
        return float(values.sum()), GapScores(rows.astype(np.float32), self.units, gradient.step)

    def mentions(self, spans: SpanColumns) -> Floats:
        """The logarithm of the probability of each span, `[R]`."""
        asked = self._chained(spans)
        columns = (asked.sentence, asked.start, asked.end, asked.label)
        rows = Spans(*(column.astype(np.int64) for column in columns))
        return Posterior.of(self.chain, self.batch).span_log_probability(rows)

    def expected(self) -> Floats:
        """The expected number of mentions of every label in every unit, `[U, L]`."""
        counts = Posterior.of(self.chain, self.batch).expected_counts()
        found: Floats = counts.reshape(len(self.labels), -1).T
        return found

    def _chained(self, spans: SpanColumns) -> SpanColumns:
        """Spans of Docs as spans of the sequences of the batch, in the order of the rows."""
        inner = self.units.inside(spans)
        sequence = inner.label * np.int32(len(self.units)) + inner.sentence
        rows = (sequence, inner.start, inner.end, np.zeros_like(inner.label))
        return SpanColumns.trusted(rows, TAGS.labels, len(self.batch))


def outermost(spans: SpanColumns) -> SpanColumns:
    """The spans that touch no larger or earlier one of their label: those that tags can tell."""
    kept: list[int] = []
    last: dict[tuple[int, int], int] = {}
    columns = (spans.sentence, spans.label, spans.start, spans.end)
    order = np.lexsort((-spans.end, spans.start, spans.label, spans.sentence))
    for row, key in zip(order.tolist(), zip(*(column[order].tolist() for column in columns))):
        sentence, label, start, end = key
        if start >= last.get((sentence, label), 0):
            kept.append(row)
            last[sentence, label] = end
    chosen = np.sort(np.array(kept, dtype=np.int64))
    rows = (column[chosen] for column in (spans.sentence, spans.start, spans.end, spans.label))
    return SpanColumns.trusted(rows, spans.labels, len(spans))
