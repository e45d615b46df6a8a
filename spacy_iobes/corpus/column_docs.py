"""Docs from the sentences of column files: one for each sentence, or one for each document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, get_args

from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from ..codes.violation import MISSING
from ..errors import UnknownNameError
from ..span import Span
from .file_sentences import Layer, Sentence
from .layers import ABSENT_TAGS, COUNT, LAYERS
from .sources import TAGS

DocUnit = Literal["sentence", "document"]


def require_unit(name: str) -> DocUnit:
    """The name of a unit, if it is one."""
    for unit in get_args(DocUnit):
        if name == unit:
            return unit  # type: ignore[no-any-return]
    known = get_args(DocUnit)
    raise UnknownNameError(f"Unknown unit {name!r}. Known: {', '.join(known)}.", name, known)


def grouped(sentences: Iterable[Sentence], unit: DocUnit) -> Iterator[list[Sentence]]:
    """The sentences of each Doc."""
    held: list[Sentence] = []
    for sentence in sentences:
        if held and (unit == "sentence" or sentence.opens):
            yield held
            held = []
        held.append(sentence)
    if held:
        yield held


def joined(sentences: Sequence[Sentence], number: int = 0) -> Layer:
    """One layer of sentences in a row as that of one Doc."""
    whole = Layer([], [], [], [], [])
    for sentence in sentences:
        layer, at = sentence.layers[number], len(whole.tags)
        whole.spans.extend(Span(start + at, end + at, label) for start, end, label in layer.spans)
        whole.missing.extend(index + at for index in layer.missing)
        whole.blocked.extend(index + at for index in layer.blocked)
        whole.rewritten.extend(layer.rewritten)
        whole.tags.extend(layer.tags)
    return whole


def bare_doc(vocab: Vocab, sentences: Sequence[Sentence]) -> Doc:
    """A Doc with words and sentences, but no spans."""
    words = [word for sentence in sentences for word in sentence.words]
    starts: list[bool | int | None] = [
        not index for sentence in sentences for index in range(len(sentence.words))
    ]
    return Doc(vocab, words=words, sent_starts=starts)


def entity_doc(vocab: Vocab, sentences: Sequence[Sentence]) -> Doc:
    """A Doc whose entities are the spans; the tags of the file go to its user data.

    Where the tags were also written in another scheme, `token.tag_` has them: it is empty for a
    token that is missing, so that nothing is learnt from it.
    """
    doc, layer = bare_doc(vocab, sentences), joined(sentences)
    entities = [DocSpan(doc, start, end, label) for start, end, label in layer.spans]
    missing, blocked = ([doc[i : i + 1] for i in some] for some in (layer.missing, layer.blocked))
    doc.set_ents(entities, missing=missing, blocked=blocked, default="outside")
    doc.user_data[TAGS] = layer.tags
    for token, old, new in zip(doc, layer.tags, layer.rewritten):
        token.tag_ = "" if old == MISSING else new
    return doc


def group_doc(vocab: Vocab, sentences: Sequence[Sentence], key: str) -> Doc:
    """A Doc with the spans of every layer in one group.

    The attributes of the group say which layer each span is from, how many layers there are, and
    which tokens of which layer are missing and blocked.
    """
    doc = bare_doc(vocab, sentences)
    layers = [joined(sentences, number) for number in range(len(sentences[0].layers))]
    rows = [(span, number) for number, layer in enumerate(layers) for span in layer.spans]
    rows.sort(key=lambda row: (row[0].start, -row[0].end, row[1]))
    attrs: dict[str, Any] = {LAYERS: [number for _, number in rows], COUNT: len(layers)}
    for name, wanted in ABSENT_TAGS.items():
        tags = [(n, i, tag) for n, layer in enumerate(layers) for i, tag in enumerate(layer.tags)]
        if absent := [[n, i] for n, i, tag in tags if tag == wanted]:
            attrs[name] = absent
    spans = [DocSpan(doc, start, end, label) for (start, end, label), _ in rows]
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)
    return doc
