"""Docs of texts with mentions: the text to the last character, the mentions in a span group."""

from __future__ import annotations

import json
from bisect import bisect_left
from itertools import pairwise
from typing import Any

from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from .doc_lines import SPACES
from .nested_text import NestedText

MORE = "iobes_json"
"""The key of `doc.user_data` for what else was told of a text, as JSON."""


def text_doc(vocab: Vocab, text: NestedText, key: str, entities: bool = False) -> Doc:
    """A Doc with the same text; as in spaCy, white space but single spaces makes tokens, too.

    Without annotation it has no span group. With `entities`, mentions of which none overlap are
    entities, too; else those are missing.
    """
    words, spaces, places = list[str](), list[bool](), list[int]()
    end = 0
    for begin, stop in [*text.tokens, (len(text.text), len(text.text))]:
        between = text.text[end:begin]
        if words and not spaces[-1] and between.startswith(" "):
            spaces[-1], between = True, between[1:]
        if between:
            words.append(between)
            spaces.append(False)
        if begin < stop:
            places.append(len(words))
            words.append(text.text[begin:stop])
            spaces.append(False)
        end = stop
    starts = {places[at] for at in text.starts[1:]} | {0}
    marks: list[bool | int | None] = [index in starts for index in range(len(words))]
    doc = Doc(vocab, words=words, spaces=spaces, sent_starts=marks if text.starts else None)
    if text.more:
        doc.user_data[MORE] = json.dumps(text.more, ensure_ascii=False)
    spans = [
        DocSpan(doc, places[span.start], places[span.end - 1] + 1, span.label)
        for span in sorted(text.spans, key=lambda span: (span.start, -span.end, span.label))
    ]
    if not text.annotated:
        return doc
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans)
    if entities and all(one.end <= other.start for one, other in pairwise(spans)):
        doc.set_ents(spans, default="outside")
    return doc


def token_lines(doc: Doc, text: NestedText) -> list[int]:
    """The line of the file that each token of such a Doc is on."""
    if not text.standoff:
        return [text.line] * len(doc)
    lines, line = list[int](), text.line
    for token in doc:
        lines.append(line)
        line += token.text.count("\n")
    return lines


def without_spaces(doc: Doc) -> Doc:
    """The same Doc without tokens of white space; a span of nothing else has no tokens then."""
    kept = [token.i for token in doc if token.text.strip(SPACES)]
    if len(kept) == len(doc):
        return doc
    before = [bisect_left(kept, i) for i in range(len(doc) + 1)]
    words = [doc[i].text for i in kept]
    rest: Any = doc.to_array([ENT_IOB, ENT_TYPE])
    bare = Doc(doc.vocab, words=words, sent_starts=_starts(doc, before, len(kept)))
    bare.from_array([ENT_IOB, ENT_TYPE], rest[kept])
    for key, group in doc.spans.items():
        spans = [DocSpan(bare, before[s.start], before[s.end], s.label) for s in group]
        bare.spans[key] = SpanGroup(bare, name=key, spans=spans, attrs=dict(group.attrs))
    return bare


def _starts(doc: Doc, before: list[int], size: int) -> list[bool | int | None] | None:
    """The sentence starts of what is left of a Doc."""
    if not doc.has_annotation("SENT_START"):
        return None
    starts = {before[token.i] for token in doc if token.is_sent_start}
    return [index in starts for index in range(size)]
