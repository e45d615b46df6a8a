"""Small recognisers for tests, and what their models say, summed over every tag sequence by hand.

Which sequences are legal, and which spans they have, comes from `by_hand`, not from the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, fix_random_seed

from spacy_iobes import Span
from spacy_iobes.ml import build_chain_tagger
from spacy_iobes.pipeline import EntityRecognizer

from . import by_hand
from .docs import BLANK, VOCAB, bare, with_entities

Floats = NDArray[np.float64]
Parameters = dict[str, Floats]
LABELS = ("X", "Y")
WIDTH = 2  # of the vectors that `encoder` gives
NAMES = ("W", "b", "start", "step", "stop")

CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 16,
    "depth": 1,
    "embed_size": 128,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
SENTENCES = (
    ("Anna lives in New York .", "B-PER O O B-LOC I-LOC O"),
    ("New York likes Anna Lee .", "B-LOC I-LOC O B-PER I-PER O"),
    ("Lee is in Paris .", "B-PER O O B-LOC O"),
)


# pipelines that learn


def make(**config: Any) -> Language:
    """A pipeline with a small recogniser, the same one every time."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_ner", config={"model": {"tok2vec": CNN}, **config})
    return nlp


def ner(nlp: Language) -> EntityRecognizer:
    """The recogniser of a pipeline."""
    pipe = nlp.get_pipe("iobes_ner")
    assert isinstance(pipe, EntityRecognizer)
    return pipe


def example(tags: Sequence[str], words: Sequence[str] = ()) -> Example:
    """An example with these BIO tags, `-` missing and `!` blocked, in its reference."""
    marks = with_entities(tags, BLANK.vocab)
    texts = list(words) or [token.text for token in marks]
    attributes: list[int | str] = ["ENT_IOB", "ENT_TYPE"]
    stored: Any = marks.to_array(attributes)
    reference = Doc(BLANK.vocab, words=texts).from_array(attributes, stored)
    return Example(Doc(BLANK.vocab, words=texts), reference)


def examples() -> list[Example]:
    """What recognisers learn here."""
    return [example(tags.split(), text.split()) for text, tags in SENTENCES]


def learn(nlp: Language, pairs: Sequence[Example], steps: int = 30) -> Language:
    """Initialise a pipeline and train it."""
    optimizer = nlp.initialize(lambda: pairs)
    optimizer.learn_rate = 0.03
    for _ in range(steps):
        nlp.update(pairs, sgd=optimizer)
    return nlp


def entities(docs: Iterable[Doc]) -> list[list[tuple[int, int, str]]]:
    """The entities of each Doc."""
    return [[(ent.start, ent.end, ent.label_) for ent in doc.ents] for doc in docs]


# a recogniser whose every number is known


def vectors(doc: Doc) -> NDArray[np.float32]:
    """A vector for each token that depends on its text alone."""
    rows = [_vector(token.text) for token in doc]
    return np.array(rows, dtype=np.float32).reshape(-1, WIDTH)


@cache
def _vector(text: str) -> Floats:
    return np.random.default_rng(crc32(text.encode())).normal(size=WIDTH)


def encoder() -> Model[list[Doc], Any]:
    """A layer that gives these vectors and remembers their gradient in its `attrs`."""

    def forward(
        model: Model[list[Doc], Any], docs: list[Doc], is_train: bool
    ) -> tuple[Any, Callable[[Any], list[Doc]]]:
        def backprop(gradient: Any) -> list[Doc]:
            model.attrs["gradient"] = gradient
            return []

        return [vectors(doc) for doc in docs], backprop

    return Model("vectors", forward, dims={"nO": WIDTH})


def known(
    scheme: str, seed: int = 0, spread: float = 1.0, labels: Sequence[str] = LABELS, **settings: Any
) -> EntityRecognizer:
    """A recogniser with random parameters over the vectors above."""
    pipe = EntityRecognizer(VOCAB, build_chain_tagger(encoder()), scheme=scheme, **settings)
    pipe.initialize(lambda: [Example(bare(1), bare(1))], labels=labels)
    scatter(pipe, np.random.default_rng(seed), spread)
    return pipe


def scatter(pipe: EntityRecognizer, random: np.random.Generator, spread: float) -> None:
    """Random numbers for all parameters of the chain."""
    for name in NAMES:
        shape = weights(pipe, name).shape
        values: Any = (random.normal(size=shape) * spread).astype(np.float32)
        layer_of(pipe, name).set_param(name, values)


def layer_of(pipe: EntityRecognizer, name: str) -> Model[Any, Any]:
    """The layer that has a parameter."""
    return pipe.model.get_ref("output_layer" if name in ("W", "b") else "steps")


def weights(pipe: EntityRecognizer, name: str) -> Any:
    """A parameter of the chain, as the model holds it."""
    return layer_of(pipe, name).get_param(name)


