"""What the components that have nothing to learn share: work in batches, errors by Doc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

Scorer = Callable[[Iterable[Example]], dict[str, Any]]


class DocPipe(Pipe):
    """A component that annotates a batch of Docs, all of them or, if one is at fault, none."""

    def __init__(self, name: str, scorer: Scorer | None = None):
        self.name = name
        self.scorer = scorer

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Do the work; an error leaves every Doc as it was."""
        raise NotImplementedError

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc."""
        try:
            self.annotate([doc])
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of Docs; one that is at fault goes alone to the error handler."""
        for docs in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            try:
                self.annotate(docs)
            except Exception:
                yield from self._one_by_one(docs)
            else:
                yield from docs

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        handle = self.get_error_handler()
        for doc in docs:
            try:
                self.annotate([doc])
            except Exception as error:
                handle(self.name, self, [doc], error)
            else:
                yield doc
