"""Every policy by hand, for the labels X and Y: straight from the words that define it.

What a scheme makes of a span comes from `by_hand.encode`; nothing here is taken from the package.
In be, all of them but `nearest` judge what is spoken, `by_hand.spoken`; to `stanza`, what lies
between a begin and an end of different labels is inside, too, and has the label of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product

from spacy_iobes import Span

from .by_hand import PREFIXES, ROLES, Spans, begin, legal_neighbours, legal_sequences, spoken
from .by_hand import _prefix as prefix_of
from .test_nearest import label_of, order_of, preference

FOUR = ("iobes", "bilou", "bmewo", "bmes", "bie", "be")
"""The schemes that mark both ends of every span."""


def _split(tag: str) -> tuple[str, str]:
    prefix, _, label = tag.partition("-")
    return prefix, label


def _touches(tags: Sequence[str], i: int, label: str) -> bool:
    """Whether token i is inside of a span of this label."""
    prefix, other = _split(tags[i]) if 0 <= i < len(tags) else ("O", "")
    return prefix in ROLES and other == label


def discard(tags: Sequence[str], scheme: str) -> Spans:
    """A span counts only if its own first and last tags may stand where they do."""
    tags = spoken(tags, scheme)

    def fits(span: Span) -> bool:
        before = _touches(tags, span.start - 1, span.label)
        behind = _touches(tags, span.end, span.label)
        both = list(product((False, True), repeat=2))
        firsts = {prefix_of(scheme, True, last, before, other) for last, other in both}
        lasts = {prefix_of(scheme, first, True, other, behind) for first, other in both}
        return _split(tags[span.start])[0] in firsts and _split(tags[span.end - 1])[0] in lasts

    return tuple(span for span in begin(tags) if fits(span))


def stanza(tags: Sequence[str], scheme: str) -> Spans:
    """Like begin, but an illegal change of label inside of a span does not end it."""
    legal = legal_neighbours(scheme)
    if scheme == "be":
        said = [(i, *_split(tag)) for i, tag in enumerate(tags) if tag != "O"]
        pairs = [(a, b, label) for (a, p, _), (b, c, label) in pairwise(said) if p + c == "BE"]
        inside = {i: f"I-{label}" for a, b, label in pairs for i in range(a + 1, b)}
        tags = [inside.get(i, tag) for i, tag in enumerate(tags)]
    renamed = list(tags)  # from the right, so that the last label wins
    for i in reversed(range(1, len(tags))):
        (before, label), (here, other) = _split(tags[i - 1]), _split(tags[i])
        continues = ROLES.get(before) in ("b", "i") and ROLES.get(here) in ("i", "e")
        if continues and (label == other or (tags[i - 1], tags[i]) not in legal):
            renamed[i - 1] = f"{before}-{_split(renamed[i])[1]}"
    return begin(renamed)


def ncrfpp(tags: Sequence[str], scheme: str) -> Spans:
    """Begin and end tags decide, the first label wins, an unclosed begin stands alone."""
    if scheme not in FOUR:
        return discard(tags, scheme)
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    for i, (prefix, label) in enumerate(map(_split, tags)):
        role = ROLES.get(prefix)
        if role in ("b", "s") and opened:
            spans.append(Span(opened[0], i, opened[1]))
            opened = None
        if role == "b":
            opened = i, label
        elif role == "s":
            spans.append(Span(i, i + 1, label))
        elif role == "e" and opened:
            spans.append(Span(opened[0], i + 1, opened[1]))
            opened = None
    if opened:
        spans.append(Span(opened[0], opened[0] + 1, opened[1]))
    return tuple(spans)


def nearest(tags: Sequence[str], scheme: str) -> Spans:
    """The legal sequence with the fewest changed tags; test_nearest.py says which of several."""
    order = order_of(tuple(tags))
    legal = legal_sequences(len(tags), scheme, order)

    def cost(candidate: tuple[str, ...]) -> tuple[object, ...]:
        pairs = list(zip(tags, candidate))
        labels = [[label_of(t) if t[0] not in "OA" else None for t in pair] for pair in pairs]
        return (
            sum(old != new for old, new in pairs),
            sum(old != new for old, new in labels),
            [preference(old, new, order, PREFIXES[scheme]) for old, new in pairs],
        )

    return legal[min(legal, key=cost)]


POLICIES: dict[str, Callable[[Sequence[str], str], Spans]] = {
    "begin": begin,
    "discard": discard,
    "ncrfpp": ncrfpp,
    "stanza": stanza,
    "nearest": nearest,
}
"""Every policy but `raise`."""


def in_pieces(
    tags: Sequence[str], scheme: str, policy: str, starts: Sequence[int] = ()
) -> list[Span]:
    """The spans of a Doc: no span covers `-` or `!`, or goes beyond a token in `starts`."""
    found: list[Span] = []
    piece: list[str] = []
    for i, tag in enumerate((*tags, "-")):
        if piece and (tag in ("-", "!") or i in starts):
            spans, shift = POLICIES[policy](piece, scheme), i - len(piece)
            found += [Span(a + shift, b + shift, label) for a, b, label in spans]
            piece = []
        if tag not in ("-", "!"):
            piece.append(tag)
    return found
