"""Tags of inline-tagged text: what they look like, what belongs together, the text without them.

A tag is a name in angle brackets, with a slash where it ends, and with attributes if it has any;
everything else in angle brackets is text (`<a@b.org>`, `<...>`, `<0.30.11.87>`, `<I believe>`). An
end belongs to the last tag of its name that is still open, so mentions may nest, and may cross the
tags of sentences and paragraphs.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from typing import NamedTuple

from .options import ReadOptions

NAME = r"[^\W\d][\w%s-]*"


def _tag(more: str) -> str:
    """Return what a tag looks like, given what else may stand in its name."""
    name = NAME % more
    attribute = r"\s+[^\W\d][\w.:-]*\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+?)"
    opening = rf"(?P<open>{name})(?P<attributes>(?:{attribute})*)\s*(?P<empty>/?)"
    return rf"<(?:/(?P<close>{name})\s*|{opening})>"


_TAG = re.compile(_tag(""))
_XML = re.compile(
    rf"{_tag('.:')}|<!\[CDATA\[(?P<data>.*?)\]\]>"
    r"|(?P<none><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w+);")


class Tag(NamedTuple):
    """Something in the file that is not text, and what stands for it in the text, if anything."""

    start: int
    end: int
    name: str = ""
    opens: bool = False
    closes: bool = False
    label: str = ""
    data: str = ""
    attributes: str = ""


def tags_of(raw: str, xml: bool = False, label_attribute: str = "") -> Iterator[Tag]:
    """Yield every tag of a text; in XML, comments and the like, too.

    The label of a tag is its name, or what the attribute says that names labels, if it has one.
    """
    for match in (_XML if xml else _TAG).finditer(raw):
        parts, place = match.groupdict(), match.span()
        if name := parts["close"]:
            yield Tag(*place, name, closes=True)
        elif name := parts["open"]:
            label = name
            if label_attribute:
                label = attribute(parts["attributes"], label_attribute, xml)
            yield Tag(*place, name, True, bool(parts["empty"]), label, "", parts["attributes"])
        else:
            yield Tag(*place, data=parts["data"] or "")


def attribute(attributes: str, name: str, xml: bool = False) -> str:
    """Return the value of one of the attributes of a tag; empty if there is none."""
    value = str(dict(_ATTRIBUTE.findall(attributes)).get(name, ""))
    value = value[1:-1] if value[:1] in ("'", '"') else value
    return decoded(value) if xml else value


def decoded(text: str) -> str:
    """Return the text with the characters that entities stand for; unknown ones are text."""

    def character(match: re.Match[str]) -> str:
        known = match[0][1] == "#" or match[0][1:] in html5
        return html.unescape(match[0]) if known else match[0]

    return _ENTITY.sub(character, text) if "&" in text else text


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

    `boundaries` are the places where sentences begin and end, `id` is what the attribute of that
    name of a document says.
    """

    text: str
    line: int = 1
    id: str = ""
    mentions: list[Mention] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    boundaries: list[int] = field(default_factory=list)


def tagged_texts(raw: str, how: ReadOptions) -> list[TaggedText]:
    """Return the text of a file without its tags, or each document in it.

    All tags are labels but those to ignore and those of a sentence or a document; these are left
    out of the text like any tag, and may be unbalanced. With a label attribute that attribute names
    the label, and tags without it are none. In XML, entities (`&amp;`) are decoded, and comments
    left out.

    Mentions have no white space at their ends. Tags that are no pairs are in the `problems`, and
    in the text if unbalanced ones are `text`; whether to raise is left to the caller.
    """
    return _Parsed(raw, how).texts()


class _Parsed:
    """The tags of a file, which belong together, and where they are in its text."""

    def __init__(self, raw: str, how: ReadOptions):
        self.raw, self.how = raw, how
        self.xml = how.xml or raw.lstrip("\ufeff").startswith("<?xml")
        self.feeds = [match.start() for match in re.finditer("\n", raw)]
        self.tags = list(tags_of(raw, self.xml, how.label_attribute))
        self.ignored = {*how.ignore_tags, how.sentence_tag} - {how.document_tag}
        self.pairs, self.alone = self._paired()
        self.text, self.places = self._without_tags()

    def _paired(self) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the tags that open and close something, in the order of opening; and the rest."""
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
        """Return the text, and where each tag is in it."""
        kept = set(self.alone if self.how.unbalanced == "text" else ())
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
        """Return the line of the file that a character of it is on."""
        return bisect_left(self.feeds, at) + 1

    def _shown(self, number: int) -> str:
        """Return a tag and what comes behind it."""
        start = self.tags[number].start
        return " ".join(self.raw[start : start + 60].split())

    def _mentions(self) -> list[Mention]:
        """Return the mentions, without white space at their ends."""
        found = []
        for opening, closing in self.pairs:
            tag = self.tags[opening]
            if not tag.label or tag.name == self.how.document_tag:
                continue
            start, end = self.places[opening], self.places[closing]
            inside = self.text[start:end]
            start += len(inside) - len(inside.lstrip())
            end = start + len(inside.strip())
            found.append(Mention(start, end, tag.label, self._line(tag.start)))
        return found

    def _problems(self) -> list[tuple[int, Problem]]:
        """Return every problem, with the place in the text."""
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
        """Return the whole text, or each document of it."""
        mentions, problems = self._mentions(), self._problems()
        sentence = self.how.sentence_tag
        boundaries = [
            p for tag, p in zip(self.tags, self.places) if sentence and tag.name == sentence
        ]
        if not self.how.document_tag:
            whole = TaggedText(
                self.text, 1, "", mentions, [each for _, each in problems], boundaries
            )
            return [whole]
        return self._documents(mentions, problems, boundaries)

    def _documents(
        self,
        mentions: Sequence[Mention],
        problems: Sequence[tuple[int, Problem]],
        boundaries: Sequence[int],
    ) -> list[TaggedText]:
        """Return the outermost documents; what is in none of them is a problem of the next one."""
        found, ends, starts = list[TaggedText](), list[int](), list[int]()
        for opening, closing in self.pairs:
            tag, start, end = self.tags[opening], self.places[opening], self.places[closing]
            if tag.name == self.how.document_tag and (not ends or start >= ends[-1]):
                name = attribute(tag.attributes, "id", self.xml)
                found.append(TaggedText(self.text[start:end], self._line(tag.end), name))
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
        for place in boundaries:
            at = min(bisect_left(ends, place), last)
            if starts[at] <= place:
                found[at].boundaries.append(place - starts[at])
        return found
