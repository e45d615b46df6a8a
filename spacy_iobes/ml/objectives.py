"""What a chain model learns from: the loss of what is known, and its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..chain import Batch, Gradient, loss
from ..codes.known import Known
from ..errors import UnknownNameError
from .chain_scores import ChainScores
from .tag_chain import TagChain

ObjectiveName = Literal["crf", "softmax"]
Limit = Callable[[Batch], Batch]
Objective = Callable[[TagChain, ChainScores, Sequence[Known], Limit], tuple[float, Gradient]]


def crf(
    tags: TagChain, scores: ChainScores, gold: Sequence[Known], limit: Limit
) -> tuple[float, Gradient]:
    """The negative log-likelihood of what is known: all paths against those that agree with it.

    `limit` leaves out the paths that decoding does not consider either.
    """
    chain, batch = tags.chain(scores), limit(tags.batch(scores))
    spans = [known.spans for known in gold]
    path = tags.path(spans, scores.lengths)  # refuses what the scheme has no tags for
    if any(known.missing for known in gold):
        outside = np.flatnonzero(~(spanned(batch, gold) | missing(batch, gold)))
        losses, gradient = loss(chain, batch, tags.known(batch, spans, outside))
    else:
        losses, gradient = loss(chain, batch, path)
    return float(losses.sum()), gradient


def softmax(
    tags: TagChain, scores: ChainScores, gold: Sequence[Known], limit: Limit
) -> tuple[float, Gradient]:
    """The cross-entropy of each token's tag for itself; only decoding knows what is legal."""
    batch = tags.batch(scores)
    path = tags.path([known.spans for known in gold], scores.lengths)
    shifted = batch.scores - batch.scores.max(axis=1, keepdims=True, initial=-np.inf)
    total = np.exp(shifted).sum(axis=1, keepdims=True)
    tokens, known = np.arange(len(path)), ~missing(batch, gold)
    losses = np.log(total[:, 0]) - shifted[tokens, path]
    gradient = np.exp(shifted) / total
    gradient[tokens, path] -= 1
    gradient[~known] = 0
    states = len(tags)
    none = np.zeros(states)
    return float(losses[known].sum()), Gradient(gradient, none, np.zeros((states, states)), none)


def missing(batch: Batch, gold: Sequence[Known]) -> NDArray[np.bool_]:
    """Which tokens nothing is known of, counted through all Docs."""
    found = np.zeros(len(batch.scores), dtype=bool)
    for start, known in zip(batch.offsets.tolist(), gold):
        found[start + np.asarray(known.missing, dtype=np.int64)] = True
    return found


def spanned(batch: Batch, gold: Sequence[Known]) -> NDArray[np.bool_]:
    """Which tokens are in a span, counted through all Docs."""
    found = np.zeros(len(batch.scores), dtype=bool)
    for offset, known in zip(batch.offsets.tolist(), gold):
        for start, end, _ in known.spans:
            found[offset + start : offset + end] = True
    return found


OBJECTIVES: dict[str, Objective] = {"crf": crf, "softmax": softmax}


def get_objective(name: str) -> Objective:
    """The objective of a name."""
    if name not in OBJECTIVES:
        listed = ", ".join(OBJECTIVES)
        raise UnknownNameError(f"Unknown objective {name!r}. Known: {listed}.", name, OBJECTIVES)
    return OBJECTIVES[name]
