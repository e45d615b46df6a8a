"""A corpus as learners see it: the features of all tokens, found once, and the gold spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..arrays import Ints, Offsets, picked
from ..codes.policy import get_policy
from ..codes.scheme import Scheme
from ..codes.span_columns import SpanColumns
from ..corpus.corpus import accepted
from ..corpus.docs import docs_of
from ..corpus.findings import Finding
from ..corpus.gold import ADVICE
from ..corpus.sentences import Sentences
from ..corpus.sources import offsets_of, shown
from ..corpus.tagged import TaggedDocs
from ..errors import CorpusError
from ..ml.extractor import Extractor

BITS = 20


@dataclass(frozen=True, eq=False)
class Material:
    """Units (Docs) laid end to end: `features[N, F]`, where units begin, and their gold spans.

    `labels` are those of the whole corpus, also where this is a part of it. `words` are the texts
    of the tokens, `space` says which of them are white space.
    """

    features: Ints
    offsets: Offsets
    gold: SpanColumns
    labels: tuple[str, ...]
    words: tuple[str, ...]
    space: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return len(self.features)

    @cached_property
    def lengths(self) -> list[int]:
        """The number of tokens of each unit."""
        lengths: list[int] = np.diff(self.offsets).tolist()
        return lengths

    @cached_property
    def digest(self) -> str:
        """What changes when features, units or gold do."""
        found = blake2b(digest_size=8)
        gold = self.gold
        for array in (self.features, self.offsets, gold.sentence, gold.start, gold.end, gold.label):
            found.update(np.ascontiguousarray(array).tobytes())
        found.update("\0".join(self.labels).encode())
        return found.hexdigest()

    def part(self, units: Sequence[int] | Offsets) -> Material:
        """Some of the units, in this order."""
        chosen = np.asarray(units, dtype=np.int64)
        tokens, offsets = picked(self.offsets, chosen)
        bounds = np.searchsorted(self.gold.sentence, np.arange(len(self) + 1))
        rows, firsts = picked(bounds, chosen)
        columns = (
            np.repeat(np.arange(len(chosen)), np.diff(firsts)).astype(np.int32),
            *(getattr(self.gold, name)[rows] for name in ("start", "end", "label")),
        )
        gold = SpanColumns.trusted(columns, self.gold.labels, len(chosen))
        words = tuple(self.words[token] for token in tokens.tolist())
        features = self.features[tokens]
        return Material(features, offsets, gold, self.labels, words, self.space[tokens])


class Units(NamedTuple):
    """Docs with entities; mentions that are no spans of tokens; how many spans overlapped others.

    Each Doc is a document where the source has several, else a sentence.
    """

    docs: list[Doc]
    findings: list[Finding]
    overlapping: int


def units_of(
    source: Iterable[Sentences], scheme: str | Scheme = "", policy: str = "raise"
) -> Units:
    """Return the units of a source; of spans that overlap, the longest are kept.

    Tokens of white space stay, since they tell where lines and paragraphs begin.
    """
    parts = list(accepted(source, scheme, policy))
    longest = [(part, known.spans.in_layers()[0], known) for part, known in parts]
    kept = [(part, replace(known, spans=spans, layers=())) for part, spans, known in longest]
    several = sum(len(part.opens) for part, _ in parts) > 1
    return Units(
        list(docs_of(kept, unit="document" if several else "sentence")),
        [found for part, _ in parts for found in part.findings],
        sum(known.spans.total - spans.total for _, spans, known in longest),
    )


def material_of(docs: Sequence[Doc], templates: Sequence[str] | None = None) -> Material:
    """Find the features of all tokens of some Docs, and their entities.

    A Doc is a unit: features look at other places of the same Doc, and not out of its sentences
    where those are known.
    """
    if not any(len(doc) for doc in docs):
        raise CorpusError("There is no token in the corpus.")
    tagged = TaggedDocs.entities(docs, ADVICE)
    for number in np.flatnonzero(tagged.pieces.missing)[:1].tolist():
        doc = docs[int(np.searchsorted(offsets_of(docs), number, side="right")) - 1]
        raise CorpusError(
            f"{shown(doc)} has tokens without annotation: what is compared must be annotated whole."
        )
    spans = tagged.spans(get_policy("raise"))
    labels = tuple(sorted({spans.labels[number] for number in np.unique(spans.label).tolist()}))
    if not labels:
        raise CorpusError("There is no span in the corpus, so there is nothing to compare.")
    numbers = np.array([_at(label, labels) for label in spans.labels], dtype=np.int32)
    columns = (spans.sentence, spans.start, spans.end, numbers[spans.label])
    gold = SpanColumns.trusted(columns, labels, len(docs))
    offsets = offsets_of(docs)
    features = Extractor(templates, BITS, document=True)(docs, offsets)
    words = tuple(token.text for doc in docs for token in doc)
    space = np.array([word.isspace() for word in words], dtype=bool)
    return Material(features, offsets, gold, labels, words, space)


def _at(label: str, labels: tuple[str, ...]) -> int:
    """The number of a label; -1 for one that no span has."""
    return labels.index(label) if label in labels else -1
