"""brat standoff: texts (`.txt`) with mentions by character offsets beside them (`.ann`).

Text-bound annotations (lines `T…`) are mentions. Relations, events, attributes and notes are not
read, but stay as they are where mentions are edited.
"""

from __future__ import annotations

import codecs
import re
import shutil
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ...codes.known import Known
from ...errors import FileError
from ...span import Span
from ..excerpts import Excerpt, excerpts, not_held, require_writable, unless_bare
from ..files import STANDARD, Progress, decoded_bytes, shown, whole_file
from ..findings import NO_SPANS, Finding
from ..folders import beside, put
from ..marked_text import MarkedText, split_tokens
from ..sentences import Sentences
from ..texts import (
    TextOrigin,
    TextPiece,
    require_expressible,
    sentences_of,
    split_sentences,
    tokenizer_of,
)
from .options import ReadOptions, SaveOptions, Tokenize
from .standoff import LABEL, TEXT_BOUND, BratFile, FileMention, edit, mention_line, read_mention

BOM = "\ufeff"
_SAFE = re.compile(r"(?![.\s])[^\x00-\x1f\x7f\\/:*?\"<>|\ud800-\udfff]+(?<![.\s])")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\/:*?\"<>|\ud800-\udfff]+")


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read every annotated text in or below a folder, by name; or the one of an `.ann` file.

    A text is a document, whose id is the name of its file, below the folder and without ending.
    """
    found = split_sentences(texts(path, how, tokenizer_of(how), progress), how)
    yield from sentences_of(_with_tokens(found), shown(path))


def _with_tokens(found: Iterable[MarkedText]) -> Iterator[MarkedText]:
    """Yield the texts with tokens, or with findings; files of the others go with a neighbour."""
    last, bare = None, list[BratFile]()
    for text in found:
        file: BratFile = text.origin
        text.more = {"id": file.name}
        if not text.tokens:
            bare.append(file)
            if text.findings:
                yield text
            continue
        if last is None:
            file.bare += bare
        else:
            last.origin.bare += bare
            yield last
        last, bare = text, []
    if last is not None:
        last.origin.bare += bare
        yield last


def texts(
    path: str | Path, how: ReadOptions, tokenize: Tokenize, progress: Progress | None = None
) -> Iterator[MarkedText]:
    """Yield the texts of a folder, or the one of an `.ann` file, with their mentions."""
    root, paths = Path(path), [Path(path)]
    if str(path).endswith(".ann") and not root.is_dir():
        root = root.parent
    else:
        paths = sorted(root.rglob("*.ann"))
    if not paths:
        reason = "no .ann files in or below it. A brat folder has texts (.txt) with .ann files."
        raise FileError(f"{path}: {reason}", str(path))
    for each in paths:
        yield _text(each, root, how, tokenize, progress or (lambda count: None))


def _text(
    annotations: Path, root: Path, how: ReadOptions, tokenize: Tokenize, progress: Progress
) -> MarkedText:
    """Return one text, given the file of its annotations."""
    name = annotations.relative_to(root).with_suffix("").as_posix()
    path = annotations.with_suffix(".txt")
    text = _content(path, how.encoding, progress)
    raw = _content(annotations, how.encoding, progress)
    mark = BOM if raw.startswith(BOM) else ""
    lines = raw.removeprefix(BOM).split("\n")
    mentions = [
        (number, *read_mention(line.removesuffix("\r"), text, str(annotations), number + 1))
        for number, line in enumerate(lines)
        if TEXT_BOUND.match(line)
    ]
    tokens = tokenize(text)
    if how.misaligned == "split":
        tokens = split_tokens(tokens, ((parts[0][0], parts[-1][1]) for *_, parts in mentions))
    file = BratFile(root, name, text, tokens, lines, mark)
    found = MarkedText(str(path), text, tokens, origin=file)
    for number, key, label, parts in mentions:
        span = found.add(label, parts, f"{annotations}:{number + 1}", how.misaligned)
        if span is None and not how.annotated and tokens:  # it goes, like all others
            at = min(bisect_left(tokens, (parts[0][0], 0)), len(tokens) - 1)
            span = Span(at, at, label)
        file.mentions.append(FileMention(number, key, label, span))
    return found


def _content(path: Path, encoding: str, progress: Progress) -> str:
    """Return a file as it is: offsets count the characters, whatever the line ends are.

    A byte order mark counts, unless the encoding is one that has it.
    """
    data = whole_file(path)
    progress(len(data))
    text = decoded_bytes(data, encoding, str(path))
    return text.removeprefix(BOM) if codecs.lookup(encoding).name == "utf-8-sig" else text


class _Output(NamedTuple):
    """The text and the annotations of a file, and the name that it shall have, if any.

    What comes from brat comes from below a folder `root`.
    """

    name: str
    text: str
    annotations: str
    root: Path | None = None


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write a folder with a text and its annotations for each document, all or nothing.

    What comes from brat keeps the names of its files, all lines but those of mentions, and its
    settings (`.conf`). The files of others are named after the ids of documents, if they are read
    in the same order then; else they are numbered. Mentions that are no spans of tokens are written
    as well. Tokens that are not annotated, labels with white space, and relations of mentions that
    are gone cannot be written: an error, or `lossy` findings.
    """
    folder = _require_new(path)
    decoded_bytes(b"", how.encoding, str(path))  # raises if there is no such encoding
    new = beside(folder)
    try:
        names, left_out, settings = list[str](), list[Finding](), dict[Path, Path]()
        for excerpt in excerpts(parts, "document"):
            require_writable(excerpt)
            for name, content, annotations, root in _outputs(excerpt, left_out):
                _put(new / f".{len(names)}.txt", content, how)
                _put(new / f".{len(names)}.ann", annotations, how)
                names.append(name)
                settings |= {folder: root for folder in Path(name).parents if root}
        left_out = unless_bare(left_out, len(names))
        require_expressible(left_out, how.lossy, "Write another format")
        for number, name in enumerate(file_names(names)):
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            for ending in (".txt", ".ann"):
                (new / f".{number}{ending}").rename(new / f"{name}{ending}")
        for below, root in settings.items():
            for file in (root / below).glob("*.conf"):
                (new / below).mkdir(parents=True, exist_ok=True)
                (new / below / file.name).write_bytes(whole_file(file))
        put(new, folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{path}: cannot be written: {reason}.", str(path)) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return [found for found in left_out if found.kind not in NO_SPANS]


def _require_new(path: str | Path) -> Path:
    folder = Path(path)
    if str(path) == STANDARD or str(path).endswith(".ann"):
        reason = "brat has a folder, with a text and its annotations for each document"
        raise FileError(f"{shown(path)}: {reason}. Name one that is new or empty.", str(path))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{path}: something is there already. Name a folder that is new or empty."
        raise FileError(message, str(path))
    return folder


def _put(path: Path, text: str, how: SaveOptions) -> None:
    try:
        path.write_bytes(text.encode(how.encoding))
    except UnicodeEncodeError as error:
        bad = f"{error.object[error.start]!r} cannot be written as {how.encoding}"
        raise FileError(f"{path.parent}: {bad}.", str(path)) from error


def _outputs(excerpt: Excerpt, left_out: list[Finding]) -> Iterator[_Output]:
    """Yield what is written of a document; what is not goes to `left_out`."""
    nameless = [span for span in excerpt.spans if not LABEL.fullmatch(span.label)]
    left_out += (excerpt.finding("label", span) for span in nameless)
    spans = [span for span in excerpt.spans if span not in nameless]
    origin = excerpt.part.origin
    piece = origin.at(excerpt.begin) if isinstance(origin, TextOrigin) else None
    if piece is not None and isinstance(piece.source, BratFile):
        left_out += (found for found in not_held(excerpt) if found not in excerpt.lost)
        yield from _edited(piece, spans, left_out)
        return
    others = [found for found in excerpt.lost if _is_in(found, excerpt)]
    left_out += (found for found in not_held(excerpt) if found not in others)
    mentions = [([excerpt.characters(span)[:2]], span.label) for span in spans]
    mentions += ((list(found.parts), found.label) for found in others)
    mentions.sort(key=lambda each: (each[0][0][0], -each[0][-1][1], each[1]))
    lines = (
        f"{mention_line(number, label, ends, excerpt.text)}\n"
        for number, (ends, label) in enumerate(mentions, 1)
    )
    key = excerpt.info.get("id", "")
    name = str(key) if isinstance(key, (str, int)) else ""
    yield _Output(name, excerpt.text, "".join(lines))


def _is_in(found: Finding, excerpt: Excerpt) -> bool:
    """Return whether a mention that is no span of tokens can be written by its characters."""
    there = excerpt.verbatim and excerpt.whole and found.parts
    return bool(there and LABEL.fullmatch(found.label))


def _edited(piece: TextPiece, spans: Sequence[Span], left_out: list[Finding]) -> Iterator[_Output]:
    """Yield a text that comes from brat, with other mentions, and its bare neighbours."""
    source: BratFile = piece.source
    moved = (Span(start + piece.first, end + piece.first, label) for start, end, label in spans)
    tokens = range(piece.first, piece.first + piece.end - piece.begin)
    lines, orphans = edit(source, moved, tokens)
    left_out += orphans
    for file in sorted([source, *source.bare], key=lambda file: Path(f"{file.name}.ann")):
        rest = file.mark + "\n".join(file.lines)
        yield _Output(file.name, file.text, lines if file is source else rest, file.root)


def file_names(wanted: Sequence[str]) -> list[str]:
    """Return the names of files: those that are wanted, if they sort like their texts.

    Else they are numbers, with what is wanted behind them. No name leads out of the folder.
    """
    paths = [Path(f"{name}.ann") for name in wanted]
    different = len({unicodedata.normalize("NFC", name).casefold() for name in wanted})
    ordered = all(one < other for one, other in pairwise(paths)) and different == len(wanted)
    if ordered and all(map(_is_safe, wanted)):
        return list(wanted)
    width = len(str(max(len(wanted) - 1, 0)))
    more = (_UNSAFE.sub("_", name)[:50] for name in wanted)
    return [f"{n:0{width}}-{name}".strip("-. ") for n, name in enumerate(more)]


def _is_safe(name: str) -> bool:
    """Return whether each part of a path can be the name of a file on any system."""
    return all(
        _SAFE.fullmatch(part)
        and len(part.encode()) <= 200
        and not part.lower().endswith((".ann", ".txt"))
        for part in name.split("/")
    )
