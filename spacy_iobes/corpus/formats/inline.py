"""Inline-tagged text: mentions between `<label>` and `</label>`, within the text itself.

Files are read one by one, or those of a folder or an archive (`.tar`, `.tar.gz`, `.tgz`).
"""

from __future__ import annotations

import codecs
import html
import lzma
import math
import os
import re
import tarfile
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

from ...codes.known import Known
from ...errors import FileError
from ...span import Span
from ..excerpts import Excerpt, excerpts, not_held, require_writable, unless_bare
from ..files import CHUNK, Progress, decoded_bytes, opened, read_bytes, shown, write_bytes
from ..findings import NO_SPANS, Finding
from ..marked_text import MarkedText, split_tokens
from ..sentences import Sentences
from ..texts import require_expressible, sentences_of, split_sentences, tokenizer_of
from .inline_tags import NAME, Problem, TaggedText, attribute, tagged_texts
from .options import ReadOptions, SaveOptions, Tokenize

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
BOM = "\ufeff"
ROOT, DOCUMENT, SENTENCE = "documents", "document", "sentence"
"""The tags that files have that are written here, beside those of mentions."""
MEANING = re.compile(
    r"\ufeff?<\?xml[^>]*\?>\s*<\?spacy-iobes(?P<attributes>(?:\s+[\w-]+=\"[^\"]*\")*)\s*\?>"
)
_LABEL = re.compile(NAME % ".:")
_RARE = re.compile("[&<>\r]")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read every text of a file, a folder or an archive, in the order of the names of the files.

    A file is a document, or each document in it is one. It has the id of its tag; in a folder or an
    archive, the name of its file.
    """
    found = split_sentences(texts(path, how, tokenizer_of(how), progress), how)
    yield from sentences_of(_named(found, shown(path)), shown(path))


def _named(found: Iterable[MarkedText], name: str) -> Iterator[MarkedText]:
    for text in found:
        if text.name != name and not text.more:
            text.more = {"id": text.name.removeprefix(name).lstrip("/\\")}
        yield text


def texts(
    path: str | Path, how: ReadOptions, tokenize: Tokenize, progress: Progress | None = None
) -> Iterator[MarkedText]:
    """Yield every text of a file, a folder or an archive with its tokens and mentions.

    Hidden files are passed over. Raises if there is no document where its tag is named.
    """
    none = True
    for name, raw in inline_files(path, how.encoding, progress):
        meant = meaning(raw, how)
        for found in tagged_texts(raw.removeprefix(BOM), meant):
            none = False
            yield _text(name, found, meant, tokenize)
    if none and how.document_tag:
        tag = f"<{how.document_tag}>"
        raise FileError(f"{shown(path)}: there is no {tag} (--set document-tag).", str(path))


def meaning(raw: str, how: ReadOptions) -> ReadOptions:
    """Return the options, and what the file itself says of its tags where they do not.

    Files that are written here do: `<?spacy-iobes document-tag="document" …?>`.
    """
    match = MEANING.match(raw)
    if match is None:
        return how
    said = {
        name: attribute(match["attributes"], f"{name}-tag", True)
        for name in ("ignore", "document", "sentence")
    }
    return replace(
        how,
        ignore_tags=(*how.ignore_tags, *said["ignore"].split()),
        document_tag=how.document_tag or said["document"],
        sentence_tag=how.sentence_tag or said["sentence"],
    )


def inline_files(
    path: str | Path, encoding: str = "utf8", progress: Progress | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the names and the contents of the files."""
    if Path(path).is_dir():
        below = sorted(Path(path).rglob("*"))
        files = [file for file in below if file.is_file() and not _hidden(file.relative_to(path))]
        if not files:
            reason = "a folder without files. One with inline-tagged texts has a file for each."
            raise FileError(f"{path}: {reason}", str(path))
        for file in files:
            yield str(file), _content(file, encoding, progress)
    elif str(path).lower().endswith(ARCHIVES):
        for name, data in sorted(_members(path)):
            yield name, decoded_bytes(data, encoding, name)
            if progress is not None:
                progress(len(data))
    else:
        yield shown(path), _content(path, encoding, progress)


