"""What a pipeline takes for a Doc: a sentence, or a document whose sentences are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from ..corpus.corpus import Corpus
from ..corpus.docs import Layout, bare_docs
from ..corpus.formats.columns import document_starts
from ..corpus.formats.options import ReadOptions, Unit
from ..corpus.sentences import Sentences, whole_documents
from ..corpus.texts import tokens_by
from ..errors import SpanRangeError
from ..ml.hashed_features import NAME, parts_of
from ..span import Span
from .ner import EntityRecognizer


def looks_at_documents(nlp: Language) -> bool:
    """Whether features of a component look at other places of the Doc (`document = true`)."""
    models = [getattr(pipe, "model", None) for _, pipe in nlp.pipeline]
    nodes = [node for model in models if isinstance(model, Model) for node in model.walk()]
    return any(parts_of(node)[1].document for node in nodes if node.name == NAME)


def takes_documents(nlp: Language) -> bool:
    """Whether a trained pipeline does best on documents: its features look at them.

    Unless its config says that what it learned from column files were their sentences.
    """
    corpora = nlp.config.get("corpora") or {}
    reader = corpora.get("train")
    sentences = isinstance(reader, dict) and reader.get("unit") == "sentence"
    return looks_at_documents(nlp) and not sentences


def reading(nlp: Language, how: ReadOptions) -> ReadOptions:
    """Return how a pipeline reads files: texts cut by its tokenizer, without annotation."""
    return replace(how, tokenizer=tokens_by(nlp.tokenizer), annotated=False)


@dataclass(frozen=True)
class PipelineDocs:
    """Makes the Docs that a pipeline takes of the sentences of a file.

    A Doc is a document. In formats where these are marked, it is a sentence, unless the pipeline
    takes documents: then those behind the first mark are Docs, and each sentence before it.
    """

    vocab: Vocab
    unit: Unit
    marked: bool

    @classmethod
    def of(cls, nlp: Language, corpus: Corpus) -> PipelineDocs:
        """Return what makes the Docs of a file."""
        marked = corpus.format.marked
        joined = takes_documents(nlp) and corpus.options.documents == "markers"
        columns = corpus.format.name == "columns"
        return cls(
            nlp.vocab, "sentence" if marked and not (joined and columns) else "document", marked
        )

    def of_parts(self, parts: Iterable[Sentences]) -> Iterator[tuple[Sentences, list[Doc], Layout]]:
        """Yield sentences, which are whole documents if these are Docs, with their Docs."""
        if self.unit == "document":
            parts = whole_documents(_opened(parts) if self.marked else parts)
        for part in filter(len, parts):
            yield part, *bare_docs(part, self.vocab, self.unit)


class DocSentence(NamedTuple):
    """A sentence of a file, by its number, and which tokens of a Doc it has."""

    number: int
    start: int
    end: int

    def place(self, span: Span) -> Span:
        """Return where a span of the sentence is in the Doc."""
        start, end, label = span
        size = self.end - self.start
        if not 0 <= start < end <= size:
            reason = f"{tuple(span)} is no span of {size} tokens: 0 <= start < end <= {size}."
            raise SpanRangeError(f"Sentence {self.number}: {reason}", [span])
        return Span(start + self.start, end + self.start, label)


def docs_with_sentences(nlp: Language, corpus: Corpus) -> Iterator[tuple[Doc, list[DocSentence]]]:
    """Yield the Docs that a pipeline takes of a file, with their sentences."""
    number = 0
    with sentence_bound(nlp) if corpus.format.marked else nullcontext():
        for part, docs, layout in PipelineDocs.of(nlp, corpus).of_parts(corpus):
            for doc, found in zip(docs, _sentences_in(part, layout, number)):
                yield doc, found
                number += len(found)


def _sentences_in(part: Sentences, layout: Layout, number: int) -> Iterator[list[DocSentence]]:
    """Yield the sentences of each Doc, which are counted from a number on."""
    filled = np.flatnonzero(np.diff(part.offsets))
    first = layout.place[part.offsets[filled]]
    last = layout.place[part.offsets[filled + 1] - 1] + 1
    ends = np.searchsorted(first, layout.bounds)
    for begin, (a, b) in zip(layout.bounds.tolist(), pairwise(ends.tolist())):
        places = zip(range(number + a, number + b), first[a:b].tolist(), last[a:b].tolist())
        yield [DocSentence(at, start - begin, end - begin) for at, start, end in places]


def _opened(parts: Iterable[Sentences]) -> Iterator[Sentences]:
    """Yield the parts of a column file, in which sentences before the first mark are documents."""
    marked = False
    for part in parts:
        if not marked:
            starts = document_starts(part.origin.part)
            alone = np.arange(min(starts, default=len(part)))
            yield replace(part, opens=np.union1d(alone, part.opens).astype(np.int64))
            marked = bool(starts)
        else:
            yield part


@contextmanager
def sentence_bound(nlp: Language) -> Iterator[None]:
    """Let no entity of a recogniser leave its sentence meanwhile: tags could not say it."""
    ours = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, EntityRecognizer)]
    before = [pipe.sentence_bound for pipe in ours]
    try:
        for pipe in ours:
            pipe.sentence_bound = True
        yield
    finally:
        for pipe, bound in zip(ours, before):
            pipe.sentence_bound = bound
