"""Texts with mentions as sentences, some texts at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np

from ..arrays import Ints, Offsets
from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from .findings import Finding
from .nested_text import NestedText
from .sentences import Sentences
from .words import Words

ENOUGH = 200_000  # tokens of texts that are looked at in one go


def sentences_of(texts: Iterable[NestedText]) -> Iterator[Sentences]:
    """Yield the sentences of texts; each text is a document, and has one sentence at least.

    Where a mention goes beyond a sentence border, there is no border, and a finding says so. Texts
    without tokens are passed over.
    """
    held, tokens, before = list[NestedText](), 0, (0, 0)
    for text in texts:
        if not text.tokens:
            continue
        held.append(text)
        tokens += len(text.tokens)
        if tokens >= ENOUGH:
            yield (part := _batch(held, before))
            before = before[0] + len(part.opens), before[1] + len(part)
            held, tokens = [], 0
    if held:
        yield _batch(held, before)


def _batch(texts: Sequence[NestedText], before: tuple[int, int]) -> Sentences:
    """Return the sentences of some texts."""
    starts, findings = list[list[int]](), list[Finding]()
    sentences = 0
    for text in texts:
        mine, crossed = _starts(text)
        findings += (replace(found, sentence=sentences) for found in [*text.findings, *crossed])
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
    missing = np.repeat([not text.annotated for text in texts], sizes)
    documents = np.array(bounds, dtype=np.int64)
    return Sentences(
        texts[0].name,
        offsets,
        opens,
        lambda: Words.in_texts([text.text for text in texts], [text.tokens for text in texts]),
        given=Known(whole.regrouped(documents, offsets), missing if missing.any() else None),
        line=_lines(texts),
        before=before,
        findings=tuple(findings),
        info=tuple(text.more for text in texts),
    )


def _starts(text: NestedText) -> tuple[list[int], list[Finding]]:
    """Return the tokens that begin a sentence, and a finding for each mention over a border."""
    starts, findings = text.starts or [0], list[Finding]()
    inside = set[int]()
    for start, end, label in text.spans:
        crossed = starts[bisect_right(starts, start) : bisect_right(starts, end - 1)]
        if crossed:
            shown = ((start, end, text.words(start, end)),)
            findings.append(Finding("crossing", text.place(start), 0, label, shown))
            inside.update(crossed)
    return [start for start in starts if start not in inside], findings


def _lines(texts: Sequence[NestedText]) -> Ints:
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


def characters_of(part: Sentences) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """Return the text of each document of sentences, and the characters of its tokens.

    Words that are not verbatim stand with single spaces between them, and a line break between
    sentences.
    """
    words = part.words
    bounds = [*part.offsets[part.opens].tolist(), part.tokens]
    documents = list(pairwise(bounds))
    if words.verbatim:
        assert words.texts is not None, "verbatim words know their texts"
        texts = [words.document(number) for number in range(len(documents))]
        found = [
            _characters(text, words.begin[a:b] - first, words.end[a:b] - first)
            for text, (a, b), first in zip(texts, documents, words.texts.tolist())
        ]
        return texts, found
    last = set((part.offsets[1:] - 1).tolist())
    texts, found = [], []
    for begin, end in documents:
        tokens = words.strings(begin, end)
        gaps = ["\n" if at in last else " " for at in range(begin, end)]
        ends = [*accumulate(len(token) + 1 for token in tokens)]
        texts.append("".join(t + gap for t, gap in zip(tokens, gaps))[:-1])
        found.append([(stop - 1 - len(token), stop - 1) for token, stop in zip(tokens, ends)])
    return texts, found


def _characters(text: str, begin: Offsets | Ints, end: Offsets | Ints) -> list[tuple[int, int]]:
    """Return places in the UTF-8 of a text as characters."""
    data = text.encode("utf8", "surrogatepass")
    if len(data) > len(text):
        flags = np.frombuffer(data, dtype=np.uint8) & 0xC0 != 0x80
        before = np.concatenate([[0], np.cumsum(flags)])
        begin, end = before[begin], before[end]
    return list(zip(begin.tolist(), end.tolist()))
