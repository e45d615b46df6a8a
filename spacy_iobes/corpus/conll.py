"""CoNLL-style column files: one token on a line, a blank line between sentences.

The reader streams, keeps every byte, and never guesses a column: all lines with tokens have as many
columns as the first one, or the file is refused with the line that differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from .. import kernels
from ..codes.annotated_runs import having
from ..codes.scheme import SCHEMES
from ..codes.tag_columns import CodedTags, ViolationColumns
from ..codes.violation import MISSING, Violation
from ..errors import ColumnError, InexpressibleError, UnreadableTagError
from ..kernels import columns_numpy
from ..kernels.columns_numpy import TOKEN, Layout, Scanned, Wrong, kind_of
from .files import Progress, read_bytes, shown
from .first_bytes import TRIED, delimiter_hint, json_kind

MARKERS = ("-DOCSTART-", "###MEDLINE:")
BOM = "\ufeff".encode()
AUTO = "auto"
ONE_SCHEME = (
    f"one of {', '.join(SCHEMES)}. 'spacy-iobes validate FILE' says under which a file is legal"
)
"""What a scheme may be, and how to find out."""
DELIMITERS = {"tab": "\t", "space": " ", "whitespace": "", "comma": ","}


def delimiter_named(name: str) -> str:
    """The string behind a name such as `tab`; any other string stands for itself."""
    return DELIMITERS.get(name, name.replace("\\t", "\t"))


@dataclass(frozen=True)
class Columns:
    """How to read a column file.

    `delimiter` is a string, empty for runs of spaces and tabs, or "auto": a tab if the first line
    with a token has one, else runs of spaces. Columns are counted from 0, or from the end with
    negative numbers. Lines that start with `comment` are comments; without it there are none, since
    `#` is a token in many corpora. Lines that start with one of the `markers` begin a document.
    """

    delimiter: str = AUTO
    token: int = 0
    tag: int = -1
    comment: str = ""
    markers: tuple[str, ...] = MARKERS
    encoding: str = "utf8"
    count_documents: bool = True

    def layout(self) -> Layout:
        """The same for the scanner."""
        delimiter = "" if self.delimiter == AUTO else self.delimiter
        markers = tuple(marker.encode() for marker in self.markers)
        return Layout(delimiter.encode(), self.token, self.tag, 0, self.comment.encode(), markers)


@dataclass(frozen=True)
class Part:
    """Some whole sentences of a file: its bytes, what the scanner found in them, and their tags."""

    name: str
    line: int  # the number of its first line, from 1
    buffer: bytes
    scanned: Scanned
    layout: Layout
    tags: CodedTags

    def number(self, sentence: int, index: int) -> int:
        """The line of a token; of the last token where `index` is beyond the end."""
        return self.flat_number(self._at(sentence, index))

    def token(self, sentence: int, index: int) -> str:
        """A token; the last one where `index` is beyond the end."""
        return self.flat_token(self._at(sentence, index))

    def flat_number(self, at: int) -> int:
        """The line of a token, counted over all sentences of the part."""
        return self.line + int(self.scanned.line[at])

    def flat_token(self, at: int) -> str:
        """A token, counted over all sentences of the part."""
        return self.buffer[self.scanned.token_begin[at] : self.scanned.token_end[at]].decode()

    def cut(self, begin: int, end: int) -> Part:
        """Some of the sentences; the bytes stay the same."""
        if (begin, end) == (0, len(self.tags)):
            return self
        bounds = self.tags.offsets[begin : end + 1]
        rows = slice(bounds[0], bounds[-1])
        names = ("codes", "line", "token_begin", "token_end", "tag_begin", "tag_end")
        columns = {name: getattr(self.scanned, name)[rows] for name in names}
        scanned = self.scanned._replace(offsets=bounds - bounds[0], **columns)
        tags = CodedTags.trusted(scanned.codes, scanned.offsets, self.tags.tags)
        return replace(self, scanned=scanned, tags=tags)

    def _at(self, sentence: int, index: int) -> int:
        begin, end = self.tags.offsets[sentence], self.tags.offsets[sentence + 1]
        return int(min(begin + index, end - 1))

    def text(self, sentence: int, start: int = 0, end: int | None = None) -> str:
        """The tokens of a sentence, or of a span in it, with spaces between them."""
        a = int(self.tags.offsets[sentence])
        b = int(self.tags.offsets[sentence + 1]) if end is None else a + end
        begins = self.scanned.token_begin[a + start : b].tolist()
        ends = self.scanned.token_end[a + start : b].tolist()
        return b" ".join(self.buffer[p:q] for p, q in zip(begins, ends)).decode()

    def tokens(self, sentence: int) -> tuple[str, ...]:
        """The tokens of a sentence."""
        rows = slice(*self.tags.offsets[sentence : sentence + 2])
        places = zip(
            *(c[rows].tolist() for c in (self.scanned.token_begin, self.scanned.token_end))
        )
        return tuple(self.buffer[begin:end].decode() for begin, end in places)

    def located(self, violations: ViolationColumns) -> Iterator[Violation]:
        """The violations with file, line and token."""
        for sentence, violation in violations.rows():
            index = violation.index - (violation.current is None)
            line, token = self.number(sentence, index), self.token(sentence, index)
            yield replace(violation, file=self.name, line=line, token=token)

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Errors of the verbs say file, line and token instead of sentence and index."""
        try:
            yield
        except UnreadableTagError as error:
            message = self._place(error.sentence, error.index) + error.reason
            raise UnreadableTagError(message, error.tag, error.sentence, error.index) from error
        except InexpressibleError as error:
            message = self._place(error.sentence, error.spans[0].start) + error.reason
            raise InexpressibleError(message, error.spans, error.sentence) from error

    def _place(self, sentence: int, index: int) -> str:
        return (
            f"{self.name}, line {self.number(sentence, index)}, {self.token(sentence, index)!r}: "
        )