def _content(path: str | Path, encoding: str, progress: Progress | None) -> str:
    return b"".join(read_bytes(path, encoding, progress, longest=math.inf)).decode()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in path.parts)


def _members(path: str | Path) -> list[tuple[str, bytes]]:
    """Return the files of an archive, which are named as if it were a folder."""
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
    """Return a file of an archive, also one that is a link to another; None of what is no file."""
    try:
        return archive.extractfile(member)
    except (KeyError, RecursionError) as error:
        reason = f"{member.name} is a link to {member.linkname}, which is no file of the archive"
        raise FileError(f"{path}: {reason}. Pack it again.", str(path)) from error


def _text(name: str, found: TaggedText, how: ReadOptions, tokenize: Tokenize) -> MarkedText:
    """Return a text with its tokens and spans, and with what is wrong with its tags as findings."""
    if how.unbalanced == "raise" and found.problems:
        raise _wrong(name, found.problems)
    mentions = [((start, end), label, line) for start, end, label, line in found.mentions]
    tokens = tokenize(found.text)
    if how.misaligned == "split":
        tokens = split_tokens(tokens, [ends for ends, _, _ in mentions])
    text = MarkedText(
        name, found.text, tokens, found.line, more={"id": found.id} if found.id else {}
    )
    if found.boundaries:
        text.split_at(found.boundaries)
    for ends, label, line in mentions:
        text.add(label, [ends], f"{name}:{line}", how.misaligned)
    for kind, tag, words, line in found.problems:
        text.leave_out(kind, tag, words, f"{name}:{line}")
    return text


