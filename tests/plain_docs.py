"""Documents as plain lists, as sentences and as Docs: made here, without a word to the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import SpanColumns
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Sentences, Words

Mention = tuple[int, int, str]
LABELS = ("PER", "LOC", "creative-work", "B-side", "EVENT")  # spaCy has EVENT itself
WORDS = (
    "a",
    "Ada",
    "-",
    "O",
    "😀",
    "ﬃ",
    "e\u0301",
    "\u00a0",
    "\u2003",
    "\n",
    "  ",
    "\t",
    "x y",
    "EVENT",
)


class Plain(NamedTuple):
    """A document: its tokens, which of them a space follows, and which begin a sentence.

    `spaces` are empty if nobody knows them. Mentions have tokens of the document.
    """

    tokens: list[str]
    spaces: list[bool]
    starts: list[int]
    spans: list[Mention]
    missing: list[int] = []  # noqa: RUF012
    blocked: list[int] = []  # noqa: RUF012
    info: dict[str, Any] = {}  # noqa: RUF012

    @property
    def text(self) -> str:
        """The text, to the last character."""
        return "".join(token + " " * space for token, space in zip(self.tokens, self.spaces))


@st.composite
def plain_docs(
    draw: st.DrawFn,
    overlap: bool = False,
    known_spaces: bool = True,
    holes: bool = True,
    smallest: int = 0,
) -> Plain:
    """A document whose mentions cross no sentence boundary, or of which nothing is known."""
    size = draw(st.integers(smallest, 8))
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size))
    spaces = draw(st.lists(st.booleans(), min_size=size, max_size=size)) if known_spaces else []
    starts = sorted({0, *draw(st.lists(st.integers(1, size - 1), max_size=2))}) if size > 1 else []
    starts = starts or [0] * (size > 0)
    ends = [*starts[1:], size]
    spans = set[Mention]()
    for first, last in zip(starts, ends):
        for _ in range(draw(st.integers(0, 3))):
            begin = draw(st.integers(first, last - 1))
            end = draw(st.integers(begin + 1, last))
            if overlap or all(end <= a or b <= begin for a, b, _ in spans):
                spans.add((begin, end, draw(st.sampled_from(LABELS))))
    missing, blocked = list[int](), list[int]()
    if holes:
        covered = {token for begin, end, _ in spans for token in range(begin, end)}
        free = [token for token in range(size) if token not in covered]
        signs = draw(st.lists(st.sampled_from("..-!"), min_size=len(free), max_size=len(free)))
        missing = [token for token, sign in zip(free, signs) if sign == "-"]
        blocked = [token for token, sign in zip(free, signs) if sign == "!"]
    infos: list[dict[str, Any]] = [{}, {"id": "é1"}, {"meta": {"source": [1, None]}}]
    info = draw(st.sampled_from(infos))
    return Plain(tokens, spaces, starts, sorted(spans), missing, blocked, info)


def sentences(docs: Sequence[Plain], name: str = "made") -> Sentences:
    """These documents as sentences with given spans."""
    sizes = [len(doc.tokens) for doc in docs]
    before = [0, *accumulate(sizes)]
    starts = [doc.starts or [0] for doc in docs]  # an empty document has an empty sentence
    offsets = [at + start for at, mine in zip(before, starts) for start in mine] + before[-1:]
    opens = [0, *accumulate(map(len, starts))][:-1]
    rows = [
        (at + begin, at + end, label)
        for at, doc in zip(before, docs)
        for begin, end, label in doc.spans
    ]
    spans: list[list[Mention]] = [[] for _ in offsets[1:]]
    for begin, end, label in rows:
        number = max(n for n, (a, b) in enumerate(pairwise(offsets)) if a <= begin < b)
        spans[number].append((begin - offsets[number], end - offsets[number], label))
    lengths = [b - a for a, b in pairwise(offsets)]
    return Sentences(
        name,
        np.array(offsets, dtype=np.int64),
        np.array(opens, dtype=np.int64),
        lambda: words(docs),
        given=Known(
            SpanColumns.of(spans, lengths),
            flags(before, [doc.missing for doc in docs]),
            blocked=flags(before, [doc.blocked for doc in docs]),
        ),
        info=tuple(doc.info for doc in docs),
    )


def flags(before: Sequence[int], tokens: Iterable[Sequence[int]]) -> Any:
    """Which tokens are listed; None if none is."""
    found = np.zeros(before[-1], dtype=bool)
    for at, some in zip(before, tokens):
        found[[at + token for token in some]] = True
    return found if found.any() else None


def words(docs: Sequence[Plain]) -> Words:
    """The words of documents, of all of which the spaces are known, or of none."""
    if not any(doc.spaces for doc in docs) and any(doc.tokens for doc in docs):
        return Words.of([token for doc in docs for token in doc.tokens])
    places = []
    for doc in docs:
        ends = list(accumulate(len(t) + s for t, s in zip(doc.tokens, doc.spaces)))
        begins = [0, *ends][:-1]
        places.append([(a, a + len(token)) for a, token in zip(begins, doc.tokens)])
    return Words.in_texts([doc.text for doc in docs], places)


def plain(parts: Iterable[Sentences]) -> list[Plain]:
    """What sentences hold that were read, document by document."""
    found = list[Plain]()
    for part in parts:
        known, tokens = part.known(), part.words.strings()
        for number, (first, last) in enumerate(pairwise([*part.opens.tolist(), len(part)])):
            begin, end = (int(part.offsets[s]) for s in (first, last))
            mine = range(first, last) if begin < end else range(0)
            starts = [int(part.offsets[s]) - begin for s in mine]
            spans = [
                (start + a, start + b, label)
                for s, start in zip(mine, starts)
                for a, b, label in known.spans[s]
            ]
            missing, blocked = (
                [] if some is None else np.flatnonzero(some[begin:end]).tolist()
                for some in (known.missing, known.blocked)
            )
            spaces = spaces_of(part.words, number, begin, end)
            info = dict(part.info[number]) if part.info else {}
            rest = (sorted(spans), missing, blocked, info)
            found.append(Plain(tokens[begin:end], spaces, starts, *rest))
    return found


def spaces_of(words: Words, document: int, begin: int, end: int) -> list[bool]:
    """Which tokens of a document a space follows; nothing else may be between them."""
    if words.texts is None:
        assert not words.verbatim
        return []
    first, last = words.texts[document : document + 2].tolist()
    begins = [*words.begin[begin:end].tolist(), last - 1]
    assert begins[0] == first
    gaps = [words.buffer[a:b] for a, b in zip(words.end[begin:end].tolist(), begins[1:])]
    assert set(gaps) <= {b"", b" "}
    return [gap == b" " for gap in gaps]


def stored(doc: Plain, vocab: Vocab, key: str = "") -> Doc:
    """The document as spaCy has it, with entities or with a span group."""
    made = Doc(
        vocab,
        words=doc.tokens,
        spaces=doc.spaces if doc.spaces or not doc.tokens else None,
        sent_starts=[token in doc.starts for token in range(len(doc.tokens))],
    )
    spans = [DocSpan(made, *span) for span in doc.spans]
    if key:
        made.spans[key] = SpanGroup(made, name=key, spans=spans)
    else:
        missing, blocked = ([made[i : i + 1] for i in x] for x in (doc.missing, doc.blocked))
        made.set_ents(spans, missing=missing, blocked=blocked, default="outside")
    return made
