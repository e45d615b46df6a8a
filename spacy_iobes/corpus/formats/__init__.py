"""The kinds of files that hold annotated sentences: a row each, and one module each.

A module has `read(path, how, progress)`, which yields Sentences as they are written, and may have
`save(parts, path, how)`, which writes sentences from any source with what is known of them. Other
packages add rows with the entry point group `spacy_iobes_formats`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...codes.known import Known
from ...errors import FileError
from ...names import find
from ..conll import BOM, MARKERS
from ..files import GZIP, HELD, Progress, require_name, shown, shown_output
from ..findings import Finding
from ..first_bytes import binary_kind, json_kind
from ..inputs import is_stream
from ..sentences import Sentences
from .options import COLUMNS, ReadOptions, SaveOptions, option_fields

HEAD = 4096  # bytes that are looked at where a name tells nothing
TXT_LINES = 20  # lines of a .txt file that say whether it has columns
GROUP = "spacy_iobes_formats"


@dataclass(frozen=True)
class Format:
    """A kind of file: its name, how files of this kind end, and what they hold.

    `begins` says of the first bytes of a file whether it is of this kind, where its name does not.
    `overlap` says whether spans may overlap in it, `verbatim` whether it has texts, `annotated`
    whether it has any annotation, `tagged` whether that is tags, which may be illegal. One that
    takes `folders` reads them whole; those of a kind that `holds` files of these names are told by
    these. In one that is `marked`, documents begin where a line says so: sentences before the first
    such line stand for themselves.
    """

    name: str
    about: str
    endings: tuple[str, ...] = ()
    begins: Callable[[bytes], bool] | None = None
    overlap: bool = True
    verbatim: bool = False
    module: str = ""
    aliases: tuple[str, ...] = ()
    folders: bool = False
    holds: tuple[str, ...] = ()
    annotated: bool = True
    tagged: bool = False
    marked: bool = False

    def _verb(self, name: str) -> Any:
        return getattr(import_module(self.module or f"{__name__}.{self.name}"), name, None)

    @property
    def writable(self) -> bool:
        """Whether files of this kind can be written."""
        return self._verb("save") is not None

    @property
    def layered(self) -> bool:
        """Whether files of this kind hold layers of tags, legal or not, as they are written."""
        return self._verb("save_tags") is not None

    def needs_scheme(self, path: str | Path, how: ReadOptions) -> bool:
        """Return whether a file has tags whose scheme it does not name itself."""
        asked = self._verb("needs_scheme")
        return asked is not None and bool(asked(path, how))

    def dialect(self, path: str | Path, how: ReadOptions) -> str:
        """Return the name of the format that a file is in: this one, or one that it is read by."""
        asked = self._verb("dialect")
        return self.name if asked is None else str(asked(path, how))

    def read(
        self, path: str | Path, how: ReadOptions, progress: Progress | None = None
    ) -> Iterator[Sentences]:
        """Yield the sentences of a file, some at a time, as they are written."""
        found: Iterator[Sentences] = self._verb("read")(path, how, progress)
        return found

    def save(
        self, parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
    ) -> Sequence[Finding]:
        """Write sentences, all at once or not at all; return what was left out of the file."""
        if not self.writable:
            raise FileError(
                f"{shown_output(path)}: files of the format {self.name} cannot be written. Name "
                "another format (--to)."
            )
        found: Sequence[Finding] = self._verb("save")(parts, path, how)
        return found

    def save_tags(self, parts: Iterable[Sentences], path: str | Path, how: SaveOptions) -> None:
        """Write sentences with their tags, legal or not, all at once or not at all."""
        if not self.layered:
            names = ", ".join(row.name for row in FORMATS.values() if row.layered)
            raise FileError(
                f"{shown(path)}: files of the format {self.name} hold no layers of tags as they "
                f"are written. These do (--to): {names}."
            )
        self._verb("save_tags")(parts, path, how)


def _json(head: bytes) -> bool:
    return bool(json_kind(head.removeprefix(BOM)))


ROWS = (
    Format(
        "columns",
        "one token on a line, with its tags",
        overlap=False,
        tagged=True,
        marked=True,
    ),
    Format(
        "docbin",
        "Docs of spaCy",
        (".spacy",),
        lambda head: binary_kind(head)[:8] == "a DocBin",
        tagged=True,
    ),
    Format(
        "jsonl",
        "JSON lines, or a list: texts or tokens with spans or tags",
        (".jsonl", ".ndjson", ".json", ".jsonlines"),
        _json,
        verbatim=True,
        module=f"{__name__}.json_lines",
    ),
    Format("prodigy", "tasks of Prodigy, as JSON lines", verbatim=True),
    Format("doccano", "texts of doccano with labels, as JSON lines", verbatim=True),
    Format("label_studio", "tasks of Label Studio, as a list in JSON", verbatim=True),
    Format(
        "hugging_face",
        "tokens with tags or their numbers, as JSON lines",
        overlap=False,
        tagged=True,
    ),
    Format(
        "brat",
        "a folder of texts (.txt) and annotations",
        (".ann",),
        verbatim=True,
        folders=True,
    ),
    Format(
        "inline",
        "texts with tags in them, <PER>Ada</PER>",
        (".xml", ".tar", ".tgz"),
        lambda head: head.lstrip()[:5] == b"<?xml",
        verbatim=True,
        folders=True,
    ),
    Format("text", "plain text without annotation", verbatim=True, annotated=False),
    Format(
        "tokens",
        "a sentence on each line, spaces between tokens",
        annotated=False,
        marked=True,
    ),
    Format(
        "session",
        "a session of annotate, as far as it was annotated",
        verbatim=True,
        module="spacy_iobes.selection.session_format",
        folders=True,
        holds=("corpus.spacy", "settings.json", "decisions.jsonl"),
    ),
)


FOLDER = Format("folder", "files of any kind, in the order of their names", verbatim=True)
"""What reads a folder that is of no kind itself. Nobody names it."""
FORMATS = {row.name: row for row in ROWS}
"""Every format by its name; `add_format` adds rows, and so do entry points of other packages."""
CALLED = {
    **dict.fromkeys(("conll", "iob", "tags", "tsv"), "columns"),
    **dict.fromkeys(("docs", "spacy"), "docbin"),
    **dict.fromkeys(("json", "ndjson"), "jsonl"),
    **dict.fromkeys(("hf", "datasets"), "hugging_face"),
    **dict.fromkeys(("html", "xml"), "inline"),
    **dict.fromkeys(("plain", "txt"), "text"),
}
"""What people call formats, which errors answer with their names."""
COLUMN_ENDINGS = {
    "",
    *[".bilou", ".bio", ".conll", ".conllu", ".iob", ".iob1", ".iob2", ".iobes", ".tsv", ".txt"],
    *[".dev", ".gold", ".pred", ".test", ".testa", ".testb", ".train"],
}
"""How the names of column files often end: no other package is asked what these are."""


def add_format(row: Format) -> None:
    """Add a format; one of the same name takes the place of the one before."""
    FORMATS[row.name] = row


@cache
def load_others() -> None:
    """Add the formats of other packages, once; this takes longer than to read a small file."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        row = entry.load()
        FORMATS.setdefault(row.name, row)


