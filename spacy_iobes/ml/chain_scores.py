"""What a chain model gives for some Docs, and what comes back as its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Array = Any  # of numpy or cupy, as the model's ops make it


@dataclass(frozen=True, eq=False)
class ChainScores:
    """Scores of C outputs: `emissions[N, C]` of all tokens, Doc after Doc, and of the steps.

    There are as many outputs as K states, or fewer, of which several make a state (`TagChain`).
    `lengths` are the numbers of tokens of the Docs, `start[K]`, `step[from, to]` and `stop[K]` the
    scores of where a path begins, goes on and ends. Nothing in here says what is legal. The last
    three have a gradient only if they are `learned`.
    """

    emissions: Array
    lengths: list[int]
    start: Array
    step: Array
    stop: Array
    learned: bool = True
