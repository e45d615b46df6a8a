"""The kernel of surroundings, beside its numpy twin."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.kernels import surroundings_numpy

from .twins import same

compiled = pytest.importorskip(
    "spacy_iobes.kernels._surroundings", reason="the kernels are not compiled here"
)
CASINGS = np.array([11, 2**63, 7], dtype=np.uint64)
words = st.integers(1, 6) | st.integers(2**64 - 3, 2**64 - 1)
written = st.sampled_from([0, *CASINGS.tolist()])
documents = st.lists(st.lists(st.lists(st.tuples(words, written), min_size=1), max_size=4))


@given(documents)
def test_twins_agree(given_docs: list[list[list[tuple[int, int]]]]) -> None:
    sentences = list(chain.from_iterable(given_docs))
    tokens = np.array([*chain.from_iterable(sentences)], dtype=np.uint64).reshape(-1, 2)
    lower, casing = np.ascontiguousarray(tokens.T)
    lengths = [sum(map(len, doc)) for doc in given_docs]
    docs, ends = (
        np.cumsum([0, *sizes], dtype=np.int64) for sizes in (lengths, map(len, sentences))
    )
    arguments = (lower, casing, CASINGS, docs, ends)
    assert same(compiled.surround(*arguments), surroundings_numpy.surround(*arguments))


def test_a_document_with_many_words() -> None:
    random = np.random.default_rng(0)
    lower = random.integers(0, 3000, 10_000).astype(np.uint64) << np.uint64(40)
    casing = random.choice(np.append(CASINGS, 0), 10_000).astype(np.uint64)
    docs = np.array([0, 9_000, 9_000, 10_000], dtype=np.int64)
    ends = np.append(np.arange(0, 10_000, 20), 10_000)
    arguments = (lower, casing, CASINGS, docs, ends)
    assert same(compiled.surround(*arguments), surroundings_numpy.surround(*arguments))
