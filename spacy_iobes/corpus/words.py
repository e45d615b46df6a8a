"""The words of sentences as slices of UTF-8: of a column file, a text or a DocBin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .. import kernels
from ..arrays import Flags, Ints, Offsets

BLANKS = b" \t\v\f\n\r"
"""The characters of which tokens of white space are made; a column file cannot hold these."""


@dataclass(frozen=True, eq=False)
class Words:
    """Tokens as slices of UTF-8: token `i` is `buffer[begin[i]:end[i]]`.

    If they are `verbatim`, what lies between two tokens is the text between them. Then document `d`
    has the text `buffer[texts[d]:texts[d + 1]]`, the last byte of which, a line feed, only ends it.
    """

    buffer: bytes
    begin: Ints
    end: Ints
    verbatim: bool = False
    texts: Offsets | None = None

    def __len__(self) -> int:
        return len(self.begin)

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Words:
        """Return the words of a list of strings, of whose text nothing else is known."""
        text = " ".join(tokens)
        data = text.encode("utf8", "surrogatepass")
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        begin = np.cumsum(sizes + 1) - sizes - 1
        end = begin + sizes
        if len(data) > len(text):
            places = byte_places(data)
            begin, end = places[begin], places[end]
        return cls(data, begin.astype(np.int32), end.astype(np.int32))

    @classmethod
    def in_texts(cls, texts: Sequence[str], tokens: Sequence[Sequence[tuple[int, int]]]) -> Words:
        """Return the words of texts, given where each begins and ends, in characters."""
        parts, begins, ends, bounds = list[bytes](), list[Ints](), list[Ints](), [0]
        for text, places in zip(texts, tokens):
            data = text.encode("utf8", "surrogatepass")
            where = np.array(places, dtype=np.int64).reshape(-1, 2).T
            if len(data) > len(text):
                where = byte_places(data)[where]
            begins.append((where[0] + bounds[-1]).astype(np.int32))
            ends.append((where[1] + bounds[-1]).astype(np.int32))
            parts.append(data)
            bounds.append(bounds[-1] + len(data) + 1)
        none = np.zeros(0, dtype=np.int32)
        begin, end = (np.concatenate([none, *some]) for some in (begins, ends))
        buffer = b"".join(part + b"\n" for part in parts)
        return cls(buffer, begin, end, True, np.array(bounds, dtype=np.int64))

    def strings(self, begin: int = 0, end: int | None = None) -> list[str]:
        """Return some of the tokens, or all of them."""
        places = zip(self.begin[begin:end].tolist(), self.end[begin:end].tolist())
        return [self.buffer[a:b].decode("utf8", "surrogatepass") for a, b in places]

    def spaced(self, begin: int, end: int) -> list[str]:
        """Return some neighbouring tokens, each with a space if there is any before the next."""
        gaps = self.begin[begin + 1 : end] > self.end[begin : end - 1]
        return [
            word + " " * gap for word, gap in zip(self.strings(begin, end), [*gaps.tolist(), False])
        ]

    def text(self, begin: int, end: int) -> str:
        """Return some neighbouring tokens as text: with what is between them, or with spaces."""
        if self.verbatim and begin < end:
            data = self.buffer[self.begin[begin] : self.end[end - 1]]
            return " ".join(data.decode("utf8", "surrogatepass").split())
        return " ".join(self.strings(begin, end))

    def texts_of(
        self, begin: Sequence[int], end: Sequence[int], spaces: bool = False
    ) -> Iterator[str]:
        """Yield runs of tokens as text: what is between them, or single `spaces`."""
        if self.verbatim and not spaces:
            for a, b in zip(begin, end):
                yield self.text(a, b)
            return
        starts, stops, buffer = self.begin.tolist(), self.end.tolist(), self.buffer
        for a, b in zip(begin, end):
            if b == a + 1:
                yield buffer[starts[a] : stops[a]].decode("utf8", "surrogatepass")
            else:
                tokens = map(buffer.__getitem__, map(slice, starts[a:b], stops[a:b]))
                yield b" ".join(tokens).decode("utf8", "surrogatepass")

    def document(self, number: int) -> str:
        """Return the text of a document to the last character; they must be verbatim."""
        assert self.texts is not None, "only verbatim words know their texts"
        begin, end = self.texts[number : number + 2].tolist()
        return self.buffer[begin : end - 1].decode("utf8", "surrogatepass")

    def head(self, size: int) -> Words:
        """Return the first tokens."""
        return replace(self, begin=self.begin[:size], end=self.end[:size])

    def cut(self, begin: int, end: int, documents: tuple[int, int]) -> Words:
        """Return the tokens from `begin` to `end`, and the texts of these documents.

        The text of a document that goes on behind `end` ends where the next token begins.
        """
        first, last = documents
        texts = None if self.texts is None else self.texts[first : last + 1]
        if texts is not None and begin < end < len(self) and self.begin[end] < texts[-1]:
            texts = np.append(texts[:-1], self.begin[end] + 1)
        return replace(self, begin=self.begin[begin:end], end=self.end[begin:end], texts=texts)

    @classmethod
    def joined(cls, several: Sequence[Words]) -> Words:
        """Return words that follow each other as one value."""
        if len(several) == 1:
            return several[0]
        verbatim = all(words.verbatim for words in several)
        if all(words.buffer is several[0].buffer for words in several):
            ends = (
                np.concatenate([w.begin for w in several]),
                np.concatenate([w.end for w in several]),
            )
            return cls(several[0].buffer, *ends, verbatim, _joined_texts(several))
        shifts = np.cumsum([0, *(len(words.buffer) for words in several)])[:-1].tolist()
        begin, end = (
            np.concatenate([getattr(w, side) + np.int32(s) for w, s in zip(several, shifts)])
            for side in ("begin", "end")
        )
        return cls(b"".join(words.buffer for words in several), begin, end, verbatim)

    def blank(self) -> Flags:
        """Return which tokens are nothing but white space; empty ones are not."""
        found = np.zeros(len(self), dtype=bool)
        filled = np.flatnonzero(self.end > self.begin)
        first = np.frombuffer(self.buffer, dtype=np.uint8)[self.begin[filled]]
        for i in filled[np.isin(first, list(BLANKS))].tolist():
            found[i] = not self.buffer[self.begin[i] : self.end[i]].strip(BLANKS)
        return found

    def first_difference(self, other: Words) -> int:
        """Return the first token that is another one there, among as many as both have, or -1."""
        size = min(len(self), len(other))
        a, b = ((words.buffer, words.begin[:size], words.end[:size]) for words in (self, other))
        return int(kernels.first_difference(*a, *b))


def _joined_texts(several: Sequence[Words]) -> Offsets | None:
    """Return the bounds of the texts of words of one buffer; None if some are left out between."""
    found = several[0].texts
    for before, words in pairwise(several):
        if found is None or words.texts is None or not (len(before) and len(words)):
            return None
        between = words.buffer[before.end[-1] : words.begin[0]].decode("utf8", "surrogatepass")
        inside = words.begin[0] < words.texts[0]
        if between.strip() if inside else found[-1] != words.texts[0]:
            return None
        found = np.concatenate([found[:-1], words.texts])
    return found


def byte_places(data: bytes) -> Offsets:
    """Return where each character of UTF-8 begins, and where the last one ends."""
    begins = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) & 0xC0 != 0x80)
    return np.append(begins, len(data)).astype(np.int64)
