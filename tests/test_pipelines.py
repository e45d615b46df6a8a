"""Pipelines with our components: stored, sent to other processes, packaged, trained, evaluated."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.evaluate import evaluate
from spacy.cli.train import train
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Config

from spacy_iobes import __version__

from .docs import TAGS, bare, stored, with_entities, with_tags

TAGGED = [["I-X", "O", "-"], ["B-Y", "I-X", "!"], [], ["O"]]
ENTITIES = [["B-X", "O", "-"], ["B-Y", "B-X", "!"], [], ["O"]]
SCORER = {"@scorers": "spacy-iobes.tag_scorer.v1", "scheme": "bio", "policy": "begin"}
RECIPE = f"f1:micro|match:exact|scheme:bio|policy:begin|gold_policy:raise|version:{__version__}"
KEYS = ("p", "r", "f")


def make() -> Language:
    """Look at tags, make entities of them, and write these in another scheme."""
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_validator", config={"scheme": "bio", "on_error": "ignore"})
    nlp.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "begin", "scorer": SCORER})
    nlp.add_pipe("iobes_converter", config={"scheme": "iobes", "target": "user_data:iobes"})
    return nlp


def check(nlp: Language, n_process: int = 1) -> None:
    """That a pipeline does all that `make` promised."""
    docs = list(nlp.pipe(map(with_tags, TAGGED), n_process=n_process, batch_size=2))
    assert [stored(doc) for doc in docs] == ENTITIES
    assert [list(doc.user_data[TAGS]) for doc in docs] == TAGGED
    assert list(docs[1].user_data["iobes"]) == ["S-Y", "S-X", "!"]
    assert [v.index for v in docs[1]._.iobes_violations] == [1]
    assert [(c.index, c.old, c.new) for c in docs[1]._.iobes_changes] == [(1, "I-X", "B-X")]
    assert [len(doc._.iobes_violations) for doc in docs] == [1, 1, 0, 0]
    pairs = [Example(with_tags(a), with_entities(b)) for a, b in zip(TAGGED, ENTITIES)]
    scores = nlp.evaluate(pairs)
    assert (scores["iobes_f"], scores["iobes_violations"]) == (1.0, 2)
    assert scores["iobes_signature"] == RECIPE


def test_as_made() -> None:
    check(make())


def test_pickle() -> None:
    check(pickle.loads(pickle.dumps(make())))


@pytest.mark.parametrize("name", ["iobes_validator", "iobes_repairer", "iobes_converter"])
def test_components_are_pickled_too(name: str) -> None:
    old = make().get_pipe(name)
    new = pickle.loads(pickle.dumps(old))
    assert type(new) is type(old)
    doc = with_tags(TAGGED[1])
    doc.set_ents([])
    new(doc)


def test_two_processes() -> None:
    check(make(), n_process=2)


def test_disk(tmp_path: Path) -> None:
    make().to_disk(tmp_path / "model")
    check(spacy.load(tmp_path / "model"))


def test_bytes() -> None:
    nlp = make()
    check(make().from_bytes(nlp.to_bytes()))
    check(English.from_config(nlp.config).from_bytes(nlp.to_bytes()))


def test_config_round_trip() -> None:
    nlp = make()
    text = nlp.config.to_str()
    config = Config().from_str(text, interpolate=False)
    again = English.from_config(config, auto_fill=False)
    assert again.config.to_str() == text
    check(again)


def test_package(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    make().to_disk(tmp_path / "model")
    folders = [str(tmp_path / name) for name in ("model", "out")]
    run("-m", "spacy", "package", *folders, "--name", "tags", "--build", "none")
    source, built = tmp_path / "out" / "en_tags-0.0.0", tmp_path / "built"
    run("setup.py", "build", "--build-lib", str(built), cwd=source)
    requirements = json.loads((source / "meta.json").read_text())["requirements"]
    assert [r for r in requirements if r.startswith("spacy-iobes")]
    code = (
        "import en_tags; from spacy.tokens import Doc\n"
        "nlp = en_tags.load(); doc = Doc(nlp.vocab, words=['a', 'b'])\n"
        f"doc.user_data[{TAGS!r}] = ['O', 'I-X']\n"
        "print([(ent.text, ent.label_) for ent in nlp(doc).ents])"
    )
    assert run("-c", code, PYTHONPATH=str(built)).strip() == "[('b', 'X')]"


def run(*arguments: str, cwd: Path | None = None, **environment: str) -> str:
    """What another Python prints."""
    command, env = [sys.executable, *arguments], os.environ | environment
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_select_pipes() -> None:
    nlp = make()
    with nlp.select_pipes(enable="iobes_validator"):
        doc = nlp(with_tags(TAGGED[0]))
        assert stored(doc) == ["-"] * 3
        assert len(doc._.iobes_violations) == 1
        assert doc._.iobes_changes == []
    with nlp.select_pipes(disable=["iobes_validator", "iobes_converter"]):
        doc = nlp(with_tags(TAGGED[0]))
        assert (stored(doc), "iobes" in doc.user_data) == (ENTITIES[0], False)
    check(nlp)


def test_sourcing() -> None:
    source, nlp = make(), spacy.blank("en")
    for name in source.pipe_names:
        nlp.add_pipe(name, source=source)
    check(nlp)
    assert nlp.config["components"] == source.config["components"]


def test_analyze_pipes() -> None:
    report: Any = make().analyze_pipes(pretty=False)
    assert report["problems"] == {name: [] for name in make().pipe_names}
    assert report["summary"]["iobes_validator"]["assigns"] == ["doc._.iobes_violations"]
    assert report["summary"]["iobes_repairer"]["assigns"] == [
        "doc.ents",
        "doc._.iobes_violations",
        "doc._.iobes_changes",
    ]
    assert "iobes_f" in report["summary"]["iobes_repairer"]["scores"]


def test_two_repairers_under_two_names() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "begin"})
    other = {"scheme": "bio", "policy": "discard", "target": "spans:strict"}
    nlp.add_pipe("iobes_repairer", name="strict", config=other)
    doc = nlp(with_tags(["I-X", "O", "B-X"]))
    assert stored(doc) == ["B-X", "O", "B-X"]
    assert [(span.start, span.end) for span in doc.spans["strict"]] == [(2, 3)]
    reference = with_entities(["B-X", "O"])
    reference.spans["strict"] = list(reference.ents)
    pairs = [Example(with_tags(["I-X", "O"]), reference)]
    scores = nlp.evaluate(pairs, per_component=True)
    assert scores["iobes_repairer"]["iobes_f"] == 1.0
    assert scores["strict"]["iobes_f"] == 0.0


# a tagger that learns tags, with the repairer behind it

SENTENCES = [
    ("Anna lives in New York .", "B-PER O O B-LOC I-LOC O"),
    ("New York likes Anna Lee .", "B-LOC I-LOC O B-PER I-PER O"),
    ("Lee is in Paris .", "B-PER O O B-LOC O"),
]


def reference(text: str, tags: str) -> Doc:
    """A Doc with entities, and with tags for a tagger to learn."""
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=text.split(), ents=tags.split())
    config = {"scheme": "iobes", "target": "tag"}
    written: Doc = nlp.create_pipe("iobes_converter", config=config)(doc)
    return written


def tagger_and_repairer() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    config = {"scheme": "iobes", "policy": "begin", "source": "tag"}
    nlp.add_pipe("iobes_repairer", config=config)
    return nlp


def test_a_tagger_learns_tags_and_the_repairer_makes_entities() -> None:
    nlp = tagger_and_repairer()
    references = [reference(*sentence) for sentence in SENTENCES]
    pairs = [Example(nlp.make_doc(doc.text), doc) for doc in references]
    optimizer = nlp.initialize(lambda: pairs)
    labels = {"O", "S-PER", "B-PER", "E-PER", "S-LOC", "B-LOC", "E-LOC"}
    assert set(nlp.get_pipe("tagger").labels) == labels  # type: ignore[attr-defined]
    before = nlp.evaluate(pairs)
    assert before["iobes_signature"].startswith("f1:micro|match:exact|scheme:iobes|policy:begin|")
    for _ in range(30):
        nlp.update(pairs, sgd=optimizer)
    after = nlp.evaluate(pairs)
    assert (after["iobes_f"], after["iobes_violations"], after["tag_acc"]) == (1.0, 0, 1.0)
    doc = nlp(references[0].text)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Anna", "PER"), ("New York", "LOC")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and a model out of `spacy train` after a few steps."""
    folder = tmp_path_factory.mktemp("trained")
    references = [reference(*sentence) for sentence in SENTENCES]
    DocBin(docs=references).to_disk(folder / "data.spacy")
    config = tagger_and_repairer().config.copy()
    config["paths"] |= {"train": str(folder / "data.spacy"), "dev": str(folder / "data.spacy")}
    config["training"] |= {"max_steps": 4, "eval_frequency": 2}
    config.to_disk(folder / "config.cfg")
    train(folder / "config.cfg", folder / "model")
    return folder


