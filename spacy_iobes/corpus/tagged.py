"""The tags of some Docs, cut into the pieces that are read for spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from ..codes.columns import CodedTags, SpanColumns
from ..codes.parse import read_spans, refusal, validate_many
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..codes.violation import Violation, violation
from ..errors import MalformedTagsError, UnreadableTagError
from .sources import BLOCKED, MISSING, Source, shown

ABSENT = (MISSING, BLOCKED)
NO_TAG = "a token without a tag"
Unit = Literal["doc", "sentence"]


@dataclass(frozen=True, eq=False)
class TaggedDocs:
    """The tags of some Docs, `whole`, and the `pieces` of them in which spans are looked for.

    A token that is missing or blocked is in no span, so that a piece ends before it and another one
    begins after it; so it is at sentence borders if spans are bound by sentences. `place[i]` is the
    token, counted over all Docs, that the i-th token of the pieces is.
    """

    docs: Sequence[Doc]
    scheme: Scheme
    whole: CodedTags
    pieces: CodedTags
    place: NDArray[np.intp]

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
        whole = source.read(docs, scheme)
        cuts = sentence_starts(sentences or docs, whole.offsets) if unit == "sentence" else None
        absent = np.isin(whole.codes, [i for i, tag in enumerate(whole.tags) if tag in ABSENT])
        if cuts is None and not absent.any():
            return cls(docs, scheme, whole, whole, np.arange(len(whole.codes)))
        begins = np.zeros(len(absent) + 1, dtype=bool)
        begins[whole.offsets] = True
        begins[:-1] |= False if cuts is None else cuts
        begins[1:] |= absent
        place = np.flatnonzero(~absent)
        opening = _carried(begins[:-1], place)
        offsets = np.append(np.flatnonzero(opening), len(place)).astype(np.int64)
        pieces = CodedTags.trusted(whole.codes[place], offsets, whole.tags)
        return cls(docs, scheme, whole, pieces, place)

    def spans(self, policy: Policy) -> SpanColumns:
        """The spans that the policy finds, `sentence` being the Doc; raises where it refuses."""
        return self.in_docs(self.piece_spans(policy))

    def piece_spans(self, policy: Policy) -> SpanColumns:
        """The same, but as spans of the pieces."""
        if policy.refuses:
            self.require_legal()
        try:
            return read_spans(self.pieces, self.scheme, policy)
        except UnreadableTagError as error:
            doc, index = self.token(int(self.pieces.offsets[error.sentence]) + error.index)
            message = f"In {shown(self.docs[doc])}, token {index}: {error.reason}"
            raise UnreadableTagError(message, error.tag, doc, index, error.reason) from error

    def in_docs(self, spans: SpanColumns) -> SpanColumns:
        """Spans of the pieces as spans of the Docs."""
        first = self.place[self.pieces.offsets[spans.sentence]]
        doc = np.searchsorted(self.whole.offsets, first, side="right") - 1
        shift = (first - self.whole.offsets[doc]).astype(np.int32)
        columns = (doc.astype(np.int32), spans.start + shift, spans.end + shift, spans.label)
        return SpanColumns.trusted(columns, spans.labels, len(self.docs))

    def token(self, i: int) -> tuple[int, int]:
        """The Doc and the index in it of the i-th token of the pieces."""
        at = int(self.place[i])
        doc = int(np.searchsorted(self.whole.offsets, at, side="right")) - 1
        return doc, at - int(self.whole.offsets[doc])

    @cached_property
    def malformed(self) -> list[tuple[int, Violation]]:
        """Every violation with the number of its Doc; its index counts the tokens of the Doc."""
        return list(self._violations())

    def violations(self) -> list[list[Violation]]:
        """The violations of each Doc."""
        found: list[list[Violation]] = [[] for _ in self.docs]
        for doc, wrong in self.malformed:
            found[doc].append(wrong)
        return found

    def _violations(self) -> Iterator[tuple[int, Violation]]:
        columns = validate_many(self.pieces, self.scheme)
        for piece, wrong in columns.rows():
            begin, end = self.pieces.offsets[piece : piece + 2].tolist()
            last = begin + wrong.index == end
            doc, index = self.token(begin + wrong.index - last)
            yield doc, self._at(doc, index + last, wrong)

    def _at(self, doc: int, index: int, wrong: Violation) -> Violation:
        """The violation with its place in a Doc, and what a token without a tag is called."""
        before, behind = (self.whole.tag(doc, i) in ABSENT for i in (index - 1, index))
        edges = (NO_TAG if before else "", NO_TAG if behind else "")
        if any(edges) and wrong.kind != "unreadable":
            wrong = violation(self.scheme, index, wrong.previous, wrong.current, edges)
        token = self.docs[doc][min(index, len(self.docs[doc]) - 1)].text
        return replace(wrong, index=index, token=token)

    def require_legal(self) -> None:
        """Raise for violations, with the first words of the Doc that has the first of them."""
        if self.malformed:
            error = refusal(self.scheme, [wrong for _, wrong in self.malformed])
            first = shown(self.docs[self.malformed[0][0]])
            raise MalformedTagsError(f"In {first}: {error}", error.violations)

    def absent(self, doc: int) -> tuple[list[int], list[int]]:
        """The tokens of a Doc that are missing, and those that are blocked."""
        begin, end = self.whole.offsets[doc : doc + 2]
        codes = self.whole.codes[begin:end]
        missing, blocked = (
            np.flatnonzero(codes == self.whole.tags.index(tag)).tolist()
            if tag in self.whole.tags
            else []
            for tag in ABSENT
        )
        return missing, blocked


def _carried(begins: NDArray[np.bool_], place: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of the tokens that are kept begin a piece: those with a beginning at or before them."""
    count = np.cumsum(begins)
    opens: NDArray[np.bool_] = np.diff(count[place], prepend=0) > 0
    return opens


def sentence_starts(docs: Sequence[Doc], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which tokens begin a sentence; a Doc without sentences is one."""
    starts = np.zeros(int(offsets[-1]), dtype=bool)
    for doc, begin in zip(docs, offsets.tolist()):
        if doc.has_annotation("SENT_START"):
            starts[begin : begin + len(doc)] = doc.to_array(SENT_START).astype(np.int64) == 1
    return starts