def parameters(pipe: EntityRecognizer) -> Parameters:
    """The parameters of the chain, exactly."""
    return {name: weights(pipe, name).astype(np.float64) for name in NAMES}


# every legal tag sequence of a Doc


Condition = Callable[[by_hand.Tags, by_hand.Spans], bool]


@dataclass(frozen=True)
class Worlds:
    """All that could be true of a Doc: tags, spans and the score of each possibility."""

    tags: list[by_hand.Tags]
    spans: list[by_hand.Spans]
    scores: Floats

    def log_sum(self, condition: Condition) -> float:
        """The logarithm of the summed exponentials of what meets a condition."""
        chosen = np.array([condition(*world) for world in zip(self.tags, self.spans)], dtype=bool)
        return log_sum(self.scores[chosen])

    def log_probability(self, condition: Condition) -> float:
        """The logarithm of the probability of what meets a condition."""
        return self.log_sum(condition) - log_sum(self.scores)

    def given(self, condition: Condition) -> Worlds:
        """Only what meets a condition."""
        kept = [i for i, world in enumerate(zip(self.tags, self.spans)) if condition(*world)]
        return Worlds(
            [self.tags[i] for i in kept], [self.spans[i] for i in kept], self.scores[kept]
        )

    def probability(self, span: Span) -> float:
        """The probability of a span."""
        return float(np.exp(self.log_probability(has(span))))

    @property
    def probabilities(self) -> Floats:
        """The probability of each possibility."""
        return np.exp(self.scores - log_sum(self.scores))

    @property
    def best(self) -> by_hand.Spans:
        """The spans of the possibility with the highest score."""
        return self.spans[int(self.scores.argmax())]


def worlds(
    scheme: str, doc: Doc, values: Parameters, labels: Sequence[str] = LABELS, bias: float = 0.0
) -> Worlds:
    """Every possibility under these parameters; `bias` is added for each span."""
    spoken = by_hand.SPOKEN.get(scheme, scheme)
    legal = by_hand.legal_sequences(len(doc), spoken, tuple(labels))
    number = {tag: i for i, tag in enumerate(by_hand.all_tags(spoken, labels))}
    paths = np.array([[number[tag] for tag in tags] for tags in legal], dtype=np.intp)
    paths = paths.reshape(len(legal), len(doc))
    rows = vectors(doc).astype(np.float64) @ values["W"].T + values["b"]
    emissions = rows[:, outputs_of(scheme, labels)].sum(axis=2)
    scores = emissions[np.arange(len(doc)), paths].sum(axis=1)
    if len(doc):
        scores += values["step"][paths[:, :-1], paths[:, 1:]].sum(axis=1)
        scores += values["start"][paths[:, 0]] + values["stop"][paths[:, -1]]
    scores += bias * np.array([len(spans) for spans in legal.values()])
    return Worlds(list(legal), list(legal.values()), scores)


def outputs_of(scheme: str, labels: Sequence[str] = LABELS) -> NDArray[np.intp]:
    """The outputs of a model that add up to the score of each tag, `[tags, 1]`; in be, two.

    There they are O and O, and for each label that it begins, and that it ends.
    """
    tags = by_hand.all_states(scheme, labels)
    if scheme != "be":
        return np.arange(len(tags))[:, None]
    parts = [tag.partition("-") for tag in tags]
    places = [2 * list(labels).index(label) + 2 if label else 0 for _, _, label in parts]
    begins = [place if "B" in prefix else 0 for (prefix, _, _), place in zip(parts, places)]
    ends = [1 + (place if "E" in prefix else 0) for (prefix, _, _), place in zip(parts, places)]
    found: NDArray[np.intp] = np.array([begins, ends]).T
    return found


def worlds_of(pipe: EntityRecognizer, doc: Doc, bias: float = 0.0) -> Worlds:
    """Every possibility under the parameters of a recogniser."""
    return worlds(pipe.scheme.name, doc, parameters(pipe), pipe.labels, bias)


def log_sum(scores: Floats) -> float:
    """The logarithm of summed exponentials."""
    if not len(scores):
        return -np.inf
    top = float(scores.max())
    return top + float(np.log(np.exp(scores - top).sum()))


def agrees(reference: Sequence[str]) -> Condition:
    """Whether spans are what BIO tags say, `-` being anything and `!` outside."""
    wanted = by_hand.begin([tag if tag not in ("-", "!") else "O" for tag in reference])
    outside = {i for i, tag in enumerate(reference) if tag in ("O", "!")}

    def condition(tags: by_hand.Tags, spans: by_hand.Spans) -> bool:
        inside = {i for span in spans for i in range(span.start, span.end)}
        return set(wanted) <= set(spans) and not inside & outside

    return condition


def has(span: Span) -> Condition:
    """Whether a span is there."""
    return lambda tags, spans: span in spans


def lacks(span: Span) -> Condition:
    """Whether a span is not there."""
    return lambda tags, spans: span not in spans
