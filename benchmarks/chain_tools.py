"""How tools find the best path, and the loss with its gradient."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from spacy_iobes import chain as ours

from .chain_problems import Problem
from .tools import Tool, Tools

JOBS = ("best path", "loss and gradient")
ILLEGAL = -30.0  # stands for minus infinity where there is none; lower is no better and slower
CLOSE = 1e-3


class Close:
    """Numbers that are equal to others up to the rounding of single precision."""

    def __init__(self, *arrays: Any):
        self.arrays = [np.asarray(array, dtype=np.float64) for array in arrays]

    def __eq__(self, other: object) -> bool:
        pairs = zip(self.arrays, other.arrays) if isinstance(other, Close) else [(0.0, 1.0)]
        return all(np.allclose(one, another, CLOSE, CLOSE) for one, another in pairs)

    __hash__ = None  # type: ignore[assignment]


def our_tools() -> Tools:
    """What this package does, from arrays to arrays."""
    return {
        "best path": [Tool("ours", our_best, lambda states: states.tolist())],
        "loss and gradient": [Tool("ours", our_loss, lambda found: Close(*found))],
    }


def our_best(problem: Problem) -> Any:
    """The best path of every sequence."""
    return ours.best(problem.chain, problem.batch).states


def our_loss(problem: Problem) -> Any:
    """The summed loss, and its gradient for scores and steps."""
    losses, gradient = ours.loss(problem.chain, problem.batch, problem.gold)
    return losses.sum(), gradient.scores, gradient.step


def pytorch_crf() -> Tools:
    """The peer, on one thread; what is illegal has a very low score there."""
    torch, torchcrf = import_module("torch"), import_module("torchcrf")
    torch.set_num_threads(1)

    def prepare(problem: Problem) -> Any:
        crf = torchcrf.CRF(len(problem.start), batch_first=True)
        own = (crf.start_transitions, crf.transitions, crf.end_transitions)
        for parameter, values in zip(own, (problem.start, problem.step, problem.stop)):
            with torch.no_grad():
                parameter.copy_(torch.tensor(np.maximum(values, ILLEGAL)))
        scores, gold, mask = (torch.tensor(array) for array in problem.padded)
        return crf, scores.requires_grad_(), gold, mask

    def best(prepared: Any) -> Any:
        crf, scores, _, mask = prepared
        with torch.no_grad():
            return crf.decode(scores, mask)

    def loss(prepared: Any) -> Any:
        crf, scores, gold, mask = prepared
        scores.grad = None
        crf.zero_grad()
        value = -crf(scores, gold, mask, reduction="sum")
        value.backward()
        return value.detach(), scores.grad[mask], crf.transitions.grad

    return {
        "best path": [peer(best, lambda paths: [s for path in paths for s in path], prepare)],
        "loss and gradient": [peer(loss, lambda found: Close(*found), prepare)],
    }


def peer(
    run: Callable[[Any], Any], compared: Callable[[Any], object], prepare: Callable[[Any], Any]
) -> Tool:
    """A tool of the peer."""
    return Tool("pytorch-crf", run, compared, prepare, peer="pytorch-crf")


SOURCES: dict[str, Callable[[], Tools]] = {"ours": our_tools, "pytorch-crf and torch": pytorch_crf}
"""Where tools come from; those of packages that are not installed are left out."""
