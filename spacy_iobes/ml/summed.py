"""A layer that adds up what two encoders give for the tokens of Docs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

Encoder = Model[list[Doc], list[Floats2d]]


def Sum(first: Encoder, second: Encoder) -> Encoder:  # noqa: N802
    """The sums of the rows of two encoders, token by token; both have the same width."""
    return Model("sum", forward, init=init, dims={"nO": None}, layers=[first, second])


def forward(
    model: Encoder, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """Add up the rows; the gradient goes to both."""
    (one, back_one), (other, back_other) = (layer(docs, is_train) for layer in model.layers)

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        back_other(d_rows)
        found: list[Doc] = back_one(d_rows)
        return found

    return [a + b for a, b in zip(one, other)], backprop


def init(model: Encoder, X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """Initialise both."""
    for layer in model.layers:
        layer.initialize(X=X, Y=Y)
