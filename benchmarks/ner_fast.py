"""Hashed features on CoNLL-2003: F1, seconds of training, words a second, size of the model."""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import mean
from time import process_time
from typing import Any

import spacy
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from . import ROOT
from .ner_training import Run, at_hand, examples, made, tagged
from .table import Cell, Table

CONFIG = ROOT / "configs" / "ner_fast.cfg"
SEEDS, EPOCHS, SENTENCES = (0, 1, 2), 5, 8
QUICK_EPOCHS, QUICK_LIMIT = 2, 300
MEGABYTE = 1e6
FORMATS = {"dev F1": ".2f", "test F1": ".2f", "model MB": ".1f", "rows": ",d"}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "float16": {"model.tok2vec.store": "float16"},
    "bio": {"scheme": "bio"},
}


def run(quick: bool) -> Iterator[Table]:
    """All tables."""
    if not at_hand():
        yield Table("CoNLL-2003 is not at hand", [], ["Nothing was measured."])
        return
    limit, epochs = (QUICK_LIMIT, QUICK_EPOCHS) if quick else (0, EPOCHS)
    rows: list[dict[str, Cell]] = []
    for name, settings in SETTINGS.items():
        mine = [
            measured(train(settings, epochs, seed, limit), limit)
            for seed in (SEEDS[:1] if quick else SEEDS)
        ]
        found: dict[str, Cell] = {"setting": name}
        rows.append(found | {key: mean(float(row[key] or 0) for row in mine) for key in mine[0]})
    note = f"{epochs} epochs, {SENTENCES} sentences an update by nlp.update; process CPU time."
    yield Table("hashed features, means over the seeds", rows, [note], FORMATS)


def train(settings: dict[str, Any], epochs: int, seed: int, limit: int = 0) -> Run:
    """Train the component of `configs/ner_fast.cfg` from scratch."""
    fix_random_seed(seed)
    overrides = {f"components.iobes_ner.{key}": value for key, value in settings.items()}
    nlp = spacy.util.load_model_from_config(spacy.util.load_config(CONFIG, overrides=overrides))
    rows = made(nlp, examples("train", limit))
    optimizer, shuffle = Adam(0.01), random.Random(seed)
    begin = process_time()
    nlp.initialize(lambda: rows)
    for _ in range(epochs):
        shuffle.shuffle(rows)
        for batch in batches(rows):
            nlp.update(batch, sgd=optimizer)
    return Run(nlp, process_time() - begin, epochs * sum(len(row.predicted) for row in rows))


def batches(rows: list[Example]) -> Iterator[list[Example]]:
    """A few sentences at a time."""
    for start in range(0, len(rows), SENTENCES):
        yield rows[start : start + SENTENCES]


def measured(done: Run, limit: int) -> dict[str, Cell]:
    """F1 on dev and test, seconds of training, words tagged in a second, and sizes.

    Where weights are stored in half precision, they predict as they are stored.
    """
    stored = done.pipe.to_bytes()
    done.pipe.from_bytes(stored)
    dev, _ = tagged(done, "dev", limit)
    test, speed = tagged(done, "test", limit)
    return {
        "dev F1": 100 * (dev.value or 0.0),
        "test F1": 100 * (test.value or 0.0),
        "training s": done.seconds,
        "training words/s": done.words / done.seconds,
        "tagging words/s": speed,
        "model MB": len(stored) / MEGABYTE,
    }