class Rest:
    """Bytes that were read and not yet used, in pieces: each is copied once, however many come."""

    def __init__(self) -> None:
        self.begin(b"")

    def begin(self, piece: bytes) -> None:
        """Hold this piece and nothing else."""
        self._pieces, self.size = [piece] if piece else [], len(piece)

    def add(self, piece: bytes) -> None:
        """Hold one more piece."""
        self._pieces.append(piece)
        self.size += len(piece)

    def joined(self) -> bytes:
        """All the bytes that are held."""
        return b"".join(self._pieces)


class ColumnReader:
    """Iterates over a column file, once, part by part, and counts what it has seen."""

    def __init__(
        self,
        path: str | Path,
        columns: Columns | None = None,
        progress: Progress | None = None,
        vocabulary: dict[bytes, int] | None = None,
    ):
        self.path = path
        self.name = shown(path)
        self.columns = columns or Columns()
        self.progress = progress
        self.mark = b""  # the byte order mark, if the file has one
        self.lines = self.sentences = self.tokens = self.markers = 0
        self.missing = 0  # tokens that are not annotated
        self._layout = self.columns.layout()
        self._settled = self.columns.delimiter != AUTO
        self._begun = False
        self._first = 0  # the line that the number of columns comes from
        self._first_row = b""
        self.vocabulary = {} if vocabulary is None else vocabulary  # tags and their numbers
        self._tags: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many columns there are, once a line was read."""
        return self._layout.width

    @property
    def documents(self) -> int:
        """How many documents there are: one for each marker, or one if there is no marker."""
        markers = self.markers if self.columns.count_documents else 0
        return max(markers, min(self.sentences, 1))

    def __iter__(self) -> Iterator[Part]:
        if self._begun:
            raise ValueError(f"{self.name} was read already: make another reader to read it again.")
        self._begun = True
        rest, wanted = Rest(), 0
        for chunk in self._chunks():
            if rest.size + len(chunk) > columns_numpy.LARGEST:
                yield self._whole_sentences(rest)
                self._require_size(rest.size + len(chunk))
            rest.add(chunk)
            if rest.size >= wanted:
                yield self._whole_sentences(rest)
                wanted = 2 * rest.size  # so that one long sentence is not read again and again
        yield self._scan(rest.joined(), final=True)

    def _whole_sentences(self, rest: Rest) -> Part:
        """Take the sentences that end in the rest of what was read."""
        buffer = rest.joined()
        part = self._scan(buffer, final=False)
        rest.begin(buffer[len(part.buffer) :])
        return part

    def _require_size(self, size: int) -> None:
        """Refuse a sentence that is too large for one part."""
        if size > columns_numpy.LARGEST:
            line = self.lines + 1
            raise ColumnError(
                f"{self.name}, line {line}: the sentence that begins here is larger than "
                f"{columns_numpy.LARGEST:,} bytes. Put a blank line between sentences.",
                self.name,
                line,
            )

    def _chunks(self) -> Iterator[bytes]:
        """The bytes of the file without its byte order mark."""
        chunks = read_bytes(self.path, self.columns.encoding, self.progress)
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) >= len(BOM):
                break
        if kind := json_kind(head.removeprefix(BOM)):
            raise ColumnError(f"{self.name}: this looks like {kind}", self.name)
        self.mark = BOM if head.startswith(BOM) else b""
        yield head.removeprefix(BOM)
        yield from chunks

    def _scan(self, buffer: bytes, final: bool) -> Part:
        if not self._settled:
            self._settle(buffer if final else buffer[: buffer.rfind(b"\n") + 1])
        scanned = kernels.scan(buffer, final, self._layout, self.vocabulary)
        if not self._layout.width and scanned.width:
            self._first = self.lines + max(scanned.first, 0) + 1
            self._first_row = buffer.split(b"\n")[max(scanned.first, 0)]
            self._layout = self._layout._replace(width=scanned.width)
        if scanned.wrong:
            raise self.refusal(buffer, scanned.wrong, self.lines + 1, self._layout)
        tags = CodedTags.trusted(scanned.codes, scanned.offsets, self.tag_names())
        whole = buffer[: scanned.consumed]
        self._require_line_feeds(whole)
        part = Part(self.name, self.lines + 1, whole, scanned, self._layout, tags)
        self.lines += scanned.lines
        self.markers += scanned.documents
        self.sentences += len(tags)
        self.tokens += len(tags.codes)
        if MISSING in tags.tags:
            self.missing += int(having(tags, (MISSING,)).sum())
        return part

    def _require_line_feeds(self, buffer: bytes) -> None:
        """Refuse a carriage return inside of a line: what follows would be read as columns."""
        if b"\r" not in buffer:
            return
        last = buffer.endswith(b"\r")
        if buffer.count(b"\r") - last != buffer.count(b"\r\n"):
            rows = buffer[: len(buffer) - last].split(b"\n")
            wrong = next(i for i, row in enumerate(rows) if b"\r" in row.removesuffix(b"\r"))
            line = self.lines + 1 + wrong
            raise ColumnError(
                f"{self.name}, line {line}: a carriage return inside of a line. "
                "Are these the line ends of an old Macintosh? Convert them first.",
                self.name,
                line,
            )

    def tag_names(self) -> tuple[str, ...]:
        """The tags by their numbers."""
        if len(self.vocabulary) > len(self._tags):
            self._tags = tuple(tag.decode() for tag in self.vocabulary)
        return self._tags

    def _settle(self, buffer: bytes) -> None:
        """Choose the delimiter by the first line with a token."""
        rows = (line.removesuffix(b"\r") for line in buffer.split(b"\n"))
        tokens = list(islice((row for row in rows if kind_of(row, self._layout) is TOKEN), TRIED))
        if tokens:
            if hint := delimiter_hint(tokens):
                raise ColumnError(f"{self.name}: this looks like {hint}", self.name)
            self._layout = self._layout._replace(delimiter=b"\t" if b"\t" in tokens[0] else b"")
            self._settled = True

    def refusal(self, buffer: bytes, wrong: Wrong, first: int, layout: Layout) -> ColumnError:
        """The error for a line that lacks columns, in a buffer that begins with line `first`."""
        line = first + wrong.line
        row = buffer[wrong.begin : wrong.end].decode(errors="replace")
        shown_row = repr(row if len(row) <= 60 else row[:57] + "...")
        if wrong.found == wrong.width:
            indices = {"token": layout.token, "tag": layout.tag}
            kind, index = next(
                (kind, i) for kind, i in indices.items() if not -wrong.width <= i < wrong.width
            )
            reason = f"no column {index} for the {kind}, the line has {wrong.width}: {shown_row}."
            hint = "Is the delimiter right (--delimiter)?"
        else:
            plural = "s" * (wrong.found != 1)
            reason = f"{wrong.found} column{plural} where line {self._first} has {wrong.width}: "
            reason += f"{shown_row}."
            hint = "Is a column missing?"
            if row.startswith("#") or self._first_row.startswith(b"#"):
                hint = "Is it a comment (--comment '#')?"
            elif wrong.found > wrong.width:
                hint = "Does a token hold the delimiter (--delimiter)?"
        return ColumnError(f"{self.name}, line {line}: {reason} {hint}", self.name, line)
