"""Sequences that are cut into pieces: what is asked of them has the same answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import SCHEMES
from spacy_iobes.chain import Batch, Chain, Limits, apart, best, loss, marginals
from spacy_iobes.codes import get_scheme
from spacy_iobes.ml import TagChain


def problem(name: str, lengths: list[int], cuts: list[int], seed: int) -> tuple[Chain, Batch]:
    """A chain without scores of its own, and sequences with gaps that no span crosses."""
    tags = TagChain(get_scheme(name), ("X", "Y"))
    random = np.random.default_rng(seed)
    batch = Batch.of(random.normal(size=(sum(lengths), len(tags))), lengths)
    limits = Limits(tags.layout, batch)
    limits.cut([cut for cut in cuts if cut < sum(lengths)])
    return tags.even, limits.applied()


names = st.sampled_from(sorted(SCHEMES))
numbers = st.lists(st.integers(0, 12), max_size=4)


@given(names, st.lists(st.integers(0, 5), min_size=1, max_size=4), numbers, st.integers(0, 99))
def test_the_answers_are_the_same(
    name: str, lengths: list[int], cuts: list[int], seed: int
) -> None:
    chain, batch = problem(name, lengths, cuts, seed)
    chain = chain.biased(0.5)
    pieces = apart(chain, batch)
    path = best(chain, batch).states
    assert best(chain, pieces).states.tolist() == path.tolist()
    np.testing.assert_allclose(marginals(chain, pieces), marginals(chain, batch), atol=1e-9)
    whole, shorter = (loss(chain, some, path) for some in (batch, pieces))
    assert shorter[0].sum() == pytest.approx(whole[0].sum())
    np.testing.assert_allclose(shorter[1].scores, whole[1].scores, atol=1e-9)


def test_pieces_are_cut_where_no_span_passes() -> None:
    chain, batch = problem("iobes", [4, 0, 3], [2, 4, 6], 0)
    pieces = apart(chain, batch)
    assert pieces.offsets.tolist() == [0, 2, 4, 6, 7]
    assert pieces.gaps is None


@pytest.mark.parametrize("change", [("start", 1), ("stop", 0), ("step", (0, 0))])
def test_scores_of_steps_hold_sequences_together(change: tuple[str, Any]) -> None:
    chain, batch = problem("iobes", [4, 3], [2], 0)
    part, at = change
    getattr(chain, part)[at] += 0.5
    assert apart(chain, batch) is batch
