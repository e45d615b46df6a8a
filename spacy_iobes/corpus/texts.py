"""Texts with mentions as sentences, some texts at a time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Flags, Ints
from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from ..errors import InexpressibleError, SettingError
from .conll import BOM, Rest
from .files import Progress, read_bytes
from .findings import Finding, finding_lines
from .formats.options import ReadOptions, Tokenize
from .marked_text import MarkedText, simple_tokens
from .sentences import Sentences
from .words import Words

ENOUGH = 200_000  # tokens of texts that are looked at in one go


def tokenizer_of(how: ReadOptions) -> Tokenize:
    """Return what cuts texts into tokens: spaCy's tokenizer of a language, or the simple one."""
    if how.tokenizer is not None:
        return how.tokenizer
    if not how.lang:
        return simple_tokens
    return tokens_by(blank_language(how.lang).tokenizer)


def tokens_by(tokenizer: Any) -> Tokenize:
    """Return what cuts texts as one of spaCy's tokenizers does, white space among the tokens."""

    def tokenize(text: str) -> list[tuple[int, int]]:
        return [(token.idx, token.idx + len(token)) for token in tokenizer(text)]

    return tokenize


@cache
def blank_language(language: str) -> Any:
    """Return a pipeline of spaCy without components, the same one each time."""
    import spacy

    try:
        return spacy.blank(language)
    except ImportError as error:
        message = f"spaCy has no language {language!r}, or lacks a library for it (--lang)."
        raise SettingError(message) from error


def lines_of(path: str | Path, encoding: str, progress: Progress | None = None) -> Iterator[bytes]:
    """Yield the lines of a text file as UTF-8, in memory that does not grow with it."""
    rest, first = Rest(), True
    for chunk in read_bytes(path, encoding, progress, longest=math.inf):
        rest.add(chunk.removeprefix(BOM) if first else chunk)
        first = False
        if b"\n" in chunk:
            *lines, last = rest.joined().split(b"\n")
            rest.begin(last)
            yield from lines
    if rest.size:
        yield rest.joined()


def split_sentences(texts: Iterable[MarkedText], how: ReadOptions) -> Iterator[MarkedText]:
    """Yield texts with the sentences that the options ask for, and without annotation if they do.

    Lines are sentences whatever else is known; the rules of spaCy's sentencizer are asked where
    nothing is.
    """
    rules = sentencizer(how.lang) if how.sentences == "rules" else None
    for text in texts:
        if not how.annotated:
            text.spans, text.findings, text.annotated = [], [], False
        if how.sentences == "lines":
            text.split_lines()
        elif rules is not None and text.tokens and not text.starts:
            words = [n for n, (a, b) in enumerate(text.tokens) if not text.text[a:b].isspace()]
            tokens = [slice(*text.tokens[n]) for n in words]
            begins = rules([text.text[token] for token in tokens])
            found = {n for n, begin in zip(words, begins) if begin} - set(words[:1])
            text.starts = [0, *sorted(found)]
        yield text


def sentencizer(language: str) -> Callable[[list[str]], Sequence[bool]]:
    """Return what tells of each word of a text whether it begins a sentence."""
    from spacy.pipeline import Sentencizer
    from spacy.tokens import Doc

    rules, vocab = Sentencizer(), blank_language(language or "xx").vocab

    def begins(words: list[str]) -> Sequence[bool]:
        found: list[list[bool]] = rules.predict([Doc(vocab, words=words)])
        return found[0]

    return begins


class TextPiece(NamedTuple):
    """What a format keeps of a text, of whose tokens these are those from number `first` on."""

    source: Any
    first: int
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class TextOrigin:
    """What a format keeps of the texts of some sentences, in their order."""

    pieces: tuple[TextPiece, ...]

    def cut(self, begin: int, end: int) -> TextOrigin:
        """Return what is kept of the texts of some of the tokens."""
        found = list[TextPiece]()
        for source, first, a, b in self.pieces:
            if a < end and b > begin:
                start, stop = max(a, begin), min(b, end)
                found.append(TextPiece(source, first + start - a, start - begin, stop - begin))
        return TextOrigin(tuple(found))

    def at(self, token: int) -> TextPiece:
        """Return the text of a token."""
        return self.pieces[bisect_right([piece.begin for piece in self.pieces], token) - 1]

    @classmethod
    def joined(cls, several: Sequence[Any], lengths: Sequence[int]) -> TextOrigin | None:
        """Return what is kept of texts that follow each other, given their tokens."""
        pieces = list[TextPiece]()
        for origin, at in zip(several, accumulate(lengths, initial=0)):
            if not isinstance(origin, TextOrigin):
                return None
            for source, first, begin, end in origin.pieces:
                last = pieces[-1] if pieces else None
                if last and last.source is source and last.first + last.end - last.begin == first:
                    pieces[-1] = last._replace(end=at + end)
                else:
                    pieces.append(TextPiece(source, first, at + begin, at + end))
        return cls(tuple(pieces))


