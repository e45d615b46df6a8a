"""Documents as Docs, and the training of a pipeline within a budget of CPU time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from random import Random
from time import process_time

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.training import Example
from spacy.util import filter_spans
from spacy.vocab import Vocab
from thinc.api import Optimizer, fix_random_seed

from .nested_ner_corpora import Document
from .nested_ner_systems import CANDIDATES, KEY, System


@dataclass
class Trained:
    """A pipeline, its optimizer, the CPU time that its training took and the words that it saw."""

    nlp: Language
    optimizer: Optimizer
    seconds: float
    words: int


def ready(vocab: Vocab, document: Document) -> Doc:
    """A Doc that knows its sentences, and no mention."""
    words = [word for tokens, _ in document for word in tokens]
    starts: list[bool | int | None] = [
        number == 0 for tokens, _ in document for number in range(len(tokens))
    ]
    return Doc(vocab, words=words, sent_starts=starts)


def reference(vocab: Vocab, document: Document) -> Doc:
    """A Doc with all mentions as spans, and the outermost ones as entities."""
    doc, base = ready(vocab, document), 0
    found = set[tuple[int, int, str]]()
    for words, layers in document:
        spans = (span for layer in layers for span in layer)
        found |= {(base + start, base + end, label) for start, end, label in spans}
        base += len(words)
    mentions = [DocSpan(doc, *mention) for mention in sorted(found)]
    doc.spans[KEY] = mentions
    doc.spans[CANDIDATES] = mentions
    doc.set_ents(filter_spans(mentions))
    return doc


def examples(nlp: Language, documents: Iterable[Document]) -> list[Example]:
    """Ready Docs with their references."""
    vocab = nlp.vocab
    return [Example(ready(vocab, document), reference(vocab, document)) for document in documents]


def batches(rows: list[Example], words: int, seed: int, epochs: int) -> Iterator[list[Example]]:
    """Docs of about so many words, each epoch in another order; 0 epochs are endless."""
    chance, mixed = Random(seed), list(rows)
    for _ in range(epochs) if epochs else count():
        chance.shuffle(mixed)
        batch: list[Example] = []
        size = 0
        for example in mixed:
            batch.append(example)
            size += len(example.predicted)
            if size >= words:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def train(
    system: System, language: str, documents: list[Document], seed: int, budget: float
) -> Trained:
    """Train from scratch: a hashed encoder for its epochs, others until the budget is spent.

    With the budget the learning rate goes down to nothing.
    """
    fix_random_seed(seed)
    nlp = system.pipeline(language)
    rows = examples(nlp, documents)
    nlp.initialize(lambda: rows)
    optimizer = system.optimizer()
    begin, seen, time = process_time(), 0, budget * system.cnns
    for batch in batches(rows, system.words, seed, system.epochs if system.hashed else 0):
        nlp.update(batch, drop=system.drop, sgd=optimizer, annotates=system.annotates)
        seen += sum(len(example.predicted) for example in batch)
        if not system.hashed:
            left = 1 - (process_time() - begin) / time
            if left <= 0:
                break
            optimizer.learn_rate = system.rate * left
    return Trained(nlp, optimizer, process_time() - begin, seen)
