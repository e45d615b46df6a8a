"""A tagging strategy over the labels of a corpus: gold spans as states, class scores as states'."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints, Offsets
from ..chain import Batch, Posterior
from ..codes.classes import Classes, classes
from ..codes.scheme import Scheme
from ..codes.span_columns import SpanColumns
from ..ml.tag_chain import TagChain


@dataclass(frozen=True, eq=False)
class Codec:
    """What a scheme makes of the spans of some labels."""

    scheme: Scheme
    labels: tuple[str, ...]

    @cached_property
    def tags(self) -> TagChain:
        """The states, and what may follow what."""
        return TagChain(self.scheme, self.labels)

    @cached_property
    def classes(self) -> Classes:
        """What a classifier chooses from."""
        return classes(self.labels, self.scheme)

    def path(self, gold: SpanColumns, lengths: list[int]) -> Ints:
        """The states of the gold spans; touching ones that the scheme cannot tell apart are one."""
        return self.tags.path(gold if self.scheme.split else joined(gold), lengths)

    def states(self, class_scores: Floats) -> Floats:
        """The scores `[N, K]` of states from those of classes, `[N, C]`."""
        of_state = self.classes.of_state
        if of_state.shape[1] == 1:
            return class_scores
        return np.asarray(class_scores[:, of_state].sum(axis=2))

    def batch(self, class_scores: Floats, offsets: Offsets) -> Batch:
        """The scores of all states in all units."""
        return Batch.of(self.states(class_scores), np.diff(offsets).tolist())

    def class_logs(self, posterior: Posterior) -> Floats:
        """The logarithms of the probabilities of classes, `[N, C]`, from those of states."""
        states, of_state = posterior.marginals, self.classes.of_state
        found = np.zeros((len(states), len(self.classes.names)))
        for chosen in of_state.T:
            np.add.at(found.T, chosen, states.T)
        with np.errstate(divide="ignore"):
            return np.log(found)


def joined(spans: SpanColumns) -> SpanColumns:
    """The same spans, but those of one label that touch are one."""
    if not spans.total:
        return spans
    kept = np.append(True, ~_touching(spans))
    last = np.append(np.flatnonzero(kept)[1:] - 1, spans.total - 1)
    columns = spans.sentence[kept], spans.start[kept], spans.end[last], spans.label[kept]
    return SpanColumns.trusted(columns, spans.labels, spans.sentences)


def lost(spans: SpanColumns, scheme: Scheme) -> int:
    """How many spans the scheme cannot tell from the one before them."""
    return 0 if scheme.split or not spans.total else int(_touching(spans).sum())


def _touching(spans: SpanColumns) -> NDArray[np.bool_]:
    """Of each span but the first: whether it touches the one before, with the same label."""
    same: NDArray[np.bool_] = spans.start[1:] == spans.end[:-1]
    for column in (spans.sentence, spans.label):
        same &= column[1:] == column[:-1]
    return same
