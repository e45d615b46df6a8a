"""What version 0.1.0 made is still read, and means what it meant: see `frozen/make.py`."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, registry
from thinc.api import ConfigValidationError

from spacy_iobes import Signature, Span, kernels
from spacy_iobes.selection import Session

from .commands import fine, run
from .shared import beside
from .transcripts import FIXTURES

FROZEN = Path(__file__).parent / "frozen"
CHANGELOG = beside("CHANGELOG.md").read_text(encoding="utf8")
EXPECTED = json.loads((FROZEN / "expected.json").read_text(encoding="utf8"))
TEXT = "Charles Babbage left Paris , and the University of Texas bought Acme Corp. ."
COMPONENTS = {"flat": "iobes_ner", "nested": "iobes_nested_ner"}


@pytest.mark.filterwarnings("ignore:.*W095")  # another version of spaCy
@pytest.mark.parametrize("kind", COMPONENTS)
def test_models_find_the_same(kind: str) -> None:
    nlp = spacy.load(FROZEN / kind)
    ner: Any = nlp.get_pipe(COMPONENTS[kind])
    doc = nlp(TEXT)
    found = doc.ents if kind == "flat" else doc.spans["sc"]
    spans = [Span(span.start, span.end, span.label_) for span in found]
    assert spans == [Span(*row[:3]) for row in EXPECTED[kind]]
    probabilities = [ner.span_probability(doc, *span) for span in spans]
    assert probabilities == pytest.approx([row[3] for row in EXPECTED[kind]], abs=2e-6)


def edit_of_a_config() -> str:
    """Return the command of CHANGELOG that brings a config.cfg of 0.1.0 up to date."""
    (command,) = re.findall(r"```bash\n(sed .*? config\.cfg)\n```", CHANGELOG, re.DOTALL)
    return str(command)


def scored_examples(nlp: Language) -> list[Example]:
    """Return a sentence whose tags and entities, both predicted, are scored against gold."""
    words, gold, tags, ents = (column.split() for column in EXPECTED["scored"].values())
    predicted = Doc(nlp.vocab, words=words, ents=ents)
    predicted.user_data["iobes_tags"] = tags
    return [Example(predicted, Doc(nlp.vocab, words=words, ents=gold))]


@pytest.mark.filterwarnings("ignore:.*W095")
def test_scorers_of_an_edited_config_give_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(FROZEN / "scorers", folder)
    with pytest.raises(ConfigValidationError, match=r"policy.*(missing|required)"):
        spacy.load(folder)
    advice = "write policy in place of repair; write gold_policy in place of gold_repair."
    assert advice in run("tune", folder, FIXTURES / "gold.bio").stderr
    subprocess.run(edit_of_a_config(), shell=True, cwd=folder, check=True)
    nlp = spacy.load(folder)
    for name, expected in EXPECTED["scorers"].items():
        pipe: Any = nlp.get_pipe(name)
        found = pipe.scorer(scored_examples(nlp))
        recipe = Signature.parse(found.pop("iobes_signature"))
        assert found == {key: value for key, value in expected.items() if key in found}
        assert (recipe.policy, recipe.gold_policy) == ("begin", "discard")


@pytest.mark.skipif(
    not kernels.CHAIN_BUILD.startswith("x86-64-v"),
    reason=f"the build {kernels.CHAIN_BUILD} of the kernels rounds differently",
)
@pytest.mark.parametrize("kind", COMPONENTS)
def test_training_learns_the_same_weights(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES)
    source, options = {
        "flat": ("gold.bio", ["-s", "bio"]),
        "nested": ("nested.jsonl", ["--nested"]),
    }[kind]
    fine("train", source, source, *options, "-o", tmp_path / "model", "--max-steps", 20)
    stored = (tmp_path / "model" / COMPONENTS[kind] / "model").read_bytes()
    assert hashlib.sha256(stored).hexdigest() == EXPECTED["weights"][kind]


def edited(tmp_path: Path, source: Path) -> Path:
    """Return a copy of a config of 0.1.0 with the edits that CHANGELOG asks for."""
    path = tmp_path / "config.cfg"
    shutil.copy(source, path)
    subprocess.run(["bash", "-c", edit_of_a_config()], cwd=tmp_path, check=True)
    return path


@pytest.mark.parametrize("name", EXPECTED["readers"])
def test_readers_of_a_config_read_the_same(name: str, tmp_path: Path) -> None:
    path = edited(tmp_path, FROZEN / "readers.cfg")
    config = load_config(path, {"paths.files": str(FIXTURES)}, interpolate=True)
    for block in config["corpora"].values():
        if labels := block.pop("labels", None):  # by hand
            block["layers"] = [f"{n}={label}" for n, label in zip(block["layers"], labels)]
    reader = registry.resolve(config)["corpora"][name]
    docs = [example.reference for example in reader(spacy.blank("en"))]
    assert len(docs) == len(EXPECTED["readers"][name])
    for doc, expected in zip(docs, EXPECTED["readers"][name]):
        groups = {
            key: sorted([span.start, span.end, span.label_] for span in group)
            for key, group in doc.spans.items()
        }
        if doc.has_unknown_spaces:  # of what stands behind the last token nobody knows, either
            expected = {**expected, "spaces": [True] * len(doc)}
        assert {
            "words": [token.text for token in doc],
            "spaces": [bool(token.whitespace_) for token in doc],
            "sentences": [token.i for token in doc if token.is_sent_start],
            "entities": [f"{token.ent_iob}{token.ent_type_}" for token in doc],
            "spans": groups,
        } == expected


def test_a_session_goes_on(tmp_path: Path) -> None:
    shutil.copytree(FROZEN / "session", tmp_path / "session")
    expected = EXPECTED["session"]
    with Session.open(tmp_path / "session") as session:
        session.wait()
        made = [[d.sentence, d.answer, [list(s) for s in d.spans]] for d in session.decisions]
        progress, task = session.progress(), session.task()
        assert task is not None
        assert made == expected["decisions"]
        assert (progress.read, progress.mentions) == (expected["read"], expected["mentions"])
        assert task.sentence == expected["next"]
        session.decide(task.sentence, "accept", [Span(3, 4, "PER")])
        assert session.progress().read == expected["read"] + 1
