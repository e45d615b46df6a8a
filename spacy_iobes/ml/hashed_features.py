"""The encoder `spacy-iobes.HashedFeatures.v1`: a score for every state from sparse features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .extractor import Extractor
from .feature_table import FeatureTable, Stored
from .tag_chain import to_numpy
from .templates import TEMPLATES

Emitter = Model[list[Doc], list[Floats2d]]


def build_hashed_features(
    templates: Sequence[str] | None = None,
    rows: int = 2**20,
    rate: float = 0.15,
    l2: float = 0.0,
    dropout: float = 0.3,
    store: Stored = "float32",
) -> Emitter:
    """Give every feature of a token a weight for every state, and add them up.

    `templates` say what the features are (by default `TEMPLATES`); they are hashed to `rows`, a
    power of two. The weights learn by AdaGrad at a `rate` of their own, with weight decay `l2`; in
    training every feature is left out with the probability `dropout`. `store` says how exactly
    the weights are stored.
    """
    bits = rows.bit_length() - 1
    if not 2 <= rows <= 2**30 or rows != 1 << bits:
        raise ValueError(f"rows is a power of two from 2 to 2 ** 30, not {rows}.")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout is a probability below 1, not {dropout}.")
    table = FeatureTable(bits, rate=rate, l2=l2, dropout=dropout, store=store)
    extractor = Extractor(TEMPLATES if templates is None else templates, bits)
    attrs = {"extractor": extractor, "set_states": set_states}
    return Model(
        "hashed_features", forward, init=init, dims={"nO": None}, attrs=attrs, shims=[table]
    )


def forward(
    model: Emitter, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """Find the features of all tokens, and add up their weights."""
    table: Any = model.shims[0]
    offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
    features = model.attrs["extractor"](docs, offsets)
    if is_train:
        scores, learn = table.begin_update(features)
    else:
        scores = table.predict(features)

    def backprop(d_scores: list[Floats2d]) -> list[Doc]:
        learn(to_numpy(model.ops.flatten(d_scores)))
        return []

    rows = model.ops.asarray2f(scores)
    return [rows[start:end] for start, end in pairwise(offsets.tolist())], backprop


def init(model: Emitter, X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """No feature is known yet."""
    table: Any = model.shims[0]
    table.reset(model.get_dim("nO"))


def set_states(model: Emitter, states: int) -> None:
    """Fit the columns of the weights to the states; those that are there keep their weights."""
    table: Any = model.shims[0]
    model.set_dim("nO", states, force=True)
    table.set_states(states)
