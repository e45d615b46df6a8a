"""Plain text without annotation: a paragraph is a document, and white space is no token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from ...codes.known import Known
from ..excerpts import excerpts, require_writable
from ..files import Progress, shown, write_bytes
from ..findings import Finding
from ..marked_text import MarkedText
from ..sentences import Sentences
from ..texts import lines_of, sentences_of, split_sentences, tokenizer_of
from .options import ReadOptions, SaveOptions, Tokenize


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read the paragraphs of a text, of whose tokens nothing is known."""
    found = texts(path, how, tokenizer_of(how), progress)
    yield from sentences_of(split_sentences(found, how))


def texts(
    path: str | Path, how: ReadOptions, tokenize: Tokenize, progress: Progress | None = None
) -> Iterator[MarkedText]:
    """Yield each paragraph, from its first to its last character that is no white space."""
    name, paragraph = shown(path), list[bytes]()
    for number, line in enumerate(chain(lines_of(path, how.encoding, progress), [b""]), 1):
        if line.strip(b" \t\r"):
            paragraph.append(line)
        else:
            yield from _text(name, paragraph, number - len(paragraph), tokenize)
            paragraph = []


def _text(
    name: str, lines: Sequence[bytes], number: int, tokenize: Tokenize
) -> Iterator[MarkedText]:
    """Yield a paragraph that begins on a line, unless there is nothing in it."""
    whole = b"\n".join(lines).decode()
    text = whole.strip()
    if text:
        number += whole[: whole.index(text[0])].count("\n")
        tokens = [(start, end) for start, end in tokenize(text) if not text[start:end].isspace()]
        yield MarkedText(name, text, tokens, number, annotated=False)


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write the text of each document to the last character, with a blank line between two.

    There is no annotation in it, whatever the sentences have. A document that has blank lines
    itself is read as several.
    """
    first = True
    with write_bytes(path, how.encoding) as put:
        for excerpt in excerpts(parts, "document"):
            require_writable(excerpt)
            put((excerpt.text if first else f"\n\n{excerpt.text}").encode())
            first = False
        if not first:
            put(b"\n")
    return []
