"""The component `iobes_repairer`: tags become entities or spans under a named policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc

from ..codes.columns import SpanColumns, different
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.write import write_spans
from ..corpus.sources import Entities, get_source
from ..corpus.tagged import TaggedDocs, Unit
from ..corpus.targets import ToEntities, get_span_target
from .doc_pipe import DocPipe, Scorer
from .marks import TagChange, mark_changes, mark_violations
from .scorers import tag_scorer


class Repairer(DocPipe):
    """Reads tags, repairs them, and writes the spans; the tags themselves stay as they are.

    The violations are in `doc._.iobes_violations`, and in `doc._.iobes_changes` the tags that the
    repair replaced. Without a `scorer` the component scores by its own settings.
    """

    def __init__(
        self,
        name: str,
        *,
        scheme: str,
        policy: str,
        source: str = "user_data",
        target: str = "ents",
        unit: Unit = "doc",
        scorer: Scorer | None = None,
    ):
        own = tag_scorer(scheme=scheme, repair=policy, source=source, unit=unit)
        super().__init__(name, scorer or own)
        self.scheme = get_scheme(scheme)
        self.policy = get_policy(policy)
        self.source = get_source(source)
        self.target = get_span_target(target)
        self.unit: Unit = unit
        in_place = isinstance(self.source, Entities) and isinstance(self.target, ToEntities)
        self._only_malformed = in_place  # entities that are legal already stay untouched

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Repair all Docs, then write to each."""
        tagged = TaggedDocs.read(docs, self.source, self.scheme, self.unit)
        found = tagged.piece_spans(self.policy)
        spans, violations = list(tagged.in_docs(found)), tagged.violations()
        changes = self._changes(tagged, found)
        for number, doc in enumerate(docs):
            mark_violations(doc, violations[number])
            mark_changes(doc, changes[number])
            if violations[number] or not self._only_malformed:
                self.target.write(doc, spans[number], *tagged.absent(number))

    def _changes(self, tagged: TaggedDocs, spans: SpanColumns) -> list[list[TagChange]]:
        """The tags that the repair replaced, for each Doc."""
        found: list[list[TagChange]] = [[] for _ in tagged.docs]
        if tagged.malformed:
            old, new = tagged.pieces, write_spans(spans, tagged.pieces.offsets, self.scheme)
            for i in np.flatnonzero(different(old, new)).tolist():
                doc, index = tagged.token(i)
                tags = old.tags[old.codes[i]], new.tags[new.codes[i]]
                found[doc].append(TagChange(index, *tags))
        return found
