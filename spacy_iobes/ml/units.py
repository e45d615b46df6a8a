"""The stretches of Docs that mentions do not leave, sentences or whole Docs, and their gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from spacy.tokens import Doc

from ..arrays import Ints, Offsets
from ..codes.span_columns import SpanColumns
from .extractor import sentences_of


@dataclass(frozen=True)
class Look:
    """What a model scores: tokens, or the gaps of units; `bound`: units are sentences, not Docs."""

    gaps: bool = False
    bound: bool = True


@dataclass(frozen=True, eq=False)
class Units:
    """Doc `d` has the tokens `docs[d]:docs[d + 1]`, unit `u` has `tokens[u]:tokens[u + 1]`.

    Every unit lies in one Doc, and none is empty. A unit has one gap more than it has tokens.
    """

    docs: Offsets
    tokens: Offsets

    @classmethod
    def of(cls, docs: Sequence[Doc], bound: bool) -> Units:
        """The sentences of Docs, a Doc that knows of none being one; or, not `bound`, the Docs."""
        offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
        return cls(offsets, sentences_of(docs, offsets) if bound else _filled(offsets))

    def __len__(self) -> int:
        return len(self.tokens) - 1

    @property
    def lengths(self) -> Offsets:
        """How many tokens each unit has."""
        return np.diff(self.tokens)

    @cached_property
    def gaps(self) -> Offsets:
        """Unit `u` has the gaps `gaps[u]:gaps[u + 1]`."""
        return self.tokens + np.arange(len(self.tokens))

    @cached_property
    def doc(self) -> Offsets:
        """The Doc of each unit."""
        return np.searchsorted(self.docs, self.tokens[:-1], side="right") - 1

    @cached_property
    def sides(self) -> tuple[Offsets, Offsets]:
        """The token before each gap and the one behind it; N and N + 1 where there is none."""
        count = int(self.tokens[-1])
        before = np.full(self.gaps[-1], count, dtype=np.int64)
        behind = np.full(self.gaps[-1], count + 1, dtype=np.int64)
        token = np.arange(count)
        first = token + np.repeat(np.arange(len(self)), self.lengths)  # the gap before each token
        behind[first], before[first + 1] = token, token
        return before, behind

    def gaps_by_doc(self) -> list[int]:
        """How many gaps the units of each Doc have."""
        found = np.bincount(self.doc, minlength=len(self.docs) - 1) + np.diff(self.docs)
        return [int(count) for count in found]

    def inside(self, spans: SpanColumns) -> SpanColumns:
        """Spans of Docs as spans of units, which they do not leave."""
        start = self.docs[spans.sentence] + spans.start
        unit = np.searchsorted(self.tokens, start, side="right") - 1
        begin = start - self.tokens[unit]
        return _columns(
            (unit, begin, begin + spans.end - spans.start, spans.label), spans, len(self)
        )

    def outside(self, spans: SpanColumns) -> SpanColumns:
        """Spans of units as spans of Docs."""
        doc = self.doc[spans.sentence]
        more = self.tokens[spans.sentence] - self.docs[doc]
        rows = (doc, spans.start + more, spans.end + more, spans.label)
        return _columns(rows, spans, len(self.docs) - 1)


def _columns(rows: Sequence[Ints | Offsets], spans: SpanColumns, sentences: int) -> SpanColumns:
    kept = (np.ascontiguousarray(row, dtype=np.int32) for row in rows)
    return SpanColumns.trusted(kept, spans.labels, sentences)


def _filled(offsets: Offsets) -> Offsets:
    """The offsets of all that is not empty."""
    return np.append(offsets[:-1][np.diff(offsets) > 0], offsets[-1])
