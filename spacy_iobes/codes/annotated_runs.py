"""Runs of annotated tokens: tags cut where tokens are not annotated.

A token that is missing (`-`: nothing is known of it) or blocked (`!`: no span may cover it) is in
no span, so that one run ends before it and another begins behind it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from .span_columns import SpanColumns
from .tag_columns import CodedTags
from .violation import BLOCKED, MISSING


@dataclass(frozen=True, eq=False)
class AnnotatedRuns:
    """Sequences of tags, `whole`, and the runs in them that have no `-` and no `!`, `tags`.

    `kept[i]` is the token, counted over all sequences, that the i-th token of the runs is. Where
    nothing was cut, `tags` is `whole`, and `kept` is None.
    """

    whole: CodedTags
    tags: CodedTags
    kept: NDArray[np.intp] | None = None

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """The token, counted over all sequences, that each token of the runs is."""
        return np.arange(len(self.whole.codes)) if self.kept is None else self.kept

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which tokens, counted over all sequences, are not annotated."""
        return having(self.whole, (MISSING,))

    @cached_property
    def blocked(self) -> NDArray[np.bool_]:
        """Which tokens, counted over all sequences, no span may cover."""
        return having(self.whole, (BLOCKED,))

    def absent(self, sequence: int) -> tuple[list[int], list[int]]:
        """Return the tokens of a sequence that are missing, and those that are blocked."""
        begin, end = self.whole.offsets[sequence : sequence + 2]
        missing, blocked = (
            np.flatnonzero(tokens[begin:end]).tolist() for tokens in (self.missing, self.blocked)
        )
        return missing, blocked

    def token(self, i: int) -> tuple[int, int]:
        """Return the sequence, and the index in it, of the i-th token of the runs."""
        at = int(self.place[i])
        sequence = int(np.searchsorted(self.whole.offsets, at, side="right")) - 1
        return sequence, at - int(self.whole.offsets[sequence])

    def shifts(self, run: Ints) -> tuple[Ints, Ints]:
        """Return the sequences that these runs are in, and where in them the runs begin."""
        first = self.place[self.tags.offsets[run]]
        sequence = np.searchsorted(self.whole.offsets, first, side="right") - 1
        shift = first - self.whole.offsets[sequence]
        return sequence.astype(np.int32), shift.astype(np.int32)

    def in_whole(self, spans: SpanColumns) -> SpanColumns:
        """Return spans of the runs as spans of the sequences."""
        if self.tags is self.whole:
            return spans
        sequence, shift = self.shifts(spans.sentence)
        columns = (sequence, spans.start + shift, spans.end + shift, spans.label)
        return SpanColumns.trusted(columns, spans.labels, len(self.whole))


def annotated_runs(whole: CodedTags, cuts: NDArray[np.bool_] | None = None) -> AnnotatedRuns:
    """Cut sequences before and behind tokens without a tag, and before the tokens `cuts`."""
    if cuts is None and MISSING not in whole.tags and BLOCKED not in whole.tags:
        return AnnotatedRuns(whole, whole)
    absent = having(whole, (MISSING, BLOCKED))
    if cuts is None and not absent.any():
        return AnnotatedRuns(whole, whole)
    begins = np.zeros(len(absent) + 1, dtype=bool)
    begins[whole.offsets] = True
    begins[:-1] |= False if cuts is None else cuts
    begins[1:] |= absent
    place = np.flatnonzero(~absent)
    # of the tokens that are kept, those with a beginning at or before them
    opening = np.diff(np.cumsum(begins[:-1])[place], prepend=0) > 0
    offsets = np.append(np.flatnonzero(opening), len(place)).astype(np.int64)
    return AnnotatedRuns(whole, CodedTags.trusted(whole.codes[place], offsets, whole.tags), place)


def keep_absent(old: CodedTags, new: CodedTags) -> CodedTags:
    """Return the new tags of the same tokens, with `-` and `!` where the old tags have them."""
    if MISSING not in old.tags and BLOCKED not in old.tags:
        return new
    absent = having(old, (MISSING, BLOCKED))
    codes = np.where(absent, old.codes + len(new.tags), new.codes).astype(np.int32)
    return CodedTags.trusted(codes, new.offsets, (*new.tags, *old.tags))


def having(coded: CodedTags, tags: Collection[str]) -> NDArray[np.bool_]:
    """Which tokens have one of these tags."""
    chosen = np.array([tag in tags for tag in coded.tags], dtype=bool)
    found: NDArray[np.bool_] = chosen[coded.codes]
    return found
