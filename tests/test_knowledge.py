"""A model with everything it may know: the same bytes from the same data, wherever it goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import load_config

from spacy_iobes.codes import get_scheme
from spacy_iobes.corpus import conll_corpus
from spacy_iobes.ml import FeatureTable, TagChain, token_features

from .commands import fine, run
from .recognizers import entities, example, ner
from .test_documents import command, stories, written
from .test_features_training import table, trained

WEIGHTS = Path("iobes_ner", "model")
SETTING = "--components.iobes_ner.model.tok2vec"
CLUSTERS = "en" if find_spec("spacy_lookups_data") else None  # then without them
needs_clusters = pytest.mark.skipif(not CLUSTERS, reason="spacy-lookups-data is not installed")
TEXTS = ["near Washington rain fell", "later mr Lincoln won", "IN MADISON", ""]


def settings(folder: Path) -> list[object]:
    """All that a model may know, each in one line."""
    lists = {"town": str(folder / "towns"), "other": str(folder / "others")}
    found: list[object] = [f"{SETTING}.gazetteers", json.dumps(lists)]
    return [*found, f"{SETTING}.clusters", json.dumps(CLUSTERS)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and a pipeline that was trained on them."""
    folder = tmp_path_factory.mktemp("knowledge")
    written(folder / "train", stories(40))
    written(folder / "dev", stories(20, seed=1))
    (folder / "towns").write_text("Washington\nMadison\nNew York\n")
    (folder / "others").write_text("rain\nlater Lincoln\n")
    fine(*command(folder, folder / "model", *settings(folder)))
    return folder


ELSEWHERE = gettempdir()  # where the package is the one that is installed, not one in the way


