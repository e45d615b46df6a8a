"""What recognisers that learn have in common: labels, initialisation, training, storage."""

# no `from __future__ import annotations`: spaCy reads the types of `initialize` as they are

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from random import Random
from typing import Any, cast

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.training.batchers import minibatch_by_words
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer

from ..corpus.sources import shown
from ..errors import ModelError
from ..ml.feature_table import FeatureTable
from .doc_pipe import Scorer

SAMPLE = 10  # Docs that a model is initialised with


class Recognizer(TrainablePipe):  # type: ignore[misc]
    """A trainable component over labels, which live in its `cfg` and so are stored with it."""

    def __init__(self, vocab: Vocab, model: Model[Any, Any], name: str, scorer: Scorer | None):
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": []}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order in which they were added."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """What `spacy init labels` stores and `initialize` takes."""
        return self.labels

    def add_label(self, label: str) -> int:
        """Add a label; returns 0 if it was there already, else 1."""
        if not isinstance(label, str) or not label:
            raise ValueError(Errors.E187)
        if label in self.labels:
            return 0
        self.cfg["labels"] = [*self.labels, label]
        self.vocab.strings.add(label)
        if self.model.has_ref("output_layer") and self.model.get_ref("output_layer").has_dim("nO"):
            self.resize()
        return 1

    def resize(self) -> None:
        """Fit the model to the labels."""
        raise NotImplementedError

    def labels_in(self, examples: Iterable[Example]) -> Iterable[str]:
        """The labels that occur in the references."""
        raise NotImplementedError

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Take the labels that are given, or all that occur, and fit the model to them."""
        method, given = f"{type(self).__name__}.initialize", cast(Any, get_examples)
        if not callable(given) or not (found := given()):
            raise TypeError(Errors.E930.format(method=method, obj=type(given)))
        if isinstance(labels, str):
            raise TypeError(f"Labels are a list, even if there is one: [{labels!r}].")
        examples = validated(found, method)  # which are read only once
        first = list(islice(examples, SAMPLE))
        if labels is None:
            labels = list(self.labels_in(chain(first, examples)))
        for label in labels:
            self.add_label(label)
        self.resize()
        if not first:
            raise ValueError(Errors.E923.format(name=self.name))
        sample = [example.reference for example in first]
        self.model.initialize(X=sample)

    def learn(
        self,
        examples: Iterable[Example],
        *,
        epochs: int = 10,
        words: int = 120,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        seed: int = 0,
    ) -> list[float]:
        """Go on from what is known with new examples, and no others; returns the loss of each pass.

        New labels are added. The examples are shuffled with `seed` before each of the passes and
        come in batches of about so many `words`. `sgd` is for what is no hashed feature; without
        one, there is a new optimizer with the settings that spaCy begins with.
        """
        method = f"{type(self).__name__}.learn"
        known = list(validated(examples, method))
        self.require_alone(method)
        for label in self.labels_in(known):
            self.add_label(label)
        for node in self.model.walk():
            for shim in node.shims:
                if isinstance(shim, FeatureTable):
                    shim.go_on()
        optimizer = self.create_optimizer() if sgd is None else sgd
        random, losses = Random(seed), list[float]()
        for _ in range(epochs):
            random.shuffle(known)
            mine: dict[str, float] = {self.name: 0.0}
            for batch in minibatch_by_words(known, words):
                self.update(batch, drop=drop, sgd=optimizer, losses=mine)
            losses.append(mine[self.name])
        return losses

    def require_alone(self, method: str) -> None:
        """Refuse to learn without the component that the model listens to."""
        heard = [node.name for node in self.model.walk() if "listener" in node.name]
        if heard:
            raise ModelError(
                f"{self.name} listens to a component before it ({heard[0]}), which {method} does "
                "not run: go on with nlp.resume_training() and nlp.update(examples), or with "
                "'spacy train'."
            )

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "Recognizer":
        """Load the component; a model that does not fit its labels is refused."""
        with self._loading():
            super().from_bytes(bytes_data, exclude=exclude)
        self.require_sound()
        return self

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "Recognizer":
        """Load the component; a model that does not fit its labels is refused."""
        with self._loading():
            super().from_disk(path, exclude=exclude)
        self.require_sound()
        return self

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """A model that does not fit into this component is refused in words."""
        try:
            yield
        except ValueError as error:
            raise ModelError(
                f"{self.name}: what is stored does not load into this component: "
                f"{str(error).rstrip('.')}. If it has other labels or layers, load it into a "
                "component that is not initialised."
            ) from error

    def require_sound(self) -> None:
        """Refuse a model with numbers that are none, or for another set of labels."""
        for node in self.model.walk():
            for name in node.param_names:
                if node.has_param(name) and not _finite(node.get_param(name)):
                    raise ModelError(
                        f"{self.name}: the parameter {name!r} of the layer {node.name!r} holds NaN "
                        "or infinite values. The stored model is damaged, or training diverged: "
                        "load another one, or train with a lower learning rate."
                    )


def validated(examples: Iterable[Example], method: str) -> Iterator[Example]:
    """The examples; what is none is refused."""
    for example in examples:
        validate_examples([example], method)
        yield example


def _finite(array: Any) -> bool:
    host = array if isinstance(array, np.ndarray) else array.get()
    return bool(np.isfinite(host).all())


def require_heard(model: Model[Any, Any], docs: Iterable[Doc], name: str) -> None:
    """Refuse Docs without the vectors that a listener needs, which would take them for 0."""
    heard = [has_vectors(node) for node in model.walk() if "listener" in node.name]
    for doc in docs:
        if len(doc) and not all(has(doc) for has in heard):
            raise ModelError(
                f"{name} listens to a component before it, and {shown(doc)} has not been through "
                "that one: ask about Docs from nlp(text)."
            )


def has_vectors(listener: Model[Any, Any]) -> Callable[[Doc], bool]:
    """How to tell whether a Doc has what a listener of spaCy or its transformers listens to."""
    if isinstance(listener, Tok2VecListener):
        return lambda doc: len(doc.tensor) == len(doc)
    return lambda doc: not Doc.has_extension("trf_data") or doc._.trf_data is not None
