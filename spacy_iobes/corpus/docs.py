"""Docs of spaCy from sentences of any source: this is the only place that makes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from ..arrays import Flags, Offsets
from ..codes.known import Known
from ..codes.policy import Policy, get_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from ..errors import FileError
from ..names import known_name
from .corpus import accepted
from .doc_layers import doc_groups, entity_layer, group_layers, kept_layers
from .formats.options import Unit
from .sentences import Sentences, whole_documents
from .sources import Entities, group_spans
from .tagged import TaggedDocs
from .targets import Absent, TagTarget, ToEntities, ToSpanGroup, get_span_target, get_tag_target
from .words import Words

GROUP = "sc"
"""The span group of mentions that may nest, unless another one is named."""
MORE = "iobes_json"
"""The key of `doc.user_data` for what else is written of a document, as JSON."""

TagColumn = Callable[[Sentences, Known], CodedTags | None]
"""Returns tags of the tokens of sentences; None if these have no such tags."""
NO_COLUMNS: Mapping[str, TagColumn] = MappingProxyType({})


def make_docs(
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
    a Doc without annotation has no span group. Whole Docs of a .spacy file keep all else that they
    have.
    """
    return docs_of(accepted(source, scheme, policy), vocab, target, unit)


def docs_of(
    parts: Iterable[tuple[Sentences, Known]],
    vocab: Vocab | None = None,
    target: str = "ents",
    unit: Unit = "sentence",
    columns: Mapping[str, TagColumn] = NO_COLUMNS,
) -> Iterator[Doc]:
    """Yield Docs of sentences with what is known of them; see `make_docs`.

    The tags of each of the `columns` go to a target as well: `tag` or `user_data`, for example.
    """
    goal, vocab = get_span_target(target), Vocab() if vocab is None else vocab
    if known_name("unit", unit, Unit) == "document":
        parts = in_documents(parts)
    for part, known in parts:
        layout = Layout.of(part, unit)
        made = _stored(part, vocab) if unit == "document" else []
        made = made or _bare(part, layout, vocab)
        if isinstance(goal, ToSpanGroup):
            count = kept_layers(part, known)
            every = group_layers(part, known, count)
            layers = [layer.placed(part, layout.place, layout.nearest) for layer in every]
            for doc, group in zip(made, doc_groups(layers, layout.bounds, count > 0)):
                if group is not None:
                    spans = [DocSpan(doc, *span) for span in group.spans]
                    named = SpanGroup(doc, name=goal.key, attrs=group.attrs, spans=spans)
                    doc.spans[goal.key] = named
        else:
            layer = entity_layer(part, known).placed(part, layout.place, layout.nearest)
            absent = Absent(layer.missing, layer.blocked)
            ToEntities().write_many(made, layer.of_docs(layout.bounds), absent, range(len(made)))
        for name, column in columns.items():
            if (tags := column(part, known)) is not None:
                layout.write(tags, made, get_tag_target(name))
        yield from made


def in_documents(parts: Iterable[tuple[Sentences, Known]]) -> Iterator[tuple[Sentences, Known]]:
    """Yield whole documents, with what is known of them."""
    for part in whole_documents(replace(part, given=known) for part, known in parts):
        assert part.given is not None, "it was given above"
        yield part, part.given


def doc_info(doc: Doc) -> dict[str, Any]:
    """Return what else its source has of the document of a Doc, such as an id."""
    found: dict[str, Any] = json.loads(doc.user_data.get(MORE, "{}"))
    return found


