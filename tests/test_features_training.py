"""`iobes_ner` with hashed features: learning, storing, growing, and `spacy train`."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config, load_model_from_config

from spacy_iobes.errors import ModelError, UnknownNameError
from spacy_iobes.ml import FeatureTable

from .docs import VOCAB
from .recognizers import SENTENCES, entities, example, examples, make, ner
from .shared import CONFIGS

CONFIG = CONFIGS / "ner_fast.cfg"
GOLD = [
    [(0, 1, "PER"), (3, 5, "LOC")],
    [(0, 2, "LOC"), (3, 5, "PER")],
    [(0, 1, "PER"), (3, 4, "LOC")],
]


def fast(learned_steps: bool = False, settings: dict[str, Any] | None = None, **config: Any) -> Any:
    """A pipeline with hashed features."""
    features = {"@architectures": "spacy-iobes.HashedFeatures.v1", "rows": 2**14}
    model = {
        "@architectures": "spacy-iobes.ChainTagger.v1",
        "learned_steps": learned_steps,
        "tok2vec": {**features, **(settings or {})},
    }
    return make(model=model, **config)


def trained(steps: int = 20, pairs: Sequence[Example] = (), **settings: Any) -> Any:
    nlp = fast(**settings)
    pairs = pairs or examples()
    optimizer = nlp.initialize(lambda: pairs)
    for _ in range(steps):
        nlp.update(pairs, sgd=optimizer)
    return nlp


def table(nlp: Language) -> FeatureTable:
    found = ner(nlp).model.get_ref("tok2vec").shims[0]
    assert isinstance(found, FeatureTable)
    return found


def docs(nlp: Language) -> list[Doc]:
    return [Doc(nlp.vocab, words=text.split()) for text, _ in SENTENCES]


def found(nlp: Language) -> list[list[tuple[int, int, str]]]:
    return entities(nlp.pipe(docs(nlp)))


@pytest.mark.parametrize("scheme", ["iobes", "bio", "iob1", "bilou", "be"])
@pytest.mark.parametrize("objective", ["crf", "softmax"])
@pytest.mark.parametrize("learned_steps", [False, True])
def test_it_learns_what_it_sees(scheme: str, objective: str, learned_steps: bool) -> None:
    nlp = trained(learned_steps=learned_steps, scheme=scheme, objective=objective)
    assert found(nlp) == GOLD


def test_the_loss_falls_and_partial_annotation_is_taken() -> None:
    tags = ["B-PER", "-", "O", "B-LOC", "I-LOC", "O"]
    pairs = [example(tags, SENTENCES[0][0].split()), *examples()[1:]]
    nlp = fast()
    nlp.initialize(lambda: pairs)
    losses: list[dict[str, float]] = [{} for _ in range(15)]
    for mine in losses:
        nlp.update(pairs, losses=mine)
    assert losses[-1]["iobes_ner"] < 0.2 * losses[0]["iobes_ner"]


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second = trained(5), trained(5)
    assert ner(first).model.to_bytes() == ner(second).model.to_bytes()


def test_spacy_dropout_does_not_matter() -> None:
    weights = []
    for drop in (0.0, 0.9):
        nlp = fast()
        optimizer = nlp.initialize(examples)
        nlp.update(examples(), sgd=optimizer, drop=drop)
        weights.append(table(nlp).to_bytes())
    assert weights[0] == weights[1]


def test_templates_are_config() -> None:
    nlp = trained(settings={"templates": ["bias", "lower", "lower[-1] lower"]})
    assert found(nlp) == GOLD
    with pytest.raises(UnknownNameError, match="'colour' in the template"):
        fast(settings={"templates": ["lower colour"]})


def test_tags_of_a_pipeline_can_be_features() -> None:
    """Two words that nothing but their tag can tell apart."""
    reference = Doc(VOCAB, words=["x", "x"], ents=["B-PER", "O"])
    tagged = Doc(VOCAB, words=["x", "x"], tags=["NAME", "NOUN"])
    nlp = trained(pairs=[Example(tagged, reference)], settings={"templates": ["bias", "TAG"]})
    swapped = Doc(nlp.vocab, words=["x", "x"], tags=["NOUN", "NAME"])
    assert entities([nlp(swapped)]) == [[(1, 2, "PER")]]


def test_training_data_without_entities() -> None:
    nlp = trained(pairs=[example(["O", "O"])])
    assert len(table(nlp).label_of) == 1
    assert found(nlp) == [[], [], []]


def test_initialising_again_forgets() -> None:
    nlp = trained()
    nlp.initialize(examples)
    assert table(nlp).count == 0
    assert found(nlp) == [[], [], []]


def test_stored_and_loaded(tmp_path: Path) -> None:
    nlp = trained(settings={"store": "float16"})
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    assert found(loaded) == GOLD
    other = fast(settings={"store": "float16"}).from_bytes(nlp.to_bytes())
    assert found(other) == GOLD
    size = (tmp_path / "model" / "iobes_ner" / "model").stat().st_size
    assert size < table(nlp).count * (9 * 2 + 8) + 6000
    assert table(nlp).count < 400


def test_training_goes_on_after_loading(tmp_path: Path) -> None:
    nlp = trained(2)
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    optimizer = loaded.resume_training()
    losses: dict[str, float] = {}
    loaded.update(examples(), sgd=optimizer, losses=losses)
    first = losses["iobes_ner"]
    for _ in range(20):
        loaded.update(examples(), sgd=optimizer)
    losses.clear()
    loaded.update(examples(), sgd=optimizer, losses=losses)
    assert losses["iobes_ner"] < first
    assert found(loaded) == GOLD


def test_a_pickled_pipeline_trains_on_exactly() -> None:
    nlp = trained(5)
    other = pickle.loads(pickle.dumps(ner(nlp).model))
    pairs = examples()
    for _ in range(5):
        nlp.update(pairs)
    expected = table(nlp).to_bytes()
    restored = trained(5)
    ner(restored).model = other
    for _ in range(5):
        restored.update(pairs)
    assert table(restored).to_bytes() == expected


def test_labels_can_be_added() -> None:
    nlp = trained()
    before = ner(nlp).marginals(docs(nlp))
    assert ner(nlp).add_label("DAY") == 1
    assert len(table(nlp).label_of) == 13
    after = ner(nlp).marginals(docs(nlp))
    assert [rows.shape[1] for rows in after] == [13, 13, 13]
    assert [rows.argmax(axis=1).tolist() for rows in after] == [
        rows.argmax(axis=1).tolist() for rows in before
    ]
    words = ["Come", "on", "Monday"]
    more = [*examples(), example(["O", "O", "B-DAY"], words)]
    for _ in range(20):
        nlp.update(more)
    assert found(nlp) == GOLD
    assert entities([nlp(Doc(nlp.vocab, words=words))]) == [[(2, 3, "DAY")]]


def test_labels_before_initialisation() -> None:
    nlp = fast()
    ner(nlp).add_label("DAY")
    nlp.initialize(examples)
    assert ner(nlp).labels == ("DAY", "LOC", "PER")
    assert len(table(nlp).label_of) == 13


def test_a_model_that_is_not_initialised() -> None:
    with pytest.raises(ModelError, match="not initialised"):
        fast()("Anna")


def test_a_damaged_model_is_refused() -> None:
    nlp = trained(2)
    table(nlp).average[0, 0] = np.nan
    with pytest.raises(ModelError, match="NaN"):
        fast().from_bytes(nlp.to_bytes())


def test_a_model_for_other_labels_is_refused(tmp_path: Path) -> None:
    nlp = trained(2)
    nlp.to_disk(tmp_path)
    cfg = tmp_path / "iobes_ner" / "cfg"
    cfg.write_text(json.dumps({**json.loads(cfg.read_text()), "labels": ["LOC"]}))
    with pytest.raises(ModelError, match="9 outputs, but 1 labels in iobes need 5"):
        spacy.load(tmp_path)


def test_empty_docs_and_no_docs() -> None:
    nlp = trained(2)
    empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    losses: dict[str, float] = {}
    nlp.update([empty], losses=losses)
    nlp.update([empty, *examples()], losses=losses)
    assert entities(nlp.pipe([Doc(nlp.vocab), *docs(nlp)]))[0] == []
    assert list(nlp.pipe([])) == []


def test_several_processes() -> None:
    nlp = trained()
    texts = [text for text, _ in SENTENCES]
    assert entities(nlp.pipe(texts, n_process=2)) == GOLD


def test_accumulated_gradients_make_one_step() -> None:
    weights = []
    for parts in ([slice(0, 3)], [slice(0, 1), slice(1, 3)]):
        nlp = fast(settings={"dropout": 0.0})
        optimizer = nlp.initialize(examples)
        for part in parts:
            nlp.update(examples()[part], sgd=False)
        ner(nlp).finish_update(optimizer)
        weights.append(table(nlp).weights[: table(nlp).count])
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-6)
    assert table(nlp).steps == 1


# spacy train


def test_the_config_is_complete() -> None:
    config = load_config(CONFIG)
    filled = load_model_from_config(config, auto_fill=True).config
    assert filled.interpolate() == config.interpolate()
    assert "configs/ner_fast.cfg" in CONFIG.read_text(encoding="utf8")


def generated(path: Path, count: int, seed: int) -> str:
    """Sentences about people in places, as a DocBin."""
    choose, vocab = random.Random(seed), spacy.blank("en").vocab
    people, places = ("Ada Lovelace", "Grace", "Wangari Maathai"), ("New York", "Kisumu", "Rio")
    stored = DocBin()
    for _ in range(count):
        rows = [("Then", "O")] * choose.randint(0, 1)
        for text, label in ((choose.choice(people), "PER"), (choose.choice(places), "LOC")):
            rows += [(w, f"{'I' if i else 'B'}-{label}") for i, w in enumerate(text.split())]
            rows.append((choose.choice(["visited", "saw", "."]), "O"))
        words, tags = zip(*rows)
        stored.add(Doc(vocab, words=list(words), ents=list(tags)))
    stored.to_disk(path)
    return str(path)


def test_spacy_train(tmp_path: Path) -> None:
    paths = [
        "--paths.train",
        generated(tmp_path / "train.spacy", 200, 0),
        "--paths.dev",
        generated(tmp_path / "dev.spacy", 40, 1),
    ]
    steps = ["--training.max_steps", "40", "--training.eval_frequency", "20"]
    command = [sys.executable, "-m", "spacy", "train", str(CONFIG), "--output", "model"]
    done = subprocess.run(
        [*command, *paths, *steps], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    meta = json.loads((tmp_path / "model" / "model-best" / "meta.json").read_text())
    assert meta["performance"]["iobes_f"] > 0.95
    nlp = spacy.load(tmp_path / "model" / "model-best")
    doc = nlp("Grace visited New York")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Grace", "PER"), ("New York", "LOC")]