def get_format(name: str | Format) -> Format:
    """Return the format of that name."""
    if name not in FORMATS:
        load_others()
    called = CALLED.get(name) if isinstance(name, str) else None
    return find(FORMATS, Format, name, f" Did you mean {called!r}?" if called else "")


def format_of(path: str | Path, name: str = "auto", how: ReadOptions | None = None) -> Format:
    """Return the format that somebody names; else what the name of the file says, or its content.

    Whatever nothing is known of is a column file; standard input may also be a text, as .txt files.
    """
    if name != "auto":
        named = get_format(name)
        return FOLDER if not named.folders and Path(path).is_dir() else named
    require_name(path)
    if Path(path).is_dir():
        return format_of_folder(Path(path))
    ending = ending_of(path)
    if (row := format_by_ending(ending)) is not None:
        return row
    head = first_bytes(path)
    if ending == ".txt" and not has_columns(head, how or ReadOptions()):
        return get_format("text")
    if binary_kind(head):
        load_others()
    for row in FORMATS.values():
        if row.begins is not None and row.begins(head):
            return row
    piped = str(path) in HELD and bool(head)
    return get_format(
        "text" if piped and not has_columns(head, how or ReadOptions()) else "columns"
    )


def format_of_folder(path: Path) -> Format:
    """Return the format that a folder is of; else what reads one file of it after the other."""
    for row in FORMATS.values():
        if row.holds and all((path / name).is_file() for name in row.holds):
            return row
    return FOLDER if next(path.rglob("*.ann"), None) is None else get_format("brat")


def formats_in(path: str | Path, how: ReadOptions) -> set[str]:
    """Return the names of the formats of a file, or of the files of a folder."""
    row = format_of(path, how.format, how)
    if row is not FOLDER:
        return {row.name}
    from .folder import files_below

    return {format_of(file, how.format, how).name for file in files_below(path)}


def ending_of(path: str | Path) -> str:
    """Return how the name of a file ends, without that of compressed ones."""
    return Path(str(path).lower().removesuffix(".gz")).suffix


def format_by_ending(ending: str) -> Format | None:
    """Return the format whose files end so; None if there is none."""
    by_ending = {each: row for row in FORMATS.values() for each in row.endings}
    if ending not in by_ending and ending not in COLUMN_ENDINGS:
        load_others()
        by_ending = {each: row for row in FORMATS.values() for each in row.endings}
    return by_ending.get(ending)


def first_bytes(path: str | Path) -> bytes:
    """Return how a file begins, uncompressed; nothing of what can be read only once."""
    if is_stream(str(path)):
        return b""
    place = HELD.get(str(path), path)
    try:
        with Path(place).open("rb") as file:
            head = file.read(HEAD)
            if not head.startswith(GZIP):
                return head
        with gzip.open(place) as stream:
            return stream.read(HEAD)
    except (OSError, EOFError):
        return b""  # whoever reads the file says why it cannot be read


TAG = re.compile(rb"O|-|!|[BILUESWMA]{1,2}(-\S*)?|\S+-[BILUESWMA]{1,2}")


def has_columns(head: bytes, how: ReadOptions) -> bool:
    """Return whether lines have equally many columns, at least two, and tags in one of them.

    Whoever names anything about columns says that there are some.
    """
    plain = ReadOptions()
    about = [each.name for each in option_fields(ReadOptions) if each.metadata["panel"] == COLUMNS]
    if (
        how.layers
        or how.suffix
        or any(getattr(how, x) != getattr(plain, x) for x in about if x != "encoding")
    ):
        return True
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
    marks = tuple(mark.encode() for mark in MARKERS)
    lines = [line for line in lines if not line.startswith(marks)][:TXT_LINES]
    rows = [line.split() for line in lines]
    widths = {len(row) for row in rows}
    if len(widths) != 1 or min(widths) < 2:
        return False
    column = how.named_layers[0].column if how.layers else how.tag
    return all(TAG.fullmatch(row[column]) for row in rows if -len(row) <= column < len(row))
