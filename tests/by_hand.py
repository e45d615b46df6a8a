"""Tags and spans by hand: straight from the definitions, nothing of the package but its span type.

What is legal is never stated here: the legal sequences are those that `encode` makes of some set of
disjoint spans, and the legal neighbours are those that occur in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product

from spacy_iobes import Span

Spans = tuple[Span, ...]
Tags = tuple[str, ...]

PREFIXES: dict[str, tuple[str, ...]] = {
    "io": ("I",),
    "iob1": ("B", "I"),
    "bio": ("B", "I"),
    "ioe1": ("I", "E"),
    "ioe2": ("I", "E"),
    "iobes": ("B", "I", "E", "S"),
    "bilou": ("B", "I", "L", "U"),
    "bmewo": ("B", "M", "E", "W"),
    "bmes": ("B", "M", "E", "S"),
    "bie": ("B", "I", "E", "BE"),
    "bia": ("B", "I", "A"),
    "be": ("B", "E", "BE"),
}
"""The prefixes of every scheme in the order in which its table names them."""

SPOKEN = {"be": "bie"}
"""Of a scheme that writes `O` for some tokens of a span, the one that writes all of them."""

ROLES = {"B": "b", "I": "i", "M": "i", "E": "e", "L": "e", "S": "s", "U": "s", "W": "s", "BE": "s"}
"""What a prefix says: begin, inside, end or single. `O` and `A` say none of these."""


def tag(prefix: str, label: str) -> str:
    return f"{prefix}-{label}" if label else prefix


def _prefix(scheme: str, first: bool, last: bool, touched: bool, touches: bool) -> str:
    """The prefix of a token of a span; `touched`, `touches`: by, a span of the same label."""
    if scheme == "io":
        return "I"
    if scheme in ("iob1", "bio", "bia"):
        return "B" if first and (touched or scheme != "iob1") else "I"
    if scheme in ("ioe1", "ioe2"):
        return "E" if last and (touches or scheme != "ioe1") else "I"
    begin, inside, end, single = PREFIXES[SPOKEN.get(scheme, scheme)]
    return single if first and last else begin if first else end if last else inside


def encode(spans: Iterable[Span], length: int, scheme: str) -> Tags:
    """The tags of disjoint spans."""
    spans = list(spans)
    starts = {start: label for start, _, label in spans}
    ends = {end: label for _, end, label in spans}
    tags = ["O"] * length
    for start, end, label in spans:
        touched, touches = ends.get(start) == label, starts.get(end) == label
        for i in range(start, end):
            prefix = _prefix(scheme, i == start, i == end - 1, touched, touches)
            tags[i] = tag(prefix, label) if prefix in PREFIXES[scheme] else "O"
        if scheme == "bia" and end < length and end not in starts:
            tags[end] = tag("A", label)
    return tuple(tags)


def expressible(spans: Sequence[Span], scheme: str) -> bool:
    """Whether the scheme has tags for these spans: io cannot say that two of one label touch."""
    return scheme != "io" or all((a[1], a[2]) != (b[0], b[2]) for a, b in pairwise(spans))


def span_sets(length: int, labels: Sequence[str], start: int = 0) -> Iterator[Spans]:
    """Every set of disjoint spans over `length` tokens."""
    if start == length:
        yield ()
        return
    yield from span_sets(length, labels, start + 1)
    for end, label in product(range(start + 1, length + 1), labels):
        for rest in span_sets(length, labels, end):
            yield (Span(start, end, label), *rest)


def count_span_sets(length: int, labels: int) -> int:
    """How many there are: the first token is outside, or in a span of some length and label."""
    counts = [1]
    for _ in range(length):
        counts.append(counts[-1] + labels * sum(counts))
    return counts[length]


@cache
def legal_sequences(length: int, scheme: str, labels: Tags = ("X", "Y")) -> dict[Tags, Spans]:
    """Every legal sequence with its spans."""
    sets = (spans for spans in span_sets(length, labels) if expressible(spans, scheme))
    return {encode(spans, length, scheme): spans for spans in sets}


def all_tags(scheme: str, labels: Sequence[str] = ("X", "Y")) -> Tags:
    return ("O", *(tag(prefix, label) for label in labels for prefix in PREFIXES[scheme]))


def all_states(scheme: str, labels: Sequence[str] = ("X", "Y")) -> Tags:
    """Every tag, those that are written `O` too."""
    return all_tags(SPOKEN.get(scheme, scheme), labels)


def spoken(tags: Sequence[str], scheme: str) -> Tags:
    """The tags with an `I` for every `O` of a be that has a `B` before it and its `E` behind it."""
    found = list(tags)
    for i, tag in enumerate(tags):
        before = [other for other in tags[:i] if other != "O"]
        behind = [other for other in tags[i:] if other != "O"]
        if scheme in SPOKEN and tag == "O" and before and behind:
            (p, _, label), (c, _, other) = before[-1].partition("-"), behind[0].partition("-")
            if (p, c) == ("B", "E") and label == other:
                found[i] = f"I-{label}" if label else "I"
    return tuple(found)


@cache
def legal_neighbours(scheme: str, labels: Tags = ("X", "Y")) -> frozenset[tuple[str, str]]:
    """Every pair of tags that occurs in a legal sequence, `^` and `$` being the sentence edges.

    In be, the tags are those that are spoken.
    """
    return frozenset(
        pair
        for length in range(1, 5)
        for tags in legal_sequences(length, SPOKEN.get(scheme, scheme), labels)
        for pair in pairwise(("^", *tags, "$"))
    )


def begin(tags: Sequence[str], scheme: str = "") -> Spans:
    """The rule of conlleval, extended to E, S and A: semantics.md, section 2.1."""
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    parts = [tag.partition("-") for tag in spoken(tags, scheme)]
    for i, (prefix, _, label) in enumerate((*parts, ("O", "", ""))):
        role = ROLES.get(prefix)
        if opened and (role not in ("i", "e") or opened[1] != label):
            spans.append(Span(opened[0], i, opened[1]))
            opened = None
        if role and not opened:
            opened = i, label
        if opened and role in ("e", "s"):
            spans.append(Span(opened[0], i + 1, label))
            opened = None
    return tuple(spans)
