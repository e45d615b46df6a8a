"""Tags cut into the pieces that are read for spans, where some tokens are not annotated.

A token that is missing (`-`: nothing is known of it) or blocked (`!`: no span may cover it) is in
no span, so that one piece ends before it and another begins behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import InexpressibleError, UnreadableTagError
from ..span import Span
from .best import TagScores, weighed
from .columns import CodedTags, SpanColumns, ViolationColumns, different
from .parse import read_spans, validate_many
from .policy import POLICIES, Policy
from .scheme import Scheme
from .violation import Violation, violation
from .write import write_spans

MISSING, BLOCKED = "-", "!"
"""The tags of tokens that are not annotated, and of those that no span may cover."""

NO_TAG = "a token without a tag"


@dataclass(frozen=True, eq=False)
class Pieces:
    """Sequences of tags, `whole`, and the pieces of them that have no `-` and no `!`, `tags`.

    `place[i]` is the token, counted over all sequences, that the i-th token of the pieces is.
    """

    scheme: Scheme
    whole: CodedTags
    tags: CodedTags
    place: NDArray[np.intp]

    @classmethod
    def of(cls, whole: CodedTags, scheme: Scheme, cuts: NDArray[np.bool_] | None = None) -> Pieces:
        """Cut before and behind tokens without a tag, and before the tokens `cuts`."""
        absent = having(whole, (MISSING, BLOCKED))
        if cuts is None and not absent.any():
            return cls(scheme, whole, whole, np.arange(len(whole.codes)))
        begins = np.zeros(len(absent) + 1, dtype=bool)
        begins[whole.offsets] = True
        begins[:-1] |= False if cuts is None else cuts
        begins[1:] |= absent
        place = np.flatnonzero(~absent)
        # of the tokens that are kept, those with a beginning at or before them
        opening = np.diff(np.cumsum(begins[:-1])[place], prepend=0) > 0
        offsets = np.append(np.flatnonzero(opening), len(place)).astype(np.int64)
        return cls(scheme, whole, CodedTags.trusted(whole.codes[place], offsets, whole.tags), place)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which tokens, counted over all sequences, are not annotated."""
        return having(self.whole, (MISSING,))

    @cached_property
    def blocked(self) -> NDArray[np.bool_]:
        """Which tokens, counted over all sequences, no span may cover."""
        return having(self.whole, (BLOCKED,))

    def absent(self, sequence: int) -> tuple[list[int], list[int]]:
        """The tokens of a sequence that are missing, and those that are blocked."""
        begin, end = self.whole.offsets[sequence : sequence + 2]
        missing, blocked = (
            np.flatnonzero(tokens[begin:end]).tolist() for tokens in (self.missing, self.blocked)
        )
        return missing, blocked

    def token(self, i: int) -> tuple[int, int]:
        """The sequence, and the index in it, of the i-th token of the pieces."""
        at = int(self.place[i])
        sequence = int(np.searchsorted(self.whole.offsets, at, side="right")) - 1
        return sequence, at - int(self.whole.offsets[sequence])

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

    def in_whole(self, spans: SpanColumns) -> SpanColumns:
        """Spans of the pieces as spans of the sequences."""
        if self.tags is self.whole:
            return spans
        first = self.place[self.tags.offsets[spans.sentence]]
        sequence = np.searchsorted(self.whole.offsets, first, side="right") - 1
        shift = (first - self.whole.offsets[sequence]).astype(np.int32)
        columns = (sequence.astype(np.int32), spans.start + shift, spans.end + shift, spans.label)
        return SpanColumns.trusted(columns, spans.labels, len(self.whole))

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


def having(coded: CodedTags, tags: Collection[str]) -> NDArray[np.bool_]:
    """Which tokens have one of these tags."""
    chosen = np.array([tag in tags for tag in coded.tags], dtype=bool)
    found: NDArray[np.bool_] = chosen[coded.codes]
    return found