def sentences_of(texts: Iterable[MarkedText], name: str = "") -> Iterator[Sentences]:
    """Yield the sentences of texts; each text is a document, and has one sentence at least.

    Where a mention crosses a sentence boundary, the sentences are joined, and a finding says so.
    Texts without tokens are passed over, but for findings. `name` is that of the source, if its
    texts are in several files.
    """
    held, tokens, before = list[MarkedText](), 0, (0, 0)
    loose = list[Finding]()
    for text in texts:
        if not text.tokens:
            loose += (replace(found, parts=()) for found in text.findings)
            continue
        text.findings[:0], loose = loose, []
        held.append(text)
        tokens += len(text.tokens)
        if tokens >= ENOUGH:
            yield (part := _batch(held, before, name or text.name))
            before = before[0] + len(part.opens), before[1] + len(part)
            held, tokens = [], 0
    if held:
        held[-1].findings += loose
    if held or loose:
        yield _batch(held, before, name or text.name, loose if not held else ())


def _batch(
    texts: Sequence[MarkedText],
    before: tuple[int, int],
    name: str,
    loose: Sequence[Finding] = (),
) -> Sentences:
    """Return the sentences of some texts; findings are loose if there is no text for them."""
    starts, findings = list[list[int]](), [*loose]
    sentences = 0
    for text in texts:
        mine, crossed = _starts(text)
        begins = [text.tokens[start][0] for start in mine[1:]]
        for found in [*text.findings, *crossed]:
            at = bisect_right(begins, found.parts[0][0]) if found.parts else 0
            findings.append(replace(found, sentence=sentences + at))
        starts.append(mine)
        sentences += len(mine)
    sizes = [len(text.tokens) for text in texts]
    bounds = [0, *accumulate(sizes)]
    offsets = np.array(
        [begin + start for begin, mine in zip(bounds, starts) for start in mine] + bounds[-1:],
        dtype=np.int64,
    )
    opens = np.array([0, *accumulate(map(len, starts))][:-1], dtype=np.int64)
    whole = SpanColumns.of([text.spans for text in texts], sizes)
    documents = np.array(bounds, dtype=np.int64)
    several = any(text.name != name for text in texts)
    return Sentences(
        name,
        offsets,
        opens,
        lambda: Words.in_texts([text.text for text in texts], [text.tokens for text in texts]),
        given=Known(whole.regrouped(documents, offsets), _missing(texts, bounds)),
        line=_lines(texts),
        before=before,
        findings=tuple(findings),
        info=tuple(text.more for text in texts),
        origin=_origin(texts),
        files=tuple(t.name for t, mine in zip(texts, starts) for _ in mine if several),
    )


def _missing(texts: Sequence[MarkedText], bounds: Sequence[int]) -> Flags | None:
    """Return which tokens of texts are not annotated; None if all are."""
    missing = np.zeros(bounds[-1], dtype=bool)
    for text, begin, end in zip(texts, bounds, bounds[1:]):
        if not text.annotated:
            missing[begin:end] = True
    return missing if missing.any() else None


def _origin(texts: Sequence[MarkedText]) -> TextOrigin | None:
    """Return what is kept of texts; None if that is nothing."""
    if not texts or any(text.origin is None for text in texts):
        return None
    ends = [*accumulate(len(text.tokens) for text in texts)]
    pieces = (
        TextPiece(text.origin, 0, end - len(text.tokens), end) for text, end in zip(texts, ends)
    )
    return TextOrigin(tuple(pieces))


def _starts(text: MarkedText) -> tuple[list[int], list[Finding]]:
    """Return the tokens that begin a sentence, and a finding for each mention over a boundary."""
    starts, findings = text.starts or [0], list[Finding]()
    inside = set[int]()
    for start, end, label in text.spans:
        crossed = starts[bisect_right(starts, start) : bisect_right(starts, end - 1)]
        if crossed:
            shown = ((start, end, text.words(start, end)),)
            ends = text.tokens[start][0], text.tokens[end - 1][1]
            findings.append(Finding("crossing", text.place(start), 0, label, shown, parts=(ends,)))
            inside.update(crossed)
    return [start for start in starts if start not in inside], findings


def _lines(texts: Sequence[MarkedText]) -> Ints:
    """Return the line of each token of texts."""
    lines = list[int]()
    for text in texts:
        if not text.standoff or "\n" not in text.text:
            lines += [text.line] * len(text.tokens)
            continue
        line, at = text.line, 0
        for begin, _ in text.tokens:
            line += text.text.count("\n", at, begin)
            lines.append(line)
            at = begin
    return np.array(lines, dtype=np.int32)


def document_starts(part: Sentences) -> list[int]:
    """Return the sentences that begin a document, and the first one, which may be inside of one."""
    return sorted({*([0] if len(part) else []), *part.opens.tolist()})


def require_expressible(left_out: Sequence[Finding], lossy: bool, advice: str) -> None:
    """Raise for what a format cannot hold, unless that may be left out."""
    if left_out and not lossy:
        lines = "; ".join(finding_lines(left_out))
        raise InexpressibleError(f"{lines}. {advice}, or leave them out (--lossy).")
