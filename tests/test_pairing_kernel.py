"""The kernel that pairs begins and ends, beside its twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spacy_iobes.kernels import pairing_numpy

from .twins import same

compiled = pytest.importorskip(
    "spacy_iobes.kernels._pairing", reason="the kernels are not compiled here"
)
rows = st.lists(st.integers(0, 4), max_size=5)


@given(rows, st.integers(0, 3), st.integers(0, 6), st.integers(0, 10**6))
def test_twins_agree(sizes: list[int], labels: int, longest: int, seed: int) -> None:
    """Whole numbers, so that sums are often equal, and some that rule out."""
    random = np.random.default_rng(seed)

    def scores(*shape: int) -> NDArray[np.float64]:
        values = random.integers(-3, 4, size=shape).astype(np.float64)
        values[random.random(shape) < 0.2] = -np.inf
        return values

    offsets = np.cumsum([0, *sizes], dtype=np.int64)
    arguments = (scores(sum(sizes), labels), scores(sum(sizes), labels), scores(labels, longest))
    assert same(compiled.pair(*arguments, offsets), pairing_numpy.pair(*arguments, offsets))
