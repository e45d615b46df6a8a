"""Mentions by characters: what two annotations of one text have in common, whatever its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Offsets
from ..codes.known import Known
from ..span import Span
from .findings import Finding
from .sentences import Sentences
from .words import Words, byte_places

SPACES = re.compile(
    rb"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80"
)
"""White space beyond ASCII, as UTF-8."""


@dataclass(frozen=True, eq=False)
class Mentions:
    """Some sentences as characters, of which white space is none, and the mentions in them.

    Sentence `s` has the characters `offsets[s]:offsets[s + 1]` of `characters`; token `t` of its
    source begins at character `before[t]`.
    """

    part: Sentences
    characters: Words
    before: Offsets

    @classmethod
    def of(cls, part: Sentences) -> Mentions:
        """Return the characters of the tokens of sentences."""
        words = part.words
        data = np.frombuffer(words.buffer, dtype=np.uint8)
        depth = np.zeros(len(data) + 1, dtype=np.int32)
        np.add.at(depth, words.begin, 1)
        np.add.at(depth, words.end, -1)
        starts = (np.cumsum(depth)[:-1] > 0) & (data & 0xC0 != 0x80)
        starts &= (data != 32) & ((data < 9) | (data > 13)) & ((data < 28) | (data > 31))
        for match in SPACES.finditer(words.buffer):
            starts[match.start()] = False
        begin = np.flatnonzero(starts).astype(np.int32)
        lead = data[begin]
        sizes = 1 + (lead >= 0xC0).astype(np.int32) + (lead >= 0xE0) + (lead >= 0xF0)
        before = np.append(np.searchsorted(begin, words.begin), len(begin)).astype(np.int64)
        return cls(part, Words(words.buffer, begin, begin + sizes, words.verbatim), before)

    @property
    def offsets(self) -> Offsets:
        """The character that each sentence begins with, and how many there are."""
        return self.before[self.part.offsets]

    def place(self, at: int) -> str:
        """Return where the token of a character is, as `Sentences.place` says it."""
        return self.part.place(int(np.searchsorted(self.before, at, side="right")) - 1)

    def sentences(self, known: Known) -> Sentences:
        """Return the sentences with their characters as tokens, and what is known of these.

        Mentions that begin or end within a token are spans of characters like any other.
        """
        part, offsets = self.part, self.offsets
        sizes = np.diff(self.before)
        found = known.renumbered(
            self.before, part.offsets, offsets, lambda flags: np.repeat(flags, sizes)
        )
        exact = {f: place for f in part.findings if (place := self._place(f)) is not None}
        if exact:
            more = [(f.sentence, Span(*place, f.label)) for f, place in exact.items()]
            found = replace(found, spans=found.spans.with_spans(more))
        return replace(
            part,
            offsets=offsets,
            read_words=lambda: self.characters,
            tags=(),
            layer_labels=(),
            given=found,
            line=None if part.line is None else np.repeat(part.line, sizes),
            findings=tuple(each for each in part.findings if each not in exact),
            origin=None,
            read_column=None,
            read_spellings=None,
        )

    def _place(self, found: Finding) -> tuple[int, int] | None:
        """Return the characters of a mention that is no span of tokens, within its sentence.

        None if it is in several parts, or if the text of its document is not known.
        """
        words, at = self.part.words, int(np.searchsorted(self.part.opens, found.sentence, "right"))
        if found.kind != "misaligned" or len(found.parts) != 1 or not at or words.texts is None:
            return None
        begin, end = words.texts[at - 1 : at + 1].tolist()
        places = begin + byte_places(words.buffer[begin : end - 1])
        first, last = np.searchsorted(self.characters.begin, places[list(found.parts[0])]).tolist()
        start = int(self.offsets[found.sentence])
        return first - start, last - start
