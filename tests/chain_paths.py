"""Every path of a small chain, one by one: sums and maxima by brute force, straight from the words.

Which paths are legal, and which spans they have, comes from `by_hand`, not from the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spacy_iobes.arrays import Floats
from spacy_iobes.chain import Batch, Chain, Layout
from spacy_iobes.codes.states import states

from . import by_hand

LABELS = ("X", "Y")


@dataclass(frozen=True)
class Path:
    """The states of a path, its score, and its spans as (start, end, label number)."""

    states: tuple[int, ...]
    score: float
    spans: tuple[tuple[int, int, int], ...]


Condition = Callable[[Path], bool]


def random_chain(scheme: str, random: np.random.Generator, spread: float = 1.0) -> Chain:
    """A chain for two labels with random scores for all that is legal."""
    facts = states(LABELS, scheme)
    legal = facts.legal

    def scores(mask: NDArray[np.bool_]) -> Floats:
        return np.where(mask, random.normal(size=mask.shape) * spread, -np.inf)

    layout = Layout(facts.joins, facts.label_of)
    return Chain(scores(legal.start), scores(legal.step), scores(legal.stop), layout)


def random_batch(
    chain: Chain, lengths: Sequence[int], random: np.random.Generator, spread: float = 1.0
) -> Batch:
    """Random scores for some sequences."""
    shape = (sum(lengths), len(chain.start))
    return Batch.of(random.normal(size=shape) * spread, lengths)


def rows(batch: Batch) -> list[Floats]:
    """The scores of every sequence."""
    return [batch.scores[a:b].astype(float) for a, b in pairwise(batch.offsets.tolist())]


def paths(chain: Chain, scores: Floats, scheme: str) -> Iterator[Path]:
    """Every legal path through the scores of one sequence."""
    scheme = by_hand.SPOKEN.get(scheme, scheme)
    number = {tag: i for i, tag in enumerate(by_hand.all_tags(scheme))}
    for tags, spans in by_hand.legal_sequences(len(scores), scheme).items():
        chosen = tuple(number[tag] for tag in tags)
        parts = [float(scores[t, state]) for t, state in enumerate(chosen)]
        parts += [float(chain.step[i, j]) for i, j in pairwise(chosen)]
        if chosen:
            parts += [float(chain.start[chosen[0]]), float(chain.stop[chosen[-1]])]
        found = tuple((a, b, LABELS.index(label)) for a, b, label in spans)
        yield Path(chosen, sum(parts), found)


def log_sum(scores: Sequence[float]) -> float:
    """The logarithm of summed exponentials."""
    if not scores:
        return -np.inf
    top = max(scores)
    return float(top + np.log(np.exp(np.array(scores) - top).sum()))


def probabilities(found: Sequence[Path]) -> Floats:
    """The probability of every path."""
    every = log_sum([path.score for path in found])
    return np.exp([path.score - every for path in found])
