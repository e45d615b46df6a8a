"""Layers of tags for spans that nest or overlap: several columns of a file, one span group."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from spacy.tokens import Doc

from ..codes.scheme import Scheme
from ..codes.violation import BLOCKED, MISSING
from ..codes.write import write_many
from ..errors import AlignmentError, InexpressibleError, SpanError
from ..span import Span
from .sources import group_spans

LAYERS, COUNT = "layers", "layer_count"
"""Attributes of a span group: the layer of each of its spans, and how many layers there are."""
LAYER_MISSING = "layer_missing"
ABSENT_TAGS = {LAYER_MISSING: MISSING, "layer_blocked": BLOCKED}
"""Attributes of a span group that list tokens as [layer, index], and what their tag is."""
Order = Literal["group", "outermost", "innermost", "label"]
"""Which layer a span goes to: as the group says, the outermost or the innermost first, or one
layer for each label.
"""


def assigned(spans: Sequence[Span], innermost: bool = False) -> list[int]:
    """A layer for each span: the longest choose first, each the first layer with no overlap.

    So a span comes before all those inside of it, and the first layer has the outermost ones; with
    `innermost` the shortest choose first, and it is the other way round.
    """
    numbers = [0] * len(spans)
    taken: list[set[int]] = []
    sign = -1 if innermost else 1

    def turn(i: int) -> tuple[int, Span]:
        return sign * (spans[i].start - spans[i].end), spans[i]

    for i in sorted(range(len(spans)), key=turn):
        tokens = range(spans[i].start, spans[i].end)
        number = next((n for n, used in enumerate(taken) if used.isdisjoint(tokens)), len(taken))
        if number == len(taken):
            taken.append(set())
        taken[number].update(tokens)
        numbers[i] = number
    return numbers


def fitting(
    layers: Sequence[Sequence[Span]], bounds: Sequence[int], count: int | None = None
) -> tuple[list[list[Span]], list[tuple[str, Span]]]:
    """What can be written of layers, and the spans that cannot, each with its kind of finding.

    Of spans that overlap in one layer the longest stays.
    """
    kept, left_out = list[list[Span]](), list[tuple[str, Span]]()
    for number, layer in enumerate(layers):
        taken, good = set[int](), list[Span]()
        for span in sorted(layer, key=lambda span: (span.start - span.end, span)):
            kind = misfit_of(span, bounds)
            if not kind and count is not None and number >= count:
                kind = "deep"
            tokens = range(span.start, span.end)
            if not kind and not taken.isdisjoint(tokens):
                kind = "overlapping"
            if kind:
                left_out.append((kind, span))
            else:
                taken.update(tokens)
                good.append(span)
        kept.append(sorted(good))
    return kept[:count], sorted(left_out, key=lambda found: found[1])


def misfit_of(span: Span, bounds: Sequence[int]) -> str:
    """Why a span can be in no layer at all; empty if it can."""
    if span.start >= span.end:
        return "empty"
    last = bounds[bisect_right(bounds, span.start)]
    return "beyond" if span.end > last else ""


def layered(spans: Sequence[Span], attrs: Mapping[str, Any]) -> list[list[Span]]:
    """The spans of a group, layer by layer: as its attributes say, or as they are assigned."""
    numbers = attrs[LAYERS] if LAYERS in attrs else assigned(spans)
    if len(numbers) != len(spans) or min(numbers, default=0) < 0:
        raise ValueError(f"{len(numbers)} layers for {len(spans)} spans")
    count = max([attrs.get(COUNT, 1), *(number + 1 for number in numbers)])
    found: list[list[Span]] = [[] for _ in range(count)]
    for span, number in zip(spans, numbers):
        found[number].append(span)
    return found


Absent = list[tuple[int, int, str]]
"""Tokens without a tag: their layer, their index, and what stands for it."""


def group_layers(doc: Doc, key: str) -> tuple[list[list[Span]], Absent]:
    """The layers of a group as its attributes say, and the tokens that are not annotated."""
    attrs = doc.spans[key].attrs if key in doc.spans else {}
    try:
        layers = layered(group_spans(doc, key), attrs)
        absent = [
            (*place, tag) for name, tag in ABSENT_TAGS.items() for place in attrs.get(name, ())
        ]
        in_range = all(0 <= n < len(layers) and 0 <= i < len(doc) for n, i, _ in absent)
    except (TypeError, ValueError) as error:
        raise _misfit(attrs) from error
    if not in_range:
        raise _misfit(attrs)
    return layers, absent


def _misfit(attrs: Mapping[str, Any]) -> AlignmentError:
    shown = {name: attrs[name] for name in (LAYERS, COUNT, *ABSENT_TAGS) if name in attrs}
    return AlignmentError(
        f"the attributes do not fit the group: {shown!s:.200}. {LAYERS!r} has one number from 0 "
        "for each span, as convert writes it. Remove them to have layers assigned."
    )


def tags_of(spans: Sequence[Span], scheme: Scheme, bounds: Sequence[int]) -> list[str]:
    """The tags of disjoint spans, none of which crosses a sentence boundary."""
    sentences: list[list[Span]] = [[] for _ in bounds[1:]]
    number = 0
    for start, end, label in sorted(spans):
        while start >= bounds[number + 1] and number + 2 < len(bounds):
            number += 1
        first, last = bounds[number : number + 2]
        if end > last and last < bounds[-1]:
            reason = (
                f"{(start, end, label)} goes beyond its sentence, which ends at token {last}. "
                "Write each Doc as one sentence (--ignore-sentences), or cut the span."
            )
            raise InexpressibleError(reason, [Span(start, end, label)])
        sentences[number].append(Span(start - first, end - first, label))
    lengths = [end - start for start, end in pairwise(bounds)]
    try:
        return [tag for tags in write_many(sentences, lengths, scheme) for tag in tags]
    except SpanError as error:
        first = bounds[error.sentence]
        wrong = [Span(start + first, end + first, label) for start, end, label in error.spans]
        place = f"in the sentence that begins at token {first}, " if first else ""
        raise type(error)(place + error.reason, wrong, reason=error.reason) from error
