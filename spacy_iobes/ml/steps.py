"""A layer that holds the scores of the steps of a chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Floats2d

from .chain_scores import ChainScores

InT = list[Floats2d]
NAMES = ("start", "step", "stop")


def Steps(nO: int | None = None, *, learned: bool = True) -> Model[InT, ChainScores]:  # noqa: N802, N803
    """Add the scores of start, step and stop, which are 0 at first and stay so unless `learned`."""
    return Model(
        "chain_steps",
        forward,
        init=init,
        dims={"nO": nO},
        params=dict.fromkeys(NAMES),
        attrs={"learned": learned},
    )


def forward(
    model: Model[InT, ChainScores], emissions: InT, is_train: bool
) -> tuple[ChainScores, Callable[[ChainScores], InT]]:
    """Lay the emissions end to end."""
    lengths = [len(rows) for rows in emissions]
    flat = model.ops.flatten(emissions) if emissions else model.ops.alloc2f(0, model.get_dim("nO"))
    start, step, stop = (model.get_param(name) for name in NAMES)

    def backprop(d_scores: ChainScores) -> InT:
        if model.attrs["learned"]:
            for name in NAMES:
                gradient: Any = model.ops.asarray(getattr(d_scores, name), dtype="f")
                model.inc_grad(name, gradient)
        flat = model.ops.asarray2f(d_scores.emissions)
        return list(model.ops.unflatten(flat, model.ops.asarray1i(lengths)))

    return ChainScores(flat, lengths, start, step, stop, model.attrs["learned"]), backprop


def init(model: Model[InT, ChainScores], X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """No step is preferred to another."""
    states = model.get_dim("nO")
    for name in NAMES:
        shape = (states, states) if name == "step" else (states,)
        model.set_param(name, model.ops.alloc(shape))


def resized(model: Model[InT, ChainScores], states: int) -> Model[InT, ChainScores]:
    """A layer for more states: those that are there keep their scores."""
    larger = Steps(states, learned=model.attrs["learned"])
    larger.initialize()
    for name in NAMES:
        old = model.get_param(name)
        new: Any = larger.get_param(name)
        new[tuple(slice(size) for size in old.shape)] = old
        larger.set_param(name, new)
    return larger
