"""A recogniser that learns from what was read, goes on from what it knows, and looks at the rest.

It works on hashed features, which are found once for the pool. It learns at a low rate, so that it
stays in doubt of what it has not seen: a model that is too sure of the rest ranks it badly. While
there is little to learn from, it goes through that more often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Offsets, picked
from ..chain import Batch, Limits
from ..chain.gaps import Gaps
from ..codes.scheme import get_scheme
from ..codes.separator_columns import encode_many
from ..codes.span_columns import SpanColumns
from ..learners.gradients import Crf
from ..learners.options import Options
from ..learners.separators import SeparatorLearner
from ..ml.tag_chain import TagChain
from ..span import Span
from .pool import BITS, Pool
from .view import Asked, SeparatorView, TagView, View

SCHEME = "iobes"
OPTIONS = Options(bits=BITS, epochs=1, rate=0.05)
VISITS = 30_000  # tokens to learn from in a round, at least,
MOST = 10  # unless that takes more epochs


class PoolLearner:
    """Learns the targets of a pool; one thread at a time may call it."""

    def __init__(self, pool: Pool, seed: int = 0, options: Options = OPTIONS):
        self.pool, self.options = pool, replace(options, seed=seed)
        self.model: _Tags | _Separators = (
            _Separators(pool, self.options) if pool.nested else _Tags(pool, self.options)
        )

    def learn(
        self, answers: Mapping[int, Sequence[Span]], among: Sequence[int] | Offsets | None = None
    ) -> View:
        """Learn from all answers, beginning with what is known; returns what it thinks then.

        It is asked about the sentences `among`, or about those without an answer.
        """
        taught = np.array(sorted(answers), dtype=np.int64)
        if len(taught):
            tokens = int(self.pool.lengths[taught].sum())
            more = min(-(-VISITS // max(tokens, 1)), MOST)
            epochs = max(self.options.epochs, more)
            self.model.learner.options = replace(self.options, epochs=epochs)
            self.model.learn(taught, [list(answers[s]) for s in taught.tolist()])
        if among is None:
            unread = np.ones(len(self.pool), dtype=bool)
            unread[taught] = False
            among = np.flatnonzero(unread)
        return self.model.view(np.asarray(among, dtype=np.int64))


class _Tags:
    """A chain of tags."""

    def __init__(self, pool: Pool, options: Options):
        self.pool = pool
        self.tags = TagChain(get_scheme(SCHEME), pool.labels)
        self.learner = Crf(self.tags, self.tags.classes, options)

    def learn(self, sentences: Offsets, spans: list[list[Span]]) -> None:
        tokens, offsets = picked(self.pool.offsets, sentences)
        path = self.tags.path(spans, np.diff(offsets).tolist())
        self.learner.learn(self.pool.features[tokens], offsets, path)

    def view(self, sentences: Offsets) -> TagView:
        tokens, offsets = picked(self.pool.offsets, sentences)
        scores = self.learner.class_scores(self.pool.features[tokens])
        batch = Batch.of(scores, np.diff(offsets))
        out = np.flatnonzero(self.pool.ruled_out[tokens])
        if len(out):
            limits = Limits(self.tags.layout, batch)
            limits.outside(out)
            batch = limits.applied()
        asked = Asked(sentences, len(self.pool))
        return TagView(asked, self.tags, self.learner.chain, batch)


class _Separators:
    """A chain of separators for each label."""

    def __init__(self, pool: Pool, options: Options):
        self.pool = pool
        self.learner = SeparatorLearner(len(pool.labels), options)

    def learn(self, sentences: Offsets, spans: list[list[Span]]) -> None:
        gaps, offsets = picked(self.pool.units.gaps, sentences)
        lengths = self.pool.lengths[sentences].tolist()
        gold = encode_many(SpanColumns.of(spans, lengths), lengths, self.pool.labels).gaps
        self.learner.learn(self.pool.features[gaps], offsets, gold)

    def view(self, sentences: Offsets) -> SeparatorView:
        gaps, _ = picked(self.pool.units.gaps, sentences)
        scores = self.learner.scores(self.pool.features[gaps])
        asked = Asked(sentences, len(self.pool))
        return SeparatorView(asked, self.pool.labels, Gaps.of(scores, self.pool.lengths[sentences]))
