"""A layer that puts the vectors of the tokens on both sides of a gap together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Floats2d

from .units import Units

InT = tuple[Floats2d, Units]


def Pairs(nI: int | None = None) -> Model[InT, Floats2d]:  # noqa: N802, N803
    """The vectors before and behind each gap, with learned ones beyond the ends of units.

    With `attrs["gaps"]` false, tokens go through as they are.
    """
    return Model(
        "pairs", forward, init=init, dims={"nI": nI}, params={"edges": None}, attrs={"gaps": True}
    )


def forward(
    model: Model[InT, Floats2d], inputs: InT, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Lay rows side by side."""
    rows, units = inputs
    if not model.attrs["gaps"]:
        return rows, lambda gradient: gradient
    ops: Any = model.ops
    before, behind = (ops.asarray(side) for side in units.sides)
    width = model.get_dim("nI")
    padded = ops.xp.concatenate([rows, model.get_param("edges")])
    found = ops.xp.concatenate([padded[before], padded[behind]], axis=1)

    def backprop(gradient: Floats2d) -> Floats2d:
        summed = ops.alloc2f(*padded.shape)
        count = len(rows)
        # every token is before one gap and behind one
        for side, part in ((before, gradient[:, :width]), (behind, gradient[:, width:])):
            inner = side < count
            summed[side[inner]] += part[inner]
        edges = ops.alloc2f(2, width)
        edges[0] = gradient[before == count, :width].sum(axis=0)
        edges[1] = gradient[behind == count + 1, width:].sum(axis=0)
        model.inc_grad("edges", edges)
        found: Floats2d = summed[:count]
        return found

    return found, backprop


def init(model: Model[InT, Floats2d], X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """What lies beyond both ends is learned from nothing."""
    model.set_param("edges", model.ops.alloc2f(2, model.get_dim("nI")))
