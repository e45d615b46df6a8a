"""What a trained pipeline thinks of a pool, by the questions that its recogniser answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..arrays import Floats
from ..errors import SettingError
from ..span import Span
from .pool import Pool
from .view import Suggestion


class Answer(Protocol):
    """One of the best annotations."""

    @property
    def probability(self) -> float:
        """Of this annotation."""

    @property
    def spans(self) -> list[Span]:
        """All of it."""


class Recogniser(Protocol):
    """What both recognisers of this package answer."""

    labels: tuple[str, ...]

    def expected_counts(self, docs: Sequence[Doc]) -> list[dict[str, float]]:
        """The expected number of mentions of each label in each Doc."""

    def nbest(self, docs: Sequence[Doc], n: int) -> Sequence[Sequence[Answer]]:
        """The most probable annotations of each Doc."""


@dataclass(frozen=True, eq=False)
class PipeView:
    """A view of a pool: each sentence is a Doc, which went through the pipeline.

    Of labels that nobody looks for, mentions neither count nor are suggested.
    """

    pool: Pool
    pipe: Recogniser
    docs: Sequence[Doc]

    @classmethod
    def of(cls, pool: Pool, nlp: Language, pipe: Recogniser) -> PipeView:
        """Run a pipeline on the sentences of a pool."""
        unknown = [label for label in pool.labels if label not in pipe.labels]
        if unknown:
            known = ", ".join(pipe.labels)
            raise SettingError(
                f"The recogniser does not know {', '.join(unknown)}. Its labels are {known}."
            )
        bare = (Doc(nlp.vocab, *pool.words(sentence)) for sentence in range(len(pool)))
        return cls(pool, pipe, list(nlp.pipe(bare)))

    @cached_property
    def expected(self) -> Floats:
        """The exact expectation of the recogniser."""
        rows = self.pipe.expected_counts(self.docs)
        return np.array([sum(row[label] for label in self.pool.labels) for row in rows])

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        """Its best annotations; those that differ only in other labels are one."""
        found: dict[tuple[Span, ...], float] = {}
        (answers,) = self.pipe.nbest([self.docs[sentence]], n)
        for answer in answers:
            spans = tuple(span for span in answer.spans if span.label in self.pool.labels)
            found[spans] = found.get(spans, 0.0) + answer.probability
        best = sorted(found.items(), key=lambda item: -item[1])
        return [Suggestion(min(probability, 1.0), list(spans)) for spans, probability in best]

    def entropy(self) -> Floats:
        """Recognisers do not tell it."""
        raise SettingError("A pipeline tells no entropy: rank by 'expected' or 'margin'.")

    def margin(self) -> Floats:
        """The difference between the two best annotations."""
        best = (
            tuple(answer.probability for answer in found) for found in self.pipe.nbest(self.docs, 2)
        )
        return np.array([(*found, 0.0)[0] - (*found, 0.0, 0.0)[1] for found in best])
