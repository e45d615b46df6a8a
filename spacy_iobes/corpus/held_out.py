"""A share of the documents of a source that is held out from training, chosen by a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from ..arrays import Flags
from ..errors import CorpusError
from .sentences import Sentences

FEW = 10  # documents; of fewer, sentences are held out


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The documents of a source that are held out, or its sentences if it has few documents."""

    documents: bool
    chosen: Flags

    @classmethod
    def of(cls, source: Iterable[Sentences], share: float, seed: int, name: str) -> HeldOut:
        """Choose a share of the documents, but one at least; the same seed chooses the same."""
        documents = sentences = 0
        for part in source:
            documents, sentences = documents + len(part.opens), sentences + len(part)
        count = documents if documents >= FEW else sentences
        if count < 2:
            raise CorpusError(f"{name}: one sentence cannot be held out from itself: name DEV.")
        chosen = np.zeros(count, dtype=bool)
        chosen[Random(seed).sample(range(count), max(1, round(count * share)))] = True
        return cls(documents >= FEW, chosen)

    def __str__(self) -> str:
        unit = "documents" if self.documents else "sentences"
        return f"{int(self.chosen.sum()):,} of {len(self.chosen):,} {unit}"

    def parts(self, source: Iterable[Sentences], held_out: bool) -> Iterator[Sentences]:
        """Yield the sentences of a source that are held out, or the others."""
        before = 0
        for part in source:
            begins = part.opens if self.documents else np.arange(len(part))
            unit = np.searchsorted(begins, np.arange(len(part)), side="right") + before - 1
            before += len(begins)
            wanted = np.concatenate([[False], self.chosen[unit] == held_out, [False]])
            turns = np.flatnonzero(np.diff(wanted)).tolist()
            for begin, end in zip(turns[::2], turns[1::2]):
                yield part.cut(begin, end)
