"""The laboratory as a whole: runs that go on, statistics, the page, and the command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from spacy_iobes.errors import FileError, UnknownNameError
from spacy_iobes.learners import Options
from spacy_iobes.scoring import Runs
from spacy_iobes.strategies import (
    ALL,
    Cell,
    Comparison,
    Material,
    Plan,
    Row,
    Section,
    Settings,
    Store,
    answer,
    cells,
    chart_of,
    compare,
    material_of,
    page_of,
    random_splits,
    remarks,
    study,
    table_of,
    titles,
)
from spacy_iobes.strategies import run as run_lab

from . import people
from .commands import fine, run
from .every_format import FORMATS, GOLD, INNER, UNKNOWN
from .test_strategies_parts import documents

PLAN = Plan(("io", "bio"), ("crf", "softmax"), options=Options(epochs=3))


@pytest.fixture(scope="module")
def material() -> Material:
    return material_of(documents(12))


def test_workers_find_what_one_process_finds(material: Material) -> None:
    splits = random_splits(len(material), 2)
    found = [
        run_lab(material, splits, PLAN, Store(None, {}), workers=workers) for workers in (1, 2)
    ]
    assert [list(each) for each in found] == [
        [
            cell
            for split in (0, 1)
            for learner in PLAN.learners
            for cell in cells(PLAN, split, learner)
        ]
    ] * 2
    for cell, result in found[0].items():
        other = found[1][cell]
        assert {k: result[k] for k in ("exact", "slots")} == {
            k: other[k] for k in ("exact", "slots")
        }


def test_what_is_stored_is_not_worked_out_again(material: Material, tmp_path: Path) -> None:
    splits, path = random_splits(len(material), 2), tmp_path / "results.jsonl"
    told: list[tuple[int, int]] = []
    run_lab(material, splits[:1], PLAN, Store(path, {}), 1, lambda *done: told.append(done))
    assert told == [(0, 2), (1, 2), (2, 2)]
    before = path.read_bytes()
    told.clear()
    run_lab(material, splits, PLAN, Store(path, {}), 1, lambda *done: told.append(done))
    assert told == [(2, 4), (3, 4), (4, 4)]
    assert path.read_bytes().startswith(before)
    told.clear()
    run_lab(material, splits, PLAN, Store(path, {}), 1, lambda *done: told.append(done))
    assert told == [(4, 4)]


def test_gold_is_learned_and_scored(material: Material) -> None:
    (split,) = random_splits(len(material), 1)
    found = run_lab(material, [split], PLAN, Store(None, {}), 1)
    test = material.part(split.test)
    names: dict[str, int] = {}
    for spans in test.gold:
        for span in spans:
            names[span.label] = names.get(span.label, 0) + 1
    for result in found.values():
        assert {label: row[2] for label, row in result["exact"].items()} == names
        assert {label: row[2] for label, row in result["slots"].items()} == {
            label: sum(any(s.label == label for s in spans) for spans in test.gold)
            for label in names
        }
    best = found[Cell(0, "crf", "bio", "constrained")]["exact"]
    right, total = (sum(row[i] for row in best.values()) for i in (0, 2))
    assert right > 0.9 * total


def counts(*by_split: dict[str, tuple[int, int, int]]) -> list[dict[str, Any]]:
    """Results whose slots are the same as their mentions."""
    return [
        {"exact": each, "slots": each, "lost": 0, "seconds": {"learn": 1.0}} for each in by_split
    ]


def test_figures_and_marks_by_hand(material: Material) -> None:
    plan = Plan(("io", "bio"), ("crf",), ("greedy",), ensemble=False)
    worse = counts(
        {"LOC": (1, 2, 2), "PER": (2, 4, 4)},
        {"LOC": (1, 2, 2), "PER": (1, 4, 4)},
        {"LOC": (1, 2, 2)},  # no PER at all: counts as 0
    )
    better = counts(
        {"LOC": (1, 2, 2), "PER": (3, 4, 4)},
        {"LOC": (1, 2, 2), "PER": (2, 4, 4)},
        {"LOC": (1, 2, 2), "PER": (1, 4, 4)},
    )
    found = {
        Cell(split, "crf", name, "greedy"): result
        for name, results in (("io", worse), ("bio", better))
        for split, result in enumerate(results)
    }
    exact = compare(found, material, plan, "exact", baseline="IOB2")
    io, bio = Row("crf", "greedy", "io"), Row("crf", "greedy", "bio")
    assert exact.scores[io]["PER"].values == (0.5, 0.25, 0.0)
    assert exact.scores[bio]["PER"].values == (0.75, 0.5, 0.25)
    assert exact.scores[bio][ALL].values == (4 / 6, 3 / 6, 2 / 6)
    assert exact.scores[io][ALL].values == (3 / 6, 2 / 6, 1 / 2)
    slots = compare(found, material, plan, "slots", baseline="bio")
    assert slots.scores[io][ALL].values == (0.5, 0.375, 0.25)
    for column in ("PER", "LOC"):  # a constant difference has no variance
        assert exact.mark(io, column) == ""
    assert exact.mark(io, ALL) == "~"
    assert exact.mark(bio, "PER") == ""
    ranks = compare(found, material, plan, "exact", test="wilcoxon")
    assert ranks.mark(io, "PER") == "~"  # three pairs are never enough: p = 2 / 8
    assert ranks.tests[io]["PER"]["wilcoxon"].p == 0.25
    assert exact.classes == {"io": 3, "bio": 5}
    with pytest.raises(UnknownNameError, match="baseline 'bia' is not among"):
        compare(found, material, plan, "exact", baseline="bia")
    with pytest.raises(UnknownNameError, match="Unknown test"):
        compare(found, material, plan, "exact", test="z")


def test_one_split_is_compared_over_its_documents(material: Material) -> None:
    docs = documents(12)
    plan = Plan(("io", "bio"), ("crf",), ensemble=False, by_unit=True, options=Options(epochs=2))
    found = study("people", docs[:6], Settings(plan), test=docs[6:], workers=1)
    exact, slots = found.comparisons
    io = Row("crf", "constrained", "io")
    assert exact.chosen == "randomisation"
    assert set(exact.tests[io]) <= {ALL, "LOC", "PER"}
    assert not slots.tests
    assert exact.scores[io][ALL].n == 1
    assert "one split" in " ".join(table_of(exact).remarks)
    assert "±" not in str(table_of(exact))
    assert "No marks: one split is tested" not in str(table_of(exact).remarks)
    assert "No marks: one split is tested" in str(table_of(slots).remarks)


def test_one_random_split_is_compared_over_its_documents_too(tmp_path: Path) -> None:
    """Also where results of it are kept from a run with more splits, which had no need of these."""
    plan = Plan(("io", "bio"), ("softmax",), ensemble=False, options=Options(epochs=1))
    of_people = partial(study, "people", documents(12), workers=1)
    kept = partial(of_people, keep=tmp_path / "kept.jsonl")
    few = of_people(Settings(plan, splits=1))
    kept(Settings(plan, splits=2))
    again = kept(Settings(plan, splits=1))
    for found in (few, again):
        exact, slots = found.comparisons
        (test,) = exact.tests[Row("softmax", "constrained", "io")][ALL].values()
        assert test.p is not None
        assert 0 < test.p <= 1
        assert exact.chosen == "randomisation"
        assert not slots.tests
    told: list[tuple[int, int]] = []
    kept(Settings(plan, splits=2), progress=lambda *done: told.append(done))
    assert told == [(2, 2)]


def comparison(**scores: tuple[float, ...]) -> Comparison:
    """A comparison of strategies by one learner."""
    rows = {
        Row("<crf>", "greedy", name): {ALL: Runs(each), "a&b": Runs(each)}
        for name, each in scores.items()
    }
    columns, counted = (ALL, "a&b"), dict.fromkeys(scores, 3)
    return Comparison("exact", "bio", 0.05, "t", columns, rows, {}, counted, {}, {})


def test_the_picture_is_xml_and_its_dots_are_where_they_belong() -> None:
    text = chart_of(comparison(io=(0.5, 0.5), bio=(0.9, 0.9)), "A <corpus> & more")
    tree = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    dots = [
        float(circle.get("cx", ""))
        for circle in tree.iter(f"{space}circle")
        if circle.find(f"{space}title") is not None
    ]
    ticks = {
        float(node.text): float(node.get("x", ""))
        for node in tree.iter(f"{space}text")
        if node.get("text-anchor") == "middle" and node.text
    }
    assert dots == [pytest.approx(ticks[50.0], abs=0.1), pytest.approx(ticks[90.0], abs=0.1)]
    assert next(node.text for node in tree.iter(f"{space}text")) == "A <corpus> & more"


def test_a_picture_of_one_figure() -> None:
    assert ElementTree.fromstring(chart_of(comparison(bio=(1.0,)), "one")) is not None
    assert ElementTree.fromstring(chart_of(comparison(bio=(0.0,)), "none")) is not None


def test_the_answer_in_words() -> None:
    assert answer(comparison(io=(0.5, 0.5), bio=(0.25, 0.25))) == (
        "Highest: io with <crf>, greedy, 50.0 ±0.0; bio in its place 25.0 ±0.0."
    )
    assert answer(comparison(bio=(0.5,))) == "Highest: bio with <crf>, greedy, 50.0."


def test_the_answer_where_nothing_is_right() -> None:
    nothing = comparison(io=(0.0, 0.0), bio=(0.0, 0.0))
    assert answer(nothing) == "Nothing right was found: every row is at 0."


def test_what_the_spread_is() -> None:
    (told,) = remarks(comparison(io=(0.5, 0.25), bio=(0.25, 0.5)))
    assert told.endswith(", mean of 2 splits, ± one standard deviation over the splits.")
    assert "± one standard deviation over the splits" in page_of(
        [Section("people", "", [comparison(bio=(0.5, 0.6))])], "people"
    )


@pytest.mark.parametrize(
    ("right", "words"),
    [
        ((2, 2), "50.0 ±0.0"),  # 0.25 on both splits: no variance
        ((2, 2, 2), "50.0 ±0.0"),
        ((2, 1), "37.5 ±17.7"),  # two splits are too few
        ((2, 3, 3), "66.7 ±14.4, no different beyond chance"),  # 0.25, 0 and 0: t is 1
        (  # 0.5, 0.5 and 0.75: t is 7 with 2 degrees of freedom, and corrected 7 / sqrt(1 + 3)
            (1, 1, 0),
            "16.7 ±14.4, a difference beyond chance (p = 0.02) if the splits were independent, "
            "but not when corrected for the data that they share (p = 0.073)",
        ),
    ],
)
def test_the_answer_says_what_is_chance(
    material: Material, right: tuple[int, ...], words: str
) -> None:
    plan = Plan(("io", "bio"), ("crf",), ("greedy",), ensemble=False)
    rows = {"io": (3,) * len(right), "bio": right}
    found = {
        Cell(split, "crf", name, "greedy"): result
        for name, right in rows.items()
        for split, result in enumerate(counts(*({"PER": (n, 4, 4)} for n in right)))
    }
    told = answer(compare(found, material, plan, "exact"))
    assert told == f"Highest: io with crf, greedy, 75.0 ±0.0; bio in its place {words}."


def test_no_p_value_of_splits_that_do_not_vary(material: Material) -> None:
    plan = Plan(("io", "bio"), ("crf",), ("greedy",), ensemble=False)
    found = {
        Cell(split, "crf", name, "greedy"): result
        for name, right in {"io": 3, "bio": 2}.items()
        for split, result in enumerate(counts({"PER": (right, 4, 4)}, {"PER": (right, 4, 4)}))
    }
    compared = compare(found, material, plan, "exact")
    cell = compared.as_dict()["rows"][0]["columns"][ALL]
    assert cell["mark"] == ""
    assert [cell["tests"][name]["p"] for name in ("t", "corrected")] == [None, None]
    assert "t: p = -; corrected: p = -; wilcoxon: p = 0.5" in page_of(
        [Section("people", "", [compared])], "people"
    )
    assert remarks(compared)[-1].startswith("No marks: a t-test needs at least 3 splits")


def test_the_page_shows_names_as_text() -> None:
    text = page_of([Section("<b>", "<i>facts", [comparison(bio=(0.5, 0.6))])], "<script>alert(1)")
    assert "<script>" not in text
    assert "<i>" not in text
    assert "&lt;b&gt;" in text
    assert "a&amp;b" in text
    assert "default-src 'none'" in text
    # the style of all pages, its own, and that of the picture
    assert len(re.findall("'sha256-", text)) == 3


# the command


def corpus(folder: Path, count: int = 30, seed: int = 0) -> Path:
    """A column file whose sentences are documents."""
    return people.column_file(folder / f"people{seed}.bio", count, seed)


FEW = ("--strategies", "io,BIO,bie", "--learners", "softmax", "--set", "epochs=2", "--splits", "2")


def test_the_command(tmp_path: Path) -> None:
    output = tmp_path / "lab"
    result = fine(
        "strategies", corpus(tmp_path), "-s", "bio", *FEW, "-o", output, "--set", "workers=1"
    )
    assert "people0: 30 documents" in result.stdout
    for name in ("softmax  greedy       io", "softmax  constrained  ensemble"):
        assert name in result.stdout
    assert "mean of 2 splits" in result.stdout
    assert sorted(path.name for path in output.iterdir()) == [
        "comparison.json",
        "index.html",
        "people0.exact.svg",
        "people0.jsonl",
        "people0.slots.svg",
    ]
    (stored,) = json.loads((output / "comparison.json").read_text())
    exact, slots = stored["comparisons"]
    assert (exact["measure"], slots["measure"]) == ("exact", "slots")
    assert exact["classes"] == {"io": 3, "bio": 5, "bie": 9}
    row = exact["rows"][0]
    assert (row["learner"], row["strategy"], row["decoding"]) == ("softmax", "io", "greedy")
    assert set(row["columns"]["all"]["tests"]) == {"t", "corrected", "wilcoxon"}
    assert len(row["columns"]["all"]["splits"]) == 2
    again = fine(
        "strategies", corpus(tmp_path), "-s", "bio", *FEW, "-o", output, "--set", "workers=1"
    )
    assert again.stdout == result.stdout
    printed = fine(
        "strategies", corpus(tmp_path), "-s", "bio", *FEW, "--json", "--set", "workers=1"
    )
    other = json.loads(printed.stdout)[0]["comparisons"]
    values = [
        [r["columns"]["all"]["splits"] for r in c["rows"]] for c in (*stored["comparisons"], *other)
    ]
    assert values[:2] == values[2:]


def test_a_split_of_its_own(tmp_path: Path) -> None:
    test = corpus(tmp_path, 20, seed=1)
    result = fine(
        "strategies", corpus(tmp_path), "--test", test, "-s", "bio", *FEW, "--set", "workers=1"
    )
    assert "50 documents" in result.stdout
    assert "one split" in result.stdout
    assert "randomisation over the documents" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--learners", "svm"), "Unknown learner 'svm'. Known: crf, softmax, winnow"),
        (("--set", "decodings=beam"), "Unknown decoding 'beam'"),
        (("--strategies", "bio,nope"), "nope"),
        (("--strategies", ","), "name at least one"),
        (("--set", "baseline=iobes"), "baseline 'iobes' is not among the strategies"),
        (("--set", "share=1.5"), "between 0 and 1"),
        (("--set", "significance=z"), "Unknown test 'z'"),
        (("--set", "level=2"), "between 0 and 1"),
        (("--set", "epoch=2"), "Unknown setting 'epoch'. Did you mean 'epochs'?"),
        (("--set", "epochs=2.5"), "'epochs=2.5': this setting is a whole number"),
        (("--set", "rate"), "'rate': this setting is a number"),
        (("--set", "decodings=greedy,ensemble"), "add constrained"),
        (("--splits", "0"), "at least one split, not 0"),
    ],
)
def test_what_cannot_be_is_refused_before_work(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    output = tmp_path / "lab"
    result = run("strategies", corpus(tmp_path), "-s", "bio", *FEW, *arguments, "-o", output)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert not output.exists()


@pytest.mark.parametrize("below", ["", "lab"])
def test_a_file_is_no_directory_for_results(tmp_path: Path, below: str) -> None:
    path = corpus(tmp_path)
    before = path.read_bytes()
    result = run("strategies", path, "-s", "bio", *FEW, "-o", path / below)
    assert result.exit_code == 2
    assert "people0.bio is a file: --output names a directory." in " ".join(result.stderr.split())
    assert "jobs done" not in result.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("row", [name for name in FORMATS if name != "group"])
def test_every_format_is_compared_alike(row: str, tmp_path: Path) -> None:
    """The same annotation gives the same figures, whatever file it is in."""
    options = (*FEW, "--set", "workers=1", "--json", "--set", "share=0.6")
    found = []
    for name in (row, "characters"):
        ending, write = FORMATS[name]
        path = tmp_path / f"{name}.{ending}"
        some = write(path, GOLD, -1)
        told = json.loads(fine("strategies", path, *some, *options).stdout)[0]
        found.append({**told, "corpus": "", "cpu_seconds": 0})
        for comparison in found[-1]["comparisons"]:
            for cells_of in comparison["rows"]:
                cells_of.pop("learning_seconds")
    assert found[0] == found[1]
    assert (found[0]["documents"], found[0]["spans"]) == (5, 9)


def test_a_group_is_compared_and_the_longest_of_its_spans_are_kept(tmp_path: Path) -> None:
    path, spans = tmp_path / "group.spacy", [[*a, *b] for a, b in zip(GOLD, INNER)]
    FORMATS["group"][1](path, spans, -1)
    result = fine("strategies", path, *FEW, "--set", "workers=1")
    assert f"{path}: 1 mention left out that overlap longer ones" in result.stderr
    assert "5 documents, 26 tokens, 9 spans of 3 labels" in result.stdout


def test_tokens_that_are_not_annotated_are_refused(tmp_path: Path) -> None:
    for name in ("bio", "entities", "characters", "prodigy"):
        ending, write = FORMATS[name]
        some = write(tmp_path / f"gold.{ending}", GOLD, UNKNOWN)
        result = run("strategies", tmp_path / f"gold.{ending}", *some, *FEW)
        assert result.exit_code == 2
        assert "what is compared must be annotated whole" in " ".join(result.stderr.split())


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    text = "<PER>Ada Lovelace</PER> saw <LOC>Rio</LOC> ."
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(4):
        (folder / f"text{number}").write_text(text)
    options = (*FEW, "--set", "workers=1")
    told = fine("strategies", folder, "--format", "inline", *options).stdout
    assert "4 documents, 20 tokens, 8 spans" in told
    for number in range(4):
        (folder / f"text{number}").unlink()
    fine("convert", corpus(tmp_path), folder / "people.spacy", "-s", "bio")
    told = fine("strategies", folder, *options).stdout
    assert told == fine("strategies", folder / "people.spacy", *options).stdout.replace(
        "people: ", "texts: "
    )


def test_corpora_have_names_of_their_own_that_do_for_files() -> None:
    paths = ["a/g.bio", "b/g.bio", "c/g-2.bio", "d/g.tar.gz", "e/.hidden", "f/"]
    assert titles(paths) == ["g", "g-2", "g-2-2", "g-3", ".hidden", "f"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (("--set", "rate=0"), "rate is above 0, not 0"),
        (("--set", "rate=nan"), "rate is above 0"),
        (("--set", "damping=-1"), "damping is at least 0, not -1"),
    ],
)
def test_settings_of_learners_that_are_none(
    tmp_path: Path, setting: tuple[str, object], said: str
) -> None:
    result = run("strategies", corpus(tmp_path), "-s", "bio", *FEW, *setting)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("setting", ["epochs=3", "damping=1000", "rate=0.5"])
def test_other_settings_do_not_mix(tmp_path: Path, setting: str) -> None:
    output, path = tmp_path / "lab", corpus(tmp_path)
    fine("strategies", path, "-s", "bio", *FEW, "-o", output, "--set", "workers=1")
    other = (
        "strategies",
        path,
        "-s",
        "bio",
        *FEW,
        "--set",
        setting,
        "-o",
        output,
        "--set",
        "workers=1",
    )
    result = run(*other)
    assert result.exit_code == 2
    assert "results of another run" in result.stderr
    fine(*other, "--force")


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    path, output = corpus(tmp_path, 60), tmp_path / "lab"
    learners = (
        "--learners",
        "softmax,crf",
        "--splits",
        "4",
        "--set",
        "epochs=1",
        "--set",
        "share=0.1",
    )
    arguments = ["strategies", str(path), "-s", "bio", *learners, "--strategies", "io,bio"]
    arguments += ["--set", "workers=2", "-o"]
    command = [sys.executable, "-m", "spacy_iobes", *arguments]
    kept = output / "people0.jsonl"
    with subprocess.Popen([*command, str(output)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "2 of 8 jobs done" in line:
                break
        process.kill()
        process.communicate(timeout=120)  # its workers end, too: nobody holds the pipe
    before = kept.read_bytes()
    assert before.count(b"\n") >= 1 + 2 * 5  # settings, and five cells for each job
    fine(*arguments, output)
    assert kept.read_bytes().startswith(before[: before.rfind(b"\n")])
    fine(*arguments, tmp_path / "whole")
    tables = [
        json.loads((tmp_path / name / "comparison.json").read_text()) for name in ("lab", "whole")
    ]
    for (table,) in tables:
        assert table.pop("cpu_seconds") > 0
        for each in table["comparisons"]:
            assert len({row["columns"]["all"]["mean"] for row in each["rows"]}) > 2
            for row in each["rows"]:
                row.pop("learning_seconds")
    assert tables[0] == tables[1]


def test_store_and_study_refuse_another_corpus(tmp_path: Path) -> None:
    docs, keep = documents(8), tmp_path / "kept.jsonl"
    settings = Settings(Plan(("bio",), ("softmax",), options=Options(epochs=1)), splits=1)
    study("one", docs, settings, keep=keep, workers=1)
    with pytest.raises(FileError, match="its corpus is"):
        study("one", docs[:6], settings, keep=keep, workers=1)
