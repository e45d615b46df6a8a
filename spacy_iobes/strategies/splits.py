"""Which units are learned from, and which are held out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Offsets
from ..errors import CorpusError, SettingError


class Split(NamedTuple):
    """The numbers of the units to learn from, and of those to score on."""

    train: Offsets
    test: Offsets


def random_splits(units: int, count: int, share: float = 0.5, seed: int = 0) -> list[Split]:
    """So many random splits, a share of the units to learn from; a seed gives the same ones."""
    if count < 1:
        raise SettingError(f"There is at least one split, not {count}.")
    if not 0 < share < 1:
        raise SettingError(f"The share to learn from lies between 0 and 1, it is not {share}.")
    size = round(share * units)
    if not 0 < size < units:
        raise CorpusError(
            f"{units} document{'s' * (units != 1)} cannot be split into a share of {share:g} and "
            "the rest: both must hold one. A column file without marks between documents is one "
            "document for each sentence."
        )
    orders = [np.random.default_rng([seed, number]).permutation(units) for number in range(count)]
    return [Split(np.sort(order[:size]), np.sort(order[size:])) for order in orders]


def own_split(train: int, test: int) -> list[Split]:
    """One split: the first units are to learn from, those behind them to score on."""
    return [Split(np.arange(train, dtype=np.int64), np.arange(train, train + test, dtype=np.int64))]
