"""What a pipeline takes for a Doc: a sentence, or a document whose sentences are known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spacy.language import Language
from thinc.api import Model

from ..ml.hashed_features import NAME, parts_of
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
