"""A CNN and hashed features together, by `configs/ner_wide_deep.cfg`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.util import load_config, load_model_from_config
from thinc.api import fix_random_seed

from spacy_iobes.ml import parts_of

from .recognizers import entities, examples
from .shared import CONFIGS

SMALL = {
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
    "components.tok2vec.model.embed.rows": [200, 100, 100, 100],
    "components.iobes_ner.model.features.rows": 4096,
}


def made() -> Language:
    fix_random_seed(0)
    config = load_config(CONFIGS / "ner_wide_deep.cfg", overrides=SMALL)
    nlp = load_model_from_config(config)
    nlp.initialize(lambda: examples())
    return nlp


def train(nlp: Language, steps: int) -> None:
    for _ in range(steps):
        nlp.update(examples())


def gold() -> Any:
    return entities([pair.reference for pair in examples()])


def found(nlp: Language) -> Any:
    return entities(list(nlp.pipe([pair.predicted.copy() for pair in examples()])))


def test_both_parts_learn() -> None:
    nlp = made()
    train(nlp, 30)
    assert found(nlp) == gold()
    model: Any = nlp.get_pipe("iobes_ner").model  # type: ignore[attr-defined]
    assert np.abs(model.get_ref("output_layer").get_param("W")).max() > 0
    table, _ = parts_of(model.get_ref("features"))
    assert table.count > 0
    assert np.abs(table.average).max() > 0


def test_the_scores_are_the_sum_of_both() -> None:
    nlp = made()
    train(nlp, 5)
    docs = [nlp.get_pipe("tok2vec")(pair.predicted.copy()) for pair in examples()]
    model: Any = nlp.get_pipe("iobes_ner").model  # type: ignore[attr-defined]
    linear = model.get_ref("output_layer")
    wide = model.get_ref("features").predict(docs)
    deep = [linear.predict(rows) for rows in model.get_ref("tok2vec").predict(docs)]
    expected = np.concatenate([a + b for a, b in zip(wide, deep)])
    np.testing.assert_allclose(model.predict(docs).emissions, expected, rtol=1e-5, atol=1e-6)


def test_storage_and_more_labels(tmp_path: Path) -> None:
    nlp = made()
    train(nlp, 30)
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    assert found(loaded) == gold()
    loaded.get_pipe("iobes_ner").add_label("NEW")  # type: ignore[attr-defined]
    assert found(loaded) == gold()
    train(loaded, 2)


def test_features_must_score_states() -> None:
    deep = {"@architectures": "spacy.HashEmbedCNN.v2"} | {
        "pretrained_vectors": None,
        "width": 8,
        "depth": 1,
        "embed_size": 50,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": False,
    }
    model = {"@architectures": "spacy-iobes.ChainTagger.v1", "tok2vec": deep, "features": deep}
    with pytest.raises(ValueError, match="does not score states"):
        spacy.blank("en").add_pipe("iobes_ner", config={"model": model})
