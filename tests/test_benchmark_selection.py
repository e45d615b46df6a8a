"""The benchmark of sentence selection: what its tables say of curves made up by hand."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

if not find_spec("benchmarks"):
    pytest.skip("there is no benchmarks/ beside tests/", allow_module_level=True)

from benchmarks import selection, selection_tables
from benchmarks.ner_keep import Keep
from benchmarks.selection_corpora import (
    AVERAGE,
    PRINTED_AVERAGE,
    SETTINGS,
    SUGGESTED,
    Published,
    Setting,
)
from benchmarks.selection_crfsuite import features
from spacy_iobes import __version__


def curve(*rows: tuple[int, float, float], seconds: float = 0.5) -> dict[str, Any]:
    """Rounds: sentences read, true coverage and the estimate; the interval is 0.9 to 1."""
    rounds = [
        {
            "number": number,
            "coverage": true,
            "seconds": seconds,
            "suggested": None,
            "estimate": {
                "read": read,
                "coverage": known,
                "low": 0.9,
                "high": 1.0,
                "corrected": known,
                "audited": 7,
            },
        }
        for number, (read, true, known) in enumerate(rows)
    ]
    return {"sentences": 14041, "mentions": 100, "rounds": rounds}


MISC = curve((5000, 0.95, 0.98), (5300, 0.97, 0.985), (5500, 0.98, 0.991))
PER = curve((6000, 0.85, 0.99), (6300, 0.981, 0.99))
FOUND = {"plain": {"MISC": MISC, "PER": PER}, "audit": {"MISC": MISC}, "enrich": {"MISC": PER}}


def test_the_stop_and_the_published_coverage() -> None:
    rows = {row["label"]: row for row in selection_tables.stopped(FOUND).rows}
    assert rows["MISC"]["plain read %"] == pytest.approx(100 * 5500 / 14041)
    assert rows["MISC"]["plain true %"] == pytest.approx(98)
    assert rows["MISC"]["plain: read for paper's true %"] == pytest.approx(100 * 5300 / 14041)
    assert rows["PER"]["plain read %"] == pytest.approx(100 * 6000 / 14041)
    assert rows["PER"]["audit read %"] is None
    assert rows["mean"]["plain true %"] == pytest.approx((98 + 85) / 2)


def test_targets_are_met_or_not() -> None:
    crfsuite = {"MISC": {"seconds": {"100": 9.0, "200": 11.0}}}
    targets = selection_tables.targets(FOUND, crfsuite).rows
    assert [row["measured"] for row in targets] == [1.0, 1.0, 20.0, 1.0]  # of PER it takes more
    assert [row["verdict"] for row in targets] == ["not met", "not met", "met", "met"]
    nothing = selection_tables.targets({"plain": {}, "audit": {}, "enrich": {}}, {}).rows
    assert {row["verdict"] for row in nothing} == {"not measured"}


def test_an_interval_may_miss() -> None:
    low = curve((10, 0.5, 0.5), (20, 0.95, 0.99))
    (row,) = selection_tables.intervals({"MISC": low}).rows
    assert row["covered %"] == pytest.approx(50)
    assert row["audited"] == 7


def test_what_is_kept_is_not_measured_again(tmp_path: Path) -> None:
    kept = Keep(tmp_path / "kept.jsonl")
    setting = Setting("none", "NONE", Published(0, 99.0))
    assert selection.curve(kept, setting, "plain", True, kept=True) is None
    key = {
        "loop": "plain",
        "corpus": "none",
        "label": "NONE",
        "quick": True,
        "version": __version__,
    }
    kept.add(key, MISC)
    found = selection.curve(Keep(tmp_path / "kept.jsonl"), setting, "plain", True, kept=False)
    assert found == MISC


def test_features_of_the_paper() -> None:
    (only,) = features(["Ab12"])
    assert only == [
        "w=Ab12",
        "-1:w=<s>",
        "1:w=</s>",
        "prefix=A",
        "prefix=Ab",
        "prefix=Ab1",
        "suffix=2",
        "suffix=12",
        "suffix=b12",
        "norm=ab##",
        "shape=Xxdd",
    ]


TABLE_4 = {  # of the paper: coverage, sentences annotated, percent of the corpus
    "LOC": (99.1, 7600, 54.1),
    "MISC": (96.9, 5400, 38.5),
    "ORG": (99.7, 8900, 63.4),
    "PER": (98.0, 6200, 44.2),
    "DNA": (99.8, 11900, 64.2),
    "RNA": (99.2, 2500, 13.5),
    "cell_line": (99.6, 9400, 50.7),
    "cell_type": (99.3, 8600, 46.4),
}
SIZES = {"CoNLL-2003": 14041, "JNLPBA": 18546}


def test_the_rows_of_the_paper() -> None:
    assert list(SETTINGS) == list(TABLE_4)
    for name, (coverage, read, share) in TABLE_4.items():
        setting = SETTINGS[name]
        assert setting.published == (read, coverage)
        assert round(100 * read / SIZES[setting.corpus], 1) == share


def test_the_rows_of_the_paper_do_not_average_to_what_it_prints() -> None:
    shares = [100 * each.published.read / SIZES[each.corpus] for each in SETTINGS.values()]
    assert round(fmean(shares), 1) == round(fmean(row[2] for row in TABLE_4.values()), 1) == 46.9
    assert (AVERAGE, PRINTED_AVERAGE) == (46.9, 52.4)
    assert round(fmean(each.published.coverage for each in SETTINGS.values()), 2) == 98.95


def test_the_suggestions_of_the_paper() -> None:
    assert SUGGESTED == {1: (85, 86, 2.64), 5: (89, 96, 1.5), 10: (36, 99, 1.54), 20: (0, 100, 1)}
