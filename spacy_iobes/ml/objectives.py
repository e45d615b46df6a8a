"""What a chain model learns from: the loss of what is known, and its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Scores
from ..chain import Batch, Gradient, apart, loss, marginals
from ..codes.known import KnownSentence, columns_known
from ..errors import UnknownNameError
from .chain_scores import ChainScores
from .tag_chain import TagChain

ObjectiveName = Literal["crf", "softmax"]
Limit = Callable[[Batch], Batch]
Gold = Sequence[KnownSentence]
Objective = Callable[[TagChain, ChainScores, Gold, Limit], tuple[float, Gradient]]


def crf(tags: TagChain, scores: ChainScores, gold: Gold, limit: Limit) -> tuple[float, Gradient]:
    """The negative log-likelihood of what is known: all paths against those that agree with it.

    `limit` leaves out the paths that decoding does not consider either.
    """
    chain, batch = tags.chain(scores), limit(tags.batch(scores))
    gold = columns_known(gold, scores.lengths)
    path = path_of(tags, scores, gold)
    if gold.partial:
        losses, gradient = loss(chain, batch, agreeing(tags, batch, gold))
    else:
        losses, gradient = loss(chain, batch if scores.learned else apart(chain, batch), path)
    return float(losses.sum()), tags.folded(gradient)


def softmax(
    tags: TagChain, scores: ChainScores, gold: Gold, limit: Limit
) -> tuple[float, Gradient]:
    """The cross-entropy of each token for itself; only decoding knows what is legal.

    Of a known token it is that of the tags it may have. With all of its neighbours known there is
    one; beside a missing one there may be more, as in `iob1`, where a span begins with `B` only if
    another one of its label ends there. Missing tokens cost nothing. Where a scheme has several
    choices, each is one for itself.
    """
    heard = tags.heard(scores)
    path = path_of(tags, scores, gold)
    unknown = missing(heard, gold)
    if unknown.any():
        states = possible(tags, limit(tags.spread(heard)), gold)
        states[unknown] = True
        right = states if tags.classes.choices == 1 else states @ (tags.members > 0)
    else:
        right = np.zeros(heard.scores.shape, dtype=bool)
        np.put_along_axis(right, tags.of_state[path].astype(np.int64), True, axis=1)
    loss, gradient = 0.0, np.empty_like(heard.scores)
    for some in tags.choices:
        total, every = distribution(heard.scores[:, some], np.ones_like(right[:, some]))
        known, wanted = distribution(heard.scores[:, some], right[:, some])
        gradient[:, some] = every - wanted
        loss += float(np.maximum(total - known, 0).sum(dtype=np.float64))
    none = np.zeros(len(tags))
    return loss, Gradient(gradient, none, np.zeros((len(tags), len(tags))), none)


def distribution(scores: Scores, allowed: NDArray[np.bool_]) -> tuple[Scores, Scores]:
    """The logarithm of the summed exponentials of what is allowed, `[N]`, and the shares `[N, K]`.

    Something must be allowed in every row.
    """
    chosen = np.where(allowed, scores, scores.dtype.type(-np.inf))
    top = chosen.max(axis=1, keepdims=True)
    weights = np.exp(chosen - top)
    total = weights.sum(axis=1, keepdims=True)
    return (np.log(total) + top)[:, 0], weights / total


def possible(tags: TagChain, batch: Batch, gold: Gold) -> NDArray[np.bool_]:
    """The tags that each token has in some legal sequence that agrees with what is known."""
    even = replace(batch, scores=np.where(batch.scores > -np.inf, 0.0, -np.inf))
    found: NDArray[np.bool_] = marginals(tags.even, agreeing(tags, even, gold)) > 0
    return found


def path_of(tags: TagChain, scores: ChainScores, gold: Gold) -> NDArray[np.int32]:
    """The path with the spans that are known; refuses those that the scheme has no tags for."""
    return tags.path(columns_known(gold, scores.lengths).spans, scores.lengths)


def agreeing(tags: TagChain, batch: Batch, gold: Gold) -> Batch:
    """The batch limited to the paths that agree with what is known."""
    outside = np.flatnonzero(~(spanned(batch, gold) | missing(batch, gold)))
    return tags.known(batch, [known.spans for known in gold], outside)


def missing(batch: Batch, gold: Gold) -> NDArray[np.bool_]:
    """Which tokens nothing is known of, counted through all Docs."""
    found = np.zeros(len(batch.scores), dtype=bool)
    for start, known in zip(batch.offsets.tolist(), gold):
        found[start + np.asarray(known.missing, dtype=np.int64)] = True
    return found


def spanned(batch: Batch, gold: Gold) -> NDArray[np.bool_]:
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
