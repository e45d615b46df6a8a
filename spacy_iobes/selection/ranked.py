"""A pool ranked once: by what a model learns from annotated Docs, or by a trained pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Offsets
from ..corpus.answered import Answered, Status
from ..corpus.tasks_out import prodigy_task
from ..errors import CorpusError
from .pool import Pool
from .ranking import get_ranking
from .recogniser import Recogniser
from .view import Suggestion, View

PASSES = 3  # as if what is annotated had come in so many batches


@dataclass(frozen=True, eq=False)
class Ranked:
    """The sentences of a pool, best first, and the view that they are ranked by."""

    pool: Pool
    view: View
    order: Offsets

    @classmethod
    def of(cls, pool: Pool, view: View, among: Offsets, ranking: str, seed: int) -> Ranked:
        """Rank some sentences of a pool."""
        values = get_ranking(ranking).values(view, np.random.default_rng(seed))[among]
        return cls(pool, view, among[np.argsort(-values, kind="stable")])

    @property
    def expected(self) -> list[float]:
        """What is expected of each sentence, in their order."""
        found: list[float] = self.view.expected[self.order].tolist()
        return found

    def tasks(self, count: int, suggestions: int) -> Iterator[dict[str, Any]]:
        """The first sentences as Prodigy has them, with suggestions, whose best are the spans."""
        for rank, sentence in enumerate(self.order[:count].tolist(), 1):
            best = self.view.suggestions(sentence, max(suggestions, 1))
            task = prodigy_task(self._sentence(sentence, best))
            more = {"rank": rank, "expected": float(self.view.expected[sentence])}
            task["meta"] |= more
            if suggestions:
                task["suggestions"] = [
                    {"probability": p, "spans": [list(span) for span in spans]} for p, spans in best
                ]
            yield task

    def text(self, sentence: int) -> str:
        """What a sentence says."""
        return self._sentence(sentence, []).text

    def _sentence(self, sentence: int, best: Sequence[Suggestion]) -> Answered:
        doc, _, _ = self.pool.place(sentence)
        spans = best[0].spans if best else None
        words, known = self.pool.words(sentence), self.pool.known(sentence)
        status: Status = "predicted" if best else "unread"
        return Answered(sentence, doc, *words, known, spans, status, self.pool.more(sentence))


def learned(pool: Pool, unread: int, seed: int = 0) -> tuple[View, Offsets]:
    """Learn from all Docs of a pool but the first, which are `unread`, and look at those.

    Returns the view, and which sentences it is asked about.
    """
    first = int(np.searchsorted(pool.units.doc, unread))
    answers = {sentence: pool.gold(sentence) for sentence in range(first, len(pool))}
    if not any(answers.values()):
        raise CorpusError(
            f"What is to be learned from has no mention of {', '.join(pool.labels)}: is it in "
            "another column, scheme or span group, or is the label spelled otherwise?"
        )
    model, among = Recogniser(pool, seed), np.arange(first)
    for _ in range(PASSES):
        view = model.learn(answers, among)
    return view, among
