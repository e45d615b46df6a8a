"""brat standoff: texts (`.txt`) with mentions by character offsets beside them (`.ann`).

Only text-bound annotations (lines `T…`) are read. A text is cut into words and single other
characters; a mention is a span if it begins and ends where tokens do. What is none is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from ..codes.write import span_columns
from ..errors import FileError
from ..span import Span
from .nested import ENOUGH, Finding, Passages

TOKENS = re.compile(r"\w+|[^\w\s]")
"""What a token is: a run of letters, digits and underscores, or one character that is no space."""
_MENTION = re.compile(r"T\S*\t(?P<label>\S+) (?P<parts>\d+ \d+(?:;\d+ \d+)*)(?:\t|$)")
_TEXT_BOUND = re.compile(r"T\d\S*\t")  # what must be a mention


@dataclass
class BratText:
    """A text, its tokens by character offsets, its mentions, and those that are no spans.

    `unwritable` are lines of the `.ann` file: (kind, line, label, text), as in `nested.KINDS`.
    """

    path: Path
    text: str
    tokens: list[tuple[int, int]]
    spans: list[Span] = field(default_factory=list)
    unwritable: list[tuple[str, int, str, str]] = field(default_factory=list)

    def line(self, token: int) -> int:
        """The line of a token, from 1."""
        return self.text.count("\n", 0, self.tokens[token][0]) + 1

    def words(self, start: int, end: int) -> str:
        """The text of a span, with single spaces."""
        return _one_line(self.text[self.tokens[start][0] : self.tokens[end - 1][1]])

    def findings(self, number: int) -> list[Finding]:
        """The mentions that are no spans, given the number of the text."""
        return [
            Finding(kind, f"{self.path.with_suffix('.ann')}:{line}", number, label, ((0, 0, text),))
            for kind, line, label, text in self.unwritable
        ]


def read_brat(folder: str | Path) -> Iterator[BratText]:
    """Every annotated text in or below a folder, by name."""
    paths = sorted(Path(folder).rglob("*.ann"))
    if not paths:
        reason = "no .ann files in or below it. A brat folder has texts (.txt) with .ann files."
        raise FileError(f"{folder}: {reason}", str(folder))
    yield from map(read_text, paths)


def read_text(annotations: Path) -> BratText:
    """One text, given the file of its annotations."""
    path = annotations.with_suffix(".txt")
    text = _content(path)
    found = BratText(path, text, [match.span() for match in TOKENS.finditer(text)])
    starts = {start: index for index, (start, _) in enumerate(found.tokens)}
    ends = {end: index + 1 for index, (_, end) in enumerate(found.tokens)}
    for number, line in enumerate(_content(annotations).split("\n"), 1):
        if not _TEXT_BOUND.match(line):
            continue
        label, parts = _mention(line, len(text), f"{annotations}, line {number}")
        first, last = parts[0][0], parts[-1][1]
        shown = _one_line(" … ".join(text[a:b] for a, b in parts))
        if any(a[1] != b[0] for a, b in pairwise(parts)):
            found.unwritable.append(("discontinuous", number, label, shown))
        elif first not in starts or last not in ends:
            found.unwritable.append(("misaligned", number, label, shown))
        else:
            found.spans.append(Span(starts[first], ends[last], label))
    return found


def _mention(line: str, length: int, place: str) -> tuple[str, list[tuple[int, int]]]:
    """The label of a mention and the characters of its parts."""
    match = _MENTION.match(line)
    if not match:
        reason = "a mention is T1, a tab, the label, the first character and the one behind it"
        raise FileError(f"{place}: {line[:60]!r} cannot be read: {reason}.", place)
    numbers = [list(map(int, part.split())) for part in match["parts"].split(";")]
    parts = sorted((start, end) for start, end in numbers)
    if not all(0 <= start < end <= length for start, end in parts):
        raise FileError(f"{place}: {match['parts']} is no part of {length} characters.", place)
    return match["label"], parts


def _content(path: Path) -> str:
    """A file as it is: offsets count the characters, whatever the line ends are."""
    try:
        return path.read_bytes().decode("utf8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: cannot be read as UTF-8: {error}.", str(path)) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{path}: cannot be read: {reason}.", str(path)) from error


def _one_line(text: str) -> str:
    return " ".join(text.split())


def brat_passages(folder: str | Path) -> Iterator[Passages]:
    """The texts of a folder, each as one sentence."""
    texts: list[BratText] = []
    for text in read_brat(folder):
        texts.append(text)
        if sum(len(text.tokens) for text in texts) >= ENOUGH:
            yield _passages(texts)
            texts = []
    yield _passages(texts)


def _passages(texts: Sequence[BratText]) -> Passages:
    lengths = [len(text.tokens) for text in texts]
    spans = span_columns([text.spans for text in texts], lengths)
    unwritable = [finding for n, text in enumerate(texts) for finding in text.findings(n)]

    def place(number: int, token: int) -> str:
        return f"{texts[number].path}:{texts[number].line(token)}"

    def words(number: int, start: int, end: int) -> str:
        return texts[number].words(start, end)

    return Passages(spans, lengths, place, words, unwritable)
