"""Texts with mentions, made by hand or by Hypothesis, as sentences; and what files hold of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np
from hypothesis import strategies as st

from spacy_iobes import SpanColumns
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Corpus, Finding, Sentences, Words, read

Ends = tuple[int, int]


MARKS = "\u200c\u200d" + "".join(x for x in map(chr, range(0x110000)) if category(x)[0] == "M")
TOKEN = re.compile(rf"\w[\w{MARKS}]*|[^\w\s](?:[{MARKS}\U0001f3fb-\U0001f3ff]|(?<=\u200d)[^\w\s])*")
"""A word or a single other character, each with its marks; emoji as they are joined."""


def tokens_of(text: str) -> list[Ends]:
    """Return where the tokens of a text are, as one pattern says it."""
    return [found.span() for found in TOKEN.finditer(text)]


@dataclass(frozen=True)
class MadeText:
    """A text, its mentions by tokens, and others by the characters of their parts.

    `breaks` are the tokens that begin a sentence, but for the first one.
    """

    text: str
    spans: frozenset[tuple[int, int, str]] = frozenset()
    others: frozenset[tuple[tuple[Ends, ...], str]] = frozenset()
    id: str = ""
    breaks: tuple[int, ...] = ()
    missing: frozenset[int] = frozenset()
    tokens: list[Ends] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tokens_of(self.text))

    @property
    def bounds(self) -> list[int]:
        """The tokens between which sentences are."""
        return [0, *self.breaks, len(self.tokens)]


def made(texts: Sequence[MadeText], name: str = "made") -> Sentences:
    """Sentences that come from no file."""
    sizes = [b - a for text in texts for a, b in pairwise(text.bounds)]
    spans = list[list[tuple[int, int, str]]]()
    findings = list[Finding]()
    for text in texts:
        for parts, label in sorted(text.others):
            kind = "discontinuous" if len(parts) > 1 else "misaligned"
            shown = ((0, 0, " … ".join(text.text[a:b] for a, b in parts)),)
            first = sum(text.tokens[at][0] <= parts[0][0] for at in text.breaks)
            findings.append(Finding(kind, name, len(spans) + first, label, shown, parts=parts))
        for begin, end in pairwise(text.bounds):
            mine = [span for span in text.spans if begin <= span[0] < end]
            spans.append([(a - begin, b - begin, label) for a, b, label in sorted(mine)])
    missing = np.array([at in t.missing for t in texts for at in range(len(t.tokens))], dtype=bool)
    return Sentences(
        name,
        np.array([0, *accumulate(sizes)], dtype=np.int64),
        np.array([0, *accumulate(len(t.bounds) - 1 for t in texts)][:-1], dtype=np.int64),
        lambda: Words.in_texts([t.text for t in texts], [t.tokens for t in texts]),
        given=Known(SpanColumns.of(spans, sizes), missing if missing.any() else None),
        findings=tuple(findings),
        info=tuple({"id": t.id} if t.id else {} for t in texts),
    )


def whole(path: str | Path, **options: Any) -> Sentences:
    """All sentences of a file as one value."""
    corpus: Corpus = read(path, **options)
    return Sentences.joined(list(corpus))


def held(part: Sentences) -> list[MadeText]:
    """The documents of sentences, from what is public of them; one by one, in plain Python."""
    known, words, found = part.known(), part.words, list[MadeText]()
    assert words.texts is not None
    spans = list(known.spans)
    documents = [*part.opens.tolist(), len(part)]
    for number, (first, last) in enumerate(pairwise(documents)):
        begin, end = part.offsets[[first, last]].tolist()
        start, stop = words.texts[number : number + 2].tolist()
        text = words.buffer[start : stop - 1].decode()
        mine, others, breaks = set[Any](), set[Any](), list[int]()
        for sentence in range(first, last):
            at = int(part.offsets[sentence]) - begin
            breaks.append(at)
            mine |= {(a + at, b + at, label) for a, b, label in spans[sentence]}
        for each in part.findings:
            if first <= each.sentence < last and each.kind in ("discontinuous", "misaligned"):
                assert (len(each.parts) > 1) == (each.kind == "discontinuous")
                others.add((each.parts, each.label))
        flags = [] if known.missing is None else known.missing[begin:end].tolist()
        missing = frozenset(at for at, flag in enumerate(flags) if flag)
        key = part.info[number].get("id", "")
        made_text = MadeText(
            text, frozenset(mine), frozenset(others), key, tuple(breaks[1:]), missing
        )
        places = zip(words.begin[begin:end].tolist(), words.end[begin:end].tolist())
        here = [
            (len(text.encode()[: a - start].decode()), len(text.encode()[: b - start].decode()))
            for a, b in places
        ]
        assert here == made_text.tokens
        found.append(made_text)
    return found


CHARACTERS = "ab1_é\u0301🎉👩\u200d日ß& <>\"'.;\t\n\r\u2028\xa0\ufeff]"
LABELS = ("PER", "LOC", "creative-work", "é_1")


@st.composite
def texts(
    draw: st.DrawFn,
    characters: str = CHARACTERS,
    nested: bool = False,
    parts: bool = True,
    breaks: bool = False,
) -> MadeText:
    """A text with any mentions, or with such as do not cross each other or a sentence boundary."""
    pieces = st.sampled_from([*characters, "Ada", "met", "New York", " ", " "])
    text = draw(st.lists(pieces, min_size=1, max_size=12).map("".join).filter(tokens_of))
    tokens, count = tokens_of(text), len(tokens_of(text))
    places = [(i, j) for i in range(count) for j in range(i + 1, count + 1)]
    labels = st.sampled_from(LABELS)
    some = draw(st.lists(st.tuples(st.sampled_from(places), labels), max_size=6))
    starts = draw(st.sets(st.integers(1, max(count - 1, 1)), max_size=3)) if breaks else set[int]()
    starts = {at for at in starts if at < count}
    spans = list[tuple[int, int, str]]()
    for (start, end), label in some:
        crosses = any(a < start < b < end or start < a < end < b for a, b, _ in spans)
        if not (nested and crosses) and not any(start < at < end for at in starts):
            spans.append((start, end, label))
    others = set[tuple[tuple[Ends, ...], str]]()
    long = [(a, b) for a, b in tokens if b - a > 1]
    if draw(st.booleans()) and long:
        start, end = draw(st.sampled_from(long))
        others.add((((start, end - 1),), draw(labels)))
    if parts and count > 2 and draw(st.booleans()):
        i = draw(st.integers(0, count - 3))
        others.add(((tokens[i], tokens[i + 2]), draw(labels)))
    return MadeText(text, frozenset(spans), frozenset(others), "", tuple(sorted(starts)))
