"""How the commands that score behave at their edges: streams, columns, markers, faults, sizes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spacy_iobes import POLICIES, Signature
from spacy_iobes.cli import app
from spacy_iobes.scoring import files as scoring_files

from .shared import SHARED, needs_shared
from .test_score_cli import as_json, folder, run

__all__ = ["folder"]  # the fixture

# The headline


def test_policies_show_what_the_signature_names(folder: Path) -> None:
    """Predictions: `I-X I-X` repaired is X[0,2), else lost; Y is right. Gold has both."""
    options = "-s bio --policies --metric recall"
    for more, begin, discard in (
        ("", 1, 1 / 2),
        ("--average macro", 1, 1 / 2),
        ("--match muc-partial", 1, 1 / 2),
    ):
        rows = as_json(folder, f"score gold broken {options} {more} --layout json")
        found = {row["policy"]: row for row in rows}
        for policy, value in (("begin", begin), ("discard", discard)):
            assert found[policy]["recall"] == found[policy]["value"] == value
            assert Signature.parse(found[policy]["signature"]).policy == policy


def test_policies_of_macro_and_muc_by_hand(folder: Path) -> None:
    """Gold X[0,2) Y; predicted X[0,2) X Y->X: X has P 1/3, R 1; Y nothing."""
    (begin,) = (
        row
        for row in as_json(
            folder, "score gold pred -s bio --policies --average macro --layout json"
        )
        if row["policy"] == "begin"
    )
    assert (begin["precision"], begin["recall"]) == pytest.approx((1 / 6, 1 / 2))
    rows = as_json(folder, "score gold pred -s bio --policies --match muc-exact --layout json")
    assert {row["recall"] for row in rows} == {1}
    assert {row["precision"] for row in rows} == {2 / 3}


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_policies_in_every_format(folder: Path, form: str) -> None:
    text = run(folder, f"score gold broken -s bio --policies --layout {form}").stdout
    assert text.count("refused") == 1
    assert all(policy in text for policy in POLICIES)
    if form == "csv":
        rows = {row["policy"]: row for row in csv.DictReader(io.StringIO(text))}
        assert (rows["begin"]["score"], float(rows["discard"]["score"])) == ("1.0", 2 / 3)
        assert Signature.parse(rows["discard"]["signature"]).policy == "discard"
    else:
        assert "66.67" in text
        assert "100.00" in text


def test_conlleval_says_its_recipe_beside_its_output(folder: Path) -> None:
    result = run(folder, "score gold pred -s bio --layout conlleval")
    assert "signature" not in result.stdout
    assert result.stderr == f"score 40.00\nsignature {Signature(scheme='bio')}\n"


def test_conlleval_in_the_encoding_of_the_files(folder: Path) -> None:
    for name in ("gold", "pred"):
        (folder / name).write_bytes("ä B-Ä\n".encode("latin-1"))
    command = "score gold pred -s bio --layout conlleval --encoding latin-1 -o out"
    assert run(folder, command).exit_code == 0
    assert b"\n" + b" " * 16 + b"\xc4: precision" in (folder / "out").read_bytes()


# Confidence


def test_confidence(folder: Path) -> None:
    """Of two sentences one is right, one is not: a round has F1 0, 2/4, 1 or undefined."""
    (folder / "g").write_text("a B-X\n\nb B-X\n")
    (folder / "p").write_text("a B-X\n\nb B-Y\n")
    command = "score g p -s bio --confidence 0.9 --set rounds=400 --seed 3"
    found = as_json(folder, f"{command} --layout json")
    assert found["value"] == 1 / 2
    assert found["interval"] == {
        "low": 0,
        "high": 1,
        "level": 0.9,
        "method": "percentile",
        "rounds": 400,
        "seed": 3,
        "undefined": 0,
    }
    said = (
        "score 50.00, 90 % interval 0.00 to 100.00 (bootstrap over sentences, 400 rounds, seed 3)"
    )
    assert said in run(folder, command).stdout
    assert said in run(folder, f"{command} --layout conlleval").stderr
    plain = run(folder, "score g p -s bio --confidence 0.5").stdout
    assert "10,000 rounds, seed 0" in plain


def test_no_confidence_in_what_is_undefined(folder: Path) -> None:
    (folder / "nothing").write_text("a O\n")
    result = run(folder, "score nothing nothing -s bio --confidence 0.9")
    assert result.exit_code == 2
    assert "the f1 is undefined" in result.stderr


# Streams


@pytest.mark.parametrize(
    "command",
    [
        "score - - -s bio",
        "score - pred gold -s bio",
        "compare - -a pred -b gold -s bio",
        "compare gold -a - -b - -s bio",
        "score --errors - pred gold -s bio",
    ],
)
def test_standard_input_is_read_once(folder: Path, command: str) -> None:
    result = run(folder, command)
    assert result.exit_code == 2
    assert "standard input can be read only once" in result.stderr
    assert "save it to a file" in result.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_are_read_once(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    result = run(folder, "score pipe pred gold -s bio")  # nothing writes: it must not open it
    assert result.exit_code == 2
    assert f"{pipe}, a pipe, can be read only once" in result.stderr


def test_each_of_two_pipes_may_be_read(folder: Path) -> None:
    command = f"{sys.executable} -m spacy_iobes score"
    done = subprocess.run(
        ["bash", "-c", f"{command} <(cat gold) <(cat pred) -s bio; {command} <(cat gold) - -s bio"],
        cwd=folder,
        input="a B-X\nb I-X\nc O\n\nd B-Y\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.findall(r"^score (.+)", done.stdout, re.MULTILINE) == ["40.00", "100.00"]
    again = subprocess.run(
        ["bash", "-c", f"{command} <(cat gold) pred gold -s bio"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 2
    assert "can be read only once" in again.stderr


# What is written, and what is empty


@pytest.mark.parametrize("target", ["gold", "pred", "./gold"])
def test_the_output_is_none_of_the_inputs(folder: Path, target: str) -> None:
    before = (folder / target).read_text()
    for command in ("score gold pred -s bio -o", "score gold pred -s bio --html"):
        result = run(folder, f"{command} {folder / target}")
        assert result.exit_code == 2
        assert "would be overwritten" in result.stderr
    assert (folder / target).read_text() == before


@pytest.mark.parametrize(
    "command",
    [
        "score none none",
        "score none none --policies",
        "score --errors none none",
        "score none none --html -",
    ],
)
def test_empty_files_are_remarked_on(folder: Path, command: str) -> None:
    (folder / "none").write_text("\n")
    result = run(folder, f"{command} -s bio")
    assert result.exit_code == 0
    assert "there are no sentences" in result.stderr


def test_empty_files_cannot_be_compared(folder: Path) -> None:
    (folder / "none").write_text("")
    result = run(folder, "compare none -a none -b none -s bio")
    assert result.exit_code == 2
    assert "Nothing to compare: there are no sentences." in result.stderr


@pytest.mark.parametrize("command", ["score", "compare", "validate"])
def test_short_help(command: str) -> None:
    arguments = [sys.executable, "-m", "spacy_iobes", command, "-h"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "--scheme" in done.stdout


# Which side is at fault


def test_a_refusal_says_which_side_and_which_option(folder: Path) -> None:
    gold = run(folder, "score broken gold -s bio")
    assert gold.exit_code == 1
    assert "1 violation in the gold tags" in gold.stderr
    assert "--gold-policy" in gold.stderr
    predicted = run(folder, "score gold broken -s bio")
    assert "1 violation in the predictions" in predicted.stderr
    assert "(--policy)" in predicted.stderr
    assert "--gold-policy" not in predicted.stderr
    both = run(folder, "score broken broken -s bio")
    assert "in the gold tags" in both.stderr
    assert "in the predictions" in both.stderr


def test_no_policy_is_advised_for_tags_that_cannot_be_read(folder: Path) -> None:
    (folder / "strange").write_text("a Q-X\nb O\nc O\n\nd B-Y\n")
    result = run(folder, "score gold strange -s bio")
    assert result.exit_code == 1
    assert "No policy repairs tags that cannot be read (1)" in result.stderr
    assert "--policy" not in result.stderr
    validated = run(folder, "summarize strange -s bio")
    assert "name a policy" not in validated.stderr


def test_policies_do_not_hide_that_the_gold_is_at_fault(folder: Path) -> None:
    plain, policies = (run(folder, f"score broken gold -s bio {o}") for o in ("", "--policies"))
    assert (policies.exit_code, policies.stdout) == (1, "")
    assert policies.stderr == plain.stderr
    assert run(folder, "score broken gold -s bio --policies --gold-policy begin").exit_code == 0


# Columns


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--gold-tag 9", "no column 9 for the tag, the line has 3"),
        ("--gold-tag -4", "no column -4 for the tag, the line has 3"),
        ("--gold-tag 0", "both the gold tag (--gold-tag) and the token (--token)"),
        ("--gold-tag -1", "both the gold tag (--gold-tag) and the predicted tag (--tag)"),
        ("--gold-tag 2", "both the gold tag (--gold-tag) and the predicted tag (--tag)"),
    ],
)
@pytest.mark.parametrize("command", ["score", "score --errors"])
def test_bad_columns_for_gold(folder: Path, command: str, option: str, said: str) -> None:
    result = run(folder, f"{command} both -s bio {option}")
    assert result.exit_code == 2
    assert said in result.stderr


def test_two_columns_hold_one_annotation(folder: Path) -> None:
    result = run(folder, "score gold -s bio")
    assert result.exit_code == 2
    assert "has 2 columns, but a file that holds both annotations needs three" in result.stderr


def test_gold_may_have_its_tags_in_another_column(folder: Path) -> None:
    (folder / "wide").write_text("a B-X 1\nb I-X 2\nc O 3\n\nd B-Y 4\n")
    assert as_json(folder, "score wide pred -s bio --gold-tag 1 --layout json")["value"] == 0.4
    found = as_json(folder, "compare wide -a pred -b gold -s bio --gold-tag 1 --json")
    assert (found["a"], found["b"]) == ([0.4], [1])


# Document markers


@pytest.fixture
def marked(folder: Path) -> Path:
    """Gold with a marker, and the tags of a system that has seen it as a token."""
    (folder / "marked").write_text("-DOCSTART- O\n\na B-X\n")
    (folder / "tags").write_text("O\n\nB-X\n")
    return folder


def test_markers_as_tokens(marked: Path) -> None:
    files, options = "marked tags", "-s bio --set ignore-tokens --documents tokens"
    found = as_json(marked, f"score {files} {options} --layout json")
    assert (found["value"], found["tokens"], found["sentences"]) == (1, 2, 2)
    assert "0 mistakes" in run(marked, f"score --errors {files} {options}").stdout
    assert run(marked, f"score {files} {options} --html out").exit_code == 0
    assert as_json(marked, f"compare marked -a tags -b tags {options} --json")["a"] == [1]


def test_differences_that_a_marker_may_explain(marked: Path) -> None:
    result = run(marked, "score marked tags -s bio --set ignore-tokens")
    assert result.exit_code == 2
    assert "--documents tokens" in result.stderr
    other = run(marked, "score gold tags -s bio")
    assert "--documents tokens" not in other.stderr
    assert "compare only those (--set ignore-tokens)" in other.stderr


@needs_shared
def test_an_official_output_with_the_markers_of_conll_2003() -> None:
    """Florian et al. on eng.testb: F1 88.76 in the organisers' conlleval.out."""
    data = SHARED / "data"
    results = data / "conll2003-official" / "results" / "florian"
    official = (results / "conlleval.out").read_text().split("eng.testb\n")[1].splitlines()[0]
    files = [str(data / "conll2003-eng" / "eng.testb"), str(results / "eng.testb.gz")]
    options = ["-s", "iob1", "-p", "begin", "--set", "ignore-tokens", "--layout", "json"]
    refused = CliRunner().invoke(app, ["score", *files, *options])
    assert (refused.exit_code, "--documents tokens" in refused.stderr) == (2, True)
    command = ["score", *files, *options, "--gold-policy", "begin", "--documents", "tokens"]
    found = json.loads(CliRunner().invoke(app, command).stdout)
    numbers = [found[key] for key in ("tokens", "gold", "predicted", "correct")]
    assert numbers == [int(number) for number in re.findall(r"\d+", official)]
    assert f"{100 * found['value']:.2f}" == "88.76"