@dataclass(frozen=True, eq=False)
class Layout:
    """How the tokens of sentences lie in Docs.

    Doc `d` has the tokens `bounds[d]:bounds[d + 1]`, white space among them, and token `i` of the
    sentences is token `place[i]`. `spaces` are None if nobody knows them. `marks` say which tokens
    begin a sentence, if the Doc is `marked` with that. `document` is the number of the document
    among those that open here, -1 if it opened before, and `first` that of its first sentence.
    """

    words: Words
    spaces: Flags | None
    bounds: Offsets
    place: Offsets
    marks: Flags
    marked: Flags
    document: Offsets
    first: Offsets

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

    def inverse(self, spans: SpanColumns) -> tuple[SpanColumns, Flags]:
        """Return spans of the Docs as spans of all tokens of the sentences, and which are left.

        Those that cover nothing but white space that is no token there are not.
        """
        whole = np.array([0, self.bounds[-1]])
        flat = spans.regrouped(self.bounds, whole)
        start, end = (np.searchsorted(self.place, side) for side in (flat.start, flat.end))
        left = start < end
        columns = (flat.sentence, start.astype(np.int32), end.astype(np.int32), flat.label)
        return SpanColumns.trusted((x[left] for x in columns), flat.labels, 1), left

    def write(self, tags: CodedTags, docs: Sequence[Doc], target: TagTarget) -> None:
        """Write the tags of sentences to their Docs, where other tokens have the tag O."""
        every = ["O"] * len(self.words)
        for at, code in zip(self.place.tolist(), tags.codes.tolist()):
            every[at] = tags.tags[code]
        for doc, (begin, end) in zip(docs, pairwise(self.bounds.tolist())):
            target.write(doc, every[begin:end])

    @classmethod
    def of(cls, part: Sentences, unit: Unit) -> Layout:
        """Lay out sentences, one to a Doc or one document to a Doc."""
        first = _first_sentences(part, unit)
        document = np.searchsorted(part.opens, first, side="right") - 1
        several = np.append(True, np.diff(part.opens, append=len(part)) > 1)  # first: opened before
        marked, words, tokens = several[document + 1], part.words, part.offsets[first]
        place, bounds, spaces = np.arange(part.tokens), np.append(tokens, part.tokens), None
        if words.verbatim and words.texts is not None:
            words, spaces, bounds, place = _with_blanks(words, tokens, document, unit)
        else:
            marked = np.ones(len(first), dtype=bool)
        empty = np.flatnonzero(words.begin == words.end)
        for at in np.searchsorted(place, empty[:1]).tolist():
            raise FileError(f"{part.place(at)}: a token is empty. Docs have no such tokens.")
        marks = np.zeros(len(words), dtype=bool)
        marks[place[part.offsets[:-1][np.diff(part.offsets) > 0]]] = True
        marks[place[tokens[np.diff(tokens, append=part.tokens) > 0]]] = False
        marks[bounds[:-1][np.diff(bounds) > 0]] = True  # white space before the first of them
        return cls(words, spaces, bounds, place, marks, marked, document, first)


def _first_sentences(part: Sentences, unit: Unit) -> Offsets:
    """Return the sentences that begin a Doc; one without tokens only if its document has none."""
    if unit == "document":
        return np.union1d(part.opens, [0] if len(part) else []).astype(np.int64)
    filled = np.diff(part.offsets) > 0
    stops = part.offsets[np.append(part.opens[1:], len(part))] if len(part.opens) else part.opens
    filled[part.opens[stops == part.offsets[part.opens]]] = True
    return np.flatnonzero(filled)


