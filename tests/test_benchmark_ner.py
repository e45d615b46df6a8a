"""The benchmark `ner`: corpora, what it keeps, tables and targets, and a small run of all."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from .shared import ROOT, environment, needs_shared

if not find_spec("benchmarks"):
    pytest.skip("there is no benchmarks/ beside tests/", allow_module_level=True)

from benchmarks import ner, ner_corpora, ner_crfsuite, ner_options, ner_plot, ner_tables
from benchmarks.__main__ import main
from benchmarks.ner_corpora import CORPORA, Document
from benchmarks.ner_keep import Keep
from benchmarks.ner_measure import Task
from benchmarks.ner_systems import CRFSUITE, OURS, SPACY, SYSTEMS, Crfsuite, Ours, system_for
from benchmarks.ner_tables import Results
from benchmarks.ner_targets import targets

NAMES = ("Ada", "Grace", "Alan", "Rosa")
PARTS = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")

needs_crfsuite = pytest.mark.skipif(
    not find_spec("pycrfsuite"), reason="python-crfsuite is not installed"
)


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark on the corpora in a folder."""
    line = [sys.executable, "-m", "benchmarks", "ner", *arguments]
    env = environment(SPACY_IOBES_SHARED=str(folder))
    return subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of a few sentences where WNUT-17 would be."""
    place = tmp_path / "data" / "wnut17"
    place.mkdir(parents=True)
    text = "".join(f"{name}\tB-person\nsleeps\tO\n\n" for name in NAMES * 10)
    for part in PARTS:
        (place / part).write_text(text, encoding="utf8")
    return tmp_path


def documents(*sizes: int) -> list[Document]:
    """Documents of so many sentences, each with a word of its own."""
    return [[([f"{i}.{j}"], ["O"]) for j in range(size)] for i, size in enumerate(sizes)]


@needs_crfsuite
def test_a_small_run_of_all_systems_is_kept_and_not_repeated(folder: Path) -> None:
    keep = folder / "kept.jsonl"
    line = ("--quick", "--only", "wnut17", "--keep", str(keep))
    done = command(folder, *line, "--json", str(folder / "results.json"))
    assert done.returncode == 0, done.stderr
    keys = [json.loads(row)["key"] for row in keep.read_text().splitlines()]
    assert [key["system"] for key in keys] == [
        name for name in SYSTEMS if system_for(name, "wnut17")
    ]
    assert "== WNUT-17: 80 words to train on, 1 labels ==" in done.stdout
    results = json.loads((folder / "results.json").read_text())["benchmarks"]["ner"]
    rows = {row["system"]: row for row in results[1]["rows"]}
    assert rows[CRFSUITE]["test F1"] == rows[OURS]["test F1"] == 100.0
    assert all(row["cached words/s"] > 0 and row["model MB"] > 0 for row in rows.values())

    before = keep.read_bytes()
    again = command(folder, *line, "--kept")
    assert again.returncode == 0, again.stderr
    assert (again.stderr, keep.read_bytes()) == ("", before)
    assert done.stdout.partition("== WNUT")[2] == again.stdout.partition("== WNUT")[2]


def test_what_is_not_at_hand_is_said(tmp_path: Path) -> None:
    done = command(tmp_path, "--quick")
    assert done.returncode == 0, done.stderr
    assert "germeval is left out: GermEval 2014, outer is not at hand." in done.stdout
    assert " met" not in done.stdout.replace("not measured", "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--only", "wnut18"], "--only: 'wnut18' is none of conll2003, "),
        (["--systems", "ours,theirs"], "--systems: 'theirs' is none of spaCy ner, crfsuite, ours"),
        (["--kept"], "--kept: name the file with --keep"),
        (["--seeds", "0"], "--seeds: at least 1"),
        (["--keep", "nowhere/kept.jsonl"], "--keep: there is no directory for nowhere/kept.jsonl"),
        (["--plot", "curve.doc"], "--plot: curve.doc ends in none of .svg, .png, .pdf"),
        (["--plot", "c.svg", "--only", "atis"], "add curve to --only"),
    ],
)
def test_options_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], line: list[str], said: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["ner", *line])
    assert said in " ".join(capsys.readouterr().err.split())


def test_other_benchmarks_have_no_such_options() -> None:
    said = ner_options.problem("chain", {"seeds": 1})
    assert said == "--seeds: this is an option of ner, not of chain"
    assert not ner_options.problem("chain", {})


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ner_options, "find_spec", lambda name: None)
    said = ner_options.problem("ner", {"plot": Path("curve.svg")})
    assert said == '--plot: matplotlib is missing: pip install "spacy-iobes[bench]"'


def test_rows_are_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    Keep(path).add({"seed": 0, "of": (1, 2)}, {"F1": 1.5})
    with path.open("a") as file:
        file.write('{"key": {"seed": 1}, "fig')  # its writer was killed
    Keep(path).add({"seed": 2}, {"F1": 2.5})
    kept = Keep(path)
    assert kept.get({"of": [1, 2], "seed": 0}) == {"F1": 1.5}
    assert kept.get({"seed": 1}) is None
    assert kept.get({"seed": 2}) == {"F1": 2.5}


def key(system: Any) -> Any:
    return Task("atis", "x", system).key()


def test_settings_are_part_of_the_key_but_remarks_are_not() -> None:
    assert key(Ours()) == key(Ours(knowledge=True, corpora=("atis",)))
    assert key(Ours()) != key(Ours({"components.iobes_ner.scheme": "bio"}))
    assert key(Ours()) != key(Ours(unit="sentence"))


@needs_crfsuite
def test_the_settings_of_crfsuite_are_part_of_the_key() -> None:
    assert key(Crfsuite()) != key(Crfsuite(c1=0.0))


def test_a_setting_may_be_for_some_corpora(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, "ours lists", Ours(corpora=("conll2003",)))
    assert system_for("ours lists", "conll2003")
    assert system_for("ours lists", "wnut17") is None


def test_crfsuite_has_a_seed_only_where_chance_picks_its_data() -> None:
    plan = ner.Plan([], [CRFSUITE], seeds=3, quick=False)
    assert [task.seed for task in plan.tasks("wnut17")] == [0]
    curve = [(task.share, task.seed) for task in plan.tasks(ner_tables.CURVE)]
    assert curve.count((1.0, 0)) == 1
    assert sorted(seed for share, seed in curve if share == 0.05) == [0, 1, 2]
    assert len(curve) == 13


def test_shares_grow_and_hold_so_many_sentences() -> None:
    every = documents(5, 1, 3, 8, 3)
    found = [ner_corpora.some_of(every, share, seed=1) for share in (0.1, 0.5, 1.0)]
    assert [sum(map(len, part)) for part in found] == [2, 10, 20]
    words = [{words[0] for document in part for words, _ in document} for part in found]
    assert words[0] < words[1] < words[2]
    assert ner_corpora.some_of(every, 0.5, seed=2) != found[1]


def test_the_first_sentences_and_sentences_apart() -> None:
    assert list(map(len, ner_corpora.first(documents(2, 3, 4), 4))) == [2, 2]
    assert list(map(len, ner_corpora.first(documents(2, 3), 9))) == [2, 3]
    assert ner_corpora.apart(documents(2, 1)) == [
        [(["0.0"], ["O"])],
        [(["0.1"], ["O"])],
        [(["1.0"], ["O"])],
    ]
    assert ner_corpora.joined(documents(2)[0]) == (["0.0", "0.1"], ["O", "O"])


# Documents, sentences, words and entities of train, dev and test, as others counted them.
SIZES = {
    "conll2003": [
        (946, 14041, 203621, 23499),
        (216, 3250, 51362, 5942),
        (231, 3453, 46435, 5648),
    ],
    "conll2002-nl": [
        (287, 15806, 202644, 13344),
        (74, 2895, 37687, 2616),
        (119, 5195, 68875, 3941),
    ],
    "wnut17": [
        (3394, 3394, 62730, 1975),
        (1009, 1009, 15733, 836),
        (1287, 1287, 23394, 1079),
    ],
}


@needs_shared
@pytest.mark.parametrize("name", SIZES)
def test_corpora_have_the_sizes_that_are_known(name: str) -> None:
    parts = ner_corpora.load(name)
    assert [sizes(part) for part in (parts.train, parts.dev, parts.test)] == SIZES[name]


def sizes(part: list[Document]) -> tuple[int, int, int, int]:
    tags = [tag for document in part for _, tags in document for tag in tags]
    entities = sum(tag.startswith("B-") for tag in tags)
    return len(part), sum(map(len, part)), len(tags), entities


@needs_shared
def test_a_tenth_of_the_documents_is_held_out_where_there_is_no_dev_data() -> None:
    parts = ner_corpora.load("jnlpba")
    train, dev, test = map(sizes, (parts.train, parts.dev, parts.test))
    assert (train[0], dev[0], test[0]) == (1800, 200, 404)
    assert [a + b for a, b in zip(train[1:], dev[1:])] == [18546, 492551, 51301]
    assert test[1:] == (3856, 101039, 8662)


@needs_shared
def test_words_and_tags_from_two_files() -> None:
    parts = ner_corpora.load("atis")
    assert [sizes(part)[1::2] for part in (parts.train, parts.dev, parts.test)] == [
        (4478, 14851),
        (500, 1709),
        (893, 2837),
    ]


def test_the_usual_features() -> None:
    first, second = ner_crfsuite.features(["Ada", "B2"])
    assert first == [
        *("bias", "word=Ada", "0:lower=ada", "0:shape=Xxx"),
        *("prefix1=A", "suffix1=a", "prefix2=Ad", "suffix2=da"),
        *("prefix3=Ada", "suffix3=Ada", "prefix4=Ada", "suffix4=Ada", "title"),
        *("-2:lower=<s>", "-2:shape=<x>", "-1:lower=<s>", "-1:shape=<x>"),
        *("1:lower=b2", "1:shape=Xd", "2:lower=</s>", "2:shape=</x>"),
        *("-1:pair=<s> ada", "1:pair=ada b2"),
    ]
    assert {"title", "upper", "-1:lower=ada", "-1:pair=ada b2"} <= set(second)


def filled() -> Results:
    """Two seeds of ours, one of each peer, on CoNLL-2003."""
    results = Results()
    ours = {"first words/s": 300.0, "cached words/s": 900.0, "training s": 12.0, "dev F1": 92.0}
    for seed, f1 in enumerate((87.0, 88.0)):
        results.add(Task("conll2003", OURS, Ours(), seed), {**ours, "test F1": f1})
    peer = {"first words/s": 20.0, "cached words/s": 20.0, "best s": 100.0, "test F1": 81.0}
    results.add(Task("conll2003", SPACY, Ours()), {**peer, "capped": True})
    crf = {"training s": 130.0, "L-BFGS s": 110.0, "test F1": 83.5}
    results.add(Task("conll2003", CRFSUITE, Crfsuite()), crf)
    results.add(Task("wnut17", OURS, Ours()), None)
    return results


def test_targets_say_what_is_met_missed_and_not_measured() -> None:
    rows = {(row["target"], row["on"]): row for row in targets(filled()).rows}
    found = {name: (row["measured"], row["verdict"]) for name, row in rows.items()}
    on = "conll2003"
    assert found["test F1 of the training data alone", on] == (87.5, "met")
    assert found["test F1 with clusters and lists", on] == (None, "not measured")
    part = "training, part of the time that spaCy ner takes to its best"
    assert found[part, on] == (0.12, "not met")
    assert found["tagging ready Docs (first), x spaCy ner", on] == (15.0, "not met")
    assert found["tagging ready Docs (cached), x spaCy ner", on] == (45.0, "met")
    assert found["test F1 above crfsuite", on] == (4.0, "met")
    assert found["test F1 above crfsuite", "wnut17"] == (None, "not measured")
    run = "training, x the L-BFGS run of crfsuite"
    assert found[run, on] == (110 / 12, "not met")
    assert found[f"{run} with its features", on] == (130 / 12, "met")
    assert {name for _, name in found} == set(CORPORA)


def test_the_setting_for_the_target_is_chosen_on_dev_data(monkeypatch: pytest.MonkeyPatch) -> None:
    results = filled()
    for name, dev, test, knowledge in (
        ("ours good", 93.0, 86.0, False),
        ("ours lucky", 91.0, 99.0, False),
        ("ours lists", 95.0, 90.0, True),
    ):
        monkeypatch.setitem(SYSTEMS, name, Ours(knowledge=knowledge))
        found = {"dev F1": dev, "test F1": test}
        results.add(Task("conll2003", name, Ours(knowledge=knowledge)), found)
    first, second = targets(results).rows[:2]
    assert (first["setting"], first["measured"]) == ("ours good", 86.0)
    assert (second["setting"], second["verdict"]) == ("ours lists", "met")


def test_a_corpus_has_means_and_spread() -> None:
    table = ner_tables.corpus(filled(), "conll2003")
    ours, spacy, crfsuite = table.rows
    assert (ours["seeds"], ours["test F1"], ours["spread"]) == (2, 87.5, 1.0)
    assert (spacy["spread"], crfsuite["to best s"]) == (None, None)
    assert table.notes == ["spaCy ner: 1 of 1 were ended by the clock."]
    assert "-" in str(ner_tables.corpus(filled(), "wnut17"))


@pytest.mark.skipif(not find_spec("matplotlib"), reason="matplotlib is not installed")
def test_curves_as_a_picture(tmp_path: Path) -> None:
    points = {"spaCy ner": {0.01: [40.0, 42.0], 1.0: [81.0]}, "ours": {0.01: [50.0], 1.0: []}}
    ner_plot.draw(tmp_path / "curve.svg", points)
    text = (tmp_path / "curve.svg").read_text(encoding="utf8")
    assert "share of the CoNLL-2003 training data" in text
