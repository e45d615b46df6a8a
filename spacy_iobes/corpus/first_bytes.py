"""What the first bytes of a file say that it is, if it is no text or has no columns."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

TRIED = 20  # lines that are looked at for a delimiter
TAR = slice(257, 262)  # where an archive says that it is one
_UNPACK = "Unpack it, and name the file that comes out."
BINARY: Mapping[str, tuple[re.Pattern[bytes], str]] = MappingProxyType(
    {
        name: (re.compile(pattern, re.DOTALL), advice)
        for name, pattern, advice in (
            ("gzip data", rb"\x1f\x8b\x08", _UNPACK),
            ("a zip archive", rb"PK(\x03\x04|\x05\x06|\x07\x08)", _UNPACK),
            ("bzip2 data", rb"BZh[1-9]1AY&SY", _UNPACK),
            ("xz data", rb"\xfd7zXZ\0", _UNPACK),
            ("zstd data", rb"\x28\xb5\x2f\xfd", _UNPACK),
            ("a 7z archive", rb"7z\xbc\xaf\x27\x1c", _UNPACK),
            ("a Parquet file", rb"PAR1[\0-\x1f]", "Write it as a column file or as JSON lines."),
            ("an Arrow file", rb"ARROW1\0", "Write it as a column file or as JSON lines."),
            ("a pickle of Python", rb"\x80[\x02-\x05][\x28-\x8e\x95]", "Write it as text."),
            ("an SQLite database", rb"SQLite format 3\0", "Write its rows as a column file."),
            ("a PDF document", rb"%PDF-\d", "Take the text out of it."),
            ("a numpy array", rb"\x93NUMPY", "Write it as text."),
            ("an HDF5 file", rb"\x89HDF\r\n", "Write it as text."),
            ("an image", rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a", "Name a text."),
            ("a program", rb"\x7fELF|MZ\x90\0", "Name a text."),
        )
    }
)
"""What begins with bytes that no text begins with, and what to do about it."""
_STRING = rb'"(?:[^"\\\n]|\\.)*"'
_JSON = re.compile(
    rb"\s*(?:(?:\[\s*)?\{\s*%b[ \t]*:[ \t]*\S|\[\s*(?:\[\s*)?%b\s*[,\]])" % (_STRING, _STRING)
)
_TAG = re.compile(rb"O|[BILUESWMA]{1,2}-\S+")
DELIMITERS: Mapping[bytes, tuple[str, str]] = MappingProxyType(
    {b",": ("commas", "comma"), b";": ("semicolons", "';'"), b"|": ("bars", "'|'")}
)
"""What may stand between columns: in words, and as an option has it."""


def binary_kind(head: bytes) -> str:
    """What a binary file is and what to do about it, in words; empty if it may be text."""
    if head[:1] == b"\x78" and b"\xa5attrs" in _inflated(head):
        return "a DocBin, not text (--format docbin reads it). Let its name end in .spacy."
    if head[TAR] == b"ustar":
        return f"a tar archive, not text. {_UNPACK}"
    for name, (pattern, advice) in BINARY.items():
        if pattern.match(head):
            return f"{name}, not text. {advice}"
    return ""


def looks_binary(data: bytes) -> bool:
    """Whether bytes hold as many control characters as no text does."""
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in data[:4096])
    return controls > len(data[:4096]) / 20


def json_kind(head: bytes) -> str:
    """Return what JSON in place of columns is and what to do about it; empty if it is none."""
    if not _JSON.match(head):
        return ""
    return (
        "JSON, not columns (--format jsonl reads it). 'spacy-iobes convert' makes columns of it, "
        "or a .spacy file."
    )


def delimiter_hint(rows: Sequence[bytes]) -> str:
    """The delimiter that lines without white space seem to have, in words; empty if none does.

    All lines, but for the first one, which may name the columns, end in a tag behind it.
    """
    for delimiter, (name, option) in DELIMITERS.items():
        ends = [row.rpartition(delimiter) for row in rows[:TRIED]]
        tags = [tag.strip(b'"') for _, _, tag in ends]
        if not all(between for _, between, _ in ends) or not all(map(_TAG.fullmatch, tags[1:])):
            continue
        if not tags or (len(tags) == 1 and not _TAG.fullmatch(tags[0])):
            continue
        said = f"columns with {name} between them: name the delimiter (--delimiter {option})"
        if not _TAG.fullmatch(tags[0]):
            said += ", and remove the line that names the columns"
        if any(tag.endswith(b'"') for _, _, tag in ends):
            said += "; write the columns without quotation marks"
        return f"{said}."
    return ""


def _inflated(head: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(head, 512)
    except zlib.error:
        return b""
