"""Mentions as separators: one chain over the gaps of a unit for each label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Flags, Floats
from ..chain.gap_limits import agreeing
from ..chain.gaps import Gaps
from ..chain.mention_counts import expected_mentions, expected_starts
from ..chain.separators import Edge, State, loss, loss_of
from ..chain.spans import Spans
from ..codes.readings import Reading, nearest_start
from ..codes.separator_columns import SeparatorColumns, decode_many, encode_many
from ..codes.span_columns import SpanColumns
from ..kernels.separators_numpy import END, KINDS, START, Separators
from .asked import Chains
from .gap_scores import GapScores
from .tag_chain import advising, to_numpy
from .units import Units

BITS = KINDS.astype(np.int32)  # that separators with a start have something in common, and so on


@dataclass(frozen=True, eq=False)
class AskedSeparators:
    """Scores of separators: those of `Edge`, or with learned steps those of `State`."""

    model: Edge | State
    gaps: Gaps
    units: Units
    labels: tuple[str, ...]
    reading: Reading

    @classmethod
    def of(cls, scores: GapScores, labels: tuple[str, ...], reading: Reading) -> AskedSeparators:
        """What a model says; it has steps for every label, or none."""
        units, steps = scores.units, to_numpy(scores.steps)
        shape = (int(units.gaps[-1]), len(labels), len(KINDS))
        with advising():
            gaps = Gaps.of(to_numpy(scores.scores).reshape(shape), units.lengths)
            model = State(steps.astype(np.float64)) if steps.size else Edge()
        return cls(model, gaps, units, labels, reading)

    def apart(self, blank: Flags) -> AskedSeparators:
        """The same, but no mention begins or ends with one of these tokens, `[N]`."""
        if not blank.any():
            return self
        before, behind = self.units.sides
        known = np.append(blank, [False, False])
        begins = known[behind][:, None] & (KINDS & START > 0)
        ends = known[before][:, None] & (KINDS & END > 0)
        allowed = np.broadcast_to(~(begins | ends)[:, None], self.gaps.scores.shape)
        return replace(self, gaps=self.gaps.limited(allowed))

    def biased(self, bias: float) -> AskedSeparators:
        """The same with `bias` added to the score of every start of a mention."""
        return replace(self, gaps=self.gaps.biased(bias)) if bias else self

    def best(self) -> SpanColumns:
        """The mentions of the best annotation."""
        return self.units.outside(self._read(self.model.best(self.gaps).separators))

    def nbest(self, n: int) -> Chains:
        """The n best annotations of every chain, without regard to the others."""
        scores = self.gaps.scores.astype(np.float64)  # so that all probabilities sum to 1
        separators, logs = self.model.nbest(replace(self.gaps, scores=scores), n)
        there = np.repeat(np.isfinite(logs), np.diff(self.gaps.offsets), axis=1)
        return Chains([self._read(kinds) for kinds in np.where(there, separators, 0)], logs)

    def _read(self, separators: Separators) -> SpanColumns:
        return decode_many(
            SeparatorColumns(separators, self.gaps.offsets, self.labels), self.reading
        )

    def loss(self, gold: SpanColumns, missing: Flags) -> tuple[float, GapScores]:
        """The negative log-likelihood of mentions, and its gradient."""
        inner = self.units.inside(gold)
        if missing.any():
            known = self.gaps.limited(agreeing(self.gaps, _rows(inner), missing))
            values, gradient = loss(self.model, self.gaps, known)
        else:
            separators = encode_many(inner, self.units.lengths, self.labels).gaps
            values, gradient = loss_of(self.model, self.gaps, separators)
        rows = gradient.separators.reshape(len(self.gaps.scores), -1).astype(np.float32)
        return float(values.sum()), GapScores(rows, self.units, gradient.steps)

    def mentions(self, spans: SpanColumns) -> Floats:
        """The logarithm of the probability that each span may be a mention, `[R]`."""
        return self.model.mentions(self.gaps, _rows(self.units.inside(spans)))

    def expected(self) -> Floats:
        """The expected number of mentions of every label in every unit, `[U, L]`.

        It is exact for `nearest_start`, the default reading; for others, it is that of places where
        mentions start.
        """
        count = expected_mentions if self.reading.rule is nearest_start else expected_starts
        return count(self.model, self.gaps)


def _rows(spans: SpanColumns) -> Spans:
    columns = (spans.sentence, spans.start, spans.end, spans.label)
    return Spans(*(column.astype(np.int64) for column in columns))
