"""Recognisers beside spaCy's `ner` on CoNLL-2003: F1, speed, calibration, partial annotation."""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import mean

import numpy as np
from spacy.tokens import Doc

from .corpora import PLACE
from .ner_training import Run, at_hand, examples, tagged, train, use_numpy
from .table import Cell, Table

SEEDS, STEPS = (0, 1, 2), 3000
PARTIAL_STEPS = 1500
QUICK_STEPS, QUICK_LIMIT = 30, 300
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0)
FORMATS = {"dev F1": ".2f", "test F1": ".2f", "spans": ",d"}
Rows = list[dict[str, Cell]]


def run(quick: bool) -> Iterator[Table]:
    """All tables."""
    if not at_hand():
        yield Table(
            "CoNLL-2003 is not at hand",
            [],
            [f"Nothing was measured. {PLACE}"],
        )
        return
    use_numpy()
    limit = QUICK_LIMIT if quick else 0
    seeds, steps = (SEEDS[:1], QUICK_STEPS) if quick else (SEEDS, STEPS)
    rows: Rows = []
    runs: dict[str, list[Run]] = {}
    for seed in seeds:
        for system in ("spaCy ner", "iobes_ner, crf", "iobes_ner, softmax"):
            done = train(system, examples("train", limit), steps, seed)
            runs.setdefault(system, []).append(done)
            rows.append(measured(system, seed, done, limit))
    note = f"{steps} steps of the same batches and the same tok2vec; numpy multiplies matrices."
    yield Table("CNN, each run", rows, [note], FORMATS)
    yield Table("CNN, means over the seeds", means(rows), [], FORMATS)
    yield calibration(runs["iobes_ner, crf"][0], limit)
    yield partial(limit, QUICK_STEPS if quick else PARTIAL_STEPS)


def measured(system: str, seed: int, done: Run, limit: int) -> dict[str, Cell]:
    """One run: F1 on dev and test, and its speeds."""
    dev, _ = tagged(done, "dev", limit)
    test, speed = tagged(done, "test", limit)
    return {
        "system": system,
        "seed": str(seed),
        "dev F1": 100 * (dev.value or 0.0),
        "test F1": 100 * (test.value or 0.0),
        "training words/s": done.words / done.seconds,
        "training s": done.seconds,
        "tagging words/s": speed,
    }


def means(rows: Rows) -> Rows:
    """The means over the seeds, and how many times as fast as spaCy's `ner` each is."""
    names = list(dict.fromkeys(str(row["system"]) for row in rows))
    keys = ("dev F1", "test F1", "training words/s", "tagging words/s")
    found: Rows = []
    for name in names:
        mine = [row for row in rows if row["system"] == name]
        found.append({"system": name} | {k: mean(float(r[k] or 0) for r in mine) for k in keys})
    for row in found:
        for key in ("training", "tagging"):
            speeds = [float(r[f"{key} words/s"] or 0) for r in (row, found[0])]
            row[f"{key} x"] = speeds[0] / speeds[1]
    return found


def calibration(done: Run, limit: int) -> Table:
    """How often entities of about the same probability are right, on dev data."""
    rows = examples("dev", limit)
    done.pipe.scores = True
    docs = done.nlp.pipe([Doc(done.nlp.vocab, words=words) for words, _ in rows], batch_size=256)
    probability, right = [], []
    for doc, (words, tags) in zip(docs, rows):
        gold = {(e.start, e.end, e.label_) for e in Doc(doc.vocab, words=words, ents=tags).ents}
        group = doc.spans[done.pipe.spans_key]
        probability += list(group.attrs["scores"])
        right += [(span.start, span.end, span.label_) in gold for span in group]
    done.pipe.scores = False
    p, correct = np.array(probability), np.array(right, dtype=float)
    bins = np.clip(np.digitize(p, EDGES) - 1, 0, len(EDGES) - 2)
    table: Rows = []
    for number in range(len(EDGES) - 1):
        mine = bins == number
        if mine.any():
            row: dict[str, Cell] = {"probability": f"{EDGES[number]:g} to {EDGES[number + 1]:g}"}
            row |= {"spans": int(mine.sum()), "mean probability": float(p[mine].mean())}
            table.append(row | {"right": float(correct[mine].mean())})
    gaps = [abs(float(r["mean probability"] or 0) - float(r["right"] or 0)) for r in table]
    sizes = [int(row["spans"] or 0) for row in table]
    error = float(np.average(gaps, weights=sizes)) if table else 0.0
    notes = [f"Expected calibration error {error:.3f}, iobes_ner (crf), seed 0, dev data."]
    return Table("calibration of span probabilities", table, notes, FORMATS)


def partial(limit: int, steps: int) -> Table:
    """Half of the entities lose their annotation: missing tokens, or taken for `O`."""
    full = examples("train", limit)
    rows: Rows = []
    for name, mark in (("all annotated", None), ("half missing", ""), ("half taken for O", "O")):
        lost = full if mark is None else dropped(full, mark)
        done = train("iobes_ner, crf", lost, steps, 0)
        report, _ = tagged(done, "dev", limit)
        precision, recall, f1 = (100 * (figure or 0.0) for figure in report.micro)
        rows.append({"training data": name, "precision": precision, "recall": recall, "dev F1": f1})
    notes = [
        f"iobes_ner (crf), {steps} steps, seed 0; all tokens that are not in an entity stay O."
    ]
    return Table("partial annotation", rows, notes, FORMATS | {"precision": ".2f", "recall": ".2f"})


def dropped(
    rows: list[tuple[list[str], list[str]]], mark: str, seed: int = 0
) -> list[tuple[list[str], list[str]]]:
    """Every other entity, by chance, with `mark` for its tags."""
    chance = random.Random(seed)
    found = []
    for words, tags in rows:
        new, lose = [], False
        for tag in tags:
            if tag.startswith("B-"):
                lose = chance.random() < 0.5
            new.append(mark if lose and tag != "O" else tag)
        found.append((words, new))
    return found
