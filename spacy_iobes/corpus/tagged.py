"""The tags of some Docs, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from ..codes.parse import refusal
from ..codes.pieces import Pieces
from ..codes.policy import Policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from ..codes.violation import Violation
from ..errors import InexpressibleError, MalformedTagsError, UnknownNameError, UnreadableTagError
from .sources import Entities, Source, shown

Unit = Literal["doc", "sentence"]


@dataclass(frozen=True, eq=False)
class TaggedDocs:
    """The tags of some Docs, cut into the pieces in which spans are looked for."""

    docs: Sequence[Doc]
    pieces: Pieces

    @classmethod
    def read(
        cls,
        docs: Sequence[Doc],
        source: Source,
        scheme: Scheme,
        unit: Unit = "doc",
        sentences: Sequence[Doc] | None = None,
    ) -> TaggedDocs:
        """Read the tags of Docs.

        Spans are bound by the unit, which is `doc`, or `sentence` where the Docs have sentences, or
        other Docs of the same tokens, `sentences`, have them.
        """
        if unit not in get_args(Unit):
            units = ", ".join(get_args(Unit))
            raise UnknownNameError(f"Unknown unit {unit!r}. Known: {units}.", unit, get_args(Unit))
        whole = source.read(docs, scheme)
        cuts = sentence_starts(sentences or docs, whole.offsets) if unit == "sentence" else None
        return cls(docs, Pieces.of(whole, scheme, cuts))

    @classmethod
    def entities(cls, docs: Sequence[Doc], advice: str) -> TaggedDocs:
        """The entities of Docs; malformed ones are refused, with advice."""
        found = cls.read(docs, Entities(), get_scheme("bio"))
        found.require_legal(advice)
        return found

    @property
    def scheme(self) -> Scheme:
        """The scheme of the tags."""
        return self.pieces.scheme

    @property
    def whole(self) -> CodedTags:
        """The tags, `-` and `!` among them: one sequence for each Doc."""
        return self.pieces.whole

    def spans(self, policy: Policy) -> SpanColumns:
        """The spans that the policy finds, `sentence` being the Doc; raises where it refuses."""
        return self.pieces.in_whole(self.piece_spans(policy))

    def piece_spans(self, policy: Policy) -> SpanColumns:
        """The same, but as spans of the pieces."""
        if policy.refuses:
            self.require_legal()
        try:
            return self.pieces.spans(policy)
        except UnreadableTagError as error:
            place = f"In {shown(self.docs[error.sentence])}, token {error.index}: "
            at = (error.tag, error.sentence, error.index)
            raise UnreadableTagError(place + error.reason, *at, error.reason) from error

    def write(self, spans: SpanColumns, scheme: Scheme) -> CodedTags:
        """The tags of the pieces for their spans."""
        try:
            return self.pieces.write(spans, scheme)
        except InexpressibleError as error:
            message = f"In {shown(self.docs[error.sentence])}: {error.reason}"
            raise InexpressibleError(message, error.spans, error.sentence, error.reason) from error

    @cached_property
    def malformed(self) -> list[tuple[int, Violation]]:
        """Every violation with the number of its Doc, and with its token."""
        return [
            (number, replace(wrong, token=self.docs[number][index].text))
            for number, index, wrong in self.pieces.violations()
        ]

    def violations(self) -> list[list[Violation]]:
        """The violations of each Doc."""
        found: list[list[Violation]] = [[] for _ in self.docs]
        for doc, wrong in self.malformed:
            found[doc].append(wrong)
        return found

    def require_legal(self, advice: str = "") -> None:
        """Raise for violations, with the first words of the Doc that has the first of them."""
        if self.malformed:
            error = refusal(self.scheme, [wrong for _, wrong in self.malformed], advice=advice)
            first = shown(self.docs[self.malformed[0][0]])
            raise MalformedTagsError(f"In {first}: {error}", error.violations)


def sentence_starts(docs: Sequence[Doc], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which tokens begin a sentence; a Doc without sentences is one."""
    starts = np.zeros(int(offsets[-1]), dtype=bool)
    for doc, begin in zip(docs, offsets.tolist()):
        if doc.has_annotation("SENT_START"):
            starts[begin : begin + len(doc)] = doc.to_array(SENT_START).astype(np.int64) == 1
    return starts
