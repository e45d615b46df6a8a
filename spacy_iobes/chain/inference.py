"""Questions to a chain about the sequences of a batch: sums over paths, and the best of them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .. import kernels
from ..arrays import Floats, Ints, Scores, whole_numbers
from ..errors import ChainError, NoPathError
from ..kernels.chain_numpy import count as count_paths
from .model import Batch, Chain


class Best(NamedTuple):
    """The best path of every sequence: `states[N]` and its score `score[S]`."""

    states: Ints
    score: Floats


class NBest(NamedTuple):
    """The best paths, best first: `states[n, N]` and `log_probability[n, S]`.

    Where a sequence has fewer paths, the rest have states -1 and minus infinity.
    """

    states: Ints
    log_probability: Floats


def total(chain: Chain, batch: Batch) -> Floats:
    """The logarithm of the summed exponentials of all paths, `[S]`; minus infinity: no path."""
    return kernels.total(*chain.arguments(batch))


def best(chain: Chain, batch: Batch) -> Best:
    """The path of the highest score; of several, the first when read from the left (lower states
    first).
    """
    found = Best(*kernels.best(*chain.arguments(batch)))
    require_paths(found.score)
    return found


def nbest(chain: Chain, batch: Batch, n: int) -> NBest:
    """The `n` most probable paths, all different, with their probabilities."""
    require_count(n, 1)
    arguments = chain.arguments(batch)
    states, scores = kernels.nbest(*arguments, n)
    totals = kernels.total(*arguments)
    require_paths(totals)
    return NBest(states, scores - totals)


def marginals(chain: Chain, batch: Batch) -> Scores:
    """The probability of every state at every token, `[N, K]`, in the precision of the scores."""
    totals, states, _ = kernels.expect(*chain.arguments(batch))
    require_paths(totals)
    return states


def score(chain: Chain, batch: Batch, states: Ints) -> Floats:
    """The score of one path for each sequence, `[S]`, given as a state for each token `[N]`."""
    return kernels.follow(checked_path(chain, batch, states), *chain.arguments(batch))


def count(chain: Chain, batch: Batch) -> list[int]:
    """How many legal paths every sequence has, exactly."""
    scores, offsets, start, steps, stop, which = chain.arguments(batch)
    legal, begin, step, end = (
        (values > -np.inf).astype(int).astype(object) for values in (scores, start, steps, stop)
    )
    gaps = np.zeros(len(scores), dtype=np.int32) if which is None else which
    return [
        count_paths(legal[a:b], begin, step, end, gaps[a:b]) for a, b in pairwise(offsets.tolist())
    ]


def sample(chain: Chain, batch: Batch, n: int, random: np.random.Generator) -> Ints:
    """`n` paths drawn from the distribution over all paths, `[n, N]`."""
    require_count(n, 0)
    arguments = chain.arguments(batch)
    forward, _, totals = kernels.messages(*arguments)
    require_paths(totals)
    states = np.full((n, len(forward)), -1, dtype=np.int32)
    for behind in range(int(batch.lengths.max(initial=0))):  # from the last token to the first
        at = batch.offsets[1:][batch.lengths > behind] - 1 - behind
        if behind:
            which = 0 if arguments.which is None else arguments.which[at + 1]
            onward = arguments.steps[which, :, states[:, at + 1]]  # [n, sequences, K]
        else:
            onward = chain.stop
        weights = forward[at] + onward
        noise = random.gumbel(size=(n, len(at), len(chain.start)))
        states[:, at] = (weights + noise).argmax(axis=2)
    return states


def require_count(n: int, least: int) -> None:
    """Refuse what is no number of paths."""
    if not isinstance(n, int | np.integer) or n < least:
        raise ChainError(f"n is a whole number, at least {least}, not {n!r}.")


def checked_path(chain: Chain, batch: Batch, states: Ints) -> Ints:
    """The path as the kernels take it; one state for each token, or it is refused."""
    path = np.ascontiguousarray(whole_numbers("states", states), dtype=np.int32)
    if path.shape != batch.scores.shape[:1]:
        raise ChainError(f"There are {len(batch.scores)} tokens, but the path is {path.shape}.")
    if path.size and not 0 <= path.min() <= path.max() < len(chain.start):
        raise ChainError(f"The states of a path lie between 0 and {len(chain.start) - 1}.")
    return path


def require_paths(totals: Floats, what: str = "no legal path") -> None:
    """Raise if any sequence has no path."""
    without = np.flatnonzero(totals == -np.inf).tolist()
    if without:
        more = f" (and {len(without) - 1} more)" if len(without) > 1 else ""
        raise NoPathError(
            f"Sequence {without[0]}{more} has {what}: its scores and limits rule out every one.",
            without,
        )
