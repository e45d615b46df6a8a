"""The order in which a learner meets its examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Offsets


@dataclass(frozen=True, eq=False)
class Epoch:
    """Units in some order: their `tokens[N]`, laid out anew, with where each unit begins and ends.

    Batch `b` has the units `batches[b]:batches[b + 1]`.
    """

    tokens: Offsets
    offsets: Offsets
    batches: Offsets

    @classmethod
    def of(cls, offsets: Offsets, words: int, random: np.random.Generator | None) -> Epoch:
        """Shuffle units, or, without random numbers, leave them; a batch has about `words`."""
        starts, lengths = offsets[:-1], np.diff(offsets)
        if random is not None:
            order = random.permutation(len(starts))
            starts, lengths = starts[order], lengths[order]
        ends = np.cumsum(lengths)
        begins = ends - lengths
        tokens = np.repeat(starts - begins, lengths) + np.arange(int(lengths.sum()))
        first = np.flatnonzero(np.diff(begins // words, prepend=-1))
        return cls(tokens, np.append(begins, len(tokens)), np.append(first, len(starts)))

    def __iter__(self) -> Iterator[tuple[slice, Offsets]]:
        """The tokens of each batch, where they are laid out, and the offsets of its units."""
        for a, b in pairwise(self.batches.tolist()):
            offsets = self.offsets[a : b + 1]
            start, end = int(offsets[0]), int(offsets[-1])
            if end > start:
                yield slice(start, end), offsets - start