def _wrong(name: str, problems: list[Problem]) -> FileError:
    """Return the error of a file whose tags are no pairs, which says what can be done."""
    kind, tag, words, line = problems[0]
    more = f" (and {len(problems) - 1} more in this file)" if len(problems) > 1 else ""
    advice = (
        f"Correct it; or, if <{tag}> is no label, ignore it (--set ignore-tag={tag}); or let such "
        "tags be text (--set unbalanced=text) or be left out (--set unbalanced=skip)."
    )
    message = f"{name}, line {line}: {SAID[kind]}: {words!r}{more}. {advice}"
    return FileError(message, name, line)


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write an XML file in which mentions stand between the tags of their labels.

    The text of each document stands in `<document>`, to the last character, and all of them in
    `<documents>`; where a document has several sentences, each stands in `<sentence>`. The file
    says so itself, so that it is read as it was written without any options. Mentions within tokens
    are written as well. What crosses another mention or is in several parts, labels that are no
    names of tags, and tokens that are not annotated cannot be written: an error, or `lossy`
    findings.
    """
    if str(path).lower().endswith(ARCHIVES):
        raise FileError(f"{path}: archives are not written. Name a file (.xml).", str(path))
    left_out = list[Finding]()
    said = f'ignore-tag="{ROOT}" document-tag="{DOCUMENT}" sentence-tag="{SENTENCE}"'
    with write_bytes(path, how.encoding) as put:
        encoding = codecs.lookup(how.encoding).name
        put(f'<?xml version="1.0" encoding="{encoding}"?>\n<?spacy-iobes {said}?>\n'.encode())
        put(f"<{ROOT}>\n".encode())
        documents = 0
        for excerpt in excerpts(parts, "document"):
            documents += 1
            require_writable(excerpt)
            text = _tagged(excerpt, left_out)
            put(f"<{DOCUMENT}{_id(excerpt)}>{text}</{DOCUMENT}>\n".encode())
        put(f"</{ROOT}>\n".encode())
        left_out = unless_bare(left_out, documents)
        require_expressible(left_out, how.lossy, "Write another format")
    return [found for found in left_out if found.kind not in NO_SPANS]


def _id(excerpt: Excerpt) -> str:
    """Return the attribute with the id of a document, if it has one that can be written."""
    key = excerpt.info.get("id", "")
    if not key or not isinstance(key, (str, int)) or _NO_TEXT.search(str(key)):
        return ""
    value = re.sub("[\t\n\r]", lambda match: f"&#{ord(match[0])};", html.escape(str(key)))
    return f' id="{value}"'


def escaped(text: str) -> str:
    """Return text as it stands in XML; a carriage return would not be kept as such."""
    return _RARE.sub(lambda match: "&#13;" if match[0] == "\r" else html.escape(match[0]), text)


class _Tagged(NamedTuple):
    """Characters that stand in a tag, and whether it is that of a sentence."""

    start: int
    end: int
    label: str
    place: str = ""
    sentence: bool = False


def _tagged(excerpt: Excerpt, left_out: list[Finding]) -> str:
    """Return a text with its tags; what cannot be written goes to `left_out`."""
    left_out += not_held(excerpt)
    wanted, open_tags = sorted(_wanted(excerpt, left_out), key=_order), list[_Tagged]()
    pieces, at = list[str](), 0

    def put(place: int, tag: str) -> None:
        nonlocal at
        pieces.extend((escaped(excerpt.text[at:place]), tag))
        at = place

    def close(place: int) -> None:
        while open_tags and open_tags[-1].end <= place:
            tag = open_tags.pop()
            put(tag.end, f"</{tag.label}>")

    for tag in wanted:
        close(tag.start)
        if open_tags and tag.end > open_tags[-1].end:
            left_out.append(_finding("crossed", tag, excerpt))
            continue
        put(tag.start, f"<{tag.label}>")
        open_tags.append(tag)
    close(len(excerpt.text))
    put(len(excerpt.text), "")
    return "".join(pieces)


def _order(tag: _Tagged) -> tuple[int, int, bool, str]:
    return tag.start, -tag.end, not tag.sentence, tag.label


def _finding(kind: str, tag: _Tagged, excerpt: Excerpt) -> Finding:
    words = " ".join(excerpt.text[tag.start : tag.end].split())
    return Finding(kind, tag.place, 0, tag.label, ((0, 0, words),))


def _wanted(excerpt: Excerpt, left_out: list[Finding]) -> Iterator[_Tagged]:
    """Yield the sentences of a text, if there are several, and its mentions."""
    bounds = [*excerpt.starts, len(excerpt.places)] if len(excerpt.starts) > 1 else []
    sentences = [excerpt.characters(Span(a, b, SENTENCE)) for a, b in pairwise(bounds)]
    yield from (_Tagged(*sentence, sentence=True) for sentence in sentences)
    begins = [sentence.start for sentence in sentences]
    for tag in _mentions(excerpt):
        if not _LABEL.fullmatch(tag.label) or tag.label in (ROOT, DOCUMENT, SENTENCE):
            left_out.append(_finding("label", tag, excerpt))
        elif bisect_right(begins, tag.start) != bisect_left(begins, tag.end):
            left_out.append(_finding("crossed", tag, excerpt))
        else:
            yield tag


def _mentions(excerpt: Excerpt) -> Iterator[_Tagged]:
    """Yield the mentions of a text, those that begin or end within tokens among them."""
    for span in excerpt.spans:
        place = excerpt.part.place(excerpt.begin + span.start)
        yield _Tagged(*excerpt.characters(span), place)
    left_out = excerpt.not_written(characters=True)
    for found in (found for found in excerpt.lost if found not in left_out):
        ((start, end),) = found.parts
        inside = excerpt.text[start:end]
        start += len(inside) - len(inside.lstrip())
        yield _Tagged(start, start + len(inside.strip()), found.label, found.place)
