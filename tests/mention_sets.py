"""Every set of mentions of a few tokens, and separators straight from their definition.

Nothing here comes from the package: it is what the package is tested against.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

Mention = tuple[int, int]
Mentions = frozenset[Mention]
NAMES = ("X", "S", "E", "ES", "C", "CS", "EC", "ECS")
LEGAL_PATHS = {
    1: 2,
    2: 8,
    3: 40,
    4: 208,
    5: 1088,
    6: 5696,
    7: 29824,
    8: 156160,
}  # counted elsewhere


def separators(mentions: Mentions, length: int) -> tuple[str, ...]:
    """The letters of every gap: E if a mention ends there, C if one goes on, S if one starts."""
    found = []
    for gap in range(length + 1):
        letters = "E" * any(end == gap for _, end in mentions)
        letters += "C" * any(start < gap < end for start, end in mentions)
        letters += "S" * any(start == gap for start, _ in mentions)
        found.append(letters or "X")
    return tuple(found)


def places(length: int) -> list[Mention]:
    """Every mention that there can be."""
    return list(combinations(range(length + 1), 2))


def mention_sets(length: int) -> Iterator[Mentions]:
    """Every set of mentions."""
    every = places(length)
    for bits in range(1 << len(every)):
        yield frozenset(place for i, place in enumerate(every) if bits >> i & 1)


@cache
def realised(length: int) -> dict[tuple[str, ...], list[Mentions]]:
    """Every sequence that some mentions are written as, and all the sets that are."""
    found: dict[tuple[str, ...], list[Mentions]] = {}
    for mentions in mention_sets(length):
        found.setdefault(separators(mentions, length), []).append(mentions)
    return found


def cross(a: Mention, b: Mention) -> bool:
    """Whether two mentions overlap without one being inside the other."""
    (s, e), (t, f) = sorted((a, b))
    return s < t < e < f


def is_nested(mentions: Mentions) -> bool:
    """Whether no two mentions cross."""
    return not any(cross(a, b) for a, b in combinations(sorted(mentions), 2))


def depth(mentions: Mentions) -> int:
    """How many mentions lie inside each other at most."""

    def above(mention: Mention) -> int:
        start, end = mention
        outer = [m for m in mentions if m != mention and m[0] <= start and end <= m[1]]
        return 1 + max(map(above, outer), default=0)

    return max(map(above, mentions), default=0)


def nested_sets(length: int, deepest: int) -> Iterator[Mentions]:
    """Every set without crossing mentions that is at most so deep, grown mention by mention."""
    every = places(length)

    def grown(mentions: Mentions, first: int) -> Iterator[Mentions]:
        yield mentions
        for i in range(first, len(every)):
            more = mentions | {every[i]}
            if not any(cross(every[i], old) for old in mentions) and depth(more) <= deepest:
                yield from grown(more, i + 1)

    return grown(frozenset(), 0)
