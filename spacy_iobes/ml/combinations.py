"""The best annotations of Docs whose labels and units do not depend on each other."""

from __future__ import annotations

from heapq import nlargest
from itertools import product
from typing import NamedTuple

import numpy as np

from ..span import Span
from .asked import Asked


class Choice(NamedTuple):
    """The logarithm of a probability, and spans."""

    log: float
    spans: list[Span]


def best_of_docs(asked: Asked, n: int) -> list[list[Choice]]:
    """The `n` best annotations of each Doc: the best combinations of the best of each chain."""
    choices, found = _choices(asked, n), []
    for number in range(len(asked.units.docs) - 1):
        mine = np.flatnonzero(asked.units.doc == number).tolist()
        best = [Choice(0.0, [])]
        for unit, label in product(mine, range(len(asked.labels))):
            best = _together(best, choices[unit, label], n)
        found.append([Choice(log, sorted(spans)) for log, spans in best])
    return found


def _choices(asked: Asked, n: int) -> dict[tuple[int, int], list[Choice]]:
    """The best annotations of every label in every unit, as spans of the Doc."""
    chains = asked.nbest(n)
    logs = chains.log_probability.transpose(1, 2, 0)  # [U, L, n]
    found: dict[tuple[int, int], list[Choice]] = {
        key: [Choice(log, []) for log in logs[key].tolist() if np.isfinite(log)]
        for key in np.ndindex(logs.shape[:2])
    }
    for place, spans in enumerate(chains.spans):
        rows = zip(
            spans.sentence.tolist(), spans.label.tolist(), asked.units.outside(spans).spans()
        )
        for unit, label, span in rows:
            if place < len(found[unit, label]):
                found[unit, label][place].spans.append(span)
    return found


def _together(some: list[Choice], others: list[Choice], n: int) -> list[Choice]:
    """The n best pairs of what does not depend on each other; the best come first in both."""
    pairs = ((a + b, s, t) for (a, s), (b, t) in product(some, others))
    return [Choice(log, s + t) for log, s, t in nlargest(n, pairs, key=lambda pair: pair[0])]
