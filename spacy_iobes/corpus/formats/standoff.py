"""The lines of brat's annotations (`.ann`), and edits of them, which change mentions alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...errors import FileError
from ...span import Span
from ..findings import ORPHANED, Finding
from ..marked_text import Offsets

_PART = r"\d{1,18} \d{1,18}"
_MENTION = re.compile(
    rf"(?P<id>T\S*)\t(?P<label>\S+) (?P<parts>{_PART}(?:;{_PART})*)(?:\t(?P<text>.*))?", re.DOTALL
)
TEXT_BOUND = re.compile(r"T\d")  # what must be a mention
LABEL = re.compile(r"[^\s\0\ud800-\udfff]+")


class FileMention(NamedTuple):
    """A mention of a file: its line, from 0, and the tokens that it is, if it is any."""

    line: int
    id: str
    label: str
    span: Span | None


@dataclass(eq=False)
class BratFile:
    """A text and the lines of its annotations: files of one name, below the folder `root`.

    `bare` are files beside it whose texts have no tokens.
    """

    root: Path
    name: str
    text: str
    tokens: Sequence[Offsets]
    lines: list[str]
    mark: str = ""
    mentions: list[FileMention] = field(default_factory=list)
    bare: list[BratFile] = field(default_factory=list)

    @property
    def annotations(self) -> Path:
        """The file of the annotations."""
        return self.root / f"{self.name}.ann"


def read_mention(line: str, text: str, name: str, number: int) -> tuple[str, str, list[Offsets]]:
    """Return the id, the label and the parts of a mention, which must be what it says."""

    def wrong(reason: str) -> FileError:
        return FileError(f"{name}, line {number}: {reason}", name, number)

    match = _MENTION.fullmatch(line)
    if not match:
        reason = "a mention is T1, a tab, the label, the first character and the one behind it"
        raise wrong(f"{line[:60]!r} cannot be read: {reason}.")
    numbers = [list(map(int, part.split())) for part in match["parts"].split(";")]
    parts = sorted((start, end) for start, end in numbers)
    if not all(0 <= start < end <= len(text) for start, end in parts):
        raise wrong(f"{match['parts']} is no part of {len(text)} characters.")
    there = " ".join(text[start:end] for start, end in numbers)
    if match["text"] and match["text"].split() != there.split():
        raise wrong(
            f"the text at {match['parts']} is {there[:60]!r}, not {match['text'][:60]!r}. "
            "Are these the annotations of another text, or offsets of bytes?"
        )
    return match["id"], match["label"], parts


def edit(
    file: BratFile, spans: Iterable[Span], tokens: range | None = None
) -> tuple[str, list[Finding]]:
    """Return the annotations of a file with other mentions, and those that are left out.

    What is left out is about mentions that are gone. Mentions that begin in other `tokens`, if only
    some are named, stay, and so do those that are no spans of tokens; one with another label keeps
    its id. All other lines stay as they are.
    """
    return _Edit(file).with_spans(set(spans), tokens or range(len(file.tokens)))


class _Edit:
    """The lines of a file, of which those of mentions change."""

    def __init__(self, file: BratFile):
        self.file = file
        self.lines: dict[int, str] = dict(enumerate(file.lines))
        self.findings = list[Finding]()

    def with_spans(self, wanted: set[Span], tokens: range) -> tuple[str, list[Finding]]:
        """Return the lines, and what is gone with them, where these tokens have these spans."""
        mine = [m for m in self.file.mentions if m.span is not None and m.span.start in tokens]
        gone = [m for m in mine if m.span not in wanted]
        new = sorted(wanted - {m.span for m in mine}, key=_order)
        removed = set[str]()
        for mention in gone:
            same = [span for span in new if mention.span and span[:2] == mention.span[:2]]
            if same:
                self._relabel(mention, same[0].label)
                new.remove(same[0])
            else:
                del self.lines[mention.line]
                removed.add(mention.id)
        left = {m.id for m in self.file.mentions if m.line in self.lines}
        self._leave_orphans_out(removed - left)
        return self._with_new(new), self.findings

    def _relabel(self, mention: FileMention, label: str) -> None:
        key, _, rest = self.lines[mention.line].partition("\t")
        self.lines[mention.line] = f"{key}\t{label}{rest[len(mention.label) :]}"

    def _leave_orphans_out(self, gone: set[str]) -> None:
        """Leave out the lines about what is gone, and those about these lines."""
        while orphans := [n for n, line in self.lines.items() if not gone.isdisjoint(_about(line))]:
            for number in orphans:
                line = self.lines.pop(number).removesuffix("\r")
                key, _, rest = line.partition("\t")
                place = f"{self.file.annotations}:{number + 1}"
                kind = re.split(r"[\s:]", rest)[0]
                self.findings.append(Finding(ORPHANED, place, 0, kind, ((0, 0, line),)))
                gone = gone | {key} - {"*"}

    def _with_new(self, new: Sequence[Span]) -> str:
        """Return the lines with new mentions behind them."""
        file, lines = self.file, list(self.lines.values())
        feed = "\n" if not file.lines[-1] else ""
        if feed:
            lines.pop()
        ids = (re.match(r"T(\d{1,18})", mention.id) for mention in file.mentions)
        last = max((int(match[1]) for match in ids if match), default=0)
        end = "\r" if any(line.endswith("\r") for line in file.lines) else ""
        if new and lines and not lines[-1].endswith(end):
            lines[-1] += end
        for number, (first, final, label) in enumerate(new, last + 1):
            ends = (file.tokens[first][0], file.tokens[final - 1][1])
            lines.append(mention_line(number, label, [ends], file.text) + end)
        return file.mark + "\n".join(lines) + feed * bool(lines)


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, -span.end, span.label


def _about(line: str) -> Iterator[str]:
    """Yield the ids that an annotation, which is no mention, names: as `T1` or as `Arg1:T1`."""
    key, *fields = line.split("\t", 2)
    if not TEXT_BOUND.match(key) and fields:
        kind, *names = fields[0].split() or [""]
        names = names[:1] if key.startswith("N") else names  # the second is in another database
        yield from (name.rpartition(":")[2] for name in names)
        yield kind.partition(":")[2]


def mention_line(number: int, label: str, parts: Sequence[Offsets], text: str) -> str:
    """Return the line of a mention, given the characters of its parts."""
    places = ";".join(f"{start} {end}" for start, end in parts)
    words = " ".join(text[start:end] for start, end in parts)
    return f"T{number}\t{label} {places}\t" + re.sub(r"[\n\r\t]", " ", words)
