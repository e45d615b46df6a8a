"""Inline-tagged files: one, a folder of them, or an archive (`.tar`, `.tar.gz`, `.tgz`)."""

from __future__ import annotations

import lzma
import math
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import FileError
from .files import CHUNK, decoded_bytes, opened, read_bytes, shown
from .inline import Problem, TaggedText, read_inline_text
from .nested_text import SIMPLE, NestedText, TextReading

ARCHIVES = (".tar", ".tar.gz", ".tgz")
DAMAGED = (
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    ValueError,
    OverflowError,
)
"""What reading an archive may raise that is cut off or has wrong bytes in it."""
MOST = 2**31 - 1  # bytes of all files of an archive, which are held in memory
SAID = {
    "unbalanced": "a tag without its other half",
    "crossed": "a tag that ends after one that began before it",
    "beyond": "a mention that is in no document",
}
"""What the problems of tags are."""


def read_inline(path: str | Path, how: TextReading = SIMPLE) -> Iterator[NestedText]:
    """Every text of a file, a folder or an archive, in the order of the names of the files.

    Hidden files are passed over. The texts are cut into tokens, and mentions aligned with them.
    """
    for name, raw in inline_files(path, how.encoding):
        for found in read_inline_text(raw.removeprefix("\ufeff"), how.markup):
            yield _nested(name, found, how)


def inline_files(path: str | Path, encoding: str = "utf8") -> Iterator[tuple[str, str]]:
    """The names and the contents of the files."""
    if Path(path).is_dir():
        below = sorted(Path(path).rglob("*"))
        files = [file for file in below if file.is_file() and not _hidden(file.relative_to(path))]
        if not files:
            reason = "a folder without files. One with inline-tagged texts has a file for each."
            raise FileError(f"{path}: {reason}", str(path))
        for file in files:
            yield str(file), _content(file, encoding)
    elif str(path).lower().endswith(ARCHIVES):
        for name, data in sorted(_members(path)):
            yield name, decoded_bytes(data, encoding, name)
    else:
        yield shown(path), _content(path, encoding)


def _content(path: str | Path, encoding: str) -> str:
    return b"".join(read_bytes(path, encoding, longest=math.inf)).decode()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in path.parts)


def _members(path: str | Path) -> list[tuple[str, bytes]]:
    """The files of an archive, which are named as if it were a folder."""
    found, size = list[tuple[str, bytes]](), 0
    try:
        with opened(path) as raw, tarfile.open(fileobj=raw) as archive:
            for member in archive:
                if member.size < 0:  # the next one would be this one again
                    raise tarfile.ReadError(f"{member.name} has a negative size")
                file = None if _hidden(Path(member.name)) else _extracted(path, archive, member)
                if file is None:
                    continue
                size += file.seek(0, os.SEEK_END)
                if size > MOST:
                    reason = f"its files have more than {MOST:,} bytes. Unpack it, and name a file"
                    raise FileError(f"{path}: {reason} or the folder.", str(path))
                file.seek(0)
                found.append((f"{path}/{member.name}", file.read()))
            _read_to_end(archive)
    except DAMAGED as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        first = reason.partition("\n")[0].rstrip(":")  # the rest is about each compression
        raise FileError(f"{path}: cannot be read as an archive: {first}.", str(path)) from error
    if not found:
        raise FileError(f"{path}: an archive without files.", str(path))
    return found


def _read_to_end(archive: tarfile.TarFile) -> None:
    """Read what is behind the last file: compressed data has its checksum there."""
    while archive.fileobj is not None and archive.fileobj.read(CHUNK):
        pass


def _extracted(
    path: str | Path, archive: tarfile.TarFile, member: tarfile.TarInfo
) -> IO[bytes] | None:
    """A file of an archive, also one that is a link to another; None of what is no file."""
    try:
        return archive.extractfile(member)
    except (KeyError, RecursionError) as error:
        reason = f"{member.name} is a link to {member.linkname}, which is no file of the archive"
        raise FileError(f"{path}: {reason}. Pack it again.", str(path)) from error


def _nested(name: str, found: TaggedText, how: TextReading) -> NestedText:
    """A text with its tokens and spans, and with what is wrong with its tags as findings."""
    if how.markup.unbalanced == "raise" and found.problems:
        raise _wrong(name, found.problems)
    mentions = [((start, end), label, line) for start, end, label, line in found.mentions]
    tokens = how.cut(how.tokenize(found.text), [ends for ends, _, _ in mentions])
    text = NestedText(name, found.text, tokens, found.line)
    if how.lines:
        text.split_lines()
    elif found.borders:
        text.split_at(found.borders)
    for ends, label, line in mentions:
        text.add(label, [ends], f"{name}:{line}", how.misaligned)
    for kind, tag, words, line in found.problems:
        text.leave_out(kind, tag, words, f"{name}:{line}")
    return text


def _wrong(name: str, problems: list[Problem]) -> FileError:
    kind, tag, words, line = problems[0]
    more = f" (and {len(problems) - 1} more in this file)" if len(problems) > 1 else ""
    advice = (
        f"Correct it; or, if <{tag}> is no label, ignore it (--ignore-tag {tag}); or let such tags "
        "be text (--unbalanced text) or be left out (--unbalanced skip), for which 'to-docbin' has "
        "options."
    )
    message = f"{name}, line {line}: {SAID[kind]}: {words!r}{more}. {advice}"
    return FileError(message, name, line)
