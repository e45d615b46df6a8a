"""Inline-tagged files: one, a folder of them, or an archive (`.tar`, `.tar.gz`, `.tgz`)."""

from __future__ import annotations

import lzma
import math
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import FileError
from .files import decoded_bytes, opened, read_bytes, shown
from .inline import Problem, TaggedText, read_inline_text
from .nested_text import SIMPLE, NestedText, TextReading

ARCHIVES = (".tar", ".tar.gz", ".tgz")
DAMAGED = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
"""What reading an archive may raise that is cut off or has wrong bytes in it."""
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
    try:
        with opened(path) as raw, tarfile.open(fileobj=raw) as archive:
            found = [
                (f"{path}/{member.name}", file.read())
                for member in archive
                if not _hidden(Path(member.name)) and (file := _extracted(path, archive, member))
            ]
    except DAMAGED as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise FileError(f"{path}: cannot be read as an archive: {reason}.", str(path)) from error
    if not found:
        raise FileError(f"{path}: an archive without files.", str(path))
    return found


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
