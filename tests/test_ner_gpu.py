"""`iobes_ner` with arrays that numpy does not take: a stand-in for those on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span as DocSpan
from spacy.training import Example

from spacy_iobes.errors import ModelError
from spacy_iobes.pipeline import tune_bias

from .far_arrays import FarArray, FarOps, far_away
from .recognizers import CNN, SENTENCES, entities, example, examples, layer_of, make, ner, weights

TEXTS = [text for text, _ in SENTENCES]
TRUTH = entities(pair.reference for pair in examples())
HASHED = {"@architectures": "spacy-iobes.HashedFeatures.v1", "rows": 4096}
SETTINGS: dict[str, dict[str, Any]] = {
    "crf": {},
    "softmax": {"objective": "softmax"},
    "wrong spans": {"incorrect_spans_key": "wrong"},
    "scores": {"scores": True, "threshold": 0.2},
    "a bound": {"sentence_bound": True, "entity_bias": 0.1},
    "fixed steps": {"model": {"learned_steps": False, "tok2vec": CNN}},
    "hashed features": {"model": {"tok2vec": HASHED}},
}


@pytest.fixture
def away() -> Iterator[None]:
    """What happens in the test happens elsewhere."""
    with far_away():
        yield


def pairs() -> list[Example]:
    """Gold that is complete, partial, empty, and wrong."""
    wrong = example(["-", "O"], ["Paris", "is"])
    wrong.reference.spans["wrong"] = [DocSpan(wrong.reference, 0, 1, "PER")]
    return [*examples(), example(["-", "B-LOC"], ["in", "Paris"]), example([]), wrong]


def train(nlp: Language, steps: int = 12) -> list[float]:
    """The losses of some steps, the label of the last ones being new."""
    optimizer = nlp.initialize(pairs)
    optimizer.learn_rate = 0.03
    values = []
    for step in range(steps):
        if step == steps - 3:
            ner(nlp).add_label("NEW")
        values.append(nlp.update(pairs(), sgd=optimizer)["iobes_ner"])
    return values


def answers(nlp: Language) -> list[Any]:
    """Numbers, near by, of all that can be asked."""
    docs = list(nlp.pipe([*TEXTS, ""]))
    pipe = ner(nlp)
    marginals = np.concatenate(pipe.marginals(docs))
    nbest = [analysis.probability for found in pipe.nbest(docs, 3) for analysis in found]
    counts = [list(row.values()) for row in pipe.expected_counts(docs)]
    probability = pipe.span_probability(docs[0], 0, 1, "PER")
    groups = [doc.spans[pipe.spans_key].attrs["scores"] for doc in docs if doc.spans]
    return [marginals, nbest, counts, probability, *groups]


@pytest.mark.parametrize("name", SETTINGS)
def test_it_learns_and_answers_as_on_a_cpu(name: str) -> None:
    near = make(**SETTINGS[name])
    losses, known = train(near), answers(near)
    with far_away():
        nlp = make(**SETTINGS[name])
        np.testing.assert_allclose(train(nlp), losses, rtol=1e-3)
        assert isinstance(weights(ner(nlp), "step"), FarArray)
        for one, other in zip(answers(nlp), known, strict=True):
            assert isinstance(one, list | float | np.ndarray)
            np.testing.assert_allclose(one, other, atol=1e-2)
        assert entities(nlp.pipe(TEXTS)) == entities(near.pipe(TEXTS))
        tried = tune_bias(ner(nlp), examples(), coarse=[-1.0, 1.0])
        assert nlp.evaluate(examples())["iobes_f"] in [row.figures.f1 for row in tried]


def test_a_model_goes_there_and_back(tmp_path: Path) -> None:
    near = make(scores=True)
    train(near)
    near.to_disk(tmp_path / "near")
    with far_away():
        far = spacy.load(tmp_path / "near")
        assert isinstance(weights(ner(far), "W"), FarArray)
        far.to_disk(tmp_path / "far")
        stored = make(scores=True).from_bytes(far.to_bytes()).to_bytes()
    back, again = spacy.load(tmp_path / "far"), make(scores=True).from_bytes(stored)
    for nlp in (back, again):
        for one, other in zip(answers(nlp), answers(near), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("away")
def test_a_damaged_model_is_refused() -> None:
    nlp = make()
    train(nlp, steps=4)
    damaged = weights(ner(nlp), "W").get()
    damaged[0, 0] = np.nan
    layer_of(ner(nlp), "W").set_param("W", FarOps().asarray2f(damaged))
    with pytest.raises(ModelError, match=r"'W' of the layer .* holds NaN"):
        make().from_bytes(nlp.to_bytes())
    with pytest.raises(ModelError, match="diverged"):
        nlp(TEXTS[0])


@pytest.mark.usefixtures("away")
def test_a_listener() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": CNN})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    nlp.add_pipe("iobes_ner", config={"model": {"tok2vec": listener}})
    values = train(nlp, 30)
    assert values[-1] < values[0] / 5
    assert entities(nlp.pipe(TEXTS)) == TRUTH
    assert isinstance(nlp(TEXTS[0]).tensor, FarArray)
    assert ner(nlp).span_probability(nlp(TEXTS[0]), 0, 1, "PER") > 0.5


@pytest.mark.usefixtures("away")
def test_the_stand_in_refuses_what_cupy_refuses() -> None:
    far, near = FarArray(np.ones(2)), np.ones(2)
    refused: list[Any] = [
        lambda: np.asarray(far),
        lambda: np.where([True, False], far, 0),
        lambda: np.isfinite(far),
        lambda: np.concatenate([far, near]),
        lambda: far + near,
        lambda: near + far,
        lambda: FarOps.xp.dot(far, near),
    ]
    for call in refused:
        with pytest.raises(TypeError):
            call()
    there: Any = FarOps().asarray1f(near.tolist())
    assert (there + far).get().tolist() == [2, 2]
