"""Docs with the nested mentions that a pipeline finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.nested_joined import joined
from ..errors import ModelError
from .nested_ner import NestedRecognizer


def finds_nested(nlp: Language) -> bool:
    """Whether a pipeline finds nested mentions and, as far as its components say, no entities."""
    ours = any(isinstance(pipe, NestedRecognizer) for _, pipe in nlp.pipeline)
    return ours and not any("doc.ents" in nlp.get_pipe_meta(n).assigns for n in nlp.pipe_names)


def group_of(nlp: Language) -> str:
    """The span group of the last recogniser of nested mentions."""
    ours = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, NestedRecognizer)]
    if not ours:
        known = ", ".join(nlp.pipe_names) or "none"
        raise ModelError(
            f"The pipeline has no recogniser of nested mentions. It has: {known}. Name one that "
            "'train --nested' has made, or the span group that a component writes (--spans-key)."
        )
    return ours[-1].spans_key


def predicted_docs(
    nlp: Language, documents: Iterable[Sequence[Doc]], key: str, whole: bool = False
) -> list[Doc]:
    """What a pipeline makes of Docs; with `whole`, each document comes back as one Doc."""
    sizes = list[int]()

    def every() -> Iterator[Doc]:
        for docs in documents:
            sizes.append(len(docs))
            yield from docs

    found = list(nlp.pipe(every()))
    if any(map(len, found)) and not any(key in doc.spans for doc in found):
        known = ", ".join(nlp.pipe_names) or "none"
        raise ModelError(f"No component writes the span group {key!r}. There are: {known}.")
    if not whole:
        return found
    rest = iter(found)
    groups = ([next(rest) for _ in range(size)] for size in sizes)
    return [docs[0] if len(docs) == 1 else joined(docs, key) for docs in groups]
