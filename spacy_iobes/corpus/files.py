"""Text files in and out: gzip, pipes and any encoding; writes that are whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

from ..errors import FileError

STANDARD = "-"  # standard input or output
CHUNK = 1 << 19  # bytes read at a time
LONGEST = 1 << 20  # characters that a line may have
SPOOLED = 1 << 24  # bytes for standard output that are kept in memory before they go to a file
GZIP = b"\x1f\x8b"

Progress = Callable[[int], None]
"""Told how many bytes of the file as it lies on disk have been read since the last call."""


def shown(path: str | Path) -> str:
    """How messages name a file."""
    return "standard input" if str(path) == STANDARD else str(path)


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
    try:
        for chunk in chain(_chunks(path, progress), [b""]):
            text = _decoded(decoder, chunk, name, done, final=not chunk)
            data = chunk if unicode else text.encode("utf8")
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
    decoder, _ = _decoder(encoding)
    return _decoded(decoder, data, name, 0, final=True)


def _decoder(encoding: str) -> tuple[codecs.IncrementalDecoder, bool]:
    """A decoder, and whether what it reads is UTF-8 already."""
    try:
        found = codecs.lookup(encoding)
        if found.name == "utf-8-sig":  # a byte order mark is kept where there is one
            found = codecs.lookup("utf-8")
        if not found._is_text_encoding:
            raise LookupError(encoding)
        return found.incrementaldecoder("strict"), found.name in ("utf-8", "ascii")
    except LookupError as error:
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
    except UnicodeDecodeError as error:
        line = done + error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        wide = error.object[:2] in (b"\xff\xfe", b"\xfe\xff")
        reason = (
            f"cannot be read as {error.encoding} (byte 0x{byte:02x}). If it is text in another "
            f"encoding, name it (--encoding {'utf-16' if wide else 'latin-1'}, for example)."
        )
    except UnicodeError as error:
        line, reason = done + 1, f"cannot be read: {error}. Name its encoding (--encoding)."
    raise FileError(f"{name}, line {line}: {reason}", name, line)


def _chunks(path: str | Path, progress: Progress | None) -> Iterator[bytes]:
    """The bytes of a file, or of what a gzip file holds."""
    with _opened(path) as file:
        counted = _Counted(file, progress or (lambda count: None))
        raw = io.BufferedReader(counted)
        head = raw.peek(2)[:2]
        stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if head == GZIP else raw  # type: ignore[assignment]
        while chunk := stream.read(CHUNK):
            yield chunk


@contextmanager
def _opened(path: str | Path) -> Iterator[io.BufferedReader]:
    """A file open for reading, with any trouble told in one line."""
    if str(path) == STANDARD:
        if sys.stdin is None:
            raise FileError("There is no standard input.")
        yield sys.stdin.buffer  # type: ignore[misc]
        return
    try:
        with open(path, "rb") as file:
            yield file
    except gzip.BadGzipFile:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {_reason(error)}.", str(path)) from error


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
    _, unicode = _decoder(encoding)
    if codecs.lookup(encoding).name in ("utf-16", "utf-32"):
        raise FileError(f"{path}: say which {encoding} to write: {encoding}-le or {encoding}-be.")
    encode = codecs.getincrementalencoder(encoding)("strict").encode
    try:
        with _replacing(path) as file, _compressed(file, path) as stream:

            def put(data: bytes) -> None:
                try:
                    stream.write(data if unicode else encode(data.decode("utf8")))
                except UnicodeEncodeError as error:
                    bad = f"{error.object[error.start]!r} cannot be written as {encoding}"
                    raise FileError(f"{path}: {bad}.", str(path)) from error

            yield put
            if not unicode:
                stream.write(encode("", True))  # some encodings end with a shift
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {_reason(error)}.", str(path)) from error


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
    with SpooledTemporaryFile(max_size=SPOOLED) as file:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


@contextmanager
def _replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` when all went well, and vanishes when not."""
    if str(path) == STANDARD:
        yield from _printing()
        return
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
