"""The kernel that describes words, beside the functions that say what their attributes are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.strings import StringStore
from spacy.symbols import IDS as SYMBOLS_BY_STR

from spacy_iobes.ml import ATTRIBUTES, CODES, hashed

compiled = pytest.importorskip(
    "spacy_iobes.kernels._words", reason="the kernels are not compiled here"
)
ASKED = np.array([CODES[name] for name in ATTRIBUTES], dtype=np.int32)
ascii_words = st.text(st.characters(max_codepoint=127), max_size=20)
wordlike = st.text("aBcDZz019-.'#\x00", max_size=12)


@given(st.lists(ascii_words | wordlike))
@example(["", "X", "x", "1", "BBC", "McDonald's", "aB", "A1", "x" * 128, "1-1-1996"])
def test_words_in_ascii(texts: list[str]) -> None:
    values, done = compiled.describe(texts, ASKED)
    expected = [[hashed(ask(text)) for ask in ATTRIBUTES.values()] for text in texts]
    assert values.tolist() == expected
    assert done.tolist() == [True] * len(texts)


def test_other_words_are_left_to_the_functions() -> None:
    _, done = compiled.describe(["é", "a", "x" * 129, "٣"], ASKED)
    assert done.tolist() == [False, True, False, False]


@given(st.text(min_size=1).filter(lambda text: text not in SYMBOLS_BY_STR))
def test_hashes_are_those_of_spacy(text: str) -> None:
    assert hashed(text) == StringStore().add(text)


def test_symbols_of_spacy_are_words_like_others() -> None:
    assert hashed("det") > max(SYMBOLS_BY_STR.values())
