"""Tags of Docs, cut where tokens are not annotated and where sentences end, and read for spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import InexpressibleError, UnreadableTagError
from ..span import Span
from .annotated_runs import AnnotatedRuns, annotated_runs
from .best import TagScores, weighed
from .parse import read_spans, validate_many
from .policy import POLICIES, Policy
from .scheme import Scheme
from .span_columns import SpanColumns
from .tag_columns import CodedTags, ViolationColumns, different
from .violation import BLOCKED, MISSING, NO_TAG, Violation, violation
from .write import write_spans


@dataclass(frozen=True, eq=False)
class Pieces(AnnotatedRuns):
    """Runs of annotated tokens whose tags are read in a scheme."""

    scheme: Scheme = field(kw_only=True)

    @classmethod
    def of(cls, whole: CodedTags, scheme: Scheme, cuts: NDArray[np.bool_] | None = None) -> Pieces:
        """Cut before and behind tokens without a tag, and before the tokens `cuts`."""
        runs = annotated_runs(whole, cuts)
        return cls(runs.whole, runs.tags, runs.kept, scheme=scheme)

    def spans(self, policy: Policy) -> SpanColumns:
        """The spans of the pieces; an unreadable tag is an error with its sequence and index."""
        try:
            return read_spans(self.tags, self.scheme, policy)
        except UnreadableTagError as error:
            at = self.token(int(self.tags.offsets[error.sentence]) + error.index)
            raise UnreadableTagError(str(error), error.tag, *at, error.reason) from error

    def best(self, scores: Sequence[TagScores]) -> SpanColumns:
        """The spans of the pieces when malformed ones get their most probable legal tags.

        There are scores for each sequence, a row for each of its tokens.
        """
        rows = list(scores)
        if self.tags is not self.whole:
            starts = map(self.token, self.tags.offsets[:-1].tolist())
            rows = [
                TagScores(scores[sequence].tags, scores[sequence].values[index : index + length])
                for (sequence, index), length in zip(starts, np.diff(self.tags.offsets).tolist())
            ]
        legal = weighed(self.tags, self.scheme, rows)
        return read_spans(legal, self.scheme, POLICIES["raise"])

    def write(self, spans: SpanColumns, scheme: Scheme) -> CodedTags:
        """Tags of the pieces for spans of the pieces; errors say the sequence and its spans."""
        try:
            return write_spans(spans, self.tags.offsets, scheme)
        except InexpressibleError as error:
            sequence, shift = self.token(int(self.tags.offsets[error.sentence]))
            a, b = (Span(start + shift, end + shift, label) for start, end, label in error.spans)
            reason = (
                f"{scheme.name} cannot tell apart {tuple(a)} and {tuple(b)}: they touch and have "
                "one label. Choose a scheme that marks where spans begin or end."
            )
            raise InexpressibleError(reason, (a, b), sequence, reason) from error

    def restored(self, tags: CodedTags) -> CodedTags:
        """Tags of the pieces as tags of the sequences, `-` and `!` where they were."""
        names = (*self.whole.tags, *tags.tags)
        codes = self.whole.codes.copy()
        codes[self.place] = tags.codes + len(self.whole.tags)
        return CodedTags.trusted(codes, self.whole.offsets, names)

    def changes(self, new: CodedTags) -> Iterator[tuple[int, int, str, str]]:
        """Every token that has another tag now: sequence, index, old and new tag."""
        for i in np.flatnonzero(different(self.tags, new)).tolist():
            old = self.tags.tags[self.tags.codes[i]]
            yield *self.token(i), old, new.tags[new.codes[i]]

    @cached_property
    def found(self) -> ViolationColumns:
        """The violations of the pieces, in their terms."""
        return validate_many(self.tags, self.scheme)

    def violations(self) -> Iterator[tuple[int, int, Violation]]:
        """Every violation with its sequence and the token to blame; both count in sequences.

        The token is the one behind the gap, or the last of its piece where the end is at fault.
        """
        for piece, wrong in self.found.rows():
            begin, end = self.tags.offsets[piece : piece + 2].tolist()
            last = begin + wrong.index == end
            sequence, index = self.token(begin + wrong.index - last)
            yield sequence, index, self._at(sequence, index + last, wrong)

    def _at(self, sequence: int, index: int, wrong: Violation) -> Violation:
        """The violation in its place, a token without a tag being called so."""
        around = (self.whole.tag(sequence, i) for i in (index - 1, index))
        before, behind = (NO_TAG if tag in (MISSING, BLOCKED) else "" for tag in around)
        if (before or behind) and wrong.kind != "unreadable":
            tags = wrong.previous, wrong.current
            return violation(self.scheme, index, *tags, (before, behind))
        return replace(wrong, index=index)
