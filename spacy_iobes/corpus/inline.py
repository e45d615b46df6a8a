"""Inline-tagged text: mentions between `<label>` and `</label>`, within the text itself.

An end belongs to the last tag of its name that is still open, so mentions may nest, and may cross
the tags of sentences and paragraphs.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from ..errors import UnknownNameError
from .inline_tags import decoded, tags_of

Unbalanced = Literal["raise", "text", "skip"]
"""What becomes of a tag without its other half: it is refused, it is text, or it is left out."""


def require_unbalanced(name: str) -> Unbalanced:
    """The name of what to do, if it is one."""
    for known in get_args(Unbalanced):
        if name == known:
            return known  # type: ignore[no-any-return]
    every = get_args(Unbalanced)
    message = f"Unknown way with unbalanced tags {name!r}. Known: {', '.join(every)}."
    raise UnknownNameError(message, name, every)


@dataclass(frozen=True)
class Markup:
    """What the tags of a text mean.

    All are labels but those to `ignore` and those of a `sentence` or a `document`; these are left
    out of the text like any tag, and may be unbalanced. With a `label_attribute` that attribute
    names the label, and tags without it are none. In `xml` (None: if the text says that it is),
    entities (`&amp;`) are decoded and comments left out.
    """

    ignore: tuple[str, ...] = ()
    sentence: str = ""
    document: str = ""
    label_attribute: str = ""
    unbalanced: Unbalanced = "raise"
    xml: bool | None = None


class Mention(NamedTuple):
    """Characters of a text without tags, and the line of the file that its tag is on."""

    start: int
    end: int
    label: str
    line: int


class Problem(NamedTuple):
    """A tag without its other half (`unbalanced`), or one that ends too late (`crossed`)."""

    kind: str
    tag: str
    shown: str
    line: int


@dataclass
class TaggedText:
    """A text without its tags, or a document of it, which begins on a line of the file.

    `borders` are the places where sentences begin and end.
    """

    text: str
    line: int = 1
    mentions: list[Mention] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    borders: list[int] = field(default_factory=list)


def read_inline_text(raw: str, markup: Markup | None = None) -> list[TaggedText]:
    """The text of a file without its tags, or each document in it.

    Mentions have no white space at their ends. Tags that are no pairs are in the `problems`, and
    in the text if unbalanced ones are `text`; whether to raise is left to the caller.
    """
    return _Parsed(raw, markup or Markup()).texts()


class _Parsed:
    """The tags of a file, which belong together, and where they are in its text."""

    def __init__(self, raw: str, markup: Markup):
        self.raw, self.markup = raw, markup
        self.xml = raw.lstrip("\ufeff").startswith("<?xml") if markup.xml is None else markup.xml
        self.feeds = [match.start() for match in re.finditer("\n", raw)]
        self.tags = list(tags_of(raw, self.xml, markup.label_attribute))
        self.ignored = {*markup.ignore, markup.sentence} - {markup.document}
        self.pairs, self.alone = self._paired()
        self.text, self.places = self._without_tags()

    def _paired(self) -> tuple[list[tuple[int, int]], list[int]]:
        """The tags that open and close something, in the order in which they open; and the rest."""
        pairs, alone, open_tags = list[tuple[int, int]](), list[int](), dict[str, list[int]]()
        for number, tag in enumerate(self.tags):
            if not tag.name or tag.name in self.ignored:
                continue
            if tag.opens:
                open_tags.setdefault(tag.name, []).append(number)
            if tag.closes:
                if open_tags.get(tag.name):
                    pairs.append((open_tags[tag.name].pop(), number))
                else:
                    alone.append(number)
        alone += (number for some in open_tags.values() for number in some)
        return sorted(pairs), sorted(alone)

    def _without_tags(self) -> tuple[str, list[int]]:
        """The text, and where each tag is in it."""
        kept = set(self.alone if self.markup.unbalanced == "text" else ())
        parts, places, size, last = list[str](), list[int](), 0, 0
        for number, tag in enumerate(self.tags):
            if number not in kept:
                between = self.raw[last : tag.start]
                parts += (decoded(between) if self.xml else between, tag.data)
                size += len(parts[-2]) + len(parts[-1])
                last = tag.end
            places.append(size)
        parts.append(decoded(self.raw[last:]) if self.xml else self.raw[last:])
        return "".join(parts), places

    def _line(self, at: int) -> int:
        """The line of the file that a character of it is on."""
        return bisect_left(self.feeds, at) + 1

    def _shown(self, number: int) -> str:
        """A tag and what comes behind it."""
        start = self.tags[number].start
        return " ".join(self.raw[start : start + 60].split())

    def _mentions(self) -> list[Mention]:
        found = []
        for opening, closing in self.pairs:
            tag = self.tags[opening]
            if not tag.label or tag.name == self.markup.document:
                continue
            start, end = self.places[opening], self.places[closing]
            inside = self.text[start:end]
            start += len(inside) - len(inside.lstrip())
            end = start + len(inside.strip())
            found.append(Mention(start, end, tag.label, self._line(tag.start)))
        return found

    def _problems(self) -> list[tuple[int, Problem]]:
        """Every problem, with the place in the text."""
        numbers = [(number, "unbalanced") for number in self.alone]
        partner, inner = {end: start for start, end in self.pairs}, list[int]()
        labels = {start for start, _ in self.pairs if self.tags[start].label}
        for number in sorted(number for pair in self.pairs for number in {*pair}):
            if number in labels:
                inner.append(number)
            if (start := partner.get(number, -1)) in labels:
                if inner[-1] != start:
                    numbers.append((number, "crossed"))
                inner.remove(start)
        found = []
        for number, kind in sorted(numbers):
            tag = self.tags[number]
            problem = Problem(kind, tag.name, self._shown(number), self._line(tag.start))
            found.append((self.places[number], problem))
        return found

    def texts(self) -> list[TaggedText]:
        """The whole text, or each document of it."""
        mentions, problems = self._mentions(), self._problems()
        sentence = self.markup.sentence
        borders = [p for tag, p in zip(self.tags, self.places) if sentence and tag.name == sentence]
        if not self.markup.document:
            whole = TaggedText(self.text, 1, mentions, [each for _, each in problems], borders)
            return [whole]
        return self._documents(mentions, problems, borders)

    def _documents(
        self,
        mentions: Sequence[Mention],
        problems: Sequence[tuple[int, Problem]],
        borders: Sequence[int],
    ) -> list[TaggedText]:
        """The outermost documents; what cannot be in one of them is a problem of the next one."""
        found, ends, starts = list[TaggedText](), list[int](), list[int]()
        for opening, closing in self.pairs:
            tag, start, end = self.tags[opening], self.places[opening], self.places[closing]
            if tag.name == self.markup.document and (not ends or start >= ends[-1]):
                found.append(TaggedText(self.text[start:end], self._line(tag.end)))
                starts.append(start)
                ends.append(end)
        if not found:
            return [TaggedText("", 1, problems=[each for _, each in problems])]
        last = len(found) - 1
        for mention in mentions:
            at = min(bisect_left(ends, mention.end), last)
            start, end, label, line = mention
            if starts[at] <= start and end <= ends[at]:
                found[at].mentions.append(
                    Mention(start - starts[at], end - starts[at], label, line)
                )
            else:
                outside = Problem("beyond", label, self.text[start:end], line)
                found[at].problems.append(outside)
        for place, problem in problems:
            found[min(bisect_left(ends, place), last)].problems.append(problem)
        for place in borders:
            at = min(bisect_left(ends, place), last)
            if starts[at] <= place:
                found[at].borders.append(place - starts[at])
        return found
