"""Vectors of tokens from features of templates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed

from spacy_iobes.errors import ModelError, UnknownNameError
from spacy_iobes.ml.embedded_features import LeftOut, build_embedded_features

from .docs import BLANK


def doc(text: str) -> Doc:
    return Doc(BLANK.vocab, words=text.split())


def made(templates: list[str], rows: list[int], **settings: Any) -> Model[Any, Any]:
    fix_random_seed(0)
    model = build_embedded_features(12, templates, rows, **settings)
    model.initialize(X=[doc("a b")])
    return model


def vectors(model: Model[Any, Any], text: str) -> list[Any]:
    (found,) = model.predict([doc(text)])
    assert found.shape == (len(text.split()), 12)
    return list(found)


def same(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=1e-5, atol=1e-6))


def test_tokens_with_the_same_features_have_the_same_vector() -> None:
    talking, walking, walked = vectors(made(["suffix3"], [500]), "talking walking walked")
    assert same(talking, walking)
    assert not same(walking, walked)


def test_every_template_counts() -> None:
    model = made(["suffix3", "prefix1"], [500, 500])
    talking, walking, telling = vectors(model, "talking walking telling")
    assert same(talking, telling)
    assert not same(talking, walking)


def test_templates_look_at_neighbours_within_a_doc() -> None:
    model = made(["lower[-1]"], [500])
    first, second, third = vectors(model, "the gene the")
    again, *_ = vectors(model, "gene")
    assert same(first, again), "there is nothing before either"
    assert not same(second, third)
    one, other = model.predict([doc("a the"), doc("gene the")])
    assert same(one[0], other[0])
    assert not same(one[1], other[1])


def test_the_vector_is_a_mix_of_the_rows_of_the_tables() -> None:
    model = made(["lower"], [50], size=5, pieces=2)
    (table,) = (node for node in model.walk() if node.name == "hashembed")
    rows: Any = np.arange(250, dtype=np.float32).reshape(50, 5)
    table.set_param("E", rows)
    (mixed,) = (
        node for node in model.walk() if node.name.startswith("maxout") and node.has_dim("nP")
    )
    bias: Any = np.zeros((12, 2), dtype=np.float32)
    weight: Any = np.zeros((12, 2, 5), dtype=np.float32)
    weight[0, 0, 0] = 1.0
    mixed.set_param("W", weight)
    mixed.set_param("b", bias)
    # only the first number has the first component, whatever row it is: the norm makes it one
    for found in vectors(model, "a gene"):
        assert np.argmax(found) == 0
        np.testing.assert_allclose(found[1:], found[1], rtol=1e-5)
        np.testing.assert_allclose(found.mean(), 0.0, atol=1e-5)


def test_only_the_rows_of_features_that_occur_learn() -> None:
    model = made(["lower"], [1000])
    (table,) = (node for node in model.walk() if node.name == "hashembed")
    (found,), backprop = model.begin_update([doc("gene")])
    backprop([np.linspace(-1, 1, found.size, dtype=np.float32).reshape(found.shape)])
    gradient: Any = table.get_grad("E")
    moved = np.abs(gradient).sum(axis=1) > 0
    assert 1 <= moved.sum() <= 4  # a feature is hashed four times


def test_features_are_left_out_in_training_and_the_others_count_more() -> None:
    layer, rows = LeftOut(3, 0.75), np.ones((4000, 6), dtype=np.float32)
    fix_random_seed(0)
    found, backprop = layer.begin_update(rows)  # type: ignore[arg-type]
    parts = np.asarray(found).reshape(4000, 3, 2)
    assert set(np.unique(parts)) == {0.0, 4.0}
    np.testing.assert_array_equal(parts[:, :, 0], parts[:, :, 1])
    assert abs((parts > 0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(backprop(rows), found)  # type: ignore[arg-type]
    np.testing.assert_array_equal(layer.predict(rows), rows)  # type: ignore[arg-type]


def test_docs_without_tokens() -> None:
    model = made(["lower"], [50])
    found, backprop = model.begin_update([doc("a b"), doc(""), doc("c")])
    assert [rows.shape for rows in found] == [(2, 12), (0, 12), (1, 12)]
    assert backprop(found) == []


def test_it_is_stored_and_loaded() -> None:
    model = made(["lower", "suffix2"], [50, 20])
    fix_random_seed(1)
    other = build_embedded_features(12, ["lower", "suffix2"], [50, 20])
    other.from_bytes(model.to_bytes())
    for mine, theirs in zip(vectors(model, "a gene"), vectors(other, "a gene")):
        np.testing.assert_array_equal(mine, theirs)


def test_other_templates_are_refused() -> None:
    model = made(["lower"], [50])
    other = build_embedded_features(12, ["text"], [50])
    with pytest.raises(ModelError, match="other feature templates"):
        other.from_bytes(model.to_bytes())


def test_settings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 different templates and 1 numbers of rows"):
        build_embedded_features(12, ["lower", "shape"], [50])
    with pytest.raises(ValueError, match="1 different templates and 2 numbers of rows"):
        build_embedded_features(12, ["lower", "lower"], [50, 50])
    with pytest.raises(ValueError, match=r"such as \['lower'\], not 'lower'"):
        build_embedded_features(12, "lower", [50])
    with pytest.raises(ValueError, match="dropout is a probability below 1, not 1"):
        build_embedded_features(12, ["lower"], [50], dropout=1.0)
    with pytest.raises(UnknownNameError, match="'lwr'"):
        build_embedded_features(12, ["lwr"], [50])
