"""What Docs say before a recogniser looks at them: entities, blocked tokens, spaces, sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, IS_SPACE
from spacy.tokens import Doc

from ..chain import Batch, Limits
from ..codes.policy import get_policy
from ..corpus.tagged import TaggedDocs, sentence_starts
from ..ml.tag_chain import TagChain
from ..span import Span

ADVICE = (
    "Entities that are set before the recogniser are kept: mend what sets them, or put the "
    'component iobes_repairer (scheme = "bio", source = "ents", and a policy) in between.'
)


class Presets(NamedTuple):
    """The entities of each Doc that are set already, and its blocked tokens.

    `clamped` are those that the chain has tags for; the others are `kept` beside it.
    """

    clamped: list[list[Span]]
    kept: list[list[Span]]
    blocked: list[list[int]]

    @classmethod
    def none(cls, docs: Sequence[Doc]) -> Presets:
        """Nothing is set."""
        return cls([[]] * len(docs), [[]] * len(docs), [[]] * len(docs))

    @classmethod
    def of(cls, docs: Sequence[Doc], tags: TagChain) -> Presets:
        """Read what is set; raises if it is malformed."""
        annotated = [doc.to_array(ENT_IOB) for doc in docs if doc.has_annotation(ENT_IOB)]
        if not any((iob & np.uint64(1)).any() for iob in annotated):  # inside, or begin
            return cls.none(docs)
        preset = TaggedDocs.entities(docs, ADVICE)
        clamped, kept = [], []
        for spans in preset.spans(get_policy("raise")):
            fitting = [tags.can_say(span, spans) for span in spans]
            clamped.append([span for span, fits in zip(spans, fitting) if fits])
            kept.append([span for span, fits in zip(spans, fitting) if not fits])
        return cls(clamped, kept, [preset.pieces.absent(number)[1] for number in range(len(docs))])

    def inside(self, offsets: Sequence[int]) -> NDArray[np.int64]:
        """The tokens of all entities, counted through all Docs."""
        if not (any(self.clamped) or any(self.kept)):
            return np.zeros(0, dtype=np.int64)
        rows = zip(offsets, self.clamped, self.kept)
        found = [
            np.arange(offset + span.start, offset + span.end)
            for offset, clamped, kept in rows
            for span in (*clamped, *kept)
        ]
        return np.concatenate(found)

    def closed(self, offsets: Sequence[int]) -> NDArray[np.int64]:
        """The tokens that the chain may not use, counted through all Docs."""
        found: list[int] = []
        if not (any(self.kept) or any(self.blocked)):
            return np.array(found, dtype=np.int64)
        for offset, kept, blocked in zip(offsets, self.kept, self.blocked):
            found += [offset + token for token in blocked]
            found += [offset + token for span in kept for token in range(span.start, span.end)]
        return np.array(found, dtype=np.int64)


def limited(
    docs: Sequence[Doc], batch: Batch, tags: TagChain, presets: Presets, sentence_bound: bool
) -> Batch:
    """Keep what is set, let no span begin or end with white space, and maybe none leave a sentence.

    White space in an entity that is set already is left alone.
    """
    offsets = batch.offsets.tolist()
    space = np.concatenate([doc.to_array(IS_SPACE) for doc in docs] or [np.zeros(0)])
    inside = presets.inside(offsets)
    blank, closed = without(np.flatnonzero(space), inside), presets.closed(offsets)
    if not (len(blank) or len(inside) or len(closed) or sentence_bound):
        return batch
    limits = Limits(tags.layout, batch)
    if any(presets.clamped):
        limits.require(tags.columns(presets.clamped))
    limits.outside(closed)
    limits.blank(blank)
    if sentence_bound:
        starts = np.flatnonzero(sentence_starts(docs, batch.offsets))
        limits.cut(without(starts, inside))
    return limits.applied()


def without(tokens: NDArray[np.int64], some: NDArray[np.int64]) -> NDArray[np.int64]:
    """The tokens but for some of them."""
    return np.setdiff1d(tokens, some) if len(some) else tokens
