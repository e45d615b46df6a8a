"""Readings as data: which mentions the separators of one label stand for.

Separators say where mentions start, where they end and where one goes on, but not which start
belongs to which end. They fall into segments: from a gap where a mention starts and none goes on,
over gaps where one always does, to a gap where mentions end and none goes on. No mention crosses
from one segment into another. The first start and the last end of a segment are its own; which of
the others belong together is what a reading says. All readings agree on a segment that is not
ambiguous: one mention covers it, ends within it go with its start, starts within it with its end.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ..names import find

Mention = tuple[int, int]
"""Where a mention starts and ends, as gaps: gap `k` lies before token `k`."""


class Segment(NamedTuple):
    """A stretch of gaps that mentions cover without a break.

    `starts` and `ends` are the gaps within it, in order, where further mentions start and end.
    """

    start: int
    end: int
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Whether a start comes before an end, so that there may or may not be a mention there."""
        return bool(self.starts and self.ends) and self.starts[0] < self.ends[-1]

    @property
    def whole(self) -> Mention:
        """The mention that covers all of it."""
        return self.start, self.end


Rule = Callable[[Segment], set[Mention]]
"""The mentions of a segment; every start and every end of it must belong to one of them."""


def nearest_start(segment: Segment) -> set[Mention]:
    """An end goes with the last start before it; starts that are left go to the segment's end."""
    starts = (segment.start, *segment.starts)
    found = {(starts[bisect_left(starts, end) - 1], end) for end in segment.ends}
    used = {start for start, _ in found}
    return found | {segment.whole} | {(s, segment.end) for s in segment.starts if s not in used}


def nearest_end(segment: Segment) -> set[Mention]:
    """A start goes with the first end behind it; ends that are left go to the segment's start.

    So the mention hypergraphs of Lu and Roth (2015) are read; Muis and Lu (2017) read ambiguous
    separators in the same way.
    """
    ends = (*segment.ends, segment.end)
    found = {(start, ends[bisect_right(ends, start)]) for start in segment.starts}
    used = {end for _, end in found}
    return found | {segment.whole} | {(segment.start, e) for e in segment.ends if e not in used}


def lifo(segment: Segment) -> set[Mention]:
    """An end closes the last start that is open."""
    return _closed(segment, first=False)


def every_pair(segment: Segment) -> set[Mention]:
    """Every start goes with every end behind it."""
    starts, ends = (segment.start, *segment.starts), (*segment.ends, segment.end)
    return {(start, end) for start in starts for end in ends if start < end}


def crossing(segment: Segment) -> set[Mention]:
    """An end closes the first start that is open, so that mentions overlap instead of nesting."""
    return _closed(segment, first=True)


def _closed(segment: Segment, first: bool) -> set[Mention]:
    """Every end closes the first or the last open start; one start always stays open."""
    found, opened, coming = set(), deque([segment.start]), deque(segment.starts)
    for end in segment.ends:
        while coming and coming[0] < end:
            opened.append(coming.popleft())
        found.add((opened[0 if first else -1], end))
        if len(opened) > 1:
            opened.popleft() if first else opened.pop()
    return found | {(start, segment.end) for start in (*opened, *coming)}


@dataclass(frozen=True, eq=False)
class Reading:
    """A named rule for separators; `nested`: no two of the mentions that it finds cross."""

    name: str
    summary: str
    rule: Rule
    nested: bool = True
    aliases: tuple[str, ...] = ()


_READINGS = (
    Reading(
        "nearest_start",
        "an end goes with the last start before it; what is left spans the segment",
        nearest_start,
        aliases=("nearest-start", "default"),
    ),
    Reading(
        "nearest_end",
        "a start goes with the first end behind it (Lu and Roth 2015, Muis and Lu 2017)",
        nearest_end,
        aliases=("nearest-end", "authors"),
    ),
    Reading("lifo", "an end closes the last start that is still open", lifo, aliases=("stack",)),
    Reading(
        "all",
        "every start goes with every end behind it",
        every_pair,
        nested=False,
        aliases=("all_pairs", "all-pairs"),
    ),
    Reading(
        "crossing",
        "an end closes the first start that is still open, so mentions overlap instead of nesting",
        crossing,
        nested=False,
        aliases=("fifo", "queue"),
    ),
)

READINGS: Mapping[str, Reading] = MappingProxyType({reading.name: reading for reading in _READINGS})
"""Every reading by name, the default first."""

DEFAULT_READING = nearest_start.__name__
"""What is meant where nobody says otherwise: the best of them on published corpora."""


def get_reading(name: str | Reading) -> Reading:
    """Find a reading by name or alias, without regard to case."""
    return find(READINGS, Reading, name)
