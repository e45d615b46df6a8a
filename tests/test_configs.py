"""The configs: complete, as spaCy would fill them, and at work in a pipeline and in training."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, load_model_from_config

from spacy_iobes import Signature
from spacy_iobes.corpus import token_tags
from spacy_iobes.errors import MalformedTagsWarning

from .shared import CONFIGS

EVERY = sorted(path.stem for path in CONFIGS.glob("*.cfg"))
TAUGHT = ("iobes_ner", "iobes_nested_ner", "tagger")
PEOPLE = ["Ada Lovelace", "Charles Babbage", "Grace", "Wangari Muta Maathai"]
PLACES = ["New York", "Nairobi", "Kisumu", "Rio de Janeiro"]


@pytest.mark.parametrize("name", EVERY)
def test_spacy_has_nothing_to_fill_in(name: str) -> None:
    config = load_config(CONFIGS / f"{name}.cfg")
    filled = load_model_from_config(config, auto_fill=True).config
    assert filled.interpolate() == config.interpolate()
    strict = load_model_from_config(config, auto_fill=False, validate=True)
    assert strict.pipe_names == config["nlp"]["pipeline"]


@pytest.mark.parametrize("name", EVERY)
def test_the_commands_in_the_comments_name_the_config(name: str) -> None:
    text = (CONFIGS / f"{name}.cfg").read_text(encoding="utf8")
    assert f"configs/{name}.cfg" in text


@pytest.mark.parametrize("name", EVERY)
def test_a_pipeline_is_made_of_it_and_initialised(name: str, tmp_path: Path) -> None:
    words, tags = ["Ada", "Lovelace", "of", "London"], ["B-PER", "I-PER", "O", "B-LOC"]
    doc = Doc(spacy.blank("en").vocab, words=words, ents=tags)
    doc.spans["sc"] = [*doc.ents, Span(doc, 0, 4, label="PER")]
    DocBin(docs=[doc]).to_disk(tmp_path / "one.spacy")
    file = tmp_path / "one.spacy"
    if "spacy-iobes.ConllCorpus.v1" in (CONFIGS / f"{name}.cfg").read_text(encoding="utf8"):
        file = columns(tmp_path / "some.bio", 5, 0)
    paths = {"paths.train": str(file), "paths.dev": str(file)}
    nlp = init_nlp(load_config(CONFIGS / f"{name}.cfg", overrides=paths))
    assert nlp.pipe_names == nlp.config["nlp"]["pipeline"]
    assert all(nlp.pipe_labels[part] for part in nlp.pipe_names if part in TAUGHT)
    raw = Doc(nlp.vocab, words=words, user_data={"iobes_tags": tags})
    assert len(nlp(raw)) == 4


def repairing(**settings: Any) -> Language:
    config = load_config(CONFIGS / "repair_tags.cfg", overrides=settings)
    return load_model_from_config(config)


def test_tags_from_elsewhere_become_entities() -> None:
    nlp = repairing()
    doc = nlp.make_doc("Ada Lovelace wrote to the Bank of Kenya.")
    pieces = [
        {"entity": "I-PER", "start": 0, "end": 3, "score": 0.9, "word": "Ada"},
        {"entity": "I-PER", "start": 4, "end": 8, "score": 0.8, "word": "Love"},
        {"entity": "B-LOC", "start": 8, "end": 12, "score": 0.9, "word": "##lace"},
        {"entity": "B-ORG", "start": 26, "end": 30, "score": 0.9, "word": "Bank"},
        {"entity": "I-ORG", "start": 31, "end": 33, "score": 0.9, "word": "of"},
        {"entity": "I-LOC", "start": 34, "end": 39, "score": 0.9, "word": "Kenya"},
    ]
    doc.user_data["iobes_tags"] = token_tags(doc, pieces, scheme="bio")
    with pytest.warns(MalformedTagsWarning, match="the sentence start -> I-PER"):
        doc = nlp(doc)
    found = [(ent.text, ent.label_) for ent in doc.ents]
    assert found == [("Ada Lovelace", "PER"), ("Bank of", "ORG"), ("Kenya", "LOC")]
    assert [change.index for change in doc._.iobes_changes] == [0, 7]


def test_the_settings_of_the_repair_are_in_one_place() -> None:
    nlp = repairing(**{"tags.scheme": "iobes", "tags.policy": "discard", "tags.source": "tag"})
    doc = nlp.make_doc("Ada of Rome")
    for token, tag in zip(doc, ["B-PER", "O", "S-LOC"]):
        token.tag_ = tag
    with pytest.warns(MalformedTagsWarning):
        doc = nlp(doc)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Rome", "LOC")]
    gold = Example.from_dict(doc, {"entities": ["O", "O", "U-LOC"]})
    with pytest.warns(MalformedTagsWarning):
        scores = nlp.evaluate([gold])
    assert scores["iobes_f"] == 1.0
    assert "policy:discard" in scores["iobes_signature"]


def columns(path: Path, sentences: int, seed: int) -> Path:
    """A column file of sentences about people in places, in bio."""
    choose = random.Random(seed)
    blocks = []
    for _ in range(sentences):
        rows = [("Yesterday", "O")] * choose.randint(0, 1)
        for text, label in ((choose.choice(PEOPLE), "PER"), (choose.choice(PLACES), "LOC")):
            words = text.split()
            rows += [(word, f"{'I' if i else 'B'}-{label}") for i, word in enumerate(words)]
            rows.append((choose.choice(["visited", "saw", ".", "and"]), "O"))
        blocks.append("".join(f"{word} {tag}\n" for word, tag in rows))
    path.write_text("\n".join(blocks), encoding="utf8")
    return path


def train(folder: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    """Run `spacy train` on small files."""
    data = [columns(folder / "train.bio", 200, 0), columns(folder / "dev.bio", 40, 1)]
    command = [sys.executable, "-m", "spacy", "train", str(CONFIGS / "tagger_iobes.cfg")]
    paths = ["--paths.train", str(data[0]), "--paths.dev", str(data[1])]
    steps = ["--training.max_steps", "40", "--training.eval_frequency", "20"]
    return subprocess.run(
        [*command, "--output", str(folder / "model"), *paths, *steps, *settings],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a trained pipeline, and the log of its training."""
    folder = tmp_path_factory.mktemp("tagger")
    done = train(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_training_shows_the_score_of_entities(trained: tuple[Path, str]) -> None:
    _, log = trained
    header = next(line.split() for line in log.splitlines() if "IOBES_F" in line)
    shown = "E # LOSS TAGGER TAG_ACC IOBES_F IOBES_P IOBES_R SCORE"
    assert header == shown.split()


def test_the_trained_pipeline_finds_entities(trained: tuple[Path, str]) -> None:
    nlp = spacy.load(trained[0] / "model" / "model-best")
    doc = nlp("Grace visited New York and Wangari Muta Maathai saw Nairobi")
    assert {token.tag_ for token in doc} >= {"B-LOC", "E-LOC", "S-PER", "O"}
    found = [(ent.text, ent.label_) for ent in doc.ents]
    expected = "Grace PER, New York LOC, Wangari Muta Maathai PER, Nairobi LOC"
    assert ", ".join(f"{text} {label}" for text, label in found) == expected


def test_the_recipe_of_the_score_is_kept(trained: tuple[Path, str]) -> None:
    meta = json.loads((trained[0] / "model" / "model-best" / "meta.json").read_text())
    performance = meta["performance"]
    signature = Signature.parse(performance["iobes_signature"])
    assert (signature.scheme, signature.policy, signature.gold_policy) == (
        "iobes",
        "begin",
        "raise",
    )
    assert performance["iobes_f"] > 0.9
    assert set(performance["iobes_f_per_type"]) == {"PER", "LOC"}
    assert performance["iobes_violations"] >= 0


def test_malformed_gold_stops_training_before_it_begins(tmp_path: Path) -> None:
    bad = tmp_path / "bad.bio"
    bad.write_text("Ada B-PER\n\nin O\nRome I-LOC\n", encoding="utf8")
    done = train(tmp_path, "--paths.train", str(bad))
    assert done.returncode == 1
    assert "bad.bio:4: 'Rome': O -> I-LOC" in done.stdout + done.stderr
    assert not list(tmp_path.glob("model/*"))