def _with_blanks(
    words: Words, tokens: Offsets, document: Offsets, unit: Unit
) -> tuple[Words, Flags, Offsets, Offsets]:
    """Return the words of Docs with the tokens of white space that make up the rest of their text.

    Docs begin with `tokens`, each in a document. Returned are the words, which of them a space
    follows, where each Doc begins and the last one ends, and where each token is now.
    """
    assert words.texts is not None, "verbatim words know their texts"
    begin, end = words.begin.astype(np.int64), words.end.astype(np.int64)
    stops, behind = np.append(tokens, len(begin)), np.append(begin, 0)
    start, stop = behind[tokens], words.texts[document + 1] - 1
    opens = np.diff(document, prepend=-1) > 0
    start[opens] = words.texts[document[opens]]
    stop[:-1][~opens[1:]] = start[1:][~opens[1:]]
    if unit == "sentence" and len(begin):  # the rest of the text may be that of sentences cut off
        rest = words.buffer[end[-1] : stop[-1]].decode("utf8", "surrogatepass").lstrip()
        stop[-1] -= len(rest.encode("utf8", "surrogatepass"))
    filled = np.diff(stops) > 0
    first, behind = np.where(filled, behind[tokens], stop), behind[1:]
    behind[stops[1:][filled] - 1] = stop[filled]
    spaced = np.frombuffer(words.buffer + b"\n", dtype=np.uint8)[end] == ord(" ")
    spaced &= behind > end
    # each token between two gaps, and a gap before the first one of each Doc
    number = np.arange(len(tokens))
    lead, at = (
        2 * tokens + number,
        2 * np.arange(len(begin)) + np.repeat(number, np.diff(stops)) + 1,
    )
    left, right = np.zeros((2, len(at) + len(at) + len(lead)), dtype=np.int64)
    spaces = np.zeros(len(left), dtype=bool)
    left[lead], right[lead] = start, first
    left[at], right[at], spaces[at] = begin, end, spaced
    left[at + 1], right[at + 1] = end + spaced, behind
    kept = right > left
    kept[at] = True
    before = np.append(0, np.cumsum(kept))
    bounds = before[np.append(lead, len(kept))]
    made = Words(words.buffer, left[kept].astype(np.int32), right[kept].astype(np.int32))
    return made, spaces[kept], bounds, before[at]


def bare_docs(part: Sentences, vocab: Vocab, unit: Unit = "sentence") -> tuple[list[Doc], Layout]:
    """Return Docs of sentences without spans, and how the tokens lie in them.

    They have what else is written of their documents.
    """
    layout = Layout.of(part, unit)
    return _bare(part, layout, vocab), layout


def _stored(part: Sentences, vocab: Vocab) -> list[Doc]:
    """Return the Docs that whole documents were in already; none if they were in none."""
    docs: Callable[[Vocab, int, int], list[Doc]] | None = getattr(part.origin, "docs", None)
    if docs is None or not len(part.opens) or part.opens[0]:
        return []
    return docs(vocab, part.before[0], part.before[0] + len(part.opens))


def _bare(part: Sentences, layout: Layout, vocab: Vocab) -> list[Doc]:
    """Return the Docs without spans, with what else is written of their documents."""
    words, marks, made = layout.words.strings(), layout.marks.tolist(), list[Doc]()
    spaces = None if layout.spaces is None else layout.spaces.tolist()
    marked, documents = layout.marked.tolist(), layout.document.tolist()
    sizes = np.stack([layout.first, np.diff(layout.first, append=len(part))], axis=1).tolist()
    for number, (begin, end) in enumerate(pairwise(layout.bounds.tolist())):
        doc = Doc(
            vocab,
            words=words[begin:end],
            spaces=None if spaces is None else spaces[begin:end],
            sent_starts=marks[begin:end] if marked[number] else None,
        )
        known = 0 <= documents[number] < len(part.info)
        more = dict(part.info[documents[number]]) if known else {}
        more |= part.note(*sizes[number])
        if more:
            doc.user_data[MORE] = json.dumps(more, ensure_ascii=False)
        made.append(doc)
    return made


def spans_of(docs: Sequence[Doc], target: str = "ents") -> SpanColumns:
    """Return the spans of Docs: their entities, or those of a group, `spans:KEY`, each once."""
    goal = get_span_target(target)
    if not isinstance(goal, ToSpanGroup):
        found = TaggedDocs.read(docs, Entities(), get_scheme("bio"))
        return found.spans(get_policy("raise"))
    every = ({span for span in group_spans(doc, goal.key) if span.start < span.end} for doc in docs)
    return SpanColumns.of(list(every), list(map(len, docs)))
