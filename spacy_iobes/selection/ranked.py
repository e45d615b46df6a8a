"""A pool ranked once: by what a model learns from annotated Docs, or by a trained pipeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Offsets
from ..corpus.excerpts import Object, excerpts
from ..corpus.formats.prodigy import task
from ..corpus.sentences import Sentences
from ..errors import CorpusError
from ..names import counted
from ..scoring.tables import Row, aligned
from .pool import Pool, PoolSentence
from .pool_learner import PoolLearner
from .ranking import get_ranking
from .view import View

HEADER = ("rank", "expected", "sentence")
WIDTH = 80  # characters of a sentence in a table
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

    def rows(self, count: int, suggestions: int) -> list[PoolSentence]:
        """Return the first sentences with suggestions, of which the best are their mentions."""
        found = list[PoolSentence]()
        for rank, sentence in enumerate(self.order[:count].tolist(), 1):
            best = self.view.suggestions(sentence, max(suggestions, 1))
            spans = best[0].spans if best else None
            status = "predicted" if best else "unread"
            row = PoolSentence.of(self.pool, sentence, spans, status, answer=None)
            row.note["meta"].update(rank=rank, expected=float(self.view.expected[sentence]))
            if suggestions:
                every = [
                    {"probability": p, "spans": [list(span) for span in spans]} for p, spans in best
                ]
                row = row._replace(note={**row.note, "suggestions": every})
            found.append(row)
        return found

    def sentences(self, count: int, suggestions: int) -> Sentences:
        """Return the first sentences, each as a document, with what is suggested."""
        return self.pool.sentences("the pool", self.rows(count, suggestions), apart=True)

    def tasks(self, count: int, suggestions: int) -> list[Object]:
        """Return the first sentences as tasks of Prodigy, which nobody has answered."""
        part = self.sentences(count, suggestions)
        return [task(excerpt)[0] for excerpt in excerpts([(part, part.known())], "sentence")]

    def text(self, sentence: int) -> str:
        """Return the text of a sentence."""
        doc, begin, end = self.pool.place(sentence)
        text: str = self.pool.docs[doc][begin:end].text
        return text

    def facts(self, count: int) -> str:
        """Return how much is expected in the first sentences, in words."""
        expected, size = self.expected, len(self.order)
        first, total = sum(expected[:count]), sum(expected)
        share = f" ({100 * first / total:.1f} %)" if total else ""
        return (
            f"{total:,.1f} mentions of {', '.join(self.pool.labels)} are expected in "
            f"{counted(size, 'sentence')}, {first:,.1f} of them{share} in the first "
            f"{min(count, size):,}."
        )

    def table_rows(self, count: int) -> list[Row]:
        """Return the first sentences as rows of HEADER."""
        some = zip(self.order[:count].tolist(), self.expected)
        texts = ((expected, " ".join(self.text(sentence).split())) for sentence, expected in some)
        return [
            (str(rank), f"{expected:.3f}", text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…")
            for rank, (expected, text) in enumerate(texts, 1)
        ]

    def table(self, count: int) -> str:
        """Return the first sentences and how much is expected in them, for people."""
        return f"{aligned(HEADER, self.table_rows(count), 'rrl', (0,))}\n\n{self.facts(count)}\n"


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
    model, among = PoolLearner(pool, seed), np.arange(first)
    for _ in range(PASSES):
        view = model.learn(answers, among)
    return view, among
