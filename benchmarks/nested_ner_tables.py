"""Tables of recognisers of nested mentions, and what they should reach."""

from __future__ import annotations

from typing import Any

from .nested_ner_corpora import CORPORA, GENIA
from .nested_ner_levels import LEVELS
from .nested_ner_systems import CNN_EDGE, HASHED_EDGE, LONGEST, MEAN, SPANCAT, SYSTEMS
from .table import Cell, Table
from .targets import at_least

F1, SAME_ENCODER, HASHED = 75.0, 3.0, 50.0
QUICK = "A quick run in one process: few sentences, a second of training. Figures mean nothing."
LEGEND = [
    "F1 of mentions in percent, exact match, all columns of tags together. Tuned on dev data: the",
    "bias of ours (of flat ones by its F1 of flat mentions), the threshold of spancat; untuned F1:",
    "without a bias, with a threshold of 0.5. nested R: recall of mentions inside another one;",
    "same-label R: inside one of the same label; F1 overlap: of sentences whose mentions overlap.",
    "edge, state, per_label: the representations of iobes_nested_ner; flat: iobes_ner, trained on",
    f"the outermost mentions. spancat: of all n-grams to {LONGEST} tokens; span finder: of what",
    "spaCy's span_finder suggests. CNN: HashEmbedCNN, width 96, depth 4, 2,000 rows; wide and",
    "deep: the CNN and the features of nested_wide_deep.cfg; mean: nested_mean.cfg, three CNNs in",
    "three times the time. Hashed encoders learn for 5 epochs, batches of 120 words; others for",
    "the same CPU time with Adam, whose rate falls to 0 in that time, and averages of weights:",
    "ours in batches of 400 words from 0.002, dropout 0.2; those of spaCy in batches of 300 words",
    "from 0.001, dropout 0.1, their defaults. No choice by dev data but for bias and threshold.",
    "Documents of GENIA and sentences of GermEval are Docs, ready before the clock starts. Seconds",
    "are process CPU time, one thread, each row in its own process; numpy multiplies matrices.",
]
COLUMNS = (
    "dev F1",
    "test P",
    "test R",
    "test F1",
    "untuned F1",
    "nested R",
    "same-label R",
    "F1 overlap",
    "F1 others",
    "epochs",
    "training s",
    "training words/s",
    "tagging words/s",
    "model MB",
)
FORMATS = dict.fromkeys(COLUMNS[:9], ".2f") | {"epochs": ".1f", "model MB": ".1f"}
FORMATS |= {"training s": ",.0f", "training words/s": ",.0f", "tagging words/s": ",.0f"}
Results = dict[str, dict[str, dict[str, Any]]]
"""Figures by corpus and system."""


def corpus(results: Results, name: str, budget: float) -> Table:
    """All systems on one corpus."""
    rows: list[dict[str, Cell]] = [
        {"system": system} | {column: found[column] for column in COLUMNS}
        for system, found in results[name].items()
    ]
    more = budget * SYSTEMS[MEAN].cnns
    note = f"All but hashed encoders had {budget:g} CPU seconds of training, mean {more:g}."
    return Table(f"{CORPORA[name].title}: recognisers", rows, [note], FORMATS)


def level_table(results: Results, name: str) -> Table:
    """Outer and inner mentions apart, and both together."""
    columns = [f"{level} F1" for level in (*LEVELS, "combined")]
    rows: list[dict[str, Cell]] = [
        {"system": system} | {column: found[column] for column in columns}
        for system, found in results[name].items()
    ]
    notes = [
        "Mentions inside another predicted one are inner ones, all others outer ones; combined:",
        "both, and a mention must be on the right level.",
    ]
    title = f"{CORPORA[name].title}: levels, test data"
    return Table(title, rows, notes, dict.fromkeys(columns, ".2f"))


def targets(results: Results) -> Table:
    """What we want, what was measured, and whether it is met."""
    found = results.get(GENIA, {})
    ours = {name: row["dev F1"] for name, row in found.items() if SYSTEMS[name].ours}
    best = max(ours, key=lambda name: ours[name], default="")
    f1 = float(found[best]["test F1"]) if best else None
    rows = [target("test F1", best, F1, f1)]
    for name, wanted in ((CNN_EDGE, SAME_ENCODER), (HASHED_EDGE, HASHED)):
        value = ratio(found, name, SPANCAT, "tagging words/s")
        rows.append(target(f"tagging, x {SPANCAT}", name, wanted, value))
    notes = ["On GENIA; the setting for test F1 is chosen by F1 on dev data."]
    return Table("targets", rows, notes, {"measured": ".4g"})


def ratio(found: dict[str, dict[str, Any]], one: str, other: str, key: str) -> float | None:
    """One figure by another, if both were measured."""
    if one not in found or other not in found:
        return None
    return float(found[one][key]) / float(found[other][key])


def target(what: str, setting: str, wanted: float, value: float | None) -> dict[str, Cell]:
    """One row of the table."""
    return {
        "target": what,
        "setting": setting or "-",
        "wanted": f">= {wanted:g}",
        "measured": value,
        "verdict": at_least(value, wanted),
    }
