"""The page of two systems: who is right where, counted by hand, and how the command ends."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes import Signature
from spacy_iobes.corpus import aligned, read
from spacy_iobes.scoring import (
    ALL,
    Case,
    FileReport,
    PairScorer,
    cases,
    score_pairs,
    systems_data,
    tallies,
)

from .commands import fine, run
from .transcripts import FIXTURES

TAGS = ("O", "B-X", "B-Y", "I-X", "I-Y")
Sentence = list[tuple[str, str, str]]  # the tags of gold, A and B
corpora = st.lists(st.lists(st.tuples(*[st.sampled_from(TAGS)] * 3), min_size=1), min_size=1)
SIDES = ("gold", "A", "B")
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
TWO = ("-a", "pred.bio", "-b", "other.bio", "-s", "bio", "-p", "begin")


def spans_by_hand(tags: list[str]) -> set[tuple[int, int, str]]:
    """The spans of tags under `begin`: I- goes on only behind a tag of its label."""
    found: list[tuple[int, int, str]] = []
    for at, tag in enumerate(tags):
        label = tag[2:]
        if tag.startswith("I-") and found and found[-1][1:] == (at, label):
            found[-1] = (found[-1][0], at + 1, label)
        elif tag != "O":
            found.append((at, at + 1, label))
    return set(found)


def written(folder: Path, corpus: list[Sentence], side: int) -> Path:
    path = folder / f"{SIDES[side]}.bio"
    path.write_text("\n".join("".join(f"w {row[side]}\n" for row in s) for s in corpus))
    return path


def reports_of(corpus: list[Sentence]) -> tuple[FileReport, FileReport]:
    reports = []
    with TemporaryDirectory() as name:
        gold, *systems = (read(written(Path(name), corpus, side)) for side in range(3))
        for system in systems:
            recipe = Signature(scheme="bio", policy="begin", gold_policy="begin")
            scorer = PairScorer(recipe, locate=ALL)
            score_pairs(aligned(gold, system), [scorer])
            reports.append(scorer.report())
    return reports[0], reports[1]


@settings(deadline=None)
@given(corpora)
def test_counts_are_those_of_sets(corpus: list[Sentence]) -> None:
    reports = reports_of(corpus)
    found = cases(reports)
    by_hand = dict.fromkeys(tallies(reports, found), 0)
    labels = {label: [0, 0, 0] for label in "XY"}
    for sentence in corpus:
        gold, a, b = (spans_by_hand([row[side] for row in sentence]) for side in range(3))
        by_hand["gold spans"] += len(gold)
        by_hand["both right"] += len(gold & a & b)
        by_hand["only A right"] += len((gold & a) - b)
        by_hand["only B right"] += len((gold & b) - a)
        by_hand["neither right"] += len(gold - a - b)
        for label, counts in labels.items():
            for place, spans in enumerate((gold, (gold & a) - b, (gold & b) - a)):
                counts[place] += sum(span[2] == label for span in spans)
    counted = tallies(reports, found)
    assert list(counted.items())[:5] == list(by_hand.items())[:5]
    rows = systems_data(reports, "", [], found, 0)["scores"]["rows"]
    for label, *numbers in rows[:-3]:
        assert [int(number) for number in numbers[:3]] == labels[label]


@settings(deadline=None)
@given(corpora)
def test_cases_say_what_both_systems_have(corpus: list[Sentence]) -> None:
    reports = reports_of(corpus)
    data = systems_data(reports, "", [], cases(reports), ALL)
    for sentence in data["sentences"]:
        tags = corpus[sentence["number"] - 1]
        for place, side in enumerate(SIDES):
            expected = spans_by_hand([row[place] for row in tags])
            assert {tuple(span) for span in sentence[side]} == expected
    for case in data["mistakes"]:
        sides = [data["sentences"][case["sentence"]][side] for side in SIDES]
        for spans, side in zip(sides, SIDES):
            assert case[side] is None or case[side] in [tuple(span) for span in spans]
        right = [case["said"][side] == "" for side in "AB"]
        assert not all(right)
        assert case["kind"] == {(False, True): "only A wrong", (True, False): "only B wrong"}.get(
            (right[0], right[1]), "both wrong"
        )
        for is_right, spans in zip(right, sides[1:]):
            if case["gold"] is None:
                made_up = next(span for span in (case["A"], case["B"]) if span is not None)
                assert is_right or made_up in [tuple(span) for span in spans]
            else:
                assert is_right == (case["gold"] in [tuple(span) for span in spans])


@settings(deadline=None)
@given(corpora)
def test_every_mistake_is_in_one_place(corpus: list[Sentence]) -> None:
    """By its kind in each system, as `score --errors` lists it."""
    reports = reports_of(corpus)
    found = cases(reports)
    for system, report in enumerate(reports):
        kinds = Counter(case.kinds[system] for case in found if case.kinds[system])
        assert kinds == Counter({kind: n for kind, n in report.kinds.items() if n})
        places = [(x.mistake.sentence, x.mistake.predicted) for x in report.located]
        held = [(case.sentence, case.found[system]) for case in found if case.kinds[system]]
        assert Counter(held) == Counter(places)
    facts = tallies(reports, found)
    for name, report in zip("AB", reports):
        alone = facts[f"spurious in {name} alone"]
        assert facts["spurious in both"] + alone == report.kinds["spurious"]


def test_a_boundary_mistake_of_one_is_spurious_in_the_other() -> None:
    """Gold has X [0, 3). A has [1, 3) in its place; B has [0, 1) there and makes up [1, 3)."""
    rows = [("B-X", "O", "B-X"), ("I-X", "B-X", "B-X"), ("I-X", "I-X", "I-X")]
    reports = reports_of([rows])
    gold, made_up = cases(reports)
    assert (gold.kinds, made_up.kinds) == (("boundary", "boundary"), ("", "spurious"))
    assert made_up.found == (None, (1, 3, "X"))
    facts = tallies(reports, [gold, made_up])
    assert facts["neither right"] == facts["spurious in B alone"] == 1
    assert facts["spurious in both"] == facts["spurious in A alone"] == 0


def test_systems_are_compared_by_all_their_mistakes() -> None:
    reports = reports_of([[("B-X", "O", "O")], [("B-X", "B-X", "O")]])
    assert [case.wrong for case in cases(reports)] == ["both wrong", "only B wrong"]
    assert cases(reports)[1] == Case(1, (0, 1, "X"), ((0, 1, "X"), None), ("", "missed"), (3, 0, 3))
    scorer = PairScorer(Signature(scheme="bio"))
    with TemporaryDirectory() as name:
        gold, system = (read(written(Path(name), [[("B-X", "O", "O")]], n)) for n in (0, 1))
        score_pairs(aligned(gold, system), [scorer])
        report = scorer.report()
    with pytest.raises(ValueError, match="locate=ALL"):
        cases((report, report))


# The command


@pytest.fixture(autouse=True)
def among_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES)


def data_of(path: Path) -> Any:
    (text,) = DATA.findall(path.read_text(encoding="utf8"))
    return json.loads(text)


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "two.html"
    result = fine("compare", "gold.bio", *TWO, "--html", page)
    assert result.stderr == f"{page}: 8 places where a system is wrong\n"
    assert "difference A - B: -42.35" in result.stdout
    data = data_of(page)
    assert data["title"] == "pred.bio (A) and other.bio (B) against gold.bio"
    assert data["score"] == "-42.35"
    assert data["unit"] == "place"
    facts = dict(data["facts"])
    assert (facts["F1 of A"], facts["F1 of B"]) == ("40.00", "82.35")
    assert facts["p of the difference (randomisation)"] == "0.1250"
    assert facts["95 % interval of it (bootstrap)"] == "-64.71 to -17.44"


def test_a_page_of_some(tmp_path: Path) -> None:
    page = tmp_path / "two.html"
    result = fine("compare", "gold.bio", *TWO, "--html", page, "--limit", "3")
    assert "8 places where a system is wrong, the first 3 of them on the page" in result.stderr
    data = data_of(page)
    assert (data["total"], len(data["mistakes"]), len(data["sentences"])) == (8, 3, 2)


def test_mentions_that_nest(tmp_path: Path) -> None:
    page = tmp_path / "two.html"
    sides = ("-a", "nested.pred.jsonl", "-b", "nested.jsonl")
    fine("compare", "nested.jsonl", *sides, "--html", page)
    data = data_of(page)
    assert data["nested"]
    assert {case["kind"] for case in data["mistakes"]} == {"only A wrong"}


def test_a_page_alone_on_standard_output() -> None:
    result = fine("compare", "gold.bio", *TWO, "--html", "-")
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert result.stdout.rstrip().endswith("</html>")


def test_a_page_is_about_one_prediction_of_each(tmp_path: Path) -> None:
    result = run("compare", "gold.bio", *TWO, "-a", "pred.bio", "--html", tmp_path / "two.html")
    assert result.exit_code == 2
    assert "name one -a and one -b" in " ".join(result.stderr.split())
    result = run("score", "gold.bio", "pred.bio", "other.bio", "--html", tmp_path / "two.html")
    assert result.exit_code == 2
    assert "'compare' makes one of two systems" in re.sub(r"[\s│]+", " ", result.stderr)
    assert not list(tmp_path.iterdir())


def test_no_page_over_a_file_that_is_read(tmp_path: Path) -> None:
    gold = tmp_path / "gold.bio"
    gold.write_text(Path("gold.bio").read_text())
    result = run("compare", gold, "-a", gold, "-b", gold, "-s", "bio", "--html", gold)
    assert result.exit_code == 2
    assert gold.read_text() == Path("gold.bio").read_text()
