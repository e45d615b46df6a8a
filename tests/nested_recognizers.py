"""Small nested recognisers for tests, and what their scores say of every possibility, by hand.

Which separators are legal comes from `mention_sets`, which tags from `by_hand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_iobes import Span
from spacy_iobes.pipeline import NestedRecognizer

from . import by_hand
from .docs import BLANK
from .mention_sets import NAMES, Mentions, realised, separators
from .recognizers import CNN

Floats = NDArray[np.float64]
Triple = tuple[int, int, str]
LABELS = ("X", "Y")
REPRESENTATIONS = ("edge", "state", "per_label")
TAGS = ("O", "B-x", "I-x", "E-x", "S-x")
HASHED = {"@architectures": "spacy-iobes.HashedFeatures.v1", "rows": 4096, "dropout": 0.0}
ENCODERS: dict[str, dict[str, Any]] = {
    "cnn": {"tok2vec": CNN},
    "hashed": {"tok2vec": HASHED},
    "both": {"tok2vec": CNN, "features": HASHED},
}
ALL_ENCODERS = (*ENCODERS, "cnn+hashed+cnn")
SENTENCES: list[tuple[str, list[Triple]]] = [
    (
        "the human IL-2 gene promoter binds NF-kB",
        [(1, 5, "X"), (2, 4, "X"), (2, 3, "Y"), (6, 7, "Y")],
    ),
    ("NF-kB in the T cell line", [(0, 1, "Y"), (3, 6, "X"), (3, 5, "Y")]),
    ("nothing of it here", []),
]


def make(encoder: str = "cnn", **config: Any) -> Language:
    """A pipeline with a small nested recogniser, the same every time; "+": a mean of several."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    members = [
        {"@architectures": "spacy-iobes.SeparatorTagger.v1", **ENCODERS[name]}
        for name in encoder.split("+")
    ]
    mean = {
        "@architectures": "spacy-iobes.SeparatorMean.v1",
        "*": {f"member{number}": member for number, member in enumerate(members)},
    }
    model = mean if len(members) > 1 else members[0]
    nlp.add_pipe("iobes_nested_ner", config={"model": model, **config})
    return nlp


def nested_ner(nlp: Language) -> NestedRecognizer:
    """The recogniser of a pipeline."""
    pipe = nlp.get_pipe("iobes_nested_ner")
    assert isinstance(pipe, NestedRecognizer)
    return pipe


def example(
    words: Sequence[str],
    spans: Iterable[Triple] | None,
    missing: Iterable[tuple[int, int]] = (),
    sentences: Sequence[int] = (),
) -> Example:
    """An example with these mentions in its reference, or no group; `sentences` begin somewhere."""
    starts: Any = [number in sentences for number in range(len(words))] if sentences else None
    predicted, reference = (Doc(BLANK.vocab, words=list(words), sent_starts=starts) for _ in "ab")
    if spans is not None:
        reference.spans["sc"] = [DocSpan(reference, a, b, label) for a, b, label in spans]
    reference.spans["missing"] = [DocSpan(reference, a, b, "?") for a, b in missing]
    return Example(predicted, reference)


def examples() -> list[Example]:
    """What nested recognisers learn here."""
    return [example(text.split(), spans) for text, spans in SENTENCES]


def learn(nlp: Language, pairs: Sequence[Example], steps: int = 60) -> Language:
    """Initialise a pipeline and train it."""
    optimizer = nlp.initialize(lambda: pairs)
    optimizer.learn_rate = 0.03
    for _ in range(steps):
        nlp.update(pairs, sgd=optimizer)
    return nlp


def mentions(doc: Doc, key: str = "sc") -> list[Triple]:
    """The mentions of a Doc."""
    return [(span.start, span.end, span.label_) for span in doc.spans[key]]


def random_scores(pipe: NestedRecognizer, seed: int = 0) -> None:
    """Random numbers for the output layer, and for the steps if there are any."""
    random = np.random.default_rng(seed)
    output = pipe.model.get_ref("output_layer")
    for layer, name in ((output, "W"), (output, "b"), (pipe.model.get_ref("steps"), "steps")):
        values: Any = random.normal(size=layer.get_param(name).shape).astype(np.float32)
        layer.set_param(name, values)


@dataclass(frozen=True)
class World:
    """One possibility for a label in a sentence: its mentions, if they are clear, and its score."""

    sequence: tuple[str, ...]
    readings: list[Mentions]
    score: float


def worlds(pipe: NestedRecognizer, doc: Doc, label: int) -> list[World]:
    """All that the chain of a label can say of a short Doc of one sentence."""
    scores = pipe.model.predict([doc])
    rows = np.asarray(scores.scores, dtype=np.float64)
    steps = np.asarray(scores.steps, dtype=np.float64)
    width = len(pipe.representation.bits)
    rows = rows.reshape(len(rows), -1, width)[:, label]
    kinds = TAGS if width == len(TAGS) else NAMES
    found = []
    for sequence, readings in possibilities(len(doc), width).items():
        at = [kinds.index(kind) for kind in sequence]
        score = sum(rows[place, kind] for place, kind in enumerate(at))
        if steps.size:
            own = steps[label] if steps.ndim == 3 else steps
            score += sum(own[a, b] for a, b in pairwise(at))
        found.append(World(sequence, readings, float(score)))
    return found


def possibilities(length: int, width: int) -> dict[tuple[str, ...], list[Mentions]]:
    """Every legal sequence of separators or tags, and the mentions it may stand for."""
    if width != len(TAGS):
        return realised(length)
    legal = by_hand.legal_sequences(length, "iobes", ("x",))
    return {tags: [frozenset((a, b) for a, b, _ in spans)] for tags, spans in legal.items()}


def written(pipe: NestedRecognizer, spans: Iterable[tuple[int, int]], length: int) -> Any:
    """The sequence of some mentions of one label."""
    members = frozenset(spans)
    if len(pipe.representation.bits) != len(TAGS):
        return separators(members, length)
    return by_hand.encode([Span(a, b, "x") for a, b in members], length, "iobes")


def log_sum(values: Iterable[float]) -> float:
    """The logarithm of the summed exponentials."""
    array = np.array(list(values), dtype=np.float64)
    return float(np.log(np.exp(array - array.max()).sum()) + array.max())
