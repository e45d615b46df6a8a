"""Generated documents: sentences with flat and nested mentions, the same for a seed everywhere.

There is no end to them and nothing is kept, so a corpus may be of any size. Names recur within a
document, and almost half of them are made for it. The labels are PER, ORG, LOC and DATE, and SHIP
in about one sentence of a hundred. Mentions are nested up to three deep, those of one label too,
and now and then two mentions of one label touch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from random import Random
from typing import NamedTuple

import numpy as np

from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from ..corpus.files import Progress
from ..corpus.sentences import Sentences
from ..corpus.words import Words
from ..span import Span
from .grammar import COMMON, PARTS, Cast, Draw, cast

LABELS = ("DATE", "LOC", "ORG", "PER", "SHIP")
NUMBERS = {label: number for number, label in enumerate(LABELS)}
DEPTH = 3
"""Layers of mentions."""
SHORTEST, LONGEST = 4, 16  # sentences of a document
SHOUTED = 0.02  # of sentences are in capitals
BLOCK = 2000  # sentences that are there at a time


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


@dataclass(frozen=True)
class GeneratedCorpus:
    """The documents of a seed, which are made anew, part by part, whenever somebody reads them.

    There are so many `sentences`, or as many as it takes to have so many `tokens`. With `nested`
    all mentions are annotated, else those that lie in no other.
    """

    seed: int = 0
    sentences: int | None = None
    tokens: int | None = None
    nested: bool = False
    progress: Progress | None = field(default=None, compare=False)
    """Told of every part how many tokens it has, or sentences if nobody counts tokens."""

    def __iter__(self) -> Iterator[Sentences]:
        found = limited(self.seed, self.sentences, self.tokens)
        documents, sentences = 0, 0
        while block := list(islice(found, BLOCK)):
            part = self._part(block, (documents, sentences))
            documents, sentences = documents + len(part.opens), sentences + len(part)
            yield part
            if self.progress is not None:
                self.progress(len(part) if self.tokens is None else part.tokens)

    def _part(self, block: Sequence[GeneratedSentence], before: tuple[int, int]) -> Sentences:
        words = Words.of([*chain.from_iterable(sentence.words for sentence in block)])
        lengths = [len(sentence.words) for sentence in block]
        count = DEPTH if self.nested else 1
        layers = tuple(_columns(some) for some in islice(zip(*(x.layers for x in block)), count))
        return Sentences(
            f"generated, seed {self.seed}",
            np.cumsum([0, *lengths], dtype=np.int64),
            np.flatnonzero([sentence.opens for sentence in block]),
            lambda: words,
            given=Known(SpanColumns.merged(layers), layers=layers if self.nested else ()),
            before=before,
        )


def _columns(layer: Sequence[Sequence[Span]]) -> SpanColumns:
    """Return one layer of mentions of some sentences."""
    sizes = list(map(len, layer))
    rows = [(start, end, NUMBERS[label]) for some in layer for start, end, label in some]
    columns = np.array(rows, dtype=np.int32).reshape(-1, 3).T
    sentence = np.repeat(np.arange(len(layer), dtype=np.int32), sizes)
    return SpanColumns.trusted((sentence, *map(np.ascontiguousarray, columns)), LABELS, len(layer))


def generated(seed: int = 0) -> Iterator[GeneratedSentence]:
    """Yield sentences without end."""
    draw = Random(seed).random  # of all its methods the one that is promised never to change
    while True:
        slots = COMMON | cast(draw)
        for number in range(SHORTEST + int(draw() * (LONGEST - SHORTEST + 1))):
            yield _sentence(draw, slots, not number)


def limited(
    seed: int = 0, sentences: int | None = None, tokens: int | None = None
) -> Iterator[GeneratedSentence]:
    """Yield so many sentences, or as many as it takes to have so many tokens."""
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
