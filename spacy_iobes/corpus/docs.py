"""Docs of spaCy from sentences of any source: this is the only place that makes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from ..arrays import Flags, Ints, Offsets
from ..codes.annotated_runs import having
from ..codes.known import Known
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..codes.span_columns import SpanColumns
from ..codes.violation import BLOCKED, MISSING
from ..errors import FileError, InexpressibleError, OverlapError
from ..names import known_name
from ..span import Span
from .corpus import accepted
from .formats.options import Unit
from .sentences import Sentences, whole_documents
from .stored_groups import BLOCKED_IN, COUNT, LAYERS, MISSING_IN
from .targets import Absent, ToEntities, ToSpanGroup, get_span_target
from .words import Words

GROUP = "sc"
"""The span group of mentions that may nest, unless another one is named."""
MORE = "iobes_json"
"""The key of `doc.user_data` for what else is written of a document, as JSON."""


def docs(
    source: Iterable[Sentences],
    vocab: Vocab | None = None,
    target: str = "ents",
    unit: Unit = "sentence",
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
) -> Iterator[Doc]:
    """Yield Docs of sentences: one for each `unit`, a sentence or a whole document.

    Spans go to `target`, `ents` or `spans:KEY`. Tags are read in a scheme under a policy. A Doc has
    the text of its source to the last character: white space that is not a single space between
    two tokens makes tokens, as it does in spaCy. Tokens that are not annotated are missing values;
    a Doc without annotation has no span group.
    """
    return docs_of(accepted(source, scheme, policy), vocab, target, unit)


def docs_of(
    parts: Iterable[tuple[Sentences, Known]],
    vocab: Vocab | None = None,
    target: str = "ents",
    unit: Unit = "sentence",
) -> Iterator[Doc]:
    """Yield Docs of sentences with what is known of them; see `docs`."""
    goal, vocab = get_span_target(target), Vocab() if vocab is None else vocab
    if known_name("unit", unit, Unit) == "document":
        parts = _whole(parts)
    for part, known in parts:
        layout = Layout.of(part, unit)
        made = _bare(part, layout, vocab)
        if isinstance(goal, ToSpanGroup):
            count = kept_layers(part, known)
            layers = [layer.placed(part, layout) for layer in group_layers(part, known, count)]
            for doc, group in zip(made, doc_groups(layers, layout.bounds, count > 0)):
                if group is not None:
                    spans = [DocSpan(doc, *span) for span in group.spans]
                    named = SpanGroup(doc, name=goal.key, attrs=group.attrs, spans=spans)
                    doc.spans[goal.key] = named
        else:
            layer = entity_layer(part, known).placed(part, layout)
            absent = Absent(layer.missing, layer.blocked)
            ToEntities().write_many(made, layer.of_docs(layout.bounds), absent, range(len(made)))
        yield from made


def _whole(parts: Iterable[tuple[Sentences, Known]]) -> Iterator[tuple[Sentences, Known]]:
    """Yield whole documents, with what is known of them."""
    for part in whole_documents(replace(part, given=known) for part, known in parts):
        assert part.given is not None, "it was given above"
        yield part, part.given


@dataclass(frozen=True, eq=False)
class Layout:
    """How the tokens of sentences lie in Docs.

    Doc `d` has the tokens `bounds[d]:bounds[d + 1]`, white space among them, and token `i` of the
    sentences is token `place[i]`. `spaces` are None if nobody knows them. `marks` say which tokens
    begin a sentence, if the Doc is `marked` with that. `document` is the number of the document
    among those that open here, -1 if it opened before.
    """

    words: Words
    spaces: Flags | None
    bounds: Offsets
    place: Offsets
    marks: Flags
    marked: Flags
    document: Offsets

    @cached_property
    def nearest(self) -> Offsets:
        """The token of the sentences that each token is, or stands behind; -1 if there is none.

        White space at the beginning of a Doc stands before it.
        """
        size = int(self.bounds[-1])
        found = np.full(size, -1, dtype=np.int64)
        found[self.place] = np.arange(len(self.place))
        found = np.maximum.accumulate(found)
        doc = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        own = np.searchsorted(self.place, self.bounds)  # the tokens before each Doc
        early = found < own[doc]
        found[early] = np.where(own[doc] < own[doc + 1], own[doc], -1)[early]
        return found

    @classmethod
    def of(cls, part: Sentences, unit: Unit) -> Layout:
        """Lay out sentences, one to a Doc or one document to a Doc."""
        first = _first_sentences(part, unit)
        document = np.searchsorted(part.opens, first, side="right") - 1
        several = np.append(True, np.diff(part.opens, append=len(part)) > 1)  # first: opened before
        marked, words, tokens = several[document + 1], part.words, part.offsets[first]
        place, bounds, spaces = np.arange(part.tokens), np.append(tokens, part.tokens), None
        if words.verbatim and words.texts is not None:
            words, spaces, bounds, place = _with_blanks(words, tokens, document)
        else:
            marked = np.ones(len(first), dtype=bool)
        empty = np.flatnonzero(words.begin == words.end)
        for at in np.searchsorted(place, empty[:1]).tolist():
            raise FileError(f"{part.place(at)}: a token is empty. Docs have no such tokens.")
        marks = np.zeros(len(words), dtype=bool)
        marks[place[part.offsets[:-1][np.diff(part.offsets) > 0]]] = True
        marks[bounds[:-1][np.diff(bounds) > 0]] = True
        return cls(words, spaces, bounds, place, marks, marked, document)


def _first_sentences(part: Sentences, unit: Unit) -> Offsets:
    """Return the sentences that begin a Doc; one without tokens only if its document has none."""
    if unit == "document":
        return np.union1d(part.opens, [0] if len(part) else []).astype(np.int64)
    filled = np.diff(part.offsets) > 0
    stops = part.offsets[np.append(part.opens[1:], len(part))] if len(part.opens) else part.opens
    filled[part.opens[stops == part.offsets[part.opens]]] = True
    return np.flatnonzero(filled)


def _with_blanks(
    words: Words, tokens: Offsets, document: Offsets
) -> tuple[Words, Flags, Offsets, Offsets]:
    """Return the words of Docs with the tokens of white space that make up the rest of their text.

    Docs begin with `tokens`, each in a document. Returned are words, the words that a space
    follows, where each Doc begins and the last one ends, and where each token is now.
    """
    assert words.texts is not None, "verbatim words know their texts"
    size, buffer = len(words), np.frombuffer(words.buffer + b"\n", dtype=np.uint8)
    begin, end = words.begin.astype(np.int64), words.end.astype(np.int64)
    stops = np.append(tokens, size)
    filled = np.diff(stops) > 0
    opens = np.append(True, document[1:] != document[:-1])[: len(document)] & (document >= 0)
    start = np.where(opens, words.texts[document], np.append(begin, 0)[tokens])
    stop = words.texts[document + 1] - 1
    same = document[1:] == document[:-1]
    stop[:-1][same] = start[1:][same]
    behind = np.append(begin[1:], 0)[:size]  # where the text behind each token ends
    behind[stops[1:][filled] - 1] = stop[filled]
    spaced = (behind > end) & (buffer[end] == ord(" "))
    gap_begin, gap = end + spaced, behind - end - spaced > 0
    # a token of white space: before the first token of a Doc, and behind any token
    lead = np.where(filled, np.append(begin, 0)[tokens], stop) > start
    leads = np.bincount(tokens[filled], weights=lead[filled], minlength=size).astype(np.int64)
    alone = lead & ~filled
    before = np.cumsum(leads) + np.concatenate([[0], np.cumsum(gap)])[:-1][:size]
    doc = np.repeat(np.arange(len(tokens)), np.diff(stops))
    place = np.arange(size) + before + np.cumsum(alone)[doc] if size else np.zeros(0, np.int64)
    counts = np.diff(stops) + lead
    counts += np.bincount(doc, weights=gap, minlength=len(tokens)).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    new_begin, new_end = np.zeros((2, int(bounds[-1])), dtype=np.int64)
    spaces = np.zeros(int(bounds[-1]), dtype=bool)
    new_begin[place], new_end[place], spaces[place] = begin, end, spaced
    new_begin[place[gap] + 1], new_end[place[gap] + 1] = gap_begin[gap], behind[gap]
    new_begin[bounds[:-1][lead]] = start[lead]
    new_end[bounds[:-1][lead]] = np.where(filled, np.append(begin, 0)[tokens], stop)[lead]
    return (
        Words(words.buffer, new_begin.astype(np.int32), new_end.astype(np.int32)),
        spaces,
        bounds,
        place,
    )


def _bare(part: Sentences, layout: Layout, vocab: Vocab) -> list[Doc]:
    """Return the Docs without spans, with what else is written of their documents."""
    words, marks, made = layout.words.strings(), layout.marks.tolist(), list[Doc]()
    spaces = None if layout.spaces is None else layout.spaces.tolist()
    marked, documents = layout.marked.tolist(), layout.document.tolist()
    for number, (begin, end) in enumerate(pairwise(layout.bounds.tolist())):
        doc = Doc(
            vocab,
            words=words[begin:end],
            spaces=None if spaces is None else spaces[begin:end],
            sent_starts=marks[begin:end] if marked[number] else None,
        )
        if 0 <= documents[number] < len(part.info) and part.info[documents[number]]:
            more = dict(part.info[documents[number]])
            doc.user_data[MORE] = json.dumps(more, ensure_ascii=False)
        made.append(doc)
    return made


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

    def placed(self, part: Sentences, layout: Layout) -> DocLayer:
        """Return the layer in Docs; white space that only these have is missing as what is near."""
        layer, place, near = self.in_place(part), layout.place, layout.nearest
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
        raise _overlap(part, known.spans)
    _require_labels(
        part,
        known.spans,
        "an entity of a Doc needs a label. Give these spans one, or put them into a span group "
        "(--output-spans-key), where they may go without.",
    )
    return SpanLayer(known.spans, _missing(known), known.blocked)


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
        _require_labels(part, known.spans, reason)
    return [SpanLayer(known.spans, _missing(known), known.blocked)]


def _missing(known: Known) -> Flags | None:
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


def _overlap(part: Sentences, spans: SpanColumns) -> OverlapError:
    """Return the error for the first two spans that share a token."""
    first, second = first_overlap(spans)
    pair, sentence = (spans.row(first), spans.row(second)), int(spans.sentence[second])
    said = (f"{x.label} {part.text(sentence, x.start, x.end)!r}" for x in pair)
    reason = (
        f"{' and '.join(said)} overlap, and entities cannot. Write a span group "
        "(--output-spans-key), or keep one of them."
    )
    message = part.shown(sentence, pair[1].start) + reason
    return OverlapError(message, pair, sentence, reason)


def _require_labels(part: Sentences, spans: SpanColumns, reason: str) -> None:
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
