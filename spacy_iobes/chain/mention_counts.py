"""How many mentions of each label are expected in a sentence.

How often something starts, or ends, is a sum of probabilities. How many mentions there are is said
by a reading of the separators; under any of them there are no fewer than starts, and no fewer than
ends. Under the default reading, `nearest_start`, every start has a mention, and so has every end at
which others go on; but the first such end behind an inner start is that of the start itself, and
the two are one mention. Whether an end is such a first one depends on the last separator before it
that is not just C.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..kernels.separators_numpy import END, GO_ON, KINDS, START, places
from .gaps import Gaps
from .separator_answers import Model

C, CS, EC, ECS = GO_ON, GO_ON | START, END | GO_ON, END | GO_ON | START


def expected_starts(model: Model, gaps: Gaps) -> Floats:
    """The expected number of gaps where a mention starts, `[S, L]`."""
    return _summed(gaps, model.expect(gaps).separators[..., KINDS & START > 0].sum(axis=2))


def expected_ends(model: Model, gaps: Gaps) -> Floats:
    """The expected number of gaps where a mention ends, `[S, L]`."""
    return _summed(gaps, model.expect(gaps).separators[..., KINDS & END > 0].sum(axis=2))


def expected_mentions(model: Model, gaps: Gaps) -> Floats:
    """The expected number of mentions that `nearest_start` reads, `[S, L]`."""
    probability = model.expect(gaps).separators.astype(np.float64)
    counts = probability[..., KINDS & START > 0].sum(axis=2)
    counts += probability[..., [EC, ECS]].sum(axis=2)
    onward = model.onward(gaps, [CS, ECS, C], [C, EC, ECS])
    fresh = np.zeros((*counts.shape, 3))  # CS, ECS, or C behind one of them and nothing but C
    fresh[..., :2] = probability[..., [CS, ECS]]
    for at in places(gaps.offsets):
        following = (fresh[at - 1][..., None] * onward[at]).sum(axis=2)
        fresh[at, :, 2] = following[..., 0]
        counts[at] -= following[..., 1:].sum(axis=2)
    return _summed(gaps, counts)


def _summed(gaps: Gaps, values: Floats) -> Floats:
    """The sums of `values[G, L]` over the gaps of each sentence."""
    if not len(gaps):
        return np.zeros((0, gaps.labels))
    found: Floats = np.add.reduceat(values, gaps.offsets[:-1], axis=0, dtype=np.float64)
    return found
