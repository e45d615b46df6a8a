"""`train` learns the same from the same annotation, whatever the file is."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from .commands import fine

NAMES = ["Ada", "Grace", "Charles Babbage", "Alan"]
PLACES = ["London", "New York", "Nairobi"]
COMPONENTS = {"flat": "iobes_ner", "nested": "iobes_nested_ner"}
FILES = {
    "prodigy": "train.prodigy.jsonl",
    "doccano": "train.doccano.jsonl",
    "hugging_face": "train.tags.json",
    "brat": "brat",
    "docbin": "train.spacy",
}


def texts(count: int) -> list[dict[str, object]]:
    """Texts that every tokenizer cuts at blanks, with mentions of people and places."""
    draw, found = random.Random(0), list[dict[str, object]]()
    for _ in range(count):
        text, spans = "then", []
        for words, label in ((draw.choice(NAMES), "PER"), (draw.choice(PLACES), "LOC")):
            start = len(text) + 1
            spans.append({"start": start, "end": start + len(words), "label": label})
            text += f" {words} {draw.choice(['visited', 'saw', 'left'])}"
        found.append({"text": text, "spans": spans})
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    source = folder / "source.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in texts(30)))
    for name, file in FILES.items():
        fine("convert", source, folder / file, "--to", name, "--to-scheme", "bio")
    return folder


@pytest.mark.parametrize("kind", COMPONENTS)
def test_five_formats_give_the_same_weights(folder: Path, tmp_path: Path, kind: str) -> None:
    weights = dict[str, bytes]()
    more = ["--nested"] if kind == "nested" else []
    for name, file in FILES.items():
        line = ["train", folder / file, *more, "--max-steps", 10, "--seed", 4]
        fine(*line, "-o", tmp_path / name)
        weights[name] = (tmp_path / name / COMPONENTS[kind] / "model").read_bytes()
    assert len(set(weights.values())) == 1


def test_docs_keep_what_else_they_have(tmp_path: Path) -> None:
    """A tagger learns beside a recogniser from the tags of a .spacy file."""
    nlp = spacy.blank("en")
    docs = list[Doc]()
    for words in (["Ada", "saw", "London"], ["then", "Grace", "left"]) * 5:
        doc = Doc(nlp.vocab, words=words, tags=["NN", "VB", "NN"])
        at = 0 if words[0] == "Ada" else 1
        doc.ents = [Span(doc, at, at + 1, "PER")]
        docs.append(doc)
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    nlp.add_pipe("tagger")
    nlp.add_pipe("iobes_ner")
    nlp.config.to_disk(tmp_path / "config.cfg")
    files = [tmp_path / "in.spacy", tmp_path / "in.spacy", "-c", tmp_path / "config.cfg"]
    fine("train", *files, "--max-steps", 4, "-o", tmp_path / "model")
    trained = spacy.load(tmp_path / "model")
    assert set(trained.pipe_labels["tagger"]) == {"NN", "VB"}
