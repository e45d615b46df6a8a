"""brat standoff: texts (`.txt`) with mentions by character offsets beside them (`.ann`).

Only text-bound annotations (lines `T…`) are read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import FileError
from .files import decoded_bytes, whole_file
from .nested import Passages
from .nested_text import SIMPLE, NestedText, Offsets, TextReading, text_passages

_PART = r"\d{1,18} \d{1,18}"
_MENTION = re.compile(
    rf"T\S*\t(?P<label>\S+) (?P<parts>{_PART}(?:;{_PART})*)(?:\t(?P<text>.*))?$", re.DOTALL
)
_TEXT_BOUND = re.compile(r"T\d")  # what must be a mention


def read_brat(path: str | Path, how: TextReading = SIMPLE) -> Iterator[NestedText]:
    """Every annotated text in or below a folder, by name; or the one of an `.ann` file."""
    if str(path).endswith(".ann"):
        yield read_text(Path(path), how)
        return
    paths = sorted(Path(path).rglob("*.ann"))
    if not paths:
        reason = "no .ann files in or below it. A brat folder has texts (.txt) with .ann files."
        raise FileError(f"{path}: {reason}", str(path))
    for each in paths:
        yield read_text(each, how)


def read_text(annotations: Path, how: TextReading = SIMPLE) -> NestedText:
    """One text, given the file of its annotations."""
    path = annotations.with_suffix(".txt")
    text = _content(path, how.encoding)
    mentions = [
        (number, *_mention(line, text, f"{annotations}, line {number}"))
        for number, line in enumerate(_content(annotations, how.encoding).split("\n"), 1)
        if _TEXT_BOUND.match(line)
    ]
    ends = ((parts[0][0], parts[-1][1]) for *_, parts in mentions)
    tokens = how.cut(how.tokenize(text), ends)
    found = NestedText(str(path), text, tokens)
    if how.lines:
        found.split_lines()
    for number, label, parts in mentions:
        found.add(label, parts, f"{annotations}:{number}", how.misaligned)
    return found


def _mention(line: str, text: str, place: str) -> tuple[str, list[Offsets]]:
    """The label of a mention and the characters of its parts, which must be what it says."""
    match = _MENTION.match(line)
    if not match:
        reason = "a mention is T1, a tab, the label, the first character and the one behind it"
        raise FileError(f"{place}: {line[:60]!r} cannot be read: {reason}.", place)
    numbers = [list(map(int, part.split())) for part in match["parts"].split(";")]
    parts = sorted((start, end) for start, end in numbers)
    if not all(0 <= start < end <= len(text) for start, end in parts):
        raise FileError(f"{place}: {match['parts']} is no part of {len(text)} characters.", place)
    there = " ".join(text[start:end] for start, end in numbers)
    if match["text"] and match["text"].split() != there.split():
        raise FileError(
            f"{place}: the text at {match['parts']} is {there[:60]!r}, not {match['text'][:60]!r}. "
            "Are these the annotations of another text, or offsets of bytes?",
            place,
        )
    return match["label"], parts


def _content(path: Path, encoding: str) -> str:
    """A file as it is: offsets count the characters, whatever the line ends are.

    A byte order mark counts, unless the encoding is one that has it.
    """
    text = decoded_bytes(whole_file(path), encoding, str(path))
    return text.removeprefix("\ufeff") if codecs.lookup(encoding).name == "utf-8-sig" else text


def brat_passages(folder: str | Path) -> Iterator[Passages]:
    """The texts of a folder, each as one sentence."""
    return text_passages(read_brat(folder))
