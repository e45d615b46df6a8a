"""What is known of sentences that may be annotated only in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from ..span import Span
from .columns import SpanColumns


class Known(NamedTuple):
    """The spans of a sentence, and the tokens of which nothing is known; all others are in none."""

    spans: list[Span]
    missing: list[int]


@dataclass(frozen=True, eq=False)
class KnownColumns(Sequence[Known]):
    """What is known of many sentences: their spans as columns, and the missing tokens of each."""

    spans: SpanColumns
    missing: Sequence[list[int]]

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, which: int) -> Known: ...

    @overload
    def __getitem__(self, which: slice) -> list[Known]: ...

    def __getitem__(self, which: int | slice) -> Known | list[Known]:
        if isinstance(which, slice):
            return [self[number] for number in range(len(self))[which]]
        return Known(self.spans[which], self.missing[which])

    @property
    def partial(self) -> bool:
        """Whether nothing is known of some tokens."""
        return any(self.missing)


def columns_known(gold: Sequence[Known], lengths: Sequence[int]) -> KnownColumns:
    """The same in columns, of sentences of these lengths."""
    from .write import span_columns

    if isinstance(gold, KnownColumns):
        return gold
    return KnownColumns(
        span_columns([known.spans for known in gold], lengths), [known.missing for known in gold]
    )
