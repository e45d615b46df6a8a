"""Tables of what was measured: systems on a corpus, learning curves, what training costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from .ner_corpora import CONLL, CORPORA, HELD_OUT
from .ner_measure import Task
from .ner_systems import CAP, FREE_CAP, OURS, SYSTEMS, Crfsuite, Ours
from .table import Cell, Table

CURVE = "curve"  # the name of the learning curves, beside the names of corpora
CURVE_TITLE = "learning curves, CoNLL-2003"
LEGEND = [
    "F1 of entities in percent, exact match, scored by this package: means over the seeds; spread:",
    "of test F1, from worst to best. Gold is read by the policy begin. crfsuite may write illegal",
    "IOBES, which is read by begin, too. Nothing in it is up to chance, so it has one seed.",
    "Seconds are process CPU time, one thread, every measurement in a process of its own; numpy",
    "multiplies matrices. Training is a whole run of spacy train (but for the start of Python): it",
    "reads .spacy files, evaluates, stores, and stops as its config says. spaCy ner: the config of",
    f"spacy init config, at most {CAP} s ({FREE_CAP:,} on CoNLL-2003). crfsuite: features, then",
    f"{Crfsuite().iterations} iterations of L-BFGS. to best: until the model is stored that is the",
    "best on dev data, whose F1, speeds and size these are. words/s, on test data; first: a model",
    "just loaded meets ready Docs (crfsuite: lists of words); cached: it meets their words again;",
    "text: sentences as str, cut by the tokenizer of the language (crfsuite: at spaces).",
    "memory: the peak of the process until training ends.",
    f"JNLPBA has no dev data: the last of {HELD_OUT} parts of its training documents is held out.",
]
QUICK = "A quick run: a few sentences and a few steps. F1 and ratios mean nothing."
FORMATS = {
    "dev F1": ".2f",
    "test F1": ".2f",
    "spread": ".2f",
    "training s": ",.1f",
    "to best s": ",.1f",
    "model MB": ".1f",
    "memory MB": ",.0f",
    "share": ".0%",
    "us/word": ".2f",
}
COLUMNS = {
    "training s": "training s",
    "to best s": "best s",
    "first words/s": "first words/s",
    "cached words/s": "cached words/s",
    "text words/s": "text words/s",
    "model MB": "model MB",
    "memory MB": "memory MB",
}
"""The columns of a table, and the figures that they are the means of."""
Place = tuple[str, str, float]
"""Corpus, system and share."""


@dataclass
class Results:
    """The figures of every seed, by corpus, system and share of the training data."""

    figures: dict[Place, dict[int, dict[str, Any]]] = field(default_factory=dict)

    def add(self, task: Task, found: dict[str, Any] | None) -> None:
        """Take over a measurement; None is one that was not made."""
        seeds = self.figures.setdefault((task.corpus, task.name, task.share), {})
        if found is not None:
            seeds[task.seed] = found

    def each(self, corpus: str, system: str, name: str, share: float = 1.0) -> list[float]:
        """One figure of every seed that was measured."""
        rows = self.figures.get((corpus, system, share), {}).values()
        return [float(row[name]) for row in rows if row.get(name) is not None]

    def mean(self, corpus: str, system: str, name: str, share: float = 1.0) -> float | None:
        """The mean over the seeds, if any was measured."""
        values = self.each(corpus, system, name, share)
        return mean(values) if values else None

    def systems(self, corpus: str) -> list[str]:
        """The systems that were to be measured on all of a corpus."""
        return [name for where, name, share in self.figures if (where, share) == (corpus, 1.0)]

    def capped(self, corpus: str, system: str) -> int:
        """How many seeds were ended before they were done."""
        return int(sum(self.each(corpus, system, "capped")))


def corpus(results: Results, name: str) -> Table:
    """All systems on one corpus."""
    rows = [row(results, name, system) for system in results.systems(name)]
    title = CORPORA[name].title
    for system in results.systems(name):
        words, labels = (results.mean(name, system, k) for k in ("training words", "labels"))
        if words and labels:
            title = f"{CORPORA[name].title}: {words:,.0f} words to train on, {labels:.0f} labels"
    notes = [
        f"{system}: {count} of {len(results.each(name, system, 'capped'))} were ended by the clock."
        for system in results.systems(name)
        if (count := results.capped(name, system))
    ]
    return Table(title, rows, notes, FORMATS)


def row(results: Results, name: str, system: str) -> dict[str, Cell]:
    """One system on one corpus."""
    f1 = results.each(name, system, "test F1")
    found: dict[str, Cell] = {
        "system": system,
        "seeds": len(f1),
        "dev F1": results.mean(name, system, "dev F1"),
        "test F1": results.mean(name, system, "test F1"),
        "spread": max(f1) - min(f1) if len(f1) > 1 else None,
    }
    return found | {key: results.mean(name, system, value) for key, value in COLUMNS.items()}


def curve(results: Results, shares: Sequence[float]) -> Table:
    """Test F1 and seconds of training by the share of CoNLL-2003 that systems learn from."""
    rows: list[dict[str, Cell]] = []
    systems = list(points(results, shares))
    for share in shares:
        found: dict[str, Cell] = {"share": share}
        for system in systems:
            found[f"{system} F1"] = results.mean(CONLL, system, "test F1", share)
            found[f"{system} s"] = results.mean(CONLL, system, "training s", share)
        rows.append(found)
    notes = ["Documents by chance, others with every seed; all of dev and test data."]
    formats = {f"{system} F1": ".2f" for system in systems}
    formats |= {f"{system} s": ",.1f" for system in systems}
    return Table(CURVE_TITLE, rows, notes, FORMATS | formats)


def points(results: Results, shares: Sequence[float]) -> dict[str, dict[float, list[float]]]:
    """Test F1 of every seed, by system and share; of systems that have a curve."""
    names = [
        system for where, system, share in results.figures if (where, share) == (CONLL, shares[0])
    ]
    return {
        name: {share: results.each(CONLL, name, "test F1", share) for share in shares}
        for name in names
    }


def costs(results: Results) -> Table:
    """What training costs a word as there are more words and more labels, in our default."""
    rows = sorted(cost_rows(results), key=lambda row: (row["labels"], row["training words"]))
    notes = ["us/word: CPU time of training by the words that it saw in all epochs."]
    return Table(f"what words and labels cost, {OURS}", rows, notes, FORMATS)


def cost_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Each corpus and share."""
    for name, system, share in results.figures:
        values = [results.mean(name, system, key, share) for key in ("training s", "words seen")]
        if system == OURS and None not in values:
            yield {
                "corpus": name,
                "share": share,
                **{
                    key: round(results.mean(name, system, key, share) or 0)
                    for key in ("labels", "training words", "words seen")
                },
                "us/word": 1e6 * (values[0] or 0) / (values[1] or 1),
                "cached words/s": results.mean(name, system, "cached words/s", share),
                "memory MB": results.mean(name, system, "memory MB", share),
            }


def our_settings(results: Results, corpus: str) -> list[str]:
    """Those rows of a corpus that are ours."""
    return [name for name in results.systems(corpus) if isinstance(SYSTEMS[name], Ours)]
