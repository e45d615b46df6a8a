"""Text files in and out: gzip, pipes and any encoding; writes that are whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO

from ..errors import FileError
from .first_bytes import binary_kind, looks_binary

STANDARD = "-"  # standard input or output
CHUNK = 1 << 19  # bytes read at a time
LONGEST = 1 << 20  # characters that a line may have
SPOOLED = 1 << 24  # bytes for standard output that are kept in memory before they go to a file
GZIP = b"\x1f\x8b"
NO_FILES = ("idna", "punycode", "undefined")  # encodings of names, or of nothing
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal, or turn the order of what stands around them."""

HELD: dict[str, str] = {}
"""Streams that were read into a file, and its name, so that they can be read again."""

Progress = Callable[[int], None]
"""Told how many bytes of the file as it lies on disk have been read since the last call."""


def shown(path: str | Path) -> str:
    """How messages name a file."""
    return "standard input" if str(path) == STANDARD else str(path)


def require_name(path: str | Path) -> None:
    """Raise if a path cannot be one; an empty one would be the working directory for some."""
    if not str(path):
        raise FileError("An empty name is no name of a file.")
    if "\0" in str(path):
        raise FileError(f"{str(path)!r} is no name of a file: it has a NUL character.", str(path))


def require_there(path: str | Path) -> None:
    """Raise if a path cannot be one, or if nothing is there."""
    require_name(path)
    if not os.path.exists(path):
        raise FileError(f"{shown(path)}: there is no such file.", str(path))


def visible(text: str) -> str:
    """The text with escapes (`\\x1b`, `\\u202e`) in place of `HIDDEN` characters."""
    return HIDDEN.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x7F else f"\\u{code:04x}"  # the latter is JSON, too


def shown_output(path: str | Path) -> str:
    """How messages name a file that is written."""
    return "standard output" if str(path) == STANDARD else str(path)


def read_bytes(
    path: str | Path,
    encoding: str = "utf8",
    progress: Progress | None = None,
    longest: float = LONGEST,
) -> Iterator[bytes]:
    """The text of a file as UTF-8, piece by piece; anything but text is an error with its line."""
    name = shown(path)
    decoder, unicode = _decoder(encoding)
    done = open_line = 0  # lines that have ended, and the length of the one that has not
    first = True
    try:
        for chunk in chain(_chunks(path, progress), [b""]):
            if first and (kind := binary_kind(chunk)):
                raise FileError(f"{name}: this is {kind}", name)
            first = False
            text = _decoded(decoder, chunk, name, done, final=not chunk)
            data = chunk if unicode else _unicode(text, encoding, name, done)
            feed = data.find(b"\n")
            if open_line + (feed if feed >= 0 else len(data)) > longest:
                raise FileError(
                    f"{name}, line {done + 1}: longer than {longest:,} characters. "
                    "Is this a column file, with one token on each line?",
                    name,
                    done + 1,
                )
            open_line = len(data) - data.rfind(b"\n") - 1 + (open_line if feed < 0 else 0)
            done += data.count(b"\n")
            if data:
                yield data
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{name}: the gzip data is damaged or cut off after line {done} ({error}). "
            "Fetch or compress the file again.",
            name,
        ) from error


def decoded_bytes(data: bytes, encoding: str, name: str) -> str:
    """The text of some bytes, as of a file of that name."""
    if kind := binary_kind(data):
        raise FileError(f"{name}: this is {kind}", name)
    decoder, _ = _decoder(encoding)
    text = _decoded(decoder, data, name, 0, final=True)
    _unicode(text, encoding, name, 0)
    return text


def _decoder(encoding: str) -> tuple[codecs.IncrementalDecoder, bool]:
    """A decoder, and whether what it reads is UTF-8 already."""
    try:
        found = codecs.lookup(encoding)
        if found.name == "utf-8-sig":  # a byte order mark is kept where there is one
            found = codecs.lookup("utf-8")
        if not found._is_text_encoding or found.name in NO_FILES:
            raise LookupError(encoding)
        return found.incrementaldecoder("strict"), found.name in ("utf-8", "ascii")
    except (LookupError, ValueError) as error:  # no such encoding, or no name of one
        raise FileError(f"There is no text encoding {encoding!r}; try utf8 or latin-1.") from error


def _decoded(
    decoder: codecs.IncrementalDecoder, chunk: bytes, name: str, done: int, final: bool
) -> str:
    """Decode the next bytes; an error names the line, `done` lines having gone before."""
    try:
        text = decoder.decode(chunk, final)
        before = text.find("\0")
        if before < 0:
            return text
        line = done + text.count("\n", 0, before) + 1
        reason = "has a NUL character: a binary file, or another encoding? Name it (--encoding)."
        if looks_binary(chunk) and not _may_be_wide(chunk):
            reason = "has a NUL character: this looks like a binary file, not like text."
    except UnicodeDecodeError as error:
        line = done + error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        wide = error.object[:2] in (b"\xff\xfe", b"\xfe\xff")
        reason = f"cannot be read as {error.encoding} (byte 0x{byte:02x})"
        if looks_binary(error.object) and not (wide or _may_be_wide(error.object)):
            reason += ": this looks like a binary file, not like text."
        else:
            name_it = f"--encoding {'utf-16' if wide else 'latin-1'}, for example"
            reason += f". If it is text in another encoding, name it ({name_it})."
    except UnicodeError as error:
        line, reason = done + 1, f"cannot be read: {error}. Name its encoding (--encoding)."
    raise FileError(f"{name}, line {line}: {reason}", name, line)


