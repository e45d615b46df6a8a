"""Small sessions on generated documents, and the answers that they should get."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import Span
from spacy_iobes.generate import GeneratedSentence, generated
from spacy_iobes.selection import Pool, Session, Settings

KEY = "sc"


def sentences(count: int, seed: int = 0) -> list[GeneratedSentence]:
    return list(islice(generated(seed), count))


def mentions(sentence: GeneratedSentence, nested: bool) -> list[Span]:
    layers = sentence.layers if nested else sentence.layers[:1]
    return sorted(span for layer in layers for span in layer)


def docs(some: Sequence[GeneratedSentence], nested: bool = False) -> list[Doc]:
    """A Doc for each document."""
    vocab, found, held = Vocab(), list[Doc](), list[GeneratedSentence]()
    for sentence in [*some, None]:
        if held and (sentence is None or sentence.opens):
            found.append(_doc(vocab, held, nested))
            held = []
        if sentence is not None:
            held.append(sentence)
    return found


def _doc(vocab: Vocab, held: Sequence[GeneratedSentence], nested: bool) -> Doc:
    starts: list[bool | int | None] = [not i for each in held for i in range(len(each.words))]
    doc = Doc(vocab, words=[word for each in held for word in each.words], sent_starts=starts)
    spans, at = list[DocSpan](), 0
    for each in held:
        every = mentions(each, nested)
        spans += (DocSpan(doc, start + at, end + at, label) for start, end, label in every)
        at += len(each.words)
    if nested:
        doc.spans[KEY] = SpanGroup(doc, name=KEY, spans=spans)
    else:
        doc.set_ents(spans)
    return doc


def pool_of(some: Sequence[GeneratedSentence], labels: Sequence[str], nested: bool = False) -> Pool:
    return Pool.of(docs(some, nested), labels, nested=nested)


def gold_of(
    some: Sequence[GeneratedSentence], labels: Sequence[str], nested: bool = False
) -> list[list[Span]]:
    """The mentions to find in each sentence, straight from the generator."""
    return [[span for span in mentions(each, nested) if span.label in labels] for each in some]


def small(
    folder: Path,
    count: int = 30,
    labels: Sequence[str] = ("PER", "LOC"),
    nested: bool = False,
    keep: bool = False,
    **settings: Any,
) -> Session:
    """A new session; its batches are small unless somebody says otherwise."""
    chosen = Settings(tuple(labels), **{"batch": 8, "audit": 0.25, **settings})
    return Session.create(folder, pool_of(sentences(count), labels, nested), chosen, keep)


def answer_all(session: Session, gold: Sequence[Sequence[Span]]) -> None:
    """Read to the end."""
    while True:
        task = session.task()
        if task is None:
            session.wait()
            task = session.task()
        if task is None:
            return
        session.decide(task.sentence, "accept", gold[task.sentence])
