"""The benchmark of tagging strategies: what its tables say of figures made up by hand."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import spacy

if not find_spec("benchmarks"):
    pytest.skip("there is no benchmarks/ beside tests/", allow_module_level=True)

from benchmarks import strategies, strategies_speed
from benchmarks.strategies_corpora import CORPORA, english
from benchmarks.table import Table
from spacy_iobes.learners import Options
from spacy_iobes.scoring import Runs, paired_t
from spacy_iobes.strategies import ALL, Comparison, Measure, Row, Study

from .shared import beside

GREEDY = {"io": 0.6, "iob1": 0.5, "bio": 0.9, "bia": 0.8, "bie": 0.1, "be": 0.4}
PAPER = "what the paper found, and what is so here"


def comparison(measure: Measure, figures: Mapping[Row, tuple[float, ...]]) -> Comparison:
    """F1 on the splits, compared with bio by a t-test."""
    scores = {row: {ALL: Runs(each), "x": Runs(each)} for row, each in figures.items()}
    tests = {
        row: {"x": {"t": paired_t(runs["x"], scores[row._replace(strategy="bio")]["x"])}}
        for row, runs in scores.items()
        if row.strategy != "bio"
    }
    return Comparison(measure, "bio", 0.05, "t", (ALL, "x"), scores, tests, {}, {}, {})


def made_up() -> dict[str, Study]:
    """A corpus on which constraints turn the order of strategies around, and one pass is worse."""
    figures: dict[Row, tuple[float, ...]] = {}
    for learner in strategies.LEARNERS:
        less = 0.05 if learner == "winnow-incremental" else 0.0
        for name, mean in GREEDY.items():
            step = 0.01 if name == "bio" else 0.009  # differences that do not vary have no p value
            spread = tuple(mean - less + 0.01 + step * side for side in (-1, 0, 1))
            figures[Row(learner, "greedy", name)] = spread
            figures[Row(learner, "constrained", name)] = tuple(1 - value for value in spread)
    both = comparison("exact", figures), comparison("slots", figures)
    return {"made up": Study("made up", 3, 30, 6, ("x",), both, 1.0)}


def row(table: Table, **cells: str) -> dict[str, Any]:
    """The one row that has these cells."""
    (found,) = [r for r in table.rows if cells.items() <= r.items()]
    return found


def test_what_the_paper_found() -> None:
    table = strategies.findings(made_up())
    greedy = row(table, learner="winnow", decoding="greedy")
    assert greedy["best to worst"] == "bio bia io iob1 be bie"
    assert (greedy["bio, bia best"], greedy["bie worst"]) == ("yes", "yes")
    assert greedy["better than bio"] == "none of 1"
    assert greedy["worse than bio"] == "io 1, iob1 1, bia 1, bie 1, be 1 of 1"
    constrained = row(table, learner="softmax", decoding="constrained")
    assert constrained["best to worst"] == "bie be iob1 io bia bio"
    assert (constrained["bio, bia best"], constrained["bie worst"]) == ("no", "no")
    assert constrained["worse than bio"] == "none of 1"


def test_what_constraints_change() -> None:
    found = row(strategies.decoding(made_up()), learner="crf", measure="exact")
    assert (found["bie"], found["bio"]) == ("11.0 -> 89.0", "91.0 -> 9.0")


def test_one_pass_beside_several() -> None:
    found = row(strategies.incremental(made_up()), decoding="greedy", measure="slots")
    assert found["batch"] == pytest.approx(100 * (sum(GREEDY.values()) / 6 + 0.01))
    assert found["difference"] == pytest.approx(-5)
    assert found["p (Wilcoxon)"] == 0.25  # three pairs: never less


def test_what_is_missing_and_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACY_IOBES_SHARED", str(tmp_path))
    (table,) = strategies.run(quick=True, only=["wnut17"])
    (note,) = [note for note in table.notes if note.startswith("Not at hand")]
    assert note == (
        "Not at hand: WNUT-17. SPACY_IOBES_SHARED names the directory that holds data/; "
        "unless it is set, that is ../shared."
    )


def test_a_row_beside_crfsuite() -> None:
    kept = {"ours": {"seconds": 2.0, "f1": 0.5}, "crfsuite": {"seconds": 30.0, "f1": 0.25}}
    found = strategies_speed.shown("bio", kept)
    assert (found["ours F1"], found["crfsuite F1"], found["ratio"]) == (50, 25, 15)


@pytest.mark.skipif(not find_spec("pycrfsuite"), reason="python-crfsuite is not installed")
@pytest.mark.skipif(not CORPORA["wnut17"].at_hand(), reason="no WNUT-17 at hand")
def test_what_crfsuite_took_is_kept(tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    measure = CORPORA["wnut17"], True, Options(epochs=1), keep
    before = strategies_speed.speed(*measure)
    assert [r["strategy"] for r in before.rows] == ["bio"]
    text = keep.read_text()
    assert strategies_speed.speed(*measure).rows == before.rows
    assert keep.read_text() == text


def test_the_page_says_what_the_tokens_and_features_are() -> None:
    assert [token.text for token in english()("3pm-5:00")] == ["3pm", "-", "5:00"]
    assert len(spacy.blank("en")("3pm-5:00")) == 1
    page = " ".join(beside("docs/strategies.md").read_text(encoding="utf8").split())
    assert "`3pm-5:00` is three tokens" in page
    assert "the context representation of the paper was not used" in page
