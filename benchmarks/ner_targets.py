"""What recognisers should reach, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator

from .ner_corpora import CONLL, CORPORA
from .ner_systems import CRFSUITE, OURS, SPACY, SYSTEMS, Ours
from .ner_tables import Results, our_settings
from .table import Cell, Table
from .targets import at_least, at_most, verdict

F1, KNOWING_F1 = 87.0, 89.0
PART, TAGGING, TRAINING = 0.1, 20.0, 10.0
Row = dict[str, Cell]


def targets(results: Results) -> Table:
    """What we want, what was measured, and whether it is met."""
    rows = [*accuracy(results), *beside_spacy(results), *beside_crfsuite(results)]
    notes = [
        "Settings but for ours are those with the best F1 on dev data; the table above has all."
    ]
    return Table("targets", rows, notes, {"measured": ".4g"})


def accuracy(results: Results) -> Iterator[Row]:
    """F1 on CoNLL-2003, without and with knowledge from outside."""
    for name, knowledge, wanted in (
        ("test F1 of the training data alone", False, F1),
        ("test F1 with clusters and lists", True, KNOWING_F1),
    ):
        setting = best(results, knowledge)
        value = results.mean(CONLL, setting, "test F1") if setting else None
        yield row(name, CONLL, setting, f">= {wanted:g}", value, at_least(value, wanted))


def best(results: Results, knowledge: bool) -> str:
    """The setting of ours with the best F1 on dev data, if any was measured."""
    found = {
        name: value
        for name in our_settings(results, CONLL)
        if (value := results.mean(CONLL, name, "dev F1")) is not None
        if knows(name) == knowledge
    }
    return max(found, key=lambda name: found[name], default="")


def compared(results: Results) -> list[str]:
    """The plain setting of ours, and those that have the best F1."""
    found = (OURS, best(results, False), best(results, True))
    return [name for name in dict.fromkeys(found) if name]


def knows(name: str) -> bool:
    """Whether a setting of ours knows more than the training data."""
    system = SYSTEMS[name]
    return isinstance(system, Ours) and system.knowledge


def beside_spacy(results: Results) -> Iterator[Row]:
    """Training and tagging."""
    for name in compared(results):
        value = ratio(results, CONLL, (name, "training s"), (SPACY, "best s"))
        what = f"training, part of the time that {SPACY} takes to its best"
        yield row(what, CONLL, name, f"<= {PART:g}", value, at_most(value, PART))
        for words in ("first", "cached"):
            key = f"{words} words/s"
            value = ratio(results, CONLL, (name, key), (SPACY, key))
            what = f"tagging ready Docs ({words}), x {SPACY}"
            yield row(what, CONLL, name, f">= {TAGGING:g}", value, at_least(value, TAGGING))


def beside_crfsuite(results: Results) -> Iterator[Row]:
    """F1 on every corpus, and training."""
    for name in CORPORA:
        pair = [results.mean(name, system, "test F1") for system in (OURS, CRFSUITE)]
        value = None if None in pair else (pair[0] or 0.0) - (pair[1] or 0.0)
        met = value is not None and value > 0
        yield row(f"test F1 above {CRFSUITE}", name, OURS, "> 0", value, verdict(value, met))
    for name in compared(results):
        for what, key in (("", "L-BFGS s"), (" with its features", "training s")):
            value = ratio(results, CONLL, (CRFSUITE, key), (name, "training s"))
            target = f"training, x the L-BFGS run of {CRFSUITE}{what}"
            yield row(target, CONLL, name, f">= {TRAINING:g}", value, at_least(value, TRAINING))


def ratio(
    results: Results, corpus: str, one: tuple[str, str], other: tuple[str, str]
) -> float | None:
    """One mean by another, if both were measured."""
    values = [results.mean(corpus, *which) for which in (one, other)]
    return values[0] / values[1] if values[0] is not None and values[1] else None


def row(
    target: str, corpus: str, setting: str, wanted: str, value: Cell, verdict: str
) -> dict[str, Cell]:
    """One row of the table."""
    return {
        "target": target,
        "on": corpus,
        "setting": setting or "-",
        "wanted": wanted,
        "measured": value,
        "verdict": verdict,
    }
