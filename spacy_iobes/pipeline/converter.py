"""The component `iobes_converter`: entities or a span group become tags, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc

from ..codes.policy import get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.sources import Entities, SpanGroup, get_source
from ..corpus.tagged import TaggedDocs, Unit
from ..corpus.targets import Absent, get_target
from .doc_pipe import DocPipe, Scorer
from .marks import mark_violations


class Converter(DocPipe):
    """Reads `source` and writes `target`, each of which may hold tags or spans.

    `scheme` is that of the tags; from tags to tags it is that of the source, and `target_scheme`
    that of the target. Tokens that are missing or blocked stay so, as `-` and `!` in tags. What a
    policy had to repair is in `doc._.iobes_violations`.
    """

    def __init__(
        self,
        name: str,
        *,
        scheme: str,
        source: str = "ents",
        target: str = "user_data",
        target_scheme: str | None = None,
        policy: str = "raise",
        unit: Unit = "doc",
        scorer: Scorer | None = None,
    ):
        super().__init__(name, scorer)
        self.source = get_source(source)
        self.policy = get_tag_policy(policy)
        self.unit: Unit = unit
        from_spans = isinstance(self.source, (Entities, SpanGroup))
        self.scheme = get_scheme("bio" if from_spans else scheme)
        self.target_scheme = get_scheme(target_scheme or scheme)
        self.target = get_target(target)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Convert all Docs, then write to each."""
        tagged = TaggedDocs.read(docs, self.source, self.scheme, self.unit)
        found = tagged.piece_spans(self.policy)
        for doc, violations in zip(docs, tagged.violations() if tagged.malformed else ()):
            mark_violations(doc, violations)
        if self.target.holds_spans:
            absent = Absent(tagged.pieces.missing, tagged.pieces.blocked)
            self.target.write_many(docs, tagged.pieces.in_whole(found), absent, range(len(docs)))
            return
        new = tagged.pieces.restored(tagged.write(found, self.target_scheme))
        for doc, tags in zip(docs, new.lists()):
            self.target.write(doc, tags)
