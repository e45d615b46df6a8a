"""Scores as text: in every format the number beside a signature is the one that it names."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from spacy_iobes import Report, Signature, score
from spacy_iobes.errors import UnknownNameError
from spacy_iobes.scoring import FORMATS, RENDERERS, Interval, Table, as_conlleval, formatted
from spacy_iobes.scoring.side_by_side import runs

GOLD = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"], ["B-Y", "I-Y", "I-Y"]]
PRED = [["B-X", "I-X", "O", "B-X"], ["B-X", "O"], ["O", "B-Y", "I-Y"]]
# X[0,2) is right, Y[3,4) became X, X[1,2) is missed, X[0,1) spurious, Y[0,3) cut short


def scored(**settings: str) -> Report:
    return score(GOLD, PRED, scheme="bio", policy="begin", **settings)


@pytest.fixture
def report() -> Report:
    return scored()


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_signature_in_every_format(report: Report) -> None:
    for name in set(FORMATS) - {"conlleval"}:
        text = formatted(report, name)
        assert str(report.signature) in text
        assert text.endswith("\n")


def test_formats(report: Report) -> None:
    row = "micro average        4          4        1      25.00   25.00  25.00"
    assert row in formatted(report, "table")
    assert "| X | 2 | 3 | 1 | 33.33 | 50.00 | 40.00 |" in formatted(report, "markdown")
    assert "X,2,3,1,0.3333333333333333,0.5,0.4,0.25," in formatted(report, "csv")
    assert r"X & 2 & 3 & 1 & 33.33 & 50.00 & 40.00 \\" in formatted(report, "latex")
    assert json.loads(formatted(report, "json"))["labels"]["X"]["gold"] == 2


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, 1 / 4),
        ({"average": "macro", "metric": "recall"}, 1 / 4),
        ({"average": "weighted", "metric": "precision"}, 1 / 6),
        ({"match": "muc-partial"}, 2.5 / 4),
        ({"match": "muc-exact", "metric": "recall"}, 2 / 4),
    ],
)
def test_every_format_has_the_score_beside_its_signature(
    settings: dict[str, str], value: float
) -> None:
    report = scored(**settings)
    line = f"score {100 * value:.2f}"
    for name, begin, end in (("table", "", ""), ("markdown", "", "  "), ("latex", "% ", "")):
        lines = formatted(report, name).splitlines()
        assert lines[-2:] == [f"{begin}{line}{end}", f"{begin}signature {report.signature}{end}"]
    for row in rows(formatted(report, "csv")):
        assert float(row["score"]) == pytest.approx(value)
        assert row["signature"] == str(report.signature)
    assert json.loads(formatted(report, "json"))["value"] == pytest.approx(value)


def test_muc_rows_by_hand() -> None:
    """X: one exact, one missed of gold; one exact, Y's, and one spurious of the predictions."""
    table = formatted(scored(match="muc-partial"), "table").splitlines()
    counts = "label gold predicted correct incorrect partial missed spurious"
    assert " ".join(table[0].split()) == f"{counts} precision recall F1"
    cells = [line.split() for line in table[2:4]]
    assert cells[0] == ["X", "2", "3", "1", "0", "0", "1", "1", "66.67", "50.00", "60.00"]
    assert cells[1] == ["Y", "2", "1", "1", "0", "1", "0", "0", "50.00", "75.00", "66.67"]
    assert table[5].split()[2:] == ["4", "4", "2", "0", "1", "1", "1", "62.50", "62.50", "62.50"]
    assert table[6] == ""  # a MUC match has no other averages


def test_conlleval_knows_one_match_and_one_average() -> None:
    for settings in ({"match": "muc-type"}, {"average": "macro"}):
        with pytest.raises(UnknownNameError, match="for the format conlleval"):
            formatted(scored(**settings), "conlleval")
    with pytest.raises(UnknownNameError, match="Unknown format 'x'"):
        formatted(scored(), "x")


def test_conlleval_pads_bytes() -> None:
    found = score([["B-Ä"]], [["B-Ä"]], scheme="bio", policy="raise")
    assert " " * 15 + "Ä: precision" in as_conlleval(found)
    assert " " * 16 + "Ä: precision" in as_conlleval(found, "latin-1")


def test_an_interval_is_printed_with_how_it_was_made(report: Report) -> None:
    interval = Interval(0.125, 0.5, 0.9, "percentile", 1000, 7)
    said = (
        "score 25.00, 90 % interval 12.50 to 50.00 (bootstrap over sentences, 1,000 rounds, seed 7)"
    )
    for name in ("table", "markdown", "latex"):
        assert said in formatted(report, name, interval)
    row = rows(formatted(report, "csv", interval))[0]
    wanted = {"low": "0.125", "high": "0.5", "level": "0.9", "rounds": "1000", "seed": "7"}
    assert {key: row[key] for key in wanted} == wanted
    assert json.loads(formatted(report, "json", interval))["interval"]["high"] == 0.5


def test_labels_that_look_like_markup() -> None:
    tags = [["B-a|b_c%<b>&amp;*`\\"]]
    found = score(tags, tags, scheme="bio", policy="raise")
    assert r"| a\|b\_c%\<b\>\&amp;\*\`\\ | 1 |" in formatted(found, "markdown")
    latex = r"a\textbar{}b\_c\%\textless{}b\textgreater{}\&amp;*`\textbackslash{} & 1"
    assert latex in formatted(found, "latex")
    assert json.loads(formatted(found, "json"))["confusion"]["labels"] == [tags[0][0][2:]]


@pytest.mark.parametrize("form", RENDERERS)
def test_several_runs_in_every_format(form: str) -> None:
    """0.25 and 1: their mean is 0.625, their standard deviation 0.53, its error 0.375."""
    perfect = score(GOLD, GOLD, scheme="bio", policy="begin")
    text = runs([("one_a", scored()), ("b|c", perfect)], form)
    assert str(perfect.signature) in text
    if form == "csv":
        values = {row["run"]: row["score"] for row in rows(text)}
        assert {name: float(value) for name, value in values.items()} == pytest.approx(
            {"one_a": 0.25, "b|c": 1, "mean": 0.625, "sd": 0.75 / 2**0.5, "se": 0.375}
        )
    else:
        for number in ("25.00", "100.00", "62.50", "53.03", "37.50"):
            assert number in text


def test_runs_show_the_figures_that_the_signature_names() -> None:
    report = scored(match="muc-partial", metric="recall")
    (row, *_) = rows(runs([("a", report), ("b", report)], "csv"))
    figures = [float(row[key]) for key in ("precision", "recall", "f1", "score")]
    assert figures == [0.625] * 4


def test_undefined_runs_have_no_mean() -> None:
    empty = score([["O"]], [["O"]], scheme="bio", policy="raise")
    text = runs([("a", empty), ("b", empty)], "table")
    assert "mean" not in text
    assert text.splitlines()[2].split() == ["a", "-", "-", "-", "-"]


def test_cells_of_a_table() -> None:
    cells: list[tuple[Any, ...]] = [("a", 1234, 0.5, None)]
    table = Table(("name", "count", "share", "none"), cells, remarks=("x",))
    assert table.texts() == [("a", "1234", "50.00", "-")]
    assert RENDERERS["csv"](table) == "name,count,share,none\na,1234,0.5,\n"
    assert RENDERERS["markdown"](table).splitlines()[1:3] == [
        "|---|---:|---:|---:|",
        "| a | 1234 | 50.00 | - |",
    ]


def test_the_signature_knows_its_muc_match() -> None:
    assert Signature().muc is None
    assert Signature(match="muc-type").muc == "type"
