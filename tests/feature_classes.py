"""Features beside what they stand for: two are one number exactly if they say the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc

from spacy_iobes.ml import Extractor

from .docs import VOCAB

BITS = 30  # so many that features of a few words do not share a row
Sentences = list[list[str]]


def doc_of(sentences: Sentences, known: bool = True) -> Doc:
    """A Doc of these sentences, which it may not know."""
    words = [word for sentence in sentences for word in sentence]
    starts: list[Any] = [not index for sentence in sentences for index in range(len(sentence))]
    return Doc(VOCAB, words=words, sent_starts=starts if known and words else None)


def features(extractor: Extractor, docs: Sequence[Doc]) -> list[list[int]]:
    """The features of all tokens."""
    offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
    found: list[list[int]] = extractor(docs, offsets).tolist()
    return found


def check(numbers: Sequence[Sequence[int]], said: Sequence[Sequence[Hashable | None]]) -> None:
    """Compare features with what they should say, None being nothing; one row for each token."""
    assert len(numbers) == len(said)
    meaning: dict[int, Hashable] = {}
    number: dict[Hashable, int] = {}
    for row, texts in zip(numbers, said):
        assert [n < 0 for n in row] == [text is None for text in texts]
        for template, (n, text) in enumerate(zip(row, texts)):
            if text is not None:
                assert meaning.setdefault(n, (template, text)) == (template, text)
                assert number.setdefault((template, text), n) == n
