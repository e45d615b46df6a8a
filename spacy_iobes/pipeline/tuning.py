"""Precision against recall: the bias for entities that serves best on held-out data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.training import Example

from ..codes.known import KnownColumns, flags_of, judged
from ..codes.span_columns import SpanColumns
from ..scoring.counts import Figures, figures
from ..scoring.tables import aligned, percent

COARSE = tuple(np.arange(-4.0, 4.01, 0.5).round(2).tolist())
STEP = 0.1  # of the second look, around the best of the first
BATCH = 256  # Docs
LABEL_BITS = 16
Numbers = NDArray[np.int64]


class Tried(NamedTuple):
    """A bias, and the figures it leads to."""

    bias: float
    figures: Figures


class Answers(Protocol):
    """What a recogniser knows of some examples before it decides: it has asked its model once."""

    @property
    def known(self) -> KnownColumns:
        """What is true."""

    @property
    def offsets(self) -> Numbers:
        """Doc `d` has the tokens `offsets[d]:offsets[d + 1]`."""

    def found(self, bias: float) -> SpanColumns:
        """The spans it decides for."""


class Tunable(Protocol):
    """A recogniser with a bias."""

    entity_bias: float

    def answers(self, examples: Sequence[Example]) -> Answers:
        """Ask the model about some examples."""


def tune_bias(
    pipe: Tunable,
    examples: Sequence[Example],
    coarse: Sequence[float] = COARSE,
    tell: Callable[[Tried], None] | None = None,
) -> list[Tried]:
    """Try biases on held-out examples, first some, then more around the best; ordered by bias.

    The model runs once. Entities that are set already are kept, as they are in prediction. What is
    found over a token without annotation is neither right nor wrong.
    """
    some = (examples[i : i + BATCH] for i in range(0, len(examples), BATCH))
    parts = [_Part(pipe.answers(each)) for each in some]
    tried: dict[float, Tried] = {}

    def attempt(biases: Sequence[float]) -> None:
        for bias in sorted(set(biases) - set(tried)):
            tried[bias] = Tried(bias, figures(*_totals(parts, bias)))
            if tell is not None:
                tell(tried[bias])

    attempt([*coarse, 0.0])
    centre = best_of(list(tried.values())).bias
    attempt([round(centre + STEP * i, 2) for i in range(-4, 5)])
    return [tried[bias] for bias in sorted(tried)]


def tune(nlp: Language, component: str, examples: Sequence[Example]) -> list[Tried]:
    """Let a component of a pipeline have the bias that serves best; its config holds it too."""
    pipe: Any = nlp.get_pipe(component)
    tried = tune_bias(pipe, heard(nlp, component, examples))
    nlp.get_pipe_config(component)["entity_bias"] = pipe.entity_bias = best_of(tried).bias
    return tried


def heard(nlp: Language, component: str, examples: Sequence[Example]) -> list[Example]:
    """The examples, their predicted Docs as the component would get them."""
    before = nlp.pipe_names[: nlp.pipe_names.index(component)]
    with nlp.select_pipes(enable=before):
        docs = nlp.pipe([example.predicted for example in examples])
        for example, doc in zip(examples, docs):
            example.predicted = doc
    return list(examples)


def without_bias(tried: Sequence[Tried]) -> Tried:
    """The figures without a bias, which are always there."""
    return next(t for t in tried if t.bias == 0.0)


def best_of(tried: Sequence[Tried]) -> Tried:
    """The highest F1; of several, the one nearest to no bias."""
    return max(tried, key=lambda t: (t.figures.f1 or 0.0, -abs(t.bias)))


class _Part:
    """Some examples: the keys of their spans, and the tokens that are not annotated."""

    def __init__(self, answers: Answers):
        self.answers, self.offsets = answers, answers.offsets
        self.missing = flags_of(answers.known.missing, self.offsets)
        self.labels: dict[str, int] = {}
        self.gold = self.keys(answers.known.spans)

    def totals(self, bias: float) -> tuple[int, int, int]:
        """How many spans are right, found and true; those that nothing is known of do not count."""
        gold = self.answers.known.spans
        keys = self.keys(judged(self.answers.found(bias), gold, self.missing, self.offsets))
        return int(np.isin(keys, self.gold).sum()), len(keys), len(self.gold)

    def keys(self, spans: SpanColumns) -> Numbers:
        """A number for each span: its tokens, counted through all Docs, and its label."""
        numbers = [self.labels.setdefault(label, len(self.labels)) for label in spans.labels]
        begin = self.offsets[spans.sentence]
        places = (begin + spans.start) * (int(self.offsets[-1]) + 1) + begin + spans.end
        found: Numbers = (places << LABEL_BITS) + np.array(numbers, dtype=np.int64)[spans.label]
        return found


def _totals(parts: Sequence[_Part], bias: float) -> tuple[int, int, int]:
    found = [part.totals(bias) for part in parts]
    right, predicted, gold = (sum(column) for column in zip(*found)) if found else (0, 0, 0)
    return right, predicted, gold


def tuning_table(tried: Sequence[Tried], found: Tried) -> str:
    """Return every bias with its figures, the best one marked."""
    header = ("bias", "precision", "recall", "F1", "")
    rows = [
        (f"{t.bias:+.1f}", *map(percent, t.figures), "<- best" if t is found else "") for t in tried
    ]
    return aligned(header, rows, "rrrrl")
