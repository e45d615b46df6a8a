"""A mean of several models of gaps: every member learns as if it was alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_iobes.ml import build_separator_mean

from .nested_recognizers import (
    REPRESENTATIONS,
    examples,
    learn,
    make,
    mentions,
    nested_ner,
    random_scores,
)
from .recognizers import CNN

MEAN = "spacy-iobes.SeparatorMean.v1"


def docs(pairs: list[Example]) -> list[Any]:
    """What there is to predict on."""
    return [pair.predicted for pair in pairs]


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_scores_and_steps_are_means(representation: str) -> None:
    nlp, pairs = make("cnn+hashed+cnn", representation=representation), examples()
    learn(nlp, pairs, steps=3)
    model = nested_ner(nlp).model
    each = [member.predict(docs(pairs)) for member in model.layers]
    assert len({part.scores.tobytes() for part in each}) == 3  # chance told them apart
    found = model.predict(docs(pairs))
    np.testing.assert_allclose(found.scores, np.mean([p.scores for p in each], axis=0), atol=1e-5)
    np.testing.assert_allclose(found.steps, np.mean([p.steps for p in each], axis=0), atol=1e-6)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_members_learn_as_if_they_were_alone(representation: str) -> None:
    """The same start and the same steps, with others beside it and without them."""
    pairs = examples()
    nlp = make("hashed+cnn+hashed", representation=representation)
    nlp.initialize(lambda: pairs)
    alone = make("cnn", representation=representation)
    alone.initialize(lambda: pairs)
    member = nested_ner(nlp).model.layers[1]
    nested_ner(alone).model.from_bytes(member.to_bytes())
    losses: list[float] = []
    for each in (nlp, alone):
        optimizer: Any = each.create_optimizer()  # type: ignore[no-untyped-call]
        optimizer.learn_rate = 0.03
        optimizer.grad_clip = 0.0
        for _ in range(5):
            found = each.update(pairs, sgd=optimizer)
        losses.append(found["iobes_nested_ner"])
    assert losses[0] > losses[1] > 0  # the loss of three is their sum
    expected = nested_ner(alone).model.predict(docs(pairs))
    learned = member.predict(docs(pairs))
    np.testing.assert_allclose(learned.scores, expected.scores, atol=1e-5)
    np.testing.assert_allclose(learned.steps, expected.steps, atol=1e-6)


def test_it_learns_grows_and_is_the_same_from_disk(tmp_path: Path) -> None:
    nlp, pairs = make("cnn+hashed"), examples()
    learn(nlp, pairs)
    for pair in pairs:
        gold = [(s.start, s.end, s.label_) for s in pair.reference.spans["sc"]]
        assert sorted(mentions(nlp(pair.predicted))) == sorted(gold)
    nlp.to_disk(tmp_path / "model")
    again: Language = spacy.load(tmp_path / "model")
    for one in (nlp, again):
        pipe = nested_ner(one)
        before = pipe.model.predict(docs(pairs)).scores
        assert pipe.add_label("Z")
        after = pipe.model.predict(docs(pairs)).scores
        np.testing.assert_allclose(after[:, : before.shape[1]], before, atol=1e-6)
        assert pipe.model.get_ref("output_layer") is pipe.model.layers[0].get_ref("output_layer")


def test_one_member_is_that_member() -> None:
    nlp, pairs = make("cnn"), examples()
    nlp.initialize(lambda: pairs)
    pipe = nested_ner(nlp)
    random_scores(pipe)
    mean = build_separator_mean(pipe.model)
    assert (mean.predict(docs(pairs)).scores == pipe.model.predict(docs(pairs)).scores).all()


def test_what_is_no_member() -> None:
    with pytest.raises(ValueError, match="at least one model, and got none"):
        build_separator_mean()
    wrong = {"@architectures": MEAN, "*": {"cnn": CNN}}
    with pytest.raises(ValueError, match=r"Member 1 of 1 .* not score separators, .*: it is '"):
        spacy.blank("en").add_pipe("iobes_nested_ner", config={"model": wrong})
