"""The report page: what is in it, that all of it is text, and how the command ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from spacy_iobes import POLICIES, Signature
from spacy_iobes.cli import app
from spacy_iobes.corpus import aligned, read
from spacy_iobes.scoring import ALL, FileReport, PairScorer, as_script, in_words, score_pairs
from spacy_iobes.scoring.page import page

# token, gold, predicted: six mistakes, two correct spans, one violation
SENTENCES = """
    Ada B-PER B-PER, Lovelace I-PER I-PER, met O O, IBM B-ORG B-LOC
    New B-LOC B-LOC, York I-LOC O, is O O, big O O
    <script>alert(1)</script> B-ORG O, </script> O B-MISC-x, &amp; O O
    Bank B-ORG B-LOC, of I-ORG I-LOC, Rome I-ORG O
    Paris B-LOC B-LOC
    x O I-PER
"""
ROWS = [[token.split() for token in line.split(", ")] for line in SENTENCES.strip().split("\n    ")]
KINDS = {"label": 1, "boundary": 1, "label and boundary": 1, "missed": 1, "spurious": 2}
LABELS = ["LOC", "MISC-x", "ORG", "PER"]
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)

Files = tuple[Path, Path]


def written(path: Path, *columns: int) -> Path:
    """A column file with some of the columns."""
    lines = ["".join(f"{' '.join(row[c] for c in columns)}\n" for row in rows) for rows in ROWS]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return written(tmp_path / "gold.bio", 0, 1), written(tmp_path / "system.bio", 0, 2)


def run(*arguments: object) -> Result:
    command = ["score", *map(str, arguments), "--scheme", "bio"]
    return CliRunner().invoke(app, command)


def data_of(html: str) -> Any:
    (text,) = DATA.findall(html)
    return json.loads(text)


def scored(
    files: Files, policy: str = "begin", **settings: str
) -> tuple[FileReport, list[PairScorer]]:
    recipe = Signature(scheme="bio", policy=policy, **settings)
    recipes = [replace(recipe, policy=name) for name in POLICIES]
    scorers = [PairScorer(recipe, False, ALL) for recipe in recipes]
    score_pairs(aligned(read(files[0]), read(files[1])), scorers)
    return scorers[list(POLICIES).index(policy)].report(), scorers


def html_of(files: Files, title: str = "system against gold") -> str:
    return page(*scored(files), title)


@pytest.fixture
def data(files: Files) -> Any:
    return data_of(html_of(files))


# What is in it


def test_the_score_with_its_recipe(data: Any) -> None:
    assert data["score"] == "30.77"  # 2 * 2 / (6 + 7)
    assert Signature.parse(data["signature"]) == Signature(scheme="bio", policy="begin")
    assert "begin" in data["recipe"]
    assert "bio" in data["recipe"]


def test_counts(data: Any) -> None:
    facts = dict(data["facts"])
    names = ["gold spans", "predicted spans", "correct", "sentences", "tokens"]
    assert [facts[name] for name in names] == ["6", "7", "2", "6", "16"]
    assert facts["% token accuracy"] == "50.00"  # 8 of 16
    assert facts["violations repaired in predictions"] == "1"
    assert facts["violations repaired in gold"] == "0"


def test_labels_and_averages(data: Any) -> None:
    assert data["labels"] == LABELS
    rows = {row[0]: row[1:] for row in data["scores"]["rows"]}
    assert rows["LOC"] == ["2", "4", "1", "25.00", "50.00", "33.33"]
    assert rows["ORG"] == ["3", "0", "0", "-", "0.00", "0.00"]  # undefined is not 0
    assert rows["MISC-x"] == ["0", "1", "0", "0.00", "-", "0.00"]
    assert rows["PER"] == ["1", "2", "1", "50.00", "100.00", "66.67"]
    assert rows["micro average"] == ["6", "7", "2", "28.57", "33.33", "30.77"]
    assert rows["macro average"][3:] == ["18.75", "37.50", "25.00"]
    assert rows["weighted average"][3:] == ["16.67", "33.33", "22.22"]


def test_four_matches(data: Any) -> None:
    rows = {row[0]: row[1:] for row in data["matches"]["rows"]}
    # correct, incorrect, partial, missed, spurious, possible, actual
    assert rows["strict"][:7] == ["2", "3", "0", "1", "2", "6", "7"]
    assert rows["exact"][:7] == ["3", "2", "0", "1", "2", "6", "7"]
    assert rows["partial"][:7] == ["3", "0", "2", "1", "2", "6", "7"]
    assert rows["type"][:7] == ["3", "2", "0", "1", "2", "6", "7"]
    assert rows["partial"][7:] == ["57.14", "66.67", "61.54"]


def test_confusion(data: Any) -> None:
    assert data["confusion"] == [
        [2, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [2, 0, 0, 0, 1],
        [0, 0, 0, 1, 0],
        [0, 1, 0, 1, 0],
    ]


def test_policies(data: Any) -> None:
    rows = {row[0]: row[1:] for row in data["policies"]["rows"]}
    assert list(rows) == list(POLICIES)
    assert data["policies"]["chosen"] == "begin"
    assert rows["raise"] == ["1", "refused", "", "", ""]
    assert rows["begin"] == ["1", "28.57", "33.33", "30.77", "0.00"]
    assert rows["discard"] == ["1", "33.33", "33.33", "33.33", "+2.56"]


def test_policies_move_the_headline(files: Files) -> None:
    """Recall of boundaries: 3 of 6 gold spans, whatever the policy; one prediction less if lost."""
    data = data_of(page(*scored(files, match="muc-exact", metric="recall"), ""))
    policies = data["policies"]
    assert policies["header"][-1] == "change of recall"
    assert policies["figures"] == "micro average, muc-exact match"
    rows = {row[0]: row[1:] for row in policies["rows"]}
    assert rows["begin"] == ["1", "42.86", "50.00", "46.15", "0.00"]
    assert rows["discard"] == ["1", "50.00", "50.00", "50.00", "0.00"]
    data = data_of(page(*scored(files, match="muc-exact", metric="precision"), ""))
    assert data["policies"]["rows"][2][-1] == "+7.14"
    data = data_of(page(*scored(files, average="macro"), ""))
    rows = {row[0]: row[1:] for row in data["policies"]["rows"]}
    assert rows["begin"][1:4] == ["18.75", "37.50", "25.00"]


def test_labels_by_the_match_of_the_headline(files: Files) -> None:
    data = data_of(page(*scored(files, match="muc-partial"), ""))
    assert data["match"] == "spans that overlap, whatever their label; wrong boundaries count half"
    assert data["score"] == "61.54"
    rows = {row[0]: row[1:] for row in data["scores"]["rows"]}
    # gold, predicted, correct, incorrect, partial, missed, spurious
    assert rows["ORG"] == ["3", "0", "1", "0", "1", "1", "0", "-", "50.00", "50.00"]
    assert rows["micro average"][-3:] == ["57.14", "66.67", "61.54"]
    assert "macro average" not in rows


def test_every_mistake_with_its_lines(data: Any) -> None:
    assert Counter(mistake["kind"] for mistake in data["mistakes"]) == KINDS
    label, boundary, missed, spurious, both, start = data["mistakes"]
    assert (label["gold"], label["predicted"]) == ([3, 4, "ORG"], [3, 4, "LOC"])
    assert label["lines"] == [4, 4]
    assert (boundary["gold"], boundary["predicted"]) == ([0, 2, "LOC"], [0, 1, "LOC"])
    assert boundary["lines"] == [6, 6]
    assert (missed["gold"], missed["predicted"], missed["lines"]) == ([0, 1, "ORG"], None, [11, 11])
    assert (spurious["gold"], spurious["predicted"]) == (None, [1, 2, "MISC-x"])
    assert (both["gold"], both["predicted"]) == ([0, 3, "ORG"], [0, 2, "LOC"])
    assert (start["predicted"], start["lines"]) == ([0, 1, "PER"], [21, 21])


def test_sentences_have_all_their_spans(data: Any) -> None:
    numbers = [sentence["number"] for sentence in data["sentences"]]
    assert numbers == [1, 2, 3, 4, 6]  # the fifth is right
    first, second = data["sentences"][:2]
    assert first["tokens"] == ["Ada", "Lovelace", "met", "IBM"]
    assert first["gold"] == [[0, 2, "PER"], [3, 4, "ORG"]]
    assert first["predicted"] == [[0, 2, "PER"], [3, 4, "LOC"]]
    assert second["predicted"] == [[0, 1, "LOC"]]
    assert [mistake["sentence"] for mistake in data["mistakes"]] == [0, 1, 2, 2, 3, 4]


def test_sentences_of_many_parts_are_numbered_through(tmp_path: Path) -> None:
    """A part is a mebibyte, and has its own numbers for sentences and labels."""
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    filler = "word O\n" * 20 + "\n"
    gold.write_text(filler * 10_000 + "a B-Z\n\n" + "b B-A\n\n")
    predicted.write_text(filler * 10_000 + "a B-A\n\n" + "b B-A\n\n")
    report, scorers = scored((gold, predicted))
    data = data_of(page(report, scorers, ""))
    (sentence,) = data["sentences"]
    assert sentence == {
        "number": 10_001,
        "tokens": ["a"],
        "gold": [[0, 1, "Z"]],
        "predicted": [[0, 1, "A"]],
        "between": " ",
    }


def test_no_mistakes(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold", 0, 1)
    data = data_of(html_of((gold, gold)))
    assert (data["score"], data["mistakes"], data["sentences"]) == ("100.00", [], [])
    assert all(row[1] == "0" for row in data["policies"]["rows"])


def test_no_spans(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("a O\n")
    data = data_of(html_of((path, path)))
    assert (data["score"], data["labels"], data["confusion"]) == ("-", [], [[0]])
    assert data["policies"]["rows"][1] == ["begin", "0", "-", "-", "-", "-"]


def test_a_report_without_its_mistakes_is_refused(files: Files) -> None:
    report, scorers = scored(files)
    with pytest.raises(ValueError, match="locate="):
        page(replace(report, located=()), scorers, "")


@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
@pytest.mark.parametrize("match", ["exact", "muc-strict", "muc-exact", "muc-partial", "muc-type"])
def test_every_signature_in_words(metric: str, match: str) -> None:
    signature = Signature(metric, "micro", match, "iobes", "nearest", "discard")
    words = in_words(signature)
    for name in ("micro", "iobes", "nearest", "discard", signature.version):
        assert name in words
    if match == "exact":
        assert in_words(Signature(metric, "macro", match)).count("macro") == 1


# That all of it is text


class Elements(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_data_adds_no_elements(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_text("a O\n")
    plain = Elements(html_of((path, path), "plain")).found
    html = html_of(files, "<img src=x onerror=alert(1)> & \" ' </title><b>")
    assert Elements(html).found == plain
    assert html.count("<script>alert") == 0
    assert html.count("</script>") == 3  # the theme, the data, the page
    assert data_of(html)["sentences"][2]["tokens"][:2] == ROWS[2][0][:1] + ROWS[2][1][:1]


@given(st.text(st.characters()))
def test_what_stands_in_a_script_is_read_back(text: str) -> None:
    script = as_script({text: [text]})
    assert json.loads(script) == {text: [text]}
    assert not set(script) & set("<>&\u2028\u2029")


def test_placeholders_and_broken_names_are_text(files: Files) -> None:
    title = "@@data@@ \udc80 \u2028"
    html = html_of(files, title)
    assert data_of(html)["title"] == title
    html.encode("utf8")


def test_only_its_own_scripts_and_styles_may_run(files: Files) -> None:
    html = html_of(files)
    elements = Elements(html).found
    (policy,) = (a["content"] for _, a in elements if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 4  # two scripts; the style of all pages, and its own
    links = [v for _, a in elements for k, v in a.items() if k in ("src", "href")]
    assert all(link and link.startswith(("#", "data:")) for link in links)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "http://"):
        assert word not in html


def test_the_same_page_every_time(files: Files) -> None:
    pages = set()
    for seed in "12":
        command = [sys.executable, "-m", "spacy_iobes", "score", *map(str, files)]
        command += ["-s", "bio", "-p", "begin", "--html", "-"]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        assert b"standard output: 6 mistakes" in done.stderr
        pages.add(done.stdout)
    assert pages == {html_of(files, "system.bio against gold.bio").encode("utf8")}


# How the command ends


def test_the_command_writes_a_page(files: Files, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    result = run(*files, "--policy", "begin", "--html", output)
    assert result.exit_code == 0
    assert "score 30.77\nsignature f1:micro|match:exact|scheme:bio|policy:begin" in result.stdout
    assert result.stderr == f"{output}: 6 mistakes\n"
    html = output.read_text(encoding="utf8")
    assert "<title>system.bio against gold.bio</title>" in html
    assert data_of(html)["title"] == "system.bio against gold.bio"


def test_one_file_with_both_columns(files: Files, tmp_path: Path) -> None:
    both = written(tmp_path / "both", 0, 1, 2)
    output = tmp_path / "report.html"
    assert run(both, "-p", "begin", "--html", output).exit_code == 0
    found, wanted = data_of(output.read_text(encoding="utf8")), data_of(html_of(files, "both"))
    assert found == wanted


def test_files_of_one_name_have_their_folders_in_the_title(files: Files, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = files[1].rename(tmp_path / "other" / "gold.bio")
    output = tmp_path / "report.html"
    assert run(files[0], other, "-p", "begin", "--html", output).exit_code == 0
    data = data_of(output.read_text(encoding="utf8"))
    assert data["title"] == f"{other} against {files[0]}"


def test_the_headline_can_be_another(files: Files, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    options = ["--metric", "recall", "--average", "macro"]
    assert run(*files, "-p", "begin", "--html", output, *options).exit_code == 0
    data = data_of(output.read_text(encoding="utf8"))
    assert data["score"] == "37.50"
    assert data["signature"].startswith("recall:macro|")


def test_violations_need_a_policy(files: Files, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    output.write_text("old")
    result = run(*files, "--html", output)
    assert result.exit_code == 1
    assert "system.bio:21: 'x'" in result.stderr
    assert output.read_text() == "old"
    assert run(files[0], files[0], "--html", output).exit_code == 0


def test_what_cannot_be_used(files: Files, tmp_path: Path) -> None:
    gold, predicted = files
    output = tmp_path / "report.html"
    short = tmp_path / "short"
    short.write_text("Ada O\n")
    begin = ("-p", "begin")
    assert run(gold, tmp_path / "none", *begin, "--html", output).exit_code == 2
    assert run(gold, short, *begin, "--html", output).exit_code == 2
    assert run(gold, predicted, predicted, *begin, "--html", output).exit_code == 2
    assert run(gold, predicted, *begin, "--html", tmp_path).exit_code == 2
    assert run(gold, predicted, "-p", "guess", "--html", output).exit_code == 2
    assert not output.exists()
