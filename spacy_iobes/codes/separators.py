"""Mention separators: mentions that nest or overlap, as one separator for every gap.

A sentence of n tokens has n + 1 gaps; gap `k` lies before token `k`. For the mentions of one label
a gap says three things: whether a mention starts there (S), ends there (E), or covers the tokens on
both sides and goes on (C). Every label has separators of its own. (Muis and Lu 2017)

Two neighbouring separators are legal if they agree on the token between them: it is in a mention or
it is not. Legal sequences are just those that some mentions are written as. Several sets of
mentions can have the same separators: a reading (`readings.py`) says which of them is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from ..errors import DuplicateSpanError, SeparatorError, SpanRangeError
from ..kernels.separators_numpy import END, GO_ON, START
from ..span import Span
from .readings import DEFAULT_READING, Mention, Reading, Segment, get_reading


class Separator(IntEnum):
    """What mentions of one label do at a gap: its bits as a number, its letters as a name."""

    X = 0
    S = START
    E = END
    ES = END | START
    C = GO_ON
    CS = GO_ON | START
    EC = END | GO_ON
    ECS = END | GO_ON | START

    @property
    def before(self) -> bool:
        """Whether the token before the gap is in a mention."""
        return bool(self & (END | GO_ON))

    @property
    def behind(self) -> bool:
        """Whether the token behind the gap is in a mention."""
        return bool(self & (START | GO_ON))


def may_follow(previous: Separator, current: Separator) -> bool:
    """Whether both say the same of the token between them."""
    return previous.behind == current.before


def illegal_gap(separators: Sequence[int]) -> int | None:
    """The first gap that does not fit the one before it, or the edge of the sentence; or None."""
    edge = Separator.X
    every = [edge, *map(Separator, separators), edge]
    wrong = (k for k, (a, b) in enumerate(pairwise(every)) if not may_follow(a, b))
    found = next(wrong, None)
    return None if found is None else min(found, len(separators) - 1)


def encode(mentions: Iterable[Mention], length: int) -> list[Separator]:
    """The separators of the mentions of one label in a sentence of `length` tokens."""
    gaps = [0] * (length + 1)
    seen: set[Mention] = set()
    for start, end in mentions:
        if not 0 <= start < end <= length:
            reason = f"({start}, {end}) is no mention of {length} tokens: 0 <= start < end."
            raise SpanRangeError(reason, [Span(start, end)])
        if (start, end) in seen:
            raise DuplicateSpanError(f"({start}, {end}) is there twice.", [Span(start, end)])
        seen.add((start, end))
        gaps[start] |= START
        gaps[end] |= END
        for inner in range(start + 1, end):
            gaps[inner] |= GO_ON
    return list(map(Separator, gaps))


def decode(separators: Sequence[int], reading: str | Reading = DEFAULT_READING) -> list[Mention]:
    """The mentions of one label that a reading finds, sorted; illegal separators are refused."""
    rule = get_reading(reading).rule
    return sorted(mention for segment in segments(separators) for mention in rule(segment))


def is_ambiguous(separators: Sequence[int]) -> bool:
    """Whether more than one set of mentions has these separators."""
    return any(segment.ambiguous for segment in segments(separators))


def segments(separators: Sequence[int]) -> Iterator[Segment]:
    """The segments of one label, in order."""
    wrong = illegal_gap(separators)
    if wrong is not None or not len(separators):
        raise SeparatorError(illegal_text(separators, wrong or 0), gap=wrong or 0)
    start, starts, ends = 0, list[int](), list[int]()
    for gap, separator in enumerate(separators):
        if separator & GO_ON:
            starts += [gap] * bool(separator & START)
            ends += [gap] * bool(separator & END)
            continue
        if separator & END:
            yield Segment(start, gap, tuple(starts), tuple(ends))
        if separator & START:
            start, starts, ends = gap, [], []


def illegal_text(separators: Sequence[int], gap: int) -> str:
    """What is wrong with the separator at an illegal gap."""
    if not len(separators):
        return "There is one separator more than there are tokens, so at least one."
    names = [Separator(separator).name for separator in separators]
    if gap and not may_follow(*map(Separator, separators[gap - 1 : gap + 1])):
        return f"gap {gap}: {names[gap]} cannot follow {names[gap - 1]}."
    edge = "begin" if gap == 0 and Separator(separators[0]).before else "end"
    fitting = "X or S" if edge == "begin" else "X or E"
    return f"gap {gap}: a sentence cannot {edge} with {names[gap]}, only with {fitting}."


def encode_spans(spans: Iterable[Span], length: int) -> dict[str, list[Separator]]:
    """The separators of each label that a sentence has, given its spans in any order."""
    mentions: dict[str, list[Mention]] = {}
    for start, end, label in spans:
        mentions.setdefault(label, []).append((start, end))
    return {label: encode(members, length) for label, members in sorted(mentions.items())}


def decode_spans(
    separators: Mapping[str, Sequence[int]], reading: str | Reading = DEFAULT_READING
) -> list[Span]:
    """The spans that a reading finds in the separators of each label, sorted."""
    return sorted(
        Span(start, end, label)
        for label, gaps in separators.items()
        for start, end in decode(gaps, reading)
    )
