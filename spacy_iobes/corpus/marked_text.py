"""Texts with mentions by character offsets: which tokens they are, and which are no spans at all.

A mention is a span if it is in one piece and begins and ends where tokens do. What is none, or is
there twice, is a finding that says where; nothing is left out without one.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..errors import FileError
from ..span import Span
from .findings import Finding
from .formats.options import Misaligned

Offsets = tuple[int, int]
"""The first character of something, and the one behind its last."""
TOKENS = re.compile(r"\w+|[^\w\s]")
"""What a token is: a run of letters, digits and underscores, or one character that is no space.

Combining marks and joiners go with the character before them.
"""
JOINER, NON_JOINER = "\u200d", "\u200c"
TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
"""The skin tones of emoji."""


def simple_tokens(text: str) -> list[Offsets]:
    """Return the words and single other characters of a text; white space is no token.

    A combining mark or a joiner belongs to the token of the character before it; so does what a
    joiner joins to an emoji, and the skin tone of one.
    """
    tokens = [match.span() for match in TOKENS.finditer(text)]
    if text.isascii() or not any(is_mark(x) or x in TONES for x in {*text}):
        return tokens
    found = list[Offsets]()
    for start, end in tokens:
        if found and found[-1][1] == start and _goes_on(text, found[-1][0], start):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def is_mark(character: str) -> bool:
    """Return whether a character belongs to the one before it, whatever that is."""
    return character in (JOINER, NON_JOINER) or unicodedata.category(character)[0] == "M"


def is_letter(character: str) -> bool:
    """Return whether a character is a letter, a digit or an underscore."""
    return character.isalnum() or character == "_"


def _goes_on(text: str, begin: int, at: int) -> bool:
    """Return whether the token from `begin` up to the character `at` goes on with that one."""
    if is_mark(text[at]):
        return True
    if is_letter(text[begin]) or is_letter(text[at]):
        return is_letter(text[begin]) and is_letter(text[at])
    return text[at] in TONES or text[at - 1] == JOINER


def split_tokens(tokens: Iterable[Offsets], mentions: Iterable[Offsets]) -> list[Offsets]:
    """Return tokens, split where mentions begin and end."""
    places = sorted({place for mention in mentions for place in mention})
    found = list[Offsets]()
    for start, end in tokens:
        inside = places[bisect_right(places, start) : bisect_left(places, end)]
        found += pairwise([start, *inside, end])
    return found


@dataclass
class MarkedText:
    """A text, its tokens by character offsets, its mentions, and findings about others.

    `line` is where it begins in the file `name`; the lines of a text may be those of the file
    (`standoff`), or all be in that one line. `starts` are the tokens that begin a sentence; without
    any nothing is known of sentences, and the text is taken for one. A text that is not `annotated`
    may have any mentions. `more` is what else somebody wrote of it, such as its id, and `origin`
    what its format needs to edit it.
    """

    name: str
    text: str
    tokens: list[Offsets]
    line: int = 1
    standoff: bool = True
    spans: list[Span] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    annotated: bool = True
    more: Mapping[str, Any] = field(default_factory=dict)
    origin: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._known = set(self.spans)
        self._starts = {start: index for index, (start, _) in enumerate(self.tokens)}
        self._ends = {end: index + 1 for index, (_, end) in enumerate(self.tokens)}

    def place(self, token: int) -> str:
        """Return where a token is."""
        more = self.text.count("\n", 0, self.tokens[token][0]) if self.standoff else 0
        return f"{self.name}:{self.line + more}"

    def words(self, start: int, end: int) -> str:
        """The text of a span, with single spaces."""
        return _one_line(self.text[self.tokens[start][0] : self.tokens[end - 1][1]])

    def add(
        self, label: str, parts: Sequence[Offsets], place: str, misaligned: Misaligned = "count"
    ) -> Span | None:
        """Add a mention by the characters of its parts; `place` says where it is written.

        Return the tokens that it is, if it is any.
        """
        shown = _one_line(" … ".join(self.text[a:b] for a, b in parts))
        if any(not self._touch(a, b) for (_, a), (b, _) in pairwise(parts)):
            self.leave_out("discontinuous", label, shown, place, parts)
            return None
        first, last = parts[0][0], parts[-1][1]
        if first == last:
            self.leave_out("empty", label, shown, place, [(first, last)])
            return None
        start, end = self._starts.get(first, -1), self._ends.get(last, -1)
        if start < 0 or end <= start:
            start, end = self._moved(first, last, misaligned)
            if misaligned == "raise":
                raise FileError(self._complaint(label, shown, place), self.name)
            kind = "moved" if start < end else "misaligned"
            self.leave_out(kind, label, shown, place, [(first, last)])
        if start >= end:
            return None
        self.keep(found := Span(start, end, label), shown, place)
        return found

    def keep(self, span: Span, shown: str, place: str) -> None:
        """Add a span of tokens, unless it is there already."""
        if span in self._known:
            self.leave_out("repeated", span.label, shown, place)
        else:
            self._known.add(span)
            self.spans.append(span)

    def leave_out(
        self, kind: str, label: str, shown: str, place: str, parts: Sequence[Offsets] = ()
    ) -> None:
        """Add a finding: a mention that is no span, or was none as it was written."""
        gone = ((0, 0, shown),)
        self.findings.append(Finding(kind, place, 0, label, gone, parts=tuple(parts)))

    def _touch(self, end: int, start: int) -> bool:
        """Whether a part goes on with the next one: at once, or on the next line."""
        between = self.text[end:start]
        return end == start or ("\n" in between and not between.strip())

    def _moved(self, first: int, last: int, misaligned: Misaligned) -> Offsets:
        """The tokens that a misaligned mention is given; none if it is left out."""
        begins, ends = ([place[side] for place in self.tokens] for side in (0, 1))
        if misaligned == "expand":
            return bisect_right(ends, first), bisect_left(begins, last)
        if misaligned == "contract":
            return bisect_left(begins, first), bisect_right(ends, last)
        return 0, 0

    def _complaint(self, label: str, shown: str, place: str) -> str:
        return (
            f"{place}: {shown!r} ({label}) begins or ends within a token. Correct it, choose "
            'another tokenizer, or let it be counted and left out (misaligned = "count").'
        )

    def split_lines(self) -> None:
        """Let every line with a token be a sentence."""
        self.starts, before = [], 0
        for index, (start, end) in enumerate(self.tokens):
            if self._is_space(start, end):
                continue
            if not self.starts or "\n" in self.text[before:start]:
                self.starts.append(index)
            before = end
        self.starts[:1] = [0]

    def split_at(self, boundaries: Iterable[int]) -> None:
        """Let a sentence begin with the first token at or behind each of some characters."""
        words = [n for n, (start, end) in enumerate(self.tokens) if not self._is_space(start, end)]
        begins = [self.tokens[word][0] for word in words]
        found = (bisect_left(begins, boundary) for boundary in boundaries)
        starts = sorted({words[at] for at in found if at < len(words)} - set(words[:1]))
        self.starts = [0, *starts] if self.tokens else []

    def _is_space(self, start: int, end: int) -> bool:
        return self.text[start:end].isspace()


def _one_line(text: str) -> str:
    return " ".join(text.split())
