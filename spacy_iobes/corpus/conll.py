"""CoNLL-style column files: one token on a line, a blank line between sentences.

The reader streams, keeps every line as it is, and never guesses a column: all lines with tokens
have as many columns as the first one, or the file is refused with the line that differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from sys import intern

from ..errors import ColumnError
from .files import Progress, read_lines, shown

MARKERS = ("-DOCSTART-", "###MEDLINE:")
NEWDOC = "newdoc"  # what a comment says where a document begins (Universal Dependencies)
BOM = "\ufeff"
BLANK = " \t"
FIELD = re.compile(r"[^ \t]+")
TOKEN, BREAK, COMMENT = "token", "break", "comment"
DELIMITERS = {"tab": "\t", "space": " ", "whitespace": None, "comma": ","}


@dataclass(frozen=True)
class Columns:
    """How to read a column file.

    `delimiter` is a string, None for runs of spaces and tabs, or "auto": a tab if the first line
    with a token has one, else runs of spaces. Columns are counted from 0, or from the end with
    negative numbers. Lines that start with `comment` are comments; without it there are none, since
    `#` is a token in many corpora. Lines that start with one of the `markers` begin a document.
    """

    delimiter: str | None = "auto"
    token: int = 0
    tag: int = -1
    comment: str | None = None
    markers: tuple[str, ...] = MARKERS
    encoding: str = "utf8"
    count_documents: bool = True


@dataclass(frozen=True)
class Layout:
    """The columns of one file, known once its first token was seen."""

    delimiter: str | None
    width: int
    token: int
    tag: int

    def split(self, row: str) -> list[str]:
        """The fields of a line."""
        if self.delimiter is not None:
            return row.split(self.delimiter)
        fields = row.split(" ")
        return FIELD.findall(row) if "\t" in row or "" in fields else fields

    def replace(self, row: str, tag: str) -> str:
        """The line with another tag and every other character as it was."""
        if self.delimiter is not None:
            fields = row.split(self.delimiter)
            fields[self.tag] = tag
            return self.delimiter.join(fields)
        start, end = [match.span() for match in FIELD.finditer(row)][self.tag]
        return row[:start] + tag + row[end:]


@dataclass(slots=True)
class Block:
    """A sentence with the lines before it; at the end of a file also lines with no sentence."""

    line: int  # the number of its first line, from 1
    lines: list[str]  # without line feeds
    rows: list[int]  # which of the lines hold the tokens
    tokens: list[str]
    tags: list[str]

    def number(self, index: int) -> int:
        """The line of a token; of the last token where `index` is beyond the end."""
        return self.line + self.rows[min(index, len(self.rows) - 1)]

    def token(self, index: int) -> str:
        """A token; the last one where `index` is beyond the end."""
        return self.tokens[min(index, len(self.tokens) - 1)]


class ColumnReader:
    """Iterates over the blocks of a column file, once, and counts what it has seen."""

    def __init__(
        self, path: str | Path, columns: Columns | None = None, progress: Progress | None = None
    ):
        self.path = path
        self.name = shown(path)
        self.columns = columns or Columns()
        self.progress = progress
        self.layout: Layout | None = None
        self.lines = self.sentences = self.tokens = self.markers = 0
        self._first = 0  # the line that the layout comes from
        starts = (*self.columns.markers, self.columns.comment or "")
        self._unusual = {start[:1] for start in starts} | {"", BOM, *BLANK}

    @property
    def documents(self) -> int:
        """How many documents there are: one for each marker, or one if there is no marker."""
        markers = self.markers if self.columns.count_documents else 0
        return max(markers, min(self.sentences, 1))

    def __iter__(self) -> Iterator[Block]:
        block = self._block()
        unusual, token, tag = self._unusual, self.columns.token, self.columns.tag
        layout = self.layout
        for lines in read_lines(self.path, self.columns.encoding, self.progress):
            for line in lines:
                self.lines += 1
                row = line[:-1] if line[-1:] == "\r" else line
                kind = TOKEN
                if row[:1] in unusual:
                    row = self._without_mark(row)
                    kind = self._kind(row)
                if kind is TOKEN:
                    layout = layout or self._look(row)
                    fields = layout.split(row)
                    if len(fields) != layout.width:
                        raise self._wrong(row, len(fields), layout.width)
                    block.rows.append(len(block.lines))
                    block.tokens.append(fields[token])
                    block.tags.append(intern(fields[tag]))
                elif kind is BREAK and block.rows:
                    yield self._done(block)
                    block = self._block()
                block.lines.append(line)
        yield self._done(block)

    def _without_mark(self, row: str) -> str:
        """The line without the byte order mark that the first one may have."""
        return row[len(BOM) :] if self.lines == 1 and row.startswith(BOM) else row

    def _block(self) -> Block:
        return Block(max(self.lines, 1), [], [], [], [])

    def _done(self, block: Block) -> Block:
        self.sentences += bool(block.rows)
        self.tokens += len(block.rows)
        return block

    def _kind(self, row: str) -> str:
        """What a line is; a comment does not end a sentence, a document marker does."""
        if not row.strip(BLANK):
            return BREAK
        if row.startswith(self.columns.markers):
            self.markers += 1
            return BREAK
        comment = self.columns.comment
        if comment and row.startswith(comment):
            self.markers += row[len(comment) :].lstrip().startswith(NEWDOC)
            return COMMENT
        return TOKEN

    def _look(self, row: str) -> Layout:
        """Settle the layout of the file from its first line with a token."""
        wanted = self.columns
        delimiter = wanted.delimiter
        if delimiter == "auto":
            delimiter = "\t" if "\t" in row else None
        width = len(Layout(delimiter, 0, 0, 0).split(row))
        for kind, index in (("token", wanted.token), ("tag", wanted.tag)):
            if not -width <= index < width:
                raise ColumnError(
                    f"{self.name}, line {self.lines}: no column {index} for the {kind}, the line "
                    f"has {width}: {_clipped(row)}. Is the delimiter right (--delimiter)?",
                    self.name,
                    self.lines,
                )
        self._first = self.lines
        self.layout = Layout(delimiter, width, wanted.token % width, wanted.tag % width)
        return self.layout

    def _wrong(self, row: str, found: int, width: int) -> ColumnError:
        hint = "Is a column missing?"
        if row.startswith("#"):
            hint = "Is it a comment (--comment '#')?"
        elif found > width:
            hint = "Does a token hold the delimiter (--delimiter)?"
        columns = f"{found} column{'s' * (found != 1)} where line {self._first} has {width}"
        return ColumnError(
            f"{self.name}, line {self.lines}: {columns}: {_clipped(row)}. {hint}",
            self.name,
            self.lines,
        )


def _clipped(row: str) -> str:
    return repr(row if len(row) <= 60 else row[:57] + "...")


@dataclass(frozen=True)
class Output:
    """How to write lines whose tags may have changed: by default, as they were."""

    delimiter: str | None = None
    only_token_and_tag: bool = False

    def render(self, block: Block, tags: Iterable[str], layout: Layout | None) -> str:
        """The text of a block with new tags."""
        lines = block.lines
        as_it_was = self == Output()
        for at, old, new in zip(block.rows, block.tags, tags):
            if layout is None or (old == new and as_it_was):
                continue
            line = lines[at]
            start = BOM if block.line + at == 1 and line.startswith(BOM) else ""
            end = "\r" if line.endswith("\r") else ""
            row = line[len(start) : len(line) - len(end)]
            lines[at] = start + self._row(row, new, layout) + end
        return "\n".join(lines)

    def _row(self, row: str, tag: str, layout: Layout) -> str:
        if self == Output():
            return layout.replace(row, tag)
        fields = layout.split(row)
        fields[layout.tag] = tag
        if self.only_token_and_tag:
            fields = [fields[layout.token], tag]
        delimiter = self.delimiter or layout.delimiter or " "
        return delimiter.join(fields)
