"""Whether spans can be the mentions of a sentence, and a pool a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import (
    CorpusError,
    DuplicateSpanError,
    OverlapError,
    SpanRangeError,
    UnknownNameError,
)
from ..names import counted
from ..span import Span

if TYPE_CHECKING:
    from .pool import Pool


def checked_spans(
    spans: Iterable[Sequence[object]],
    length: int,
    labels: Sequence[str],
    nested: bool,
    known: Sequence[Span] = (),
) -> tuple[Span, ...]:
    """The spans in order, if a sentence of that length can have them.

    Without `nested`, none may share a token with another or with a `known` mention.
    """
    found = sorted(_span(span, length, labels) for span in spans)
    for one, other in pairwise(found):
        if one == other:
            raise DuplicateSpanError(f"{_shown(one)} is there twice. Send it once.", [one])
    if not nested:
        require_apart([*found, *known])
    return tuple(found)


def require_apart(spans: Iterable[Span]) -> None:
    """Raise if two spans share a token."""
    for one, other in pairwise(sorted(spans)):
        if other.start < one.end:
            raise OverlapError(
                f"{_shown(one)} and {_shown(other)} share a token, which mentions must not in a "
                "session without nesting. Keep one of them.",
                [one, other],
            )


def _span(given: Sequence[object], length: int, labels: Sequence[str]) -> Span:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 3:
        raise SpanRangeError(f"{str(given)[:80]!r} is no span: [start, end, label].")
    start, end, label = given
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
        raise SpanRangeError(
            f"[{str(start)[:20]}, {str(end)[:20]}) is no part of a sentence of {length} tokens."
        )
    if not isinstance(label, str) or label not in labels:
        message = f"Unknown label {str(label)[:80]!r}. Known: {', '.join(labels)}."
        raise UnknownNameError(message, str(label), labels)
    return Span(start, end, label)


def _shown(span: Span) -> str:
    return f"{span.label} [{span.start}, {span.end})"


def require_choice(pool: Pool, corpus: str, existing: str) -> None:
    """Raise if there are mentions already, and nobody has said what becomes of them."""
    some = [len(gold) for number in range(len(pool)) if (gold := pool.gold(number))]
    if some and not existing:
        raise CorpusError(
            f"{corpus}: {counted(sum(some), 'mention')} of {', '.join(pool.labels)} in "
            f"{counted(len(some), 'sentence')} already. Say what becomes of them: --existing keep "
            "(these sentences count as read), or --existing drop."
        )
