"""Limits on the paths of a batch, said in terms of spans: what is known, forced or forbidden."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Offsets, whole_numbers
from ..errors import ChainError
from .layout import ANY, CUT, JOINED, NO_BEGIN, NO_END, Layout
from .model import Batch
from .spans import Spans


class Limits:
    """`allowed[N, K]` states and `gaps[N]` kinds of step, narrowed call by call.

    Tokens are counted through all sequences of the batch.
    """

    def __init__(self, layout: Layout, batch: Batch):
        self.layout = layout
        self.batch = batch
        self.gaps: NDArray[np.uint8] = np.full(len(batch.scores), ANY, dtype=np.uint8)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """All states, until some of them are ruled out."""
        return np.ones(self.batch.scores.shape, dtype=bool)

    def applied(self) -> Batch:
        """The batch with these limits."""
        touched = "allowed" in self.__dict__
        return self.batch.limited(self.allowed if touched else None, self.gaps)

    def require(self, spans: Spans) -> None:
        """These are spans, exactly."""
        spans.check(self.batch, self.layout.labels)
        ends = self.batch.offsets[spans.sequence + 1].tolist()
        starts = self.batch.offsets[spans.sequence]
        columns = ((starts + spans.start).tolist(), (starts + spans.end).tolist(), ends)
        for a, b, last, label in zip(*columns, spans.label.tolist()):
            self.allowed[a:b] &= self.layout.members[label]
            self.gaps[a] &= CUT
            self.gaps[a + 1 : b] &= JOINED
            if b < last:
                self.gaps[b] &= CUT

    def outside(self, tokens: ArrayLike) -> None:
        """These tokens are in no span."""
        at = self._checked(tokens)
        if at.size:
            self.allowed[at] &= self.layout.label_of < 0

    def cut(self, tokens: ArrayLike) -> None:
        """No span reaches across the gap before these tokens."""
        self.gaps[self._checked(tokens)] &= CUT

    def blank(self, tokens: ArrayLike) -> None:
        """No span begins or ends with one of these tokens."""
        at = self._checked(tokens)
        if not at.size:
            return
        self.gaps[at] &= NO_BEGIN
        first, last = self.batch.edges
        behind = np.setdiff1d(at, last) + 1
        self.gaps[behind] &= NO_END
        self.outside(np.intersect1d(at, np.concatenate([first, last])))

    def _checked(self, tokens: ArrayLike) -> Offsets:
        """Tokens that are there; negative ones do not count from the end."""
        at, size = whole_numbers("tokens", tokens), len(self.batch.scores)
        if at.size and not 0 <= at.min() <= at.max() < size:
            wrong = at[(at < 0) | (at >= size)].flat[0]
            raise ChainError(f"There is no token {wrong}: they are counted from 0 to {size - 1}.")
        return at
