"""Long sequences as short ones, where nothing passes from one to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .layout import ANY, CUT
from .model import Batch, Chain


def apart(chain: Chain, batch: Batch) -> Batch:
    """The batch with a sequence for each piece between two gaps that no span may cross.

    The best path and the probabilities of states stay the same: pieces are cut only if such a gap
    costs what it costs to stop and to start again, as it does where steps have no scores. Sequences
    have other numbers then, and what counted as a step may count as a stop and a start.
    """
    if batch.gaps is None or not (cuts := np.flatnonzero(batch.gaps == CUT)).size:
        return batch
    legal = CUT >> chain.spans.kinds & 1 > 0
    across = np.where(legal, chain.step, -np.inf)
    if not np.array_equal(across, chain.stop[:, None] + chain.start[None, :]):
        return batch
    offsets = np.union1d(batch.offsets, cuts)
    gaps = batch.gaps.copy()
    gaps[offsets[:-1]] = ANY
    return replace(batch, offsets=offsets, gaps=gaps if (gaps != ANY).any() else None)
