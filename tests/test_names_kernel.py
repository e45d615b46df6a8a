"""The kernel that finds names of lists, beside its twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.kernels import names_numpy
from spacy_iobes.ml import Names, hashed

from .twins import same

compiled = pytest.importorskip(
    "spacy_iobes.kernels._names", reason="the kernels are not compiled here"
)
word = st.sampled_from(["a", "A", "b", "B", "bc"])
name = st.lists(word, min_size=1, max_size=4).map(" ".join)
long_name = st.lists(word, min_size=62, max_size=64).map(" ".join)


@given(st.lists(st.lists(word, max_size=9) | long_name.map(str.split)), st.lists(name | long_name))
def test_twins_agree(sentences: list[list[str]], names: list[str]) -> None:
    words = [word for sentence in sentences for word in sentence]
    lower, text = (
        np.array([hashed(form) for form in forms], dtype=np.uint64)
        for forms in (map(str.lower, words), words)
    )
    ends = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    arguments = (lower, text, ends, *Names(names).tables)
    assert same(compiled.spot(*arguments), names_numpy.spot(*arguments))
