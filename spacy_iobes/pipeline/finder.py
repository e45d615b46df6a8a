"""Where a pipeline puts the spans that it finds, and how probable they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..arrays import Floats
from ..codes.scheme import Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..corpus.docs import spans_of
from ..errors import ModelError
from .ner import EntityRecognizer
from .nested_ner import NestedRecognizer

OTHERS = "bio"  # the scheme of a pipeline whose spans do not come from tags
BATCH = 1000  # Docs whose spans are looked at in one go


@dataclass(frozen=True)
class Finder:
    """A pipeline, and where it puts what it finds: entities, or the span group `key`."""

    nlp: Language
    key: str = ""

    @classmethod
    def of(cls, nlp: Language) -> Finder:
        """Return what a pipeline finds: entities if a component sets them, else mentions."""
        groups = cls.groups(nlp)
        entities = any("doc.ents" in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names)
        return cls(nlp, "" if entities or not groups else groups[-1])

    @classmethod
    def groups(cls, nlp: Language) -> list[str]:
        """Return the span groups of the recognisers of nested mentions."""
        return [x.spans_key for _, x in nlp.pipeline if isinstance(x, NestedRecognizer)]

    @property
    def target(self) -> str:
        """The name of the place: `ents`, or `spans:KEY`."""
        return f"spans:{self.key}" if self.key else "ents"

    @cached_property
    def recognizer(self) -> EntityRecognizer | NestedRecognizer | None:
        """The last of our recognisers that writes there; None if there is none."""
        pipes = [pipe for _, pipe in self.nlp.pipeline]
        if self.key:
            nested = [pipe for pipe in pipes if isinstance(pipe, NestedRecognizer)]
            return next((x for x in reversed(nested) if x.spans_key == self.key), None)
        return next((x for x in reversed(pipes) if isinstance(x, EntityRecognizer)), None)

    @property
    def scheme(self) -> Scheme:
        """The scheme in which the recogniser tags."""
        found = self.recognizer
        return found.scheme if isinstance(found, EntityRecognizer) else get_scheme(OTHERS)

    def find(self, docs: Sequence[Doc], probable: bool = False) -> tuple[SpanColumns, Floats]:
        """Return the spans of Docs and, if they are to be `probable`, how much so; else NaN."""
        found = list(self.nlp.pipe(docs))
        self._require_set(found)
        spans = spans_of(found, self.target)
        probability = np.full(spans.total, np.nan)
        pipe = self.recognizer
        if not probable or pipe is None:
            return spans, probability
        known = np.isin(spans.label, [n for n, x in enumerate(spans.labels) if x in pipe.labels])
        for first in range(0, len(found), BATCH):
            last = min(first + BATCH, len(found))
            mine = slice(*np.searchsorted(spans.sentence, [first, last]).tolist())
            asked = spans.cut(first, last).where(known[mine]).with_labels(pipe.labels)
            rows = np.flatnonzero(known[mine]) + mine.start
            if asked.total:
                probability[rows] = pipe.span_probabilities(found[first:last], asked)
        return spans, probability

    def _require_set(self, docs: Sequence[Doc]) -> None:
        """Refuse a pipeline that sets no entities, or not the group."""
        if not any(map(len, docs)):
            return
        known = ", ".join(self.nlp.pipe_names) or "none"
        if self.key and not any(self.key in doc.spans for doc in docs):
            raise ModelError(
                f"No component writes the span group {self.key!r}. There are: {known}."
            )
        if not self.key and not any(doc.has_annotation("ENT_IOB") for doc in docs):
            raise ModelError(
                "The pipeline finds no entities: none of its components sets them. It has: "
                f"{known}. Name one that was trained for it, by 'train' for example, or the span "
                "group that a component writes (--spans-key)."
            )
