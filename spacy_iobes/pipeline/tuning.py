"""Precision against recall: the bias for entities that serves best on held-out data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from spacy.language import Language
from spacy.training import Example

from ..codes.known import Known
from ..scoring.counts import Counts, Figures, count, figures
from ..scoring.matching import match, nested_columns
from ..span import Span

COARSE = tuple(np.arange(-4.0, 4.01, 0.5).round(2).tolist())
STEP = 0.1  # of the second look, around the best of the first
BATCH = 256  # Docs


class Tried(NamedTuple):
    """A bias, and the figures it leads to."""

    bias: float
    figures: Figures


class Answers(Protocol):
    """What a recogniser knows of some examples before it decides: it has asked its model once."""

    @property
    def known(self) -> Sequence[Known]:
        """What is true."""

    def found(self, bias: float) -> Iterable[Sequence[Span]]:
        """The spans it decides for, in each Doc."""


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
    parts = [pipe.answers(examples[i : i + BATCH]) for i in range(0, len(examples), BATCH)]
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


def _totals(parts: Sequence[Answers], bias: float) -> tuple[int, int, int]:
    counts = Counts.none()
    for part in parts:
        gold = [known.spans for known in part.known]
        predicted = [
            [span for span in spans if missing.isdisjoint(range(span.start, span.end))]
            for spans, missing in zip(part.found(bias), (set(k.missing) for k in part.known))
        ]
        counts += count(match(nested_columns(gold), nested_columns(predicted)))
    return counts.totals
