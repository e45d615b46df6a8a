"""What sentences say as entities or span groups of Docs: spans, and tokens that are absent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Flags, Ints, Offsets
from ..codes.annotated_runs import having
from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from ..codes.violation import BLOCKED, MISSING
from ..errors import InexpressibleError, OverlapError
from ..span import Span
from .sentences import Sentences
from .stored_groups import BLOCKED_IN, COUNT, LAYERS, MISSING_IN


@dataclass(frozen=True, eq=False)
class DocLayer:
    """Spans, and tokens that are missing or blocked, all counted over the tokens of some Docs."""

    begin: Offsets
    end: Offsets
    label: Ints
    labels: tuple[str, ...]
    missing: Flags
    blocked: Flags

    def of_docs(self, bounds: Offsets) -> SpanColumns:
        """Return the spans of each Doc, where Doc `d` has the tokens `bounds[d]:bounds[d + 1]`."""
        doc = np.searchsorted(bounds, self.begin, side="right") - 1
        columns = (doc, self.begin - bounds[doc], self.end - bounds[doc])
        found = (column.astype(np.int32) for column in columns)
        return SpanColumns.trusted((*found, self.label), self.labels, len(bounds) - 1)

    @classmethod
    def joined(cls, several: Sequence[DocLayer], shifts: Sequence[int], size: int) -> DocLayer:
        """Return layers as one of `size` tokens, of which each has those from its shift on."""
        names = dict[str, int]()
        begin, end, label = list[Offsets](), list[Offsets](), list[Ints]()
        missing, blocked = np.zeros((2, size), dtype=bool)
        for layer, shift in zip(several, shifts):
            begin.append(layer.begin + shift)
            end.append(layer.end + shift)
            numbers = [names.setdefault(name, len(names)) for name in layer.labels]
            label.append(np.array(numbers, dtype=np.int32)[layer.label] if numbers else layer.label)
            missing[shift : shift + len(layer.missing)] = layer.missing
            blocked[shift : shift + len(layer.blocked)] = layer.blocked
        ends = np.concatenate(begin), np.concatenate(end), np.concatenate(label)
        return cls(*ends, tuple(names), missing, blocked)


class SpanLayer(NamedTuple):
    """The spans of one layer of sentences, and their tokens that are missing or blocked."""

    spans: SpanColumns
    missing: Flags | None
    blocked: Flags | None

    def in_place(self, part: Sentences) -> DocLayer:
        """Return the layer with its spans counted over all tokens."""
        spans, first = self.spans, part.offsets[self.spans.sentence]
        none = np.zeros(part.tokens, dtype=bool)
        absent = (none if flags is None else flags for flags in (self.missing, self.blocked))
        return DocLayer(first + spans.start, first + spans.end, spans.label, spans.labels, *absent)

    def placed(self, part: Sentences, place: Offsets, near: Offsets) -> DocLayer:
        """Return the layer in Docs, which may have more tokens, all of them white space.

        Token `i` of the sentences is token `place[i]` there; a token of theirs is missing as token
        `near` of the sentences is, and -1 is none.
        """
        layer = self.in_place(part)
        blocked = np.zeros(len(near), dtype=bool)
        blocked[place] = layer.blocked
        return replace(
            layer,
            begin=place[layer.begin],
            end=place[layer.end - 1] + 1,
            missing=np.append(layer.missing, False)[near],
            blocked=blocked,
        )


def entity_layer(part: Sentences, known: Known) -> SpanLayer:
    """Return what entities say; raises for spans that overlap, and for those without a label."""
    if not known.spans.disjoint:
        raise overlap_error(
            part,
            known.spans,
            "and entities cannot. Write a span group (--set output-spans-key), or keep one of "
            "them.",
        )
    require_labels(
        part,
        known.spans,
        "an entity of a Doc needs a label. Give these spans one, or put them into a span group "
        "(--set output-spans-key), where they may go without.",
    )
    return SpanLayer(known.spans, unknown_tokens(known), known.blocked)


def kept_layers(part: Sentences, known: Known) -> int:
    """Return how many layers a span group keeps apart, which are layers of tags; else 0."""
    count = len(part.tags)
    if count == 1:
        return int(known.spans.disjoint)
    return count if count == len(known.layers) else 0


def group_layers(part: Sentences, known: Known, count: int) -> list[SpanLayer]:
    """Return so many layers that a span group keeps apart; if 0, one, whose spans may overlap."""
    if count > 1:
        every = zip(known.layers, part.tags)
        return [
            SpanLayer(spans, having(tags, (MISSING,)), having(tags, (BLOCKED,)))
            for spans, tags in every
        ]
    if not count:
        reason = "a span needs a label, unless a column of tags has it. Give it one."
        require_labels(part, known.spans, reason)
    return [SpanLayer(known.spans, unknown_tokens(known), known.blocked)]


def unknown_tokens(known: Known) -> Flags | None:
    """Return the tokens of which something is not known."""
    holes = [x for x in (known.missing, *known.missing_for.values()) if x is not None]
    return np.logical_or.reduce(holes) if holes else None


def first_overlap(spans: SpanColumns) -> tuple[int, int]:
    """Return the numbers of the first two spans that share a token; they are not disjoint."""
    base = spans.sentence.astype(np.int64) << 32
    start, end = base + spans.start, base + spans.end
    furthest = np.maximum.accumulate(end)
    second = int(np.flatnonzero(start[1:] < furthest[:-1])[0]) + 1
    return int(np.flatnonzero(end[:second] == furthest[second - 1])[0]), second


def overlap_error(part: Sentences, spans: SpanColumns, advice: str) -> OverlapError:
    """Return the error for the first two spans that share a token; `advice` ends its message."""
    first, second = first_overlap(spans)
    pair, sentence = (spans.row(first), spans.row(second)), int(spans.sentence[second])
    said = (f"{x.label} {part.text(sentence, x.start, x.end)!r}" for x in pair)
    reason = f"{' and '.join(said)} overlap, {advice}"
    message = part.shown(sentence, pair[1].start) + reason
    return OverlapError(message, pair, sentence, reason)


def require_labels(part: Sentences, spans: SpanColumns, reason: str) -> None:
    """Raise for the first span without a label."""
    nameless = [number for number, label in enumerate(spans.labels) if not label]
    for row in np.flatnonzero(np.isin(spans.label, nameless))[:1].tolist():
        span, sentence = spans.row(row), int(spans.sentence[row])
        place = part.shown(sentence, span.start)
        raise InexpressibleError(place + reason, [span], sentence, reason)


class DocGroup(NamedTuple):
    """The spans of a group of one Doc, and the attributes of the group."""

    spans: list[Span]
    attrs: dict[str, Any]


def doc_groups(
    layers: Sequence[DocLayer], bounds: Offsets, layered: bool
) -> Iterator[DocGroup | None]:
    """Yield the group of each Doc; None for a Doc of which nothing is known.

    Where layers are kept apart, the attributes of the group say which layer each span is from, and
    how many there are.
    """
    labels = tuple(sorted({label for layer in layers for label in layer.labels}))
    numbers = [np.full(len(layer.begin), number) for number, layer in enumerate(layers)]
    ranks = [np.array([labels.index(x) for x in layer.labels], dtype=np.int64) for layer in layers]
    label = [rank[x.label] if len(rank) else x.label for rank, x in zip(ranks, layers)]
    begin, end, number, name = (
        np.concatenate(columns)
        for columns in ([x.begin for x in layers], [x.end for x in layers], numbers, label)
    )
    order = np.lexsort((name, number, -end, begin))
    doc = np.searchsorted(bounds, begin[order], side="right") - 1
    rows = np.searchsorted(doc, np.arange(len(bounds))).tolist()
    first = bounds[doc]
    spans = [
        Span(start, stop, labels[x])
        for start, stop, x in zip(
            (begin[order] - first).tolist(), (end[order] - first).tolist(), name[order].tolist()
        )
    ]
    of_span = number[order].tolist()
    missing = _absent([layer.missing for layer in layers], bounds)
    blocked = _absent([layer.blocked for layer in layers], bounds)
    sizes = np.diff(bounds).tolist()
    for at, size in enumerate(sizes):
        mine = slice(rows[at], rows[at + 1])
        if len(layers) == 1 and 0 < size == len(missing.get(at, ())) and not spans[mine]:
            yield None
            continue
        attrs: dict[str, Any] = {LAYERS: of_span[mine], COUNT: len(layers)} if layered else {}
        for key, absent in ((MISSING_IN, missing), (BLOCKED_IN, blocked)):
            if at in absent:
                attrs[key] = absent[at]
        yield DocGroup(spans[mine], attrs)


def _absent(flags: Sequence[Flags], bounds: Offsets) -> dict[int, list[list[int]]]:
    """Return [layer, token] of the tokens of each Doc that have these flags in a layer."""
    found = dict[int, list[list[int]]]()
    for layer, some in enumerate(flags):
        tokens = np.flatnonzero(some)
        doc = np.searchsorted(bounds, tokens, side="right") - 1
        for at, token in zip(doc.tolist(), (tokens - bounds[doc]).tolist()):
            found.setdefault(at, []).append([layer, token])
    return found
