"""The recognisers of the benchmark `nested`: corpora, levels, thresholds, and a small run."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.training import Example

from .shared import ROOT, environment

if not find_spec("benchmarks"):
    pytest.skip("there is no benchmarks/ beside tests/", allow_module_level=True)

from benchmarks import ner_options, nested_ner_corpora
from benchmarks.__main__ import main
from benchmarks.nested_ner_corpora import CORPORA, Document, load
from benchmarks.nested_ner_levels import level_figures, levels
from benchmarks.nested_ner_measure import THRESHOLDS, Task, best_threshold
from benchmarks.nested_ner_systems import KEY, SYSTEMS, System
from benchmarks.nested_ner_tables import Results, targets
from benchmarks.nested_ner_training import batches, examples, reference
from spacy_iobes import Span

SENTENCES = (
    "the\tO\tO\tO\tO\nIL-2\tB-DNA\tB-protein\tO\tO\ngene\tI-DNA\tO\tO\tO\n\n",
    "Jurkat\tB-cell_line\tO\tO\tO\ncells\tI-cell_line\tO\tO\tO\ngrow\tO\tO\tO\tO\n\n",
)
DOCUMENT: Document = [
    (["a", "b"], ((Span(0, 2, "X"),), (Span(0, 1, "Y"),))),
    (["c", "d", "e"], ((Span(1, 3, "Y"),), ())),
]
mentions = st.sets(
    st.tuples(st.integers(0, 6), st.integers(1, 4), st.sampled_from("XYZ")).map(
        lambda m: (m[0], m[0] + m[1], m[2])
    ),
    max_size=6,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents of two sentences where GENIA would be."""
    place = tmp_path / "data" / "genia-nested"
    place.mkdir(parents=True)
    for part in ("train", "dev", "test"):
        with gzip.open(place / f"genia.{part}.nested.iob2.gz", "wt") as file:
            file.write("".join(SENTENCES) * 20)
    rows = [f"{part}\t{i}\tid{i // 2}\n" for part in ("train", "dev", "test") for i in range(40)]
    with gzip.open(place / "sentence_ids.tsv.gz", "wt") as file:
        file.writelines(rows)
    monkeypatch.setenv("SPACY_IOBES_SHARED", str(tmp_path))
    return tmp_path


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark on the corpora that the environment names."""
    line = [sys.executable, "-m", "benchmarks", "nested", "--quick", *arguments]
    return subprocess.run(
        line, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )


def test_a_small_run_is_kept_and_not_repeated(folder: Path) -> None:
    names = ["hashed edge", "hashed flat", "CNN spancat", "CNN span finder"]
    keep, results = folder / "kept.jsonl", folder / "results.json"
    line = ("--only", "genia", "--systems", ",".join(names), "--keep", str(keep))
    done = command(*line, "--json", str(results))
    assert done.returncode == 0, done.stderr
    keys = [json.loads(row)["key"] for row in keep.read_text().splitlines()]
    assert [key["system"] for key in keys] == names
    rows = json.loads(results.read_text())["benchmarks"]["nested"][1]["rows"]
    edge, flat = rows[:2]
    assert edge["test F1"] == edge["nested R"] == 100.0
    assert flat["nested R"] == 0.0  # IL-2 lies in a gene
    assert (flat["test P"], flat["test R"]) == (100.0, pytest.approx(200 / 3))
    assert all(row["tagging words/s"] > 0 and row["model MB"] > 0 for row in rows)

    before = keep.read_bytes()
    again = command(*line, "--kept")
    assert (again.stderr, again.returncode, keep.read_bytes()) == ("", 0, before)
    assert done.stdout.partition("== GENIA")[2] == again.stdout.partition("== GENIA")[2]


def test_sentences_of_an_id_are_a_document(folder: Path) -> None:
    parts = load("genia", limit=5)
    assert [len(document) for document in parts.train] == [2, 2, 1]
    words, layers = parts.test[0][0]
    assert words == ["the", "IL-2", "gene"]
    assert layers == ((Span(1, 3, "DNA"),), (Span(1, 2, "protein"),), (), ())


def test_without_ids_every_sentence_is_a_document(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = nested_ner_corpora.CORPORA["genia"].file
    source = nested_ner_corpora.Source("GENIA", "en", file, 4)
    monkeypatch.setitem(CORPORA, "genia", source)
    assert list(map(len, load("genia").dev)) == [1] * 40


def test_what_is_not_at_hand_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACY_IOBES_SHARED", str(tmp_path))
    done = command()
    assert done.returncode == 0, done.stderr
    assert "Not at hand: GENIA, GermEval 2014." in done.stdout
    assert done.stdout.partition("== targets ==")[2].count("not measured") == 3


def test_references_have_all_mentions_and_outermost_entities() -> None:
    doc = reference(spacy.blank("xx").vocab, DOCUMENT)
    found = {(s.start, s.end, s.label_) for s in doc.spans[KEY]}
    assert found == {(0, 2, "X"), (0, 1, "Y"), (3, 5, "Y")}
    assert [(e.start, e.end, e.label_) for e in doc.ents] == [(0, 2, "X"), (3, 5, "Y")]
    assert [sentence.text for sentence in doc.sents] == ["a b", "c d e"]


@given(st.integers(1, 30), st.integers(0, 3))
def test_batches_hold_every_doc_once_in_an_epoch(words: int, seed: int) -> None:
    rows = examples(spacy.blank("xx"), [DOCUMENT] * 7)
    found = list(batches(rows, words, seed, epochs=2))
    assert sorted(map(id, chain.from_iterable(found))) == sorted(map(id, rows * 2))
    assert all(5 * (len(batch) - 1) < words for batch in found)


@given(mentions)
def test_levels_are_what_is_inside_and_what_is_not(given: set[tuple[int, int, str]]) -> None:
    outer, inner = levels(given)
    assert outer | inner == given
    for start, end, label in given:
        others = given - {(start, end, label)}
        inside = any(
            s <= start and end <= e and ((s, e) != (start, end) or other < label)
            for s, e, other in others
        )
        assert ((start, end, label) in inner) == inside


def test_figures_of_levels() -> None:
    doc = Doc(spacy.blank("xx").vocab, words=list("abcde"))
    doc.spans[KEY] = [DocSpan(doc, 0, 1, "Y"), DocSpan(doc, 3, 5, "Y")]
    found = level_figures([DOCUMENT], [doc])
    # outer: 1 of 2 found and 1 of 2 true is right; inner: none is found, since nothing is around it
    assert found == {"outer F1": 50.0, "inner F1": 0.0, "combined F1": pytest.approx(40.0)}


@given(st.lists(st.tuples(st.booleans(), st.floats(0.05, 1.0)), max_size=8), st.integers(0, 3))
def test_the_best_threshold(found: list[tuple[bool, float]], missed: int) -> None:
    nlp = spacy.blank("xx")
    pair = [Doc(nlp.vocab, words=["w"] * 12) for _ in range(2)]
    spans = [DocSpan(pair[0], i, i + 1, "X") for i in range(len(found))]
    pair[0].spans[KEY] = SpanGroup(
        pair[0], name=KEY, spans=spans, attrs={"scores": [score for _, score in found]}
    )
    true = [i for i, (right, _) in enumerate(found) if right] + list(range(8, 8 + missed))
    pair[1].spans[KEY] = [DocSpan(pair[1], i, i + 1, "X") for i in true]

    def f1(threshold: float) -> float:
        chosen = [right for right, score in found if score >= threshold]
        return 200 * sum(chosen) / max(len(chosen) + len(true), 1)

    threshold, value = best_threshold([Example(*pair)])
    assert value == pytest.approx(max(map(f1, THRESHOLDS))) == pytest.approx(f1(threshold))


def test_time_is_part_of_the_key_of_those_that_learn_by_it() -> None:
    def key(system: System, budget: float) -> Any:
        return Task("genia", "x", system, budget).key()

    hashed, cnn = SYSTEMS["hashed edge"], SYSTEMS["CNN edge"]
    assert key(hashed, 1.0) == key(hashed, 2.0)
    assert key(cnn, 1.0) != key(cnn, 2.0)


def test_targets_take_the_best_of_ours_by_dev_data() -> None:
    def row(dev: float, test: float, speed: float) -> dict[str, float]:
        return {"dev F1": dev, "test F1": test, "tagging words/s": speed}

    results: Results = {
        "genia": {
            "hashed edge": row(70.0, 76.0, 1000.0),
            "CNN edge": row(72.0, 74.0, 50.0),
            "CNN spancat": row(80.0, 80.0, 10.0),
        }
    }
    found = [(line["measured"], line["verdict"]) for line in targets(results).rows]
    assert found == [(74.0, "not met"), (5.0, "met"), (100.0, "met")]
    del results["genia"]["CNN spancat"]
    assert [line["verdict"] for line in targets(results).rows][1:] == ["not measured"] * 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--only", "wnut17"], "--only: 'wnut17' is none of genia, germeval"),
        (["--systems", "ours"], "--systems: 'ours' is none of hashed edge, "),
        (["--kept"], "--kept: name the file with --keep"),
        (["--budget", "0"], "--budget: more than 0"),
        (["--seeds", "2"], "--seeds: this is an option of ner, not of nested"),
    ],
)
def test_options_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], line: list[str], said: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["nested", *line])
    assert said in " ".join(capsys.readouterr().err.split())


def test_other_benchmarks_do_not_have_the_budget() -> None:
    said = ner_options.problem("ner", {"budget": 1.0})
    assert said == "--budget: this is an option of nested, not of ner"


def test_a_mean_has_the_time_of_its_networks() -> None:
    """Two with words and shapes, one with characters; hashed features take next to none."""
    assert [SYSTEMS[name].cnns for name in ("CNN edge", "hashed edge", "mean edge")] == [1, 1, 3]
