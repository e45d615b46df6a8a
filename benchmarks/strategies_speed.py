"""CRF rows of the comparison of tagging strategies, beside python-crfsuite on the same features."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import Any

from spacy_iobes.codes import get_scheme
from spacy_iobes.learners import Options
from spacy_iobes.strategies import (
    Codec,
    Material,
    Plan,
    Split,
    Store,
    material_of,
    own_split,
    random_splits,
    results,
)

from . import strategies_crfsuite as crfsuite
from .strategies_corpora import Source
from .table import Cell, Table

FEW_LABELS = 6
NOTES = [
    "CPU seconds of learning, tagging and scoring one split, one process; features are ready for",
    "both, and the same. crfsuite: L-BFGS, c1 and c2 as in the benchmark ner.",
]


def speed(source: Source, quick: bool, options: Options, keep: Path | None) -> Table:
    """Rows by both, or what is kept of them."""
    train, test = source.load(quick)
    material = material_of([*train, *test])
    (split,) = own_split(len(train), len(test)) if test else random_splits(len(train), 1)
    store = Store(keep, {"corpus": material.digest, "epochs": options.epochs})
    few = len(material.labels) <= FEW_LABELS and not quick
    rows = []
    for strategy in ("bio", "bie") if few else ("bio",):
        name = {"strategy": strategy}
        found = store.get(name)
        if found is None:
            found = measured(material, split, strategy, options)
            store.add(name, found)
        rows.append(shown(strategy, found))
    formats = dict.fromkeys(("ours F1", "crfsuite F1", "ratio"), ".1f")
    return Table(f"a CRF row beside python-crfsuite: {source.title}", rows, NOTES, formats)


def measured(
    material: Material, split: Split, strategy: str, options: Options
) -> dict[str, dict[str, float]]:
    """Seconds and F1 of the package and of crfsuite on one split."""
    plan = Plan((strategy,), ("crf",), ("constrained",), options=options)
    begin = process_time()
    ((_, ours),) = results(material, split, 0, "crf", plan)
    seconds = process_time() - begin
    right, predicted, gold = (sum(row[i] for row in ours["exact"].values()) for i in range(3))
    train, test = (material.part(units) for units in split)
    names = [crfsuite.attributes(part) for part in (train, test)]
    theirs = crfsuite.measure(Codec(get_scheme(strategy), material.labels), train, test, names)
    return {
        "ours": {"seconds": seconds, "f1": 2 * right / (predicted + gold)},
        "crfsuite": {"seconds": theirs.seconds, "f1": theirs.f1},
    }


def shown(strategy: str, found: Mapping[str, Any]) -> dict[str, Cell]:
    """A row of the table."""
    row: dict[str, Cell] = {"strategy": strategy}
    for side in ("ours", "crfsuite"):
        row[f"{side} s"] = found[side]["seconds"]
        row[f"{side} F1"] = 100 * found[side]["f1"]
    ratio = found["crfsuite"]["seconds"] / found["ours"]["seconds"]
    return {**row, "ratio": ratio}
