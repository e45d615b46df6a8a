"""Generated documents: sentences with flat and nested mentions, the same for a seed everywhere.

There is no end to them and nothing is kept, so a corpus may be of any size. Names recur within a
document, and almost half of them are made for it. The labels are PER, ORG, LOC and DATE, and SHIP
in about one sentence of a hundred. Mentions are nested up to three deep, those of one label too,
and now and then two mentions of one label touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

from ..span import Span
from .generated_grammar import COMMON, PARTS
from .generated_names import Cast, Draw, cast

LABELS = ("DATE", "LOC", "ORG", "PER", "SHIP")
DEPTH = 3
"""Layers of mentions."""
SHORTEST, LONGEST = 4, 16  # sentences of a document
SHOUTED = 0.02  # of sentences are in capitals


class GeneratedSentence(NamedTuple):
    """Words with mentions: each layer has disjoint ones, and each lies in one of the layer before.

    `opens` says whether a document begins with it.
    """

    words: list[str]
    layers: tuple[list[Span], ...]
    opens: bool

    @property
    def spans(self) -> list[Span]:
        """The flat mentions: those that lie in no other."""
        return self.layers[0]


def generated(seed: int = 0) -> Iterator[GeneratedSentence]:
    """Sentences without end."""
    draw = Random(seed).random  # of all its methods the one that is promised never to change
    while True:
        slots = COMMON | cast(draw)
        for number in range(SHORTEST + int(draw() * (LONGEST - SHORTEST + 1))):
            yield _sentence(draw, slots, not number)


def limited(
    seed: int = 0, sentences: int | None = None, tokens: int | None = None
) -> Iterator[GeneratedSentence]:
    """So many sentences, or as many as it takes to have so many tokens."""
    if tokens is None:
        yield from islice(generated(seed), sentences)
        return
    for sentence in islice(generated(seed), sentences):
        if tokens <= 0:
            return
        tokens -= len(sentence.words)
        yield sentence


def _sentence(draw: Draw, slots: Cast, opens: bool) -> GeneratedSentence:
    words = list[str]()
    layers: tuple[list[Span], ...] = ([], [], [])
    for patterns in PARTS:
        for part in patterns[int(draw() * len(patterns))]:
            if isinstance(part, tuple):
                words += part
                continue
            forms = slots[part]
            found, mentions = forms[int(draw() * len(forms))]
            at = len(words)
            for depth, start, end, label in mentions:
                layers[depth].append(Span(start + at, end + at, label))
            words += found
    if draw() < SHOUTED:
        words = [word.upper() for word in words]
    else:
        words[0] = words[0][0].upper() + words[0][1:]
    return GeneratedSentence(words, layers, opens)