# Sizes


LONG = 200_000  # tokens of one sentence


@pytest.fixture
def long(folder: Path) -> Path:
    """One sentence, every second token a span, and all its labels are wrong."""
    for name, label in (("long", "X"), ("other", "Y")):
        (folder / name).write_text(f"a B-{label}\nb O\n" * (LONG // 2))
    return folder


def test_mistakes_of_a_long_sentence(long: Path) -> None:
    lines = run(long, "score --errors long other -s bio --limit 2").stdout.splitlines()
    assert lines[0] == f"{long / 'other'}:1: label: gold X 'a', predicted Y 'a'"
    assert lines[1].startswith(f"{long / 'other'}:3: ")
    assert lines[2].endswith(f"and {LONG // 2 - 2:,} more (--limit 0 shows all)")
    assert lines[3].endswith(f"{LONG // 2:,} mistakes ({LONG // 2:,} label)")
    (found,) = as_json(long, "score --errors long other -s bio --layout json")
    assert len(found["mistakes"]) == LONG // 2
    assert [len(sentence["tokens"]) for sentence in found["sentences"]] == [LONG]


def test_a_page_holds_as_many_mistakes_as_it_is_told(long: Path) -> None:
    result = run(long, "score long other -s bio --html out")
    assert "100,000 mistakes, the first 10,000 of them on the page (--limit)" in result.stderr
    data = page_data(long / "out")
    assert (len(data["mistakes"]), data["total"], len(data["sentences"])) == (10_000, 100_000, 1)
    for limit, size in ((5, 5), (0, LONG // 2)):
        run(long, f"score long other -s bio --html out --limit {limit}")
        assert len(page_data(long / "out")["mistakes"]) == size


def page_data(path: Path) -> Any:
    html = path.read_text(encoding="utf8")
    text = html.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    return json.loads(text)


def test_mistakes_share_their_sentence_and_only_those_shown_are_built(
    long: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []
    monkeypatch.setattr(scoring_files, "Located", lambda *fields: built.append(fields))
    monkeypatch.setattr("spacy_iobes.scoring.files.mistake_line", lambda located: "")
    run(long, "score --errors long other -s bio --limit 3")
    assert len(built) == 3
    assert len({id(sentence) for _, sentence, *_ in built}) == 1
