"""The encoder `spacy-iobes.EmbeddedFeatures.v1`: vectors of tokens from features of templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import (
    HashEmbed,
    Maxout,
    Model,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.types import Floats2d, Ints2d

from .extractor import Extractor

BITS = 30  # features are told apart by so many
SEED = 8  # of the first table; the others have the numbers behind it
Embedded = Model[list[Doc], list[Floats2d]]
Found = Model[list[Doc], list[Ints2d]]
Rows = Model[Floats2d, Floats2d]


def build_embedded_features(
    width: int,
    templates: Sequence[str],
    rows: Sequence[int],
    size: int = 64,
    pieces: int = 3,
    dropout: float = 0.0,
) -> Embedded:
    """Give every feature of a token a vector, and mix them into one of a `width`.

    `templates` say what the features are, as those of `spacy-iobes.HashedFeatures.v1` do. Each has
    a table of its own, of so many `rows`, to which features are hashed, and vectors of a `size`. A
    layer with so many `pieces` mixes the vectors of a token. In training every feature is left out
    with the probability `dropout`.
    """
    if isinstance(templates, str):
        raise ValueError(f"templates are a list of them, such as ['lower'], not {templates!r}.")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout is a probability below 1, not {dropout}.")
    extractor = Extractor(templates, BITS)
    count = len(extractor.templates.names)
    if count != len(rows):
        raise ValueError(
            f"Every template has a table, but there are {count} different templates and "
            f"{len(rows)} numbers of rows."
        )
    found: Found = Model("found_features", forward, shims=[extractor])
    tables: list[Model[Any, Any]] = [
        HashEmbed(size, most, column=column, seed=SEED + column) for column, most in enumerate(rows)
    ]
    mixed = Maxout(width, size * count, nP=pieces, dropout=0.0, normalize=True)
    vectors: Any = chain(concatenate(*tables), LeftOut(count, dropout), mixed)
    model: Embedded = chain(found, list2ragged(), with_array(vectors), ragged2list())
    return model


def forward(
    model: Found, docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[Any], list[Doc]]]:
    """The features of all tokens, Doc by Doc, as numbers; all that are missing have the same."""
    (extractor,) = model.shims
    assert isinstance(extractor, Extractor)
    offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
    features: Any = extractor(docs, offsets).astype(np.uint64)
    rows: Any = model.ops.asarray(features)
    return [rows[start:end] for start, end in pairwise(offsets.tolist())], lambda gradient: []


def LeftOut(count: int, dropout: float) -> Rows:  # noqa: N802
    """Rows of so many parts; in training each part is 0 with a probability, and others larger."""
    return Model("left_out", leave_out, attrs={"count": count, "dropout": dropout})


def leave_out(
    model: Rows, rows: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Leave parts of rows out."""
    count, dropout = model.attrs["count"], model.attrs["dropout"]
    if not (is_train and dropout):
        return rows, lambda gradient: gradient
    kept = model.ops.get_dropout_mask((len(rows), count), dropout)
    mask: Any = model.ops.xp.repeat(kept, rows.shape[1] // count, axis=1)
    return rows * mask, lambda gradient: gradient * mask