def _may_be_wide(data: bytes) -> bool:
    """Whether every other byte of Latin text in UTF-16 would be like this: NUL."""
    return max(data[0:512:2].count(0), data[1:512:2].count(0)) > len(data[:512]) / 4


def _unicode(text: str, encoding: str, name: str, done: int) -> bytes:
    """Text as UTF-8; an error names the line, `done` lines having gone before."""
    try:
        return text.encode("utf8")
    except UnicodeEncodeError as error:
        line = done + text.count("\n", 0, error.start) + 1
        half = f"\\u{ord(text[error.start]):04x}"
        raise FileError(
            f"{name}, line {line}: {half}, half of a surrogate pair, is no character. Is the "
            f"encoding {encoding} right (--encoding)?",
            name,
            line,
        ) from error


def whole_file(path: str | Path) -> bytes:
    """All bytes of a file, as they are."""
    with opened(path) as file:
        return file.read()


def _chunks(path: str | Path, progress: Progress | None) -> Iterator[bytes]:
    """The bytes of a file, or of what a gzip file holds."""
    with opened(path) as file:
        counted = _Counted(file, progress or (lambda count: None))
        raw = io.BufferedReader(counted)
        head = raw.peek(2)[:2]
        stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if head == GZIP else raw  # type: ignore[assignment]
        while chunk := stream.read(CHUNK):
            yield chunk


@contextmanager
def opened(path: str | Path) -> Iterator[io.BufferedReader]:
    """A file open for reading, with any trouble told in one line.

    A regular file that has changed when the block ends is an error: it was not read as it is.
    """
    name = shown(path)
    try:
        with _binary(path) as file:
            before = _state(file)
            yield file
            after = _state(file)
    except gzip.BadGzipFile:
        raise
    except OSError as error:
        raise FileError(f"{name}: cannot be read: {_reason(error)}.", name) from error
    if before != after:
        raise FileError(
            f"{name}: the file has changed while it was read. Read it again when nothing writes "
            "to it.",
            name,
        )


@contextmanager
def _binary(path: str | Path) -> Iterator[io.BufferedReader]:
    """A file or standard input, open for reading."""
    path = HELD.get(str(path), path)
    if str(path) == STANDARD:
        if sys.stdin is None:
            raise FileError("There is no standard input.")
        yield sys.stdin.buffer  # type: ignore[misc]
        return
    require_name(path)
    with open(path, "rb") as file:
        yield file


def _state(file: io.BufferedReader) -> tuple[int, int] | None:
    """The size of a regular file, and when it was written to; None of anything else."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, ValueError):  # no real file
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_size, found.st_mtime_ns if found.st_size else 0  # what is in /proc has no size


class _Counted(io.RawIOBase):
    """A file that tells how much of it was read."""

    def __init__(self, file: io.BufferedReader, progress: Progress):
        self.file = file
        self.progress = progress

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read, and tell how much."""
        count = self.file.readinto(buffer)
        self.progress(count)
        return count


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()


@contextmanager
def write_bytes(path: str | Path, encoding: str = "utf8") -> Iterator[Callable[[bytes], None]]:
    """A function that writes UTF-8 to a file, which is only there once the block has ended well.

    What was at `path` before stays until then: the text goes to a file beside it, which takes its
    place at the end. It is written in `encoding`, and compressed if the name ends in .gz.
    """
    _decoder(encoding)  # raises if there is no such encoding
    codec = codecs.lookup(encoding).name
    unicode = codec in ("utf-8", "utf-8-sig")
    if codec in ("utf-16", "utf-32"):
        raise FileError(f"{path}: say which {encoding} to write: {encoding}-le or {encoding}-be.")
    encode = codecs.getincrementalencoder(encoding)("strict").encode
    try:
        with _replacing(path) as file, _compressed(file, path) as stream:

            def put(data: bytes) -> None:
                try:
                    stream.write(data if unicode else encode(data.decode("utf8")))
                except UnicodeEncodeError as error:
                    bad = f"{error.object[error.start]!r} cannot be written as {encoding}"
                    raise FileError(f"{shown_output(path)}: {bad}.", str(path)) from error

            yield put
            if not unicode:
                stream.write(encode("", True))  # some encodings end with a shift
    except BrokenPipeError:
        raise
    except OSError as error:
        name = shown_output(path)
        raise FileError(f"{name}: cannot be written: {_reason(error)}.", str(path)) from error


@contextmanager
def _compressed(file: IO[bytes], path: str | Path) -> Iterator[IO[bytes]]:
    """The file, or one that compresses into it; equal text gives equal bytes."""
    if str(path).lower().endswith(".gz"):
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as stream:
            yield stream  # type: ignore[misc]
    else:
        yield file


def _printing() -> Iterator[IO[bytes]]:
    """A file whose content goes to standard output when all went well."""
    if sys.stdout is None:
        raise FileError("There is no standard output.")
    from tempfile import SpooledTemporaryFile  # here: most commands write less than a file

    with SpooledTemporaryFile(max_size=SPOOLED) as file:
        yield file
        file.seek(0)
        if sys.stdout.isatty():
            for line in file:
                sys.stdout.write(visible(line.decode("utf8", "backslashreplace")))
        else:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()


@contextmanager
def _replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` when all went well, and vanishes when not."""
    if str(path) == STANDARD:
        yield from _printing()
        return
    require_name(path)
    exists = Path(path).exists()
    if exists and not stat.S_ISREG(Path(path).stat().st_mode):
        with open(path, "wb") as file:  # a device or a pipe is written to, a directory refused
            yield file
        return
    target = Path(os.path.realpath(path))
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(13, "permission denied")
    beside = target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.part")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if exists:
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