def test_training_weighs_and_stores_the_scores(trained: Path) -> None:
    nlp = spacy.load(trained / "model" / "model-last")
    weights = nlp.config["training"]["score_weights"]
    assert weights["iobes_f"] == 0.5
    assert weights["iobes_signature"] is None
    stored_scores = json.loads((trained / "model" / "model-last" / "meta.json").read_text())
    performance = stored_scores["performance"]
    assert performance["iobes_signature"] == RECIPE.replace("scheme:bio", "scheme:iobes")
    assert {"iobes_p", "iobes_r", "iobes_f", "iobes_f_per_type"} <= set(performance)
    assert isinstance(performance["iobes_violations"], int)


def test_spacy_evaluate_writes_the_scores(trained: Path, tmp_path: Path) -> None:
    model, data = trained / "model" / "model-last", trained / "data.spacy"
    evaluate(str(model), data, tmp_path / "scores.json")
    scores = json.loads((tmp_path / "scores.json").read_text())
    nlp = spacy.load(model)
    pairs = [Example(nlp.make_doc(text), reference(text, tags)) for text, tags in SENTENCES]
    expected = nlp.evaluate(pairs)
    for key in ("p", "r", "f", "f_per_type", "violations", "signature"):
        assert scores[f"iobes_{key}"] == expected[f"iobes_{key}"], key
    assert scores["iobes_signature"] == RECIPE.replace("scheme:bio", "scheme:iobes")


