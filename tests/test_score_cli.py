"""The commands that score files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spacy_iobes import POLICIES, Signature
from spacy_iobes.cli import app
from spacy_iobes.corpus import files as corpus_files

GOLD = "a B-X\nb I-X\nc O\n\nd B-Y\n"
PRED = "a B-X\nb I-X\nc B-X\n\nd B-X\n"
BROKEN = "a I-X\nb I-X\nc O\n\nd B-Y\n"
BOTH = "a B-X B-X\nb I-X I-X\nc O B-X\n\nd B-Y B-X\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("gold", GOLD), ("pred", PRED), ("broken", BROKEN), ("both", BOTH)):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, command: str) -> Result:
    name, *rest = command.split()
    arguments = [str(folder / a) if (folder / a).exists() or a == "out" else a for a in rest]
    return CliRunner().invoke(app, [name, *arguments])


def as_json(folder: Path, command: str) -> Any:
    return json.loads(run(folder, command).stdout)


def test_score_as_a_table(folder: Path) -> None:
    result = run(folder, "score gold pred --scheme bio")
    assert result.exit_code == 0
    signature = Signature(scheme="bio")
    assert result.stdout.splitlines() == [
        "label             gold  predicted  correct  precision  recall     F1",
        "----------------  ----  ---------  -------  ---------  ------  -----",
        "X                    1          3        1      33.33  100.00  50.00",
        "Y                    1          0        0          -    0.00   0.00",
        "----------------  ----  ---------  -------  ---------  ------  -----",
        "micro average        2          3        1      33.33   50.00  40.00",
        "macro average        2          3        1      16.67   50.00  25.00",
        "weighted average     2          3        1      16.67   50.00  25.00",
        "",
        "token accuracy 50.00 of 4 tokens",
        "score 40.00",
        f"signature {signature}",
    ]


def test_two_files_or_two_columns(folder: Path) -> None:
    two = as_json(folder, "score gold pred -s bio --layout json")
    assert as_json(folder, "score both -s bio --layout json") == two
    assert (two["correct"], two["predicted"], two["gold"]) == (1, 3, 2)
    swapped = as_json(folder, "score both -s bio --layout json --gold-tag -1 --tag -2")
    assert (swapped["correct"], swapped["predicted"], swapped["gold"]) == (1, 2, 3)


def test_both_columns_through_a_pipe(folder: Path) -> None:
    result = CliRunner().invoke(
        app, ["score", "-", "-s", "bio", "--layout", "csv"], input=BOTH.encode()
    )
    assert result.stdout.startswith("label,gold,predicted,correct,")


def test_repair_is_required_as_soon_as_there_is_something_to_repair(folder: Path) -> None:
    assert run(folder, "score gold pred -s bio").exit_code == 0
    refused = run(folder, "score gold broken -s bio")
    assert refused.exit_code == 1
    assert f"{folder / 'broken'}:1: 'a': the sentence start -> I-X" in refused.stderr
    assert run(folder, "score gold broken -s bio -p begin").exit_code == 0
    assert run(folder, "score broken gold -s bio -p begin").exit_code == 1
    assert run(folder, "score broken gold -s bio -p begin --gold-policy begin").exit_code == 0
    done = as_json(folder, "score broken gold -s bio --gold-policy discard --layout json")
    assert done["violations"] == {"predicted": 0, "gold": 1}
    assert "gold_policy:discard" in done["signature"]


def test_conlleval_counts_document_markers(folder: Path) -> None:
    (folder / "marked").write_text("-DOCSTART- O O\n\na B-X B-X\n")
    text = run(folder, "score marked -s bio --layout conlleval").stdout
    assert text.startswith("processed 2 tokens with 1 phrases; found: 1 phrases; correct: 1.\n")
    assert "of 1 tokens" in run(folder, "score marked -s bio").stdout


def test_policies_side_by_side(folder: Path) -> None:
    rows = as_json(folder, "score gold broken -s bio --policies --layout json")
    values = {row["policy"]: row["value"] for row in rows}
    assert list(values) == list(POLICIES)
    assert values["raise"] is None
    assert [row["refused"] for row in rows] == [True, *[False] * (len(POLICIES) - 1)]
    assert (values["begin"], values["discard"]) == (1, 2 / 3)
    text = run(folder, "score gold broken -s bio --policies").stdout
    assert "refused" in text
    assert "66.67" in text


def test_several_runs(folder: Path) -> None:
    report = as_json(folder, "score gold pred gold -s bio --layout json")
    assert (report["mean"], report["sd"], report["se"]) == pytest.approx((0.7, 0.18**0.5, 0.3))
    text = run(folder, "score gold pred gold -s bio").stdout
    assert "mean" in text
    assert "70.00" in text
    for form in ("latex", "csv", "markdown"):
        assert "mean" in run(folder, f"score gold pred gold -s bio --layout {form}").stdout


def test_output_to_a_file(folder: Path) -> None:
    assert run(folder, "score gold pred -s bio --layout markdown -o out").stdout == ""
    assert "| X | 1 | 3 | 1 |" in (folder / "out").read_text()


@pytest.mark.parametrize("chunk", [8, corpus_files.CHUNK])
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("a B-X\nb I-X\nC O\n\nd B-Y\n", "'c' in line 3, but {other} has 'C' in line 3"),
        (
            "\n\na B-X\nb I-X\n\nd B-Y\n",
            "{other} ends it behind 'b' in line 4, but {gold} goes on with 'c' in line 3",
        ),
        (
            "a B-X\nb I-X\nc O\nd B-Y\n",
            "{gold} ends it behind 'c' in line 3, but {other} goes on with 'd' in line 4",
        ),
        (
            "a B-X\nb I-X\nc O\n\n",
            "{other} ends after 1 sentences, but {gold} goes on with 'd' in line 5",
        ),
        (GOLD + "\ne O\n", "{gold} ends after 2 sentences, but {other} goes on with 'e' in line 7"),
        ("", "{other} ends after 0 sentences"),
    ],
)
def test_the_first_difference_is_named_with_both_lines(
    folder: Path, monkeypatch: pytest.MonkeyPatch, other: str, said: str, chunk: int
) -> None:
    monkeypatch.setattr(corpus_files, "CHUNK", chunk)
    (folder / "other").write_text(other)
    result = run(folder, "score gold other -s bio")
    assert result.exit_code == 2
    assert said.format(gold=folder / "gold", other=folder / "other") in result.stderr


def test_tokens_can_be_ignored_but_not_lengths(folder: Path) -> None:
    (folder / "tags").write_text("B-X\nI-X\nO\n\nB-Y\n")
    assert run(folder, "score gold tags -s bio").exit_code == 2
    assert as_json(folder, "score gold tags -s bio --set ignore-tokens --layout json")["value"] == 1
    (folder / "tags").write_text("B-X\nI-X\n\nB-Y\n")
    assert run(folder, "score gold tags -s bio --set ignore-tokens").exit_code == 2


def test_errors(folder: Path) -> None:
    lines = run(folder, "score --errors gold pred -s bio").stdout.splitlines()
    assert lines[0] == f"{folder / 'pred'}:3: spurious: predicted X 'c'"
    assert lines[1] == f"{folder / 'pred'}:5: label: gold Y 'd', predicted X 'd'"
    assert lines[2].endswith("2 mistakes (1 label, 1 spurious)")
    assert lines[3:] == [f"signature {Signature(scheme='bio')}"]
    assert "0 mistakes" in run(folder, "score --errors gold gold -s bio").stdout
    assert "and 1 more" in run(folder, "score --errors gold pred -s bio --limit 1").stdout
    assert "more" not in run(folder, "score --errors gold pred -s bio --limit 0").stdout


def test_errors_as_json(folder: Path) -> None:
    (report,) = as_json(folder, "score --errors gold pred -s bio --layout json")
    first, second = report["mistakes"]
    assert (second["gold"], second["gold_text"]) == ([0, 1, "Y"], "d")
    assert (first["gold"], first["gold_text"], first["predicted_text"]) == (None, None, "c")
    assert (first["gold_line"], first["predicted_line"], first["sentence"]) == (3, 3, 0)
    assert report["sentences"] == [
        {"sentence": 0, "tokens": ["a", "b", "c"]},
        {"sentence": 1, "tokens": ["d"]},
    ]
    assert (report["total"], report["kinds"]["spurious"], report["kinds"]["boundary"]) == (2, 1, 0)
    (some,) = as_json(folder, "score --errors gold pred -s bio --layout json --limit 1")
    assert (len(some["mistakes"]), len(some["sentences"]), some["total"]) == (1, 1, 2)


def test_compare_two_systems(folder: Path) -> None:
    result = as_json(folder, "compare gold -a gold -b pred -s bio --json")
    assert (result["a"], result["b"]) == ([1], [0.4])
    assert result["difference"] == pytest.approx(0.6)
    assert result["randomisation"]["p"] == 0.5  # both sentences differ: 2 of 4 swaps are as far
    assert result["interval"]["low"] <= 0.6 <= result["interval"]["high"]
    text = run(folder, "compare gold -a gold -b pred -s bio").stdout
    assert "difference A - B: +60.00" in text
    assert "(exact)" in text
    assert "(bootstrap, 10,000 rounds, seed 0)" in text
    assert "signature f1:micro" in text


def test_an_undefined_score_cannot_be_compared(folder: Path) -> None:
    (folder / "nothing").write_text("a O\nb O\nc O\n\nd O\n")
    for rest in ("-b nothing", "-b nothing -b nothing"):
        result = run(folder, f"compare gold -a pred {rest} -s bio --metric precision")
        assert result.exit_code == 2
        assert "Nothing to compare" in result.stderr


def test_compare_two_sets_of_runs(folder: Path) -> None:
    result = as_json(folder, "compare gold -a gold -a gold -b pred -b pred -s bio --json")
    assert result["difference"] == pytest.approx(0.6)
    assert "rank_sum" in result
    assert "rank-sum" in run(folder, "compare gold -a gold -a pred -b pred -s bio").stdout


@pytest.mark.parametrize(
    "command",
    [
        "score gold pred -s nonsense",
        "score gold pred -s bio -r nonsense",
        "score gold pred -s bio --layout nonsense",
        "score gold pred -s bio --metric nonsense",
        "score gold pred -s bio --match nonsense",
        "score gold nothing -s bio",
        "score gold -s bio",
        "score gold pred -s bio -r best",
        "score gold pred -s bio --confidence 95",
        "score gold pred -s bio --confidence 0.9 --seed -1",
        "score gold pred gold -s bio --confidence 0.9",
        "score gold pred -s bio --confidence 0.9 --policies",
        "score gold pred -s bio --confidence 0.9 --average macro",
        "score gold pred -s bio --layout conlleval --policies",
        "score gold pred gold -s bio --layout conlleval",
        "score gold pred -s bio --layout conlleval --match muc-type",
        "compare gold -a pred -b gold -s bio --seed -1",
        "score --errors gold nothing -s bio",
        "compare gold -a pred -s bio",
    ],
)
def test_bad_usage_is_exit_code_2(folder: Path, command: str) -> None:
    result = run(folder, command)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_mistake_of_a_file_without_lines_has_its_place(folder: Path) -> None:
    """Also by characters, where the token is still that of the file."""
    for name in ("gold", "pred"):
        run(folder, f"convert {name} -s bio {folder / name}.spacy")
    place = f"{folder / 'pred.spacy'}, Doc 0, token 2"
    for option in ("", "--characters"):
        shown = run(folder, f"score --errors gold.spacy pred.spacy {option}").stdout
        assert shown.startswith(f"{place}: spurious: predicted "), shown
        (report,) = as_json(folder, f"score --errors gold.spacy pred.spacy {option} --json")
        first = report["mistakes"][0]
        assert (first["gold_line"], first["predicted_line"]) == (None, None)
        assert first["predicted_place"] == place
        assert first["gold_place"] == place.replace("pred", "gold")


@pytest.mark.parametrize(
    ("text", "options", "column"),
    [
        ("a B-NP B-PER\nb O O\n", "", "-2"),
        ("a B-NP B-PER\nb O O\n", "--gold-tag 1", "1"),
        ("a B-NP B-PER\nb B-PER O\n", "", ""),  # a label of both, though nothing is right
        ("a O B-PER\nb O O\n", "", ""),  # nothing to be found
        ("a B-NP O\nb O O\n", "", ""),  # nothing found
    ],
)
def test_a_forgotten_prediction_is_told(folder: Path, text: str, options: str, column: str) -> None:
    (folder / "dev").write_text(text)
    result = run(folder, f"score dev -s bio {options}")
    assert result.exit_code == 0
    told = f"no label is in both columns: is column {column} the gold tag (--gold-tag)? "
    assert (f"dev: {told}Else name a file of predictions\n" in result.stderr) == bool(column)
    assert "no label is in both columns" not in run(folder, "score dev dev -s bio").stderr
