"""Two annotations of the same tokens side by side: the only place where two sources meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import AlignmentError
from .formats.columns import ColumnOrigin
from .mentions import Mentions
from .sentences import Sentences

LONGEST = 1_000_000  # tokens that are held to find a common boundary

Pair = tuple[Sentences, Sentences]


def aligned(
    gold: Iterable[Sentences],
    predicted: Iterable[Sentences],
    ignore_tokens: bool = False,
    characters: bool = False,
) -> Iterator[Pair]:
    """Yield parts of two sources that have the same tokens; raise where these differ.

    If they are compared by `characters`, they may have other tokens of the same text.
    Tokens of white space are left out of both. Two column files have the same sentences; other
    sources may end sentences elsewhere, and are cut where both end one. To ignore tokens is for
    files that hold only tags, or other spellings: only the lengths are compared.
    """
    one, other = _Side(gold, characters), _Side(predicted, characters)
    while all([one.fill(), other.fill()]):
        if characters:
            yield _same_text(one, other)
        elif one.lined and other.lined:
            yield _same_sentences(one, other, ignore_tokens)
        else:
            yield _same_tokens(one, other, ignore_tokens)
    for side, rest in ((one, other), (other, one)):
        if side.held is not None:
            at = rest.shown_end()
            raise AlignmentError(
                f"{rest.name or 'The other source'} ends {at}, but {side.held.name} goes on with "
                f"{shown(side.held, 0)}.{_hint(one, other)}"
            )


class _Side:
    """One of two sources, and the sentences of it that wait for the other one."""

    def __init__(self, parts: Iterable[Sentences], characters: bool = False):
        self.parts = iter(parts)
        self.characters = characters
        self.held: Sentences | None = None
        self.name = ""
        self.sentences = self.documents = 0
        self.lined = self.marked = self.only_tags = False

    @property
    def now(self) -> Sentences:
        """What is held, where `fill` has said that there is something."""
        assert self.held is not None, "nothing is held"
        return self.held

    def fill(self) -> bool:
        """Hold a part with tokens; return False if there is none."""
        while self.held is None or not self.held.tokens:
            self.held = self._next()
            if self.held is None:
                return False
        return True

    def extend(self) -> bool:
        """Hold one more part beside what is held; return False if there is none."""
        more = self._next()
        if more is None:
            return False
        self.held = Sentences.joined([self.now, more])
        return True

    def take(self, sentences: int) -> Sentences:
        """Return the first of the sentences that are held; the others stay."""
        whole = self.now
        self.held = whole.cut(sentences, len(whole)) if sentences < len(whole) else None
        return whole.cut(0, sentences)

    def _next(self) -> Sentences | None:
        part = next(self.parts, None)
        if part is None:
            return None
        self.name = part.name
        self.lined = isinstance(part.origin, ColumnOrigin)
        self.sentences += len(part)
        self.documents += len(part.opens)
        if not self.lined:
            return part if self.characters else part.without_blanks()
        self.marked = self.marked or part.origin.part.scanned.documents > 0
        self.only_tags = part.origin.part.layout.width == 1
        return part

    def shown_end(self) -> str:
        """Return where the source ends, in words."""
        if self.lined:
            return f"after {self.sentences:,} sentences"
        return f"after {self.documents:,} documents"


def _same_sentences(gold: _Side, predicted: _Side, ignore_tokens: bool) -> Pair:
    """Return as many sentences as both hold, all of which must have the same tokens."""
    count = min(map(len, (gold.now, predicted.now)))
    first, second = gold.take(count), predicted.take(count)
    longer = np.flatnonzero(np.diff(first.offsets) != np.diff(second.offsets))
    sentences = int(longer[0]) + 1 if len(longer) else count
    size = min(int(part.offsets[sentences]) for part in (first, second))
    if not ignore_tokens:
        _require_same_words(first, second, size, gold, predicted)
    if len(longer):
        ends = [int(part.offsets[sentences]) for part in (first, second)]
        more, less = (first, second) if ends[0] > ends[1] else (second, first)
        raise AlignmentError(
            f"A sentence ends earlier on one side: {less.name} ends it behind "
            f"{shown(less, size - 1)}, but {more.name} goes on with {shown(more, size)}. "
            f"Is a blank line missing, or one too many?{_hint(gold, predicted)}"
        )
    return first, second


def _same_tokens(gold: _Side, predicted: _Side, ignore_tokens: bool) -> Pair:
    """Return what both hold up to a boundary that is in both."""
    while True:
        a, b = gold.now, predicted.now
        size = min(a.tokens, b.tokens)
        common = np.intersect1d(a.offsets[1:], b.offsets[1:])
        boundary = int(common[-1]) if len(common) else 0
        if not ignore_tokens:
            _require_same_words(a, b, boundary or size, gold, predicted)
        if boundary:
            ends = (
                int(np.searchsorted(part.offsets, boundary, side="right")) - 1 for part in (a, b)
            )
            first, second = (side.take(end) for side, end in zip((gold, predicted), ends))
            return first, second
        shorter = gold if a.tokens <= b.tokens else predicted
        if max(a.tokens, b.tokens) > LONGEST:
            raise AlignmentError(
                f"{a.name} and {b.name} have no sentence boundary in common in {LONGEST:,} tokens "
                f"from {shown(a, 0)} and {shown(b, 0)} on."
            )
        if not shorter.extend():
            longer = b if shorter is gold else a
            raise AlignmentError(
                f"{shorter.name} ends {shorter.shown_end()}, but {longer.name} goes on with "
                f"{shown(longer, size)}.{_hint(gold, predicted)}"
            )


def _same_text(gold: _Side, predicted: _Side) -> Pair:
    """Return what both hold up to a character that ends a sentence in both."""
    while True:
        a, b = (Mentions.of(side.now) for side in (gold, predicted))
        size = min(len(a.characters), len(b.characters))
        common = np.intersect1d(a.offsets[1:], b.offsets[1:])
        boundary = int(common[-1]) if len(common) else 0
        at = a.characters.head(boundary or size).first_difference(b.characters)
        if at >= 0:
            raise AlignmentError(
                f"The texts differ: {_context(a, at)}, but {_context(b, at)}. White space does "
                "not count."
            )
        ends = [int(np.searchsorted(x.offsets, boundary, side="right")) - 1 for x in (a, b)]
        if boundary or not size:
            first, second = (side.take(end) for side, end in zip((gold, predicted), ends))
            return first, second
        shorter = gold if len(a.characters) <= len(b.characters) else predicted
        if max(a.part.tokens, b.part.tokens) > LONGEST or not shorter.extend():
            raise AlignmentError(
                f"{gold.now.name} and {predicted.now.name} have no sentence boundary in common "
                f"from {shown(gold.now, 0)} and {shown(predicted.now, 0)} on."
            )


def _context(side: Mentions, at: int) -> str:
    """Return the token that a character is in, and its place, for messages."""
    token = int(np.searchsorted(side.before, at, side="right")) - 1
    return f"{side.part.name} has {shown(side.part, token)}"


def _require_same_words(a: Sentences, b: Sentences, size: int, gold: _Side, other: _Side) -> None:
    """Raise for the first of so many tokens that is another one on the other side."""
    first, second = (part.spellings.head(size) for part in (a, b))
    at = first.first_difference(second)
    if at >= 0:
        raise AlignmentError(
            f"The tokens differ: {a.name} has {shown(a, at)}, but {b.name} has {shown(b, at)}. "
            "Are both files of the same text and tokenisation? Other tokens of the same text can "
            f"be compared by characters (--characters).{_hint(gold, other)}"
        )


def shown(part: Sentences, at: int) -> str:
    """Return a token and its place, for messages."""
    token = repr(part.spellings.strings(at, at + 1)[0])
    line = part.line_of(at)
    if line is not None:
        return f"{token} in line {line}"
    document, number = part.token_of(at)
    return f"{token} in Doc {document}, token {number}"


def _hint(gold: _Side, predicted: _Side) -> str:
    """Return what may be behind a difference, as far as the files show it."""
    if gold.lined and predicted.lined:
        for marked, other in ((gold, predicted), (predicted, gold)):
            if marked.marked and not other.marked:
                return (
                    f" {marked.name} has lines that mark documents (-DOCSTART-) and {other.name} "
                    "has none: if they are tokens there, say so (--documents tokens)."
                )
    for side in (gold, predicted):
        if side.only_tags:
            return (
                f" If {side.name} holds nothing but tags, compare only those (--set ignore-tokens)."
            )
    return ""