# what is optional may be missing or broken

OPTIONAL = "selenium scipy transformers tokenizers seqeval seqscore iobes nervaluate hypothesis"
KERNELS = "spacy_iobes.kernels._tags spacy_iobes.kernels._columns"
SITE = """
import sys
from importlib.abc import MetaPathFinder

BLOCKED = {blocked!r}.split()

class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in BLOCKED:
            raise {error}(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocker())
"""
SCRIPT = """
import spacy
from spacy.tokens import Doc
nlp = spacy.blank("en")
nlp.add_pipe("iobes_validator", config={"scheme": "bio", "on_error": "ignore"})
nlp.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "nearest"})
nlp.add_pipe("iobes_converter", config={"scheme": "iobes", "target": "user_data:iobes"})
doc = Doc(nlp.vocab, words=["a", "b"])
doc.user_data["iobes_tags"] = ["O", "I-X"]
print(nlp(doc).user_data["iobes"])
"""


@pytest.mark.parametrize(
    ("blocked", "error"),
    [
        pytest.param(f"{OPTIONAL} torch IPython", "ImportError", id="missing"),
        pytest.param(OPTIONAL, "RuntimeError", id="failing"),
        pytest.param(KERNELS, "ImportError", id="no kernels"),
    ],
)
def test_a_missing_or_failing_library_breaks_nothing(
    blocked: str, error: str, tmp_path: Path
) -> None:
    site = SITE.format(blocked=blocked, error=error)
    (tmp_path / "sitecustomize.py").write_text(site)
    path = str(tmp_path)
    with pytest.raises(AssertionError, match=f"{error}: .* is blocked"):
        run("-c", f"import {blocked.split()[0]}", PYTHONPATH=path)
    assert run("-W", "error", "-c", SCRIPT, PYTHONPATH=path).strip() == "['O', 'S-X']"
    for command in (["info"], ["iobes", "--help"]):
        run("-m", "spacy", *command, PYTHONPATH=path)


def test_a_blank_pipeline_costs_nothing_of_ours() -> None:
    """`spacy.blank` loads the factories, so what they load must be there with spaCy itself."""
    code = (
        "import sys, spacy; before = set(sys.modules); spacy.blank('en')\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'spacy', 'spacy_iobes', 'thinc'}))"
    )
    loaded = ast.literal_eval(run("-c", code))
    assert not set(loaded) & {*OPTIONAL.split(), "torch", "tensorflow", "IPython"}


def test_docs_of_another_pipeline() -> None:
    """Docs whose vocabulary is not that of the pipeline are annotated all the same."""
    doc = bare(1, spacy.blank("de").vocab)
    doc.user_data[TAGS] = ["B-new-label"]
    (done,) = make().pipe([doc])
    assert [ent.label_ for ent in done.ents] == ["new-label"]
