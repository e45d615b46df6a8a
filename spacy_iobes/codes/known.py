"""What is known of sentences that may be annotated only in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import Offsets
from ..span import Span
from .span_columns import SpanColumns


class KnownSentence(NamedTuple):
    """The spans of a sentence, and the tokens of which nothing is known; all others are in none."""

    spans: list[Span]
    missing: list[int]


@dataclass(frozen=True, eq=False)
class KnownColumns(Sequence[KnownSentence]):
    """What is known of many sentences: their spans as columns, and the missing tokens of each."""

    spans: SpanColumns
    missing: Sequence[list[int]]

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, which: int) -> KnownSentence: ...

    @overload
    def __getitem__(self, which: slice) -> list[KnownSentence]: ...

    def __getitem__(self, which: int | slice) -> KnownSentence | list[KnownSentence]:
        if isinstance(which, slice):
            return [self[number] for number in range(len(self))[which]]
        return KnownSentence(self.spans[which], self.missing[which])

    @property
    def partial(self) -> bool:
        """Whether nothing is known of some tokens."""
        return any(self.missing)


def judged(
    predicted: SpanColumns, gold: SpanColumns, missing: NDArray[np.bool_], offsets: Offsets
) -> SpanColumns:
    """Return the predicted spans that gold can judge.

    A span that covers a token that is `missing` in gold is neither right nor wrong, and is left
    out, unless it equals a gold span. Sentence `s` has the tokens `offsets[s]:offsets[s + 1]`.
    """
    before = np.concatenate([[0], np.cumsum(missing)])  # missing tokens before each token
    begin = offsets[predicted.sentence]
    unsure = before[begin + predicted.end] > before[begin + predicted.start]
    if not unsure.any():
        return predicted
    true = set(zip(gold.sentence.tolist(), gold.spans()))
    kept = ~unsure
    for row in np.flatnonzero(unsure).tolist():
        kept[row] = (int(predicted.sentence[row]), predicted.row(row)) in true
    columns = (predicted.sentence, predicted.start, predicted.end, predicted.label)
    some = (column[kept] for column in columns)
    return SpanColumns.trusted(some, predicted.labels, predicted.sentences)


def flags_of(tokens: Sequence[Sequence[int]], offsets: Offsets) -> NDArray[np.bool_]:
    """Return for every token, all sentences end to end, whether its sentence lists it."""
    flags = np.zeros(int(offsets[-1]), dtype=bool)
    for begin, some in zip(offsets.tolist(), tokens):
        flags[[begin + token for token in some]] = True
    return flags


def columns_known(gold: Sequence[KnownSentence], lengths: Sequence[int]) -> KnownColumns:
    """The same in columns, of sentences of these lengths."""

    if isinstance(gold, KnownColumns):
        return gold
    return KnownColumns(
        SpanColumns.of([known.spans for known in gold], lengths), [known.missing for known in gold]
    )
