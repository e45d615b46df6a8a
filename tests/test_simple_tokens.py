"""The tokens of texts whose language nobody names: words and single other characters."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_iobes.corpus import simple_places, simple_tokens


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in simple_tokens(text)]


def places(text: str) -> list[tuple[int, int]]:
    begin, end = simple_places(np.array([*map(ord, text)], dtype=np.uint32))
    return [*zip(begin.tolist(), end.tolist())]


@pytest.mark.parametrize(
    "text",
    [
        "नरेंद्र मोदी दिल्ली में",
        "O\u0323\u0300re\u0323\u0301 lo\u0323",  # Yoruba, decomposed
        "مُحَمَّد فِي",
        "می\u200cخواهم",
        "ක්\u200dරි",
        "👩\u200d👩\u200d👧 👍🏽 ❤\ufe0f ❤\ufe0f\u200d🔥 🧑🏽\u200d🚀 1\ufe0f\u20e3",
        "x \u0301 \u0301\u0301",
    ],
)
def test_marks_belong_to_what_they_mark(text: str) -> None:
    assert words(text) == text.split()
    assert places(text) == simple_tokens(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("मोदी, दिल्ली।", ["मोदी", ",", "दिल्ली", "।"]),
        ("a\u0301!b", ["a\u0301", "!", "b"]),
        ("👍👍🏽a🏽", ["👍", "👍🏽", "a", "🏽"]),
        ("a\u200d👍\u200db", ["a\u200d", "👍\u200d", "b"]),
        ("\u0301a", ["\u0301", "a"]),
    ],
)
def test_tokens_end_where_others_begin(text: str, said: list[str]) -> None:
    assert words(text) == said
    assert places(text) == simple_tokens(text)


CHARACTERS = "aß1_ \n\u00a0.,漢क\u093f\u094d\u0301\u20e3\u200c\u200d\ufe0f👍🏽🏿❤\u200b\u2028"


@given(st.text(CHARACTERS) | st.text())
@example("")
def test_arrays_find_the_same_tokens(text: str) -> None:
    assert places(text) == simple_tokens(text)
    assert "".join(words(text)) == "".join(text.split())


@given(st.text("abßé漢_1 .,!-\n👍"))
def test_text_without_marks_is_cut_as_it_was(text: str) -> None:
    """The rule of version 0.1.0."""
    assert simple_tokens(text) == [x.span() for x in re.finditer(r"\w+|[^\w\s]", text)]
