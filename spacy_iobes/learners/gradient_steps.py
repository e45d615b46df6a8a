"""The steps that a table of features learns by, whatever its scores mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Offsets, Singles
from ..ml.feature_table import FeatureTable
from .batches import Epoch
from .options import Options


class Step(NamedTuple):
    """Some units: what they score, what is true of them, and what takes the gradient."""

    scores: Singles
    gold: Any
    offsets: Offsets
    learn: Callable[[Singles], None]


def table_of(options: Options, random: np.random.Generator) -> FeatureTable:
    """A table that has learned nothing yet."""
    table = FeatureTable(
        options.bits,
        rate=options.rate,
        damping=options.damping,
        dropout=options.dropout,
        store="float32",
    )
    table.drawn = int(random.integers(1 << 31)) << 32
    return table


def steps_over(
    table: FeatureTable,
    options: Options,
    random: np.random.Generator,
    rows: Ints,
    offsets: Offsets,
    gold: Any,
) -> Iterator[Step]:
    """Go through units of rows in an order drawn anew for each epoch, step by step.

    `rows[N, F]` are features, and are taken; `gold[N, ...]` is what is true of each.
    """
    table.place(rows)
    for _ in range(options.epochs):
        epoch = Epoch.of(offsets, options.words, random)
        mine, true = rows[epoch.tokens], gold[epoch.tokens]
        scale = table.leave_out(mine)
        for at, inner in epoch:
            scores, learn = table.begin_rows(mine[at], scale)
            yield Step(scores, true[at], inner, learn)
            table.finish_update(None)
