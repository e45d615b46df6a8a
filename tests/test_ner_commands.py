"""`iobes_ner` under the commands of spaCy: train (with our config), evaluate, package, labels."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.training import Corpus
from spacy.util import load_config

from spacy_iobes import Signature, score

from .recognizers import SENTENCES, entities, examples, learn, make, ner, parameters
from .shared import CONFIGS

CONFIG = CONFIGS / "ner_cnn.cfg"
SMALL = {
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
    "components.tok2vec.model.embed.rows": [200, 100, 100, 100],
    "training.optimizer.learn_rate": 0.03,
    "training.max_steps": 20,
    "training.eval_frequency": 10,
}


def run(folder: Path, *arguments: object) -> str:
    """What a command of spaCy prints, run in a folder."""
    command = [sys.executable, "-m", "spacy", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def options(settings: dict[str, Any]) -> list[str]:
    """Settings as a command takes them."""
    return [part for key, value in settings.items() for part in (f"--{key}", json.dumps(value))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a pipeline out of `spacy train`, and the log of its training."""
    folder = tmp_path_factory.mktemp("ner")
    DocBin(docs=[pair.reference for pair in examples()] * 5).to_disk(folder / "data.spacy")
    paths = ["--paths.train", "data.spacy", "--paths.dev", "data.spacy"]
    log = run(folder, "train", CONFIG, "--output", "model", *paths, *options(SMALL))
    (folder / "log").write_text(log)
    return folder


def test_training_shows_loss_and_scores(folder: Path) -> None:
    lines = (folder / "log").read_text().splitlines()
    header = next(number for number, line in enumerate(lines) if "IOBES_F" in line)
    shown = "E # LOSS TOK2VEC LOSS IOBES... IOBES_F IOBES_P IOBES_R SCORE"  # spaCy cuts names
    assert lines[header].split() == shown.split()
    rows = [line.split() for line in lines[header + 2 :] if line[:1] == " "]
    assert [int(row[1]) for row in rows] == [0, 10, 20]
    assert float(rows[-1][3]) > 0
    assert float(rows[-1][4]) == 100.0


def test_the_trained_pipeline(folder: Path) -> None:
    nlp = spacy.load(folder / "model" / "model-best")
    found = entities(nlp.pipe(text for text, _ in SENTENCES))
    assert found == entities(pair.reference for pair in examples())
    assert ner(nlp).labels == ("LOC", "PER")
    performance: Any = nlp.meta["performance"]
    signature = Signature.parse(performance["iobes_signature"])
    assert (signature.scheme, signature.policy) == ("iobes", "raise")
    assert performance["iobes_violations"] == 0


def test_spacy_evaluate(folder: Path) -> None:
    model = folder / "model" / "model-last"
    printed = run(folder, "evaluate", model, "data.spacy", "--output", "scores.json").split()
    scores = json.loads((folder / "scores.json").read_text())
    nlp = spacy.load(model)
    pairs = list(Corpus(folder / "data.spacy")(nlp))
    found = entities(nlp.pipe(pair.reference.text for pair in pairs))
    report = score(entities(pair.reference for pair in pairs), found)
    assert [scores[f"iobes_{key}"] for key in "prf"] == list(report.micro)
    assert [scores[f"ents_{key}"] for key in "prf"] == list(report.micro)
    for key, figure in zip("PRF", report.micro):
        row = printed.index("NER")
        while printed[row : row + 2] != ["NER", key]:
            row += 1
        assert float(printed[row + 2]) == pytest.approx(100 * (figure or 0), abs=0.01)
    assert scores["iobes_signature"] == nlp.meta["performance"]["iobes_signature"]
    assert Signature.parse(scores["iobes_signature"]).scheme == "iobes"


def test_spacy_find_threshold(folder: Path) -> None:
    model = folder / "model" / "model-best"
    settings = ["iobes_ner", "threshold", "iobes_f", "--n_trials", "3"]
    printed = run(folder, "find-threshold", model, "data.spacy", *settings)
    rows = [line.split() for line in printed.splitlines() if line[:2] in ("0.", "1.")]
    for threshold, figure in rows:
        config = {"components": {"iobes_ner": {"threshold": float(threshold)}}}
        nlp = spacy.load(model, config=config)
        scores = nlp.evaluate(list(Corpus(folder / "data.spacy")(nlp)))
        assert float(figure) == pytest.approx(scores["iobes_f"] or 0.0, abs=1e-3)
    assert [row[0] for row in rows] == ["0.0", "0.5", "1.0"]
    assert float(rows[0][1]) > float(rows[-1][1])


def test_spacy_has_nothing_to_fill_in() -> None:
    config = load_config(CONFIG)
    filled = spacy.util.load_model_from_config(config, auto_fill=True).config
    assert filled.interpolate() == config.interpolate()
    assert "configs/ner_cnn.cfg" in CONFIG.read_text()


def test_init_labels(folder: Path) -> None:
    paths = ["--paths.train", "data.spacy", "--paths.dev", "data.spacy"]
    run(folder, "init", "labels", CONFIG, "labels", *paths, *options(SMALL))
    assert json.loads((folder / "labels" / "iobes_ner.json").read_text()) == ["LOC", "PER"]


def test_frozen_and_sourced_in_a_config(folder: Path, tmp_path: Path) -> None:
    """A recogniser of another pipeline stays as it is while a second one learns."""
    model = str(folder / "model" / "model-last")
    config = load_config(CONFIG, overrides={**SMALL, "training.max_steps": 4})
    config["nlp"]["pipeline"] = ["tok2vec", "iobes_ner", "second"]
    second = config["components"]["iobes_ner"] | {"scheme": "bio"}
    second["model"] = make().get_pipe_config("iobes_ner")["model"]
    replaced = {"source": model, "replace_listeners": ["model.tok2vec"]}
    config["components"] |= {"iobes_ner": replaced, "second": second}
    config["training"] |= {"frozen_components": ["iobes_ner"], "eval_frequency": 2}
    config["training"]["annotating_components"] = ["iobes_ner"]
    data = str(folder / "data.spacy")
    config["paths"] |= {"train": data, "dev": data}
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path / "model")
    before, after = spacy.load(model), spacy.load(tmp_path / "model" / "model-last")
    for name, values in parameters(ner(before)).items():
        assert (values == parameters(ner(after))[name]).all()
    other: Any = after.get_pipe("second")
    assert other.labels == ("LOC", "PER")
    assert parameters(other)["W"].any()
    texts = [text for text, _ in SENTENCES]
    with after.select_pipes(enable=["tok2vec", "iobes_ner"]):
        assert entities(after.pipe(texts)) == entities(before.pipe(texts))


def test_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn(make(scores=True), examples()).to_disk(tmp_path / "model")
    (tmp_path / "out").mkdir()
    run(tmp_path, "package", "model", "out", "--name", "spans", "--build", "none")
    made = tmp_path / "out" / "en_spans-0.0.0"
    requirements = json.loads((made / "meta.json").read_text())["requirements"]
    assert [r for r in requirements if r.startswith("spacy-iobes")]
    build = ["setup.py", "build", "--build-lib", str(tmp_path / "built")]
    subprocess.run([sys.executable, *build], cwd=made, capture_output=True, check=True)
    monkeypatch.syspath_prepend(tmp_path / "built")
    nlp = importlib.import_module("en_spans").load()
    found = entities(nlp.pipe(text for text, _ in SENTENCES))
    assert found == entities(pair.reference for pair in examples())
