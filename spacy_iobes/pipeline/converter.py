"""The component `iobes_converter`: entities or a span group become tags, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc

from ..codes.columns import CodedTags
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.write import write_spans
from ..corpus.sources import Entities, SpanGroup, get_source
from ..corpus.tagged import TaggedDocs, Unit
from ..corpus.targets import get_target
from .doc_pipe import DocPipe, Scorer


class Converter(DocPipe):
    """Reads `source` and writes `target`, each of which may hold tags or spans.

    `scheme` is that of the tags; from tags to tags it is that of the source, and `target_scheme`
    that of the target. Tokens that are missing or blocked stay so, as `-` and `!` in tags.
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
        self.policy = get_policy(policy)
        self.unit: Unit = unit
        from_spans = isinstance(self.source, (Entities, SpanGroup))
        self.scheme = get_scheme("bio" if from_spans else scheme)
        self.target_scheme = get_scheme(target_scheme or scheme)
        self.target = get_target(target)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Convert all Docs, then write to each."""
        tagged = TaggedDocs.read(docs, self.source, self.scheme, self.unit)
        found = tagged.piece_spans(self.policy)
        if self.target.holds_spans:
            for number, (doc, spans) in enumerate(zip(docs, tagged.in_docs(found))):
                self.target.write(doc, spans, *tagged.absent(number))
            return
        new = write_spans(found, tagged.pieces.offsets, self.target_scheme)
        for doc, tags in zip(docs, _with_absent(tagged, new)):
            self.target.write(doc, tags)


def _with_absent(tagged: TaggedDocs, new: CodedTags) -> list[list[str]]:
    """The new tags of whole Docs, `-` and `!` where they were."""
    names = (*tagged.whole.tags, *new.tags)
    codes = tagged.whole.codes.copy()
    codes[tagged.place] = new.codes + len(tagged.whole.tags)
    return CodedTags.trusted(codes, tagged.whole.offsets, names).lists()
