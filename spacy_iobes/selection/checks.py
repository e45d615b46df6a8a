"""Whether spans can be the mentions of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..errors import DuplicateSpanError, OverlapError, SpanRangeError, UnknownNameError
from ..span import Span


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
