"""Recognisers that choose begins and ends: two choices for a token, one legal sequence of tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacy_iobes.errors import ModelError
from spacy_iobes.ml import ChainScores

from . import by_hand
from .recognizers import CNN, entities, examples, known, learn, make, ner, weights

FEATURES = {"@architectures": "spacy-iobes.HashedFeatures.v1", "rows": 4096}
LAYERS: list[dict[str, Any]] = [
    {"tok2vec": CNN},
    {"tok2vec": FEATURES},
    {"tok2vec": CNN, "features": FEATURES},
]


@pytest.mark.parametrize("labels", [1, 2, 5])
def test_as_many_outputs_as_classes_and_as_many_steps_as_states(labels: int) -> None:
    pipe = known("be", labels=[f"x{n}" for n in range(labels)])
    assert weights(pipe, "W").shape[0] == 2 * (labels + 1)
    assert weights(pipe, "step").shape == (4 * labels + 1,) * 2


@pytest.mark.parametrize("model", LAYERS)
@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_a_new_label_leaves_what_is_known_of_the_others(
    model: dict[str, Any], objective: str
) -> None:
    nlp = learn(make(scheme="be", objective=objective, model=model), examples())
    pipe, doc = ner(nlp), examples()[0].predicted
    before: Any = pipe.model.predict([doc])
    pipe.add_label("NEW")
    after: Any = pipe.model.predict([doc])
    assert after.emissions.shape == (len(doc), 8)
    np.testing.assert_allclose(after.emissions[:, :6], before.emissions, rtol=1e-5, atol=1e-6)
    assert [pipe.tags.classes.names[c] for c in pipe.tags.outputs] == [
        *("O", "O", "B-LOC", "E-LOC", "B-PER", "E-PER", "B-NEW", "E-NEW")
    ]
    states: Any = after.step
    np.testing.assert_array_equal(states[:9, :9], before.step)
    optimizer = nlp.resume_training()
    for _ in range(5):
        nlp.update(examples(), sgd=optimizer)
    gold = [[(e.start, e.end, e.label_) for e in pair.reference.ents] for pair in examples()]
    assert entities(nlp.pipe([pair.predicted for pair in examples()])) == gold


@pytest.mark.parametrize("model", LAYERS)
def test_what_is_stored_is_loaded(model: dict[str, Any], tmp_path: Any) -> None:
    nlp = learn(make(scheme="be", model=model), examples())
    nlp.to_disk(tmp_path)
    other = make(scheme="be", model=model).from_disk(tmp_path)
    docs = [[pair.predicted.copy() for pair in examples()] for _ in range(2)]
    assert entities(other.pipe(docs[0])) == entities(nlp.pipe(docs[1]))
    for scheme in ("bie", "iobes", "io"):
        with pytest.raises(ModelError):
            make(scheme=scheme, model=model).from_disk(tmp_path)


def test_the_score_of_a_tag_is_the_sum_of_its_classes() -> None:
    tags = known("be").tags
    rows = np.array([[1, 10, 2, 20, 4, 40]], dtype=np.float32)  # O O B-X E-X B-Y E-Y
    none = np.zeros(len(tags))
    found = tags.batch(ChainScores(rows, [1], none, np.zeros((9, 9)), none))
    assert tags.states.tags == by_hand.all_tags("bie")
    assert found.scores.tolist() == [[11, 12, 11, 21, 22, 14, 11, 41, 44]]
