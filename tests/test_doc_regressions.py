"""Mistakes that the components, the reader and the commands for Docs once made."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.training.augment import create_lower_casing_augmenter

from spacy_iobes.corpus import conll_corpus
from spacy_iobes.errors import UnknownNameError
from spacy_iobes.pipeline import render, span_scorer


def test_a_repairer_that_writes_a_group_is_scored_by_that_group() -> None:
    nlp = spacy.blank("en")
    config = {"scheme": "bio", "policy": "begin", "target": "spans:sc"}
    nlp.add_pipe("iobes_repairer", config=config)
    predicted, reference = (Doc(nlp.vocab, words=["a", "b"]) for _ in range(2))
    predicted.user_data["iobes_tags"] = ["B-X", "I-X"]
    reference.spans["sc"] = [Span(reference, 0, 2, "X")]
    assert nlp.evaluate([Example(predicted, reference)])["iobes_f"] == 1.0


def test_the_view_does_not_pretend_to_know_scores() -> None:
    doc = Doc(spacy.blank("en").vocab, words=["a"])
    doc.user_data["iobes_tags"] = ["I-X"]
    with pytest.raises(UnknownNameError, match="scores"):
        render(doc, scheme="bio", policy="best")


def test_augmented_references_keep_their_annotation(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("A\tB-X\nB\tI-X\nc\t-\nd\t!\nE\tO\n")
    nlp = spacy.blank("en")
    augmenter = create_lower_casing_augmenter(1.0)
    (example,) = conll_corpus(path, scheme="bio", augmenter=augmenter)(nlp)
    assert [token.text for token in example.reference] == ["a", "b", "c", "d", "e"]
    assert [token.ent_iob for token in example.reference] == [3, 1, 0, 3, 2]
    assert [token.ent_type_ for token in example.reference] == ["X", "X", "", "", ""]
    assert example.reference.user_data["iobes_tags"] == ["B-X", "I-X", "-", "!", "O"]


def test_a_scheme_without_a_repair_is_refused() -> None:
    with pytest.raises(TypeError, match="null for both"):
        span_scorer(scheme="bio", policy=None)
