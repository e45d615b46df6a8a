"""Small tests that the package has no need for."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from spacy_iobes.scoring import rank_sum

LEVEL = 0.05


def sign_test(up: int, down: int) -> float:
    """How probable it is that the signs of as many changes are as one-sided, either way."""
    n = up + down
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(up, down) + 1)) / (1 << n))


def gain_needed(values: Sequence[float]) -> float | None:
    """The smallest gain of all values, in tenths, that the rank-sum test would find significant."""
    gains = (tenths / 10 for tenths in range(1, 1001))
    found = (g for g in gains if rank_sum([v + g for v in values], values, "plain").p < LEVEL)
    return next(found, None)


def holm(p_values: Sequence[float]) -> int:
    """How many tests stay significant when it is considered that there are so many of them."""
    bounds = (LEVEL / left for left in range(len(p_values), 0, -1))
    kept = [p < bound for p, bound in zip(sorted(p_values), bounds)]
    return kept.index(False) if False in kept else len(kept)
