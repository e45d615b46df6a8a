"""A layer that holds the scores of what follows what, for all chains of a nested recogniser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import FloatsXd


def GapSteps(shape: tuple[int, ...] | None = None) -> Model[None, FloatsXd]:  # noqa: N802
    """Scores of a shape, which are 0 at first; without a shape there are none."""
    model: Model[None, FloatsXd] = Model("gap_steps", forward, params={"steps": None})
    scores: Any = model.ops.alloc(shape or (0,))
    model.set_param("steps", scores)
    return model


def forward(
    model: Model[None, FloatsXd], inputs: None, is_train: bool
) -> tuple[FloatsXd, Callable[[Any], None]]:
    """The scores as they are."""
    steps: Any = model.get_param("steps")

    def backprop(gradient: Any) -> None:
        if steps.size:
            d_steps: Any = model.ops.asarray(gradient, dtype="f")
            model.inc_grad("steps", d_steps)

    return steps, backprop


def resized(model: Model[None, FloatsXd], shape: tuple[int, ...] | None) -> Model[None, FloatsXd]:
    """A layer for more labels: those that are there keep their scores."""
    larger = GapSteps(shape)
    old: Any = model.get_param("steps")
    new: Any = larger.get_param("steps")
    if old.size and new.size:
        new[tuple(slice(min(sizes)) for sizes in zip(old.shape, new.shape))] = old
        larger.set_param("steps", new)
    return larger