def python(*arguments: object, cwd: str | Path = ELSEWHERE, **environment: str) -> str:
    """What another process prints; strings hash differently there."""
    line = [sys.executable, "-W", "ignore", *map(str, arguments)]
    env = os.environ | environment
    done = subprocess.run(line, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SHOW = """
import sys, spacy
sys.path[:0] = sys.argv[2:3]
nlp = spacy.load(sys.argv[1])
for doc in nlp.pipe(sys.stdin.read().split("\\n")):
    print([(e.start, e.end, e.label_) for e in doc.ents])
    print([row.tobytes().hex() for row in nlp.get_pipe("iobes_ner").marginals([doc])])
"""


def shown(source: object, *where: object) -> str:
    """What a pipeline finds in texts, to the last bit, in another process."""
    line = [sys.executable, "-W", "ignore", "-c", SHOW, str(source), *map(str, where)]
    text = "\n".join(TEXTS)
    pipes = {"input": text, "capture_output": True, "text": True}
    done: Any = subprocess.run(line, cwd=ELSEWHERE, check=False, **pipes)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def found_here(folder: Path) -> str:
    nlp: Any = spacy.load(folder)
    rows = []
    for doc in nlp.pipe(TEXTS):
        rows.append(str([(e.start, e.end, e.label_) for e in doc.ents]))
        rows.append(str([row.tobytes().hex() for row in ner(nlp).marginals([doc])]))
    return "\n".join(rows) + "\n"


# the same everywhere


@pytest.mark.parametrize("hashing", ["1", "2"])
def test_another_process_trains_the_same_model(data: Path, tmp_path: Path, hashing: str) -> None:
    line = command(data, tmp_path / "model", *settings(data))
    python("-m", "spacy_iobes", *line, PYTHONHASHSEED=hashing)
    assert (tmp_path / "model" / WEIGHTS).read_bytes() == (data / "model" / WEIGHTS).read_bytes()


def test_another_process_finds_the_same(data: Path) -> None:
    assert shown(data / "model") == found_here(data / "model")


@pytest.mark.skipif(
    not (find_spec("pip") and find_spec("setuptools")), reason="pip and setuptools are not there"
)
def test_packaged_and_installed(data: Path, tmp_path: Path) -> None:
    """In another place, where the lists are not."""
    (tmp_path / "out").mkdir()
    name = ["--name", "known", "--build", "none"]
    python("-m", "spacy", "package", data / "model", tmp_path / "out", *name)
    made, site = tmp_path / "out" / "en_known-0.0.0", tmp_path / "site"
    site.mkdir()
    facts, files = ["egg_info", "--egg-base", site], ["build", "--build-lib", site]
    python("setup.py", "--quiet", *facts, *files, cwd=made)  # pip would need the package wheel
    lists = [data / name for name in ("towns", "others")]
    for path in lists:
        path.rename(path.with_suffix(".away"))
    try:
        assert shown("en_known", site) == found_here(data / "model")
    finally:
        for path in lists:
            path.with_suffix(".away").rename(path)


def test_several_processes_find_the_same(data: Path) -> None:
    nlp = spacy.load(data / "model")
    corpus = conll_corpus(data / "dev", scheme="bio", unit="document", keep_sentences=True)
    docs = [pair.predicted for pair in corpus(nlp)]
    copies = [doc.copy() for doc in docs]
    alone = entities(nlp.pipe(docs, n_process=1))
    assert entities(nlp.pipe(copies, n_process=2, batch_size=3)) == alone
    assert alone == entities(pair.reference for pair in corpus(nlp))


def test_batches_do_not_matter(data: Path) -> None:
    nlp = spacy.load(data / "model")
    corpus = conll_corpus(data / "dev", scheme="bio", unit="document", keep_sentences=True)
    docs = [pair.predicted for pair in corpus(nlp)]
    together = ner(nlp).marginals(docs)
    alone = [ner(nlp).marginals([doc])[0] for doc in docs]
    assert all(np.array_equal(a, b) for a, b in zip(together, alone))


def test_the_order_of_lists_survives(data: Path) -> None:
    """What is said by all lists together depends on it."""
    config: Any = load_config(data / "model" / "config.cfg")
    features = config["components"]["iobes_ner"]["model"]["tok2vec"]
    assert list(features["gazetteers"]) == ["town", "other"]
    assert features["clusters"] == CLUSTERS
    assert features["document"] is True


def test_training_goes_on_without_the_lists(data: Path, tmp_path: Path) -> None:
    nlp = spacy.load(data / "model")
    optimizer = nlp.resume_training()
    nlp.update([example(["O", "B-LOC"], ["in", "Oslo"])], sgd=optimizer)
    nlp.to_disk(tmp_path / "model")
    assert shown(tmp_path / "model") == found_here(tmp_path / "model")


# readable


def test_what_is_known_can_be_read(data: Path) -> None:
    nlp: Any = spacy.load(data / "model")
    words = ["then", "near", "Washington", "rain", "fell", "later", "WASHINGTON"]
    starts: list[Any] = [True, False, False, False, False, True, False]
    doc = Doc(nlp.vocab, words=words, sent_starts=starts)
    every = [{f.name for f in features} for features in token_features(ner(nlp).model, doc)]
    assert {"in_town=whole", "place=later", "seen=upper", "before_later='later'"} <= every[2]
    assert {"in_other=whole", "in_town[-1]=whole", "capitals=no"} <= every[3]
    assert {"in_town=whole, other capitals", "before_first='near'", "seen=title"} <= every[6]
    assert {"place=second and last", "lower[+1]=(end)", "lower[-2]=(start)"} <= every[6]


@needs_clusters
def test_clusters_can_be_read(data: Path) -> None:
    nlp: Any = spacy.load(data / "model")
    doc = Doc(nlp.vocab, words=["Washington", "Qqxyzzy"])
    first, second = ({f.name for f in row} for row in token_features(ner(nlp).model, doc))
    assert [name for name in first if name.startswith("cluster6='")]
    assert not [name for name in second if name.startswith("cluster6=")]


# bad settings, by the command


def test_what_the_command_says_of_bad_settings(data: Path, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("Rome\nParis\tLOC\n")
    (tmp_path / "void").write_text("\n")
    cases: list[tuple[str, object, str]] = [
        ("templates", '["lower", "colour"]', "Unknown attribute 'colour' in the template 'colour'"),
        ("templates", '["lower["]', "'lower[' is no template"),
        ("templates", '"lower"', "templates are a list of them"),
        ("clusters", "fr", "for the language 'fr'. The"),
        ("clusters", '""', "clusters is a language such as 'en', or null, not ''"),
        ("gazetteers", '["towns"]', "gazetteers: at root: ['towns'] is not dict[str, str]"),
        ("gazetteers", "towns", "gazetteers: at root: 'towns' is not dict[str, str]"),
        ("gazetteers", '{"a b": "towns"}', "a name of letters, digits and _, not 'a b'"),
        ("gazetteers", '{"a": "nowhere"}', "nowhere: the list cannot be read"),
        (
            "gazetteers",
            json.dumps({"a": str(tmp_path / "odd")}),
            "odd, line 2: 'Paris\\tLOC' is no",
        ),
        ("gazetteers", json.dumps({"a": str(tmp_path / "void")}), "void: the list has no names"),
    ]
    target = tmp_path / "model"
    for name, value, message in cases:
        result = run(*command(data, target, f"{SETTING}.{name}", value))
        said = " ".join(result.stderr.replace("│", " ").split())
        assert (result.exit_code, message in said) == (2, True), (name, value, result.output)
        assert not list(tmp_path.glob("model*"))


# labels


@pytest.mark.parametrize("count", [1, 10, 79])
def test_a_column_for_each_tag(count: int) -> None:
    """So memory grows with the labels as it grows with the tags: linearly."""
    labels = tuple(f"L{number}" for number in range(count))
    made = FeatureTable(8, rate=0.1, store="float32")
    made.set_states(TagChain(get_scheme("iobes"), labels).states.label_of)
    assert made.weights.shape[1] == 1 + 4 * count
    random = np.random.default_rng(0)
    _, learn = made.begin_update(random.integers(0, 200, (50, 4)).astype(np.int32))
    learn(np.ones((50, 1 + 4 * count), dtype=np.float32))
    made.finish_update(None)
    size = made.count * (4 * (1 + 4 * count) + 4 + 4) + 8 * (1 + 4 * count)
    assert size < len(made.to_bytes()) < size + 400  # what the arrays are called


def test_many_labels_are_learnt() -> None:
    labels = [f"L{number}" for number in range(79)]
    pairs = [example(["O", f"B-{x}", f"I-{x}"], ["the", f"a{x}", f"b{x}"]) for x in labels]
    nlp = trained(pairs=pairs)
    docs = [Doc(nlp.vocab, words=[t.text for t in pair.reference]) for pair in pairs]
    assert entities(nlp.pipe(docs)) == [[(1, 3, label)] for label in labels]
    assert table(nlp).weights.shape[1] == 1 + 4 * 79
