"""`iobes_nested_ner` with arrays that numpy does not take: a stand-in for those on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from spacy_iobes.pipeline import tune_bias

from .far_arrays import far_away
from .nested_recognizers import (
    ALL_ENCODERS,
    REPRESENTATIONS,
    example,
    examples,
    make,
    mentions,
    nested_ner,
)


def train(nlp: Language, steps: int = 5) -> list[float]:
    """The losses of some steps, the label of the last ones being new."""
    pairs = [*examples(), example(["a", "b"], None), example([], [])]
    optimizer = nlp.initialize(lambda: pairs)
    optimizer.learn_rate = 0.003
    values = []
    for step in range(steps):
        if step == steps - 2:
            nested_ner(nlp).add_label("NEW")
        values.append(nlp.update(pairs, sgd=optimizer)["iobes_nested_ner"])
    return values


def answers(nlp: Language) -> list[Any]:
    """All that can be asked, as numbers near by."""
    pipe = nested_ner(nlp)
    docs = [nlp(pair.predicted) for pair in examples()]
    nbest = [analysis.probability for found in pipe.nbest(docs, 3) for analysis in found]
    counts = [list(row.values()) for row in pipe.expected_counts(docs)]
    scores = [doc.spans["sc"].attrs["scores"] for doc in docs]
    tried = [row.figures.f1 or 0.0 for row in tune_bias(pipe, examples())]
    return [nbest, counts, pipe.span_probability(docs[0], 1, 3, "X"), tried, *scores]


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("encoder", ALL_ENCODERS)
def test_it_learns_and_answers_as_on_a_cpu(encoder: str, representation: str) -> None:
    near = make(encoder, representation=representation, scores=True)
    losses, known = train(near), answers(near)
    wanted = [mentions(near(pair.predicted)) for pair in examples()]
    with far_away():
        nlp = make(encoder, representation=representation, scores=True)
        np.testing.assert_allclose(train(nlp), losses, rtol=1e-2)
        for mine, other in zip(answers(nlp), known):
            np.testing.assert_allclose(mine, other, rtol=1e-2, atol=1e-3)
        assert [mentions(nlp(pair.predicted)) for pair in examples()] == wanted
