"""Strings to numbers and back: the two kernels that meet Python objects."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from spacy_iobes.kernels import tags_numpy

from . import strategies
from .twins import agree, compiled, same


class Text(str):
    """A str that prints as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "not its characters"


class Member(str, Enum):
    """Tags as an enumeration: `str(Member.BEGIN)` is not `B-X` either."""

    BEGIN, INSIDE, OUTSIDE = "B-X", "I-X", "O"


@given(strategies.schemes.flatmap(strategies.corpora))
def test_encode_and_lists(corpus: list[list[str]]) -> None:
    vocabularies: list[dict[str, int]] = [{"before": 0}, {"before": 0}]
    fast = compiled.encode(corpus, vocabularies[0])
    slow = tags_numpy.encode(corpus, vocabularies[1])
    assert same(fast, slow)
    assert list(vocabularies[0].items()) == list(vocabularies[1].items())
    assert [list(vocabularies[0])[code] for code in slow[0]] == [t for tags in corpus for t in tags]
    names = tuple(vocabularies[0])
    assert agree("lists", *slow, names) == corpus


def pieces(tags: list[str]) -> list[str]:
    """Equal strings that are different objects."""
    return ["".join(tag) for tag in map(list, tags)]


@pytest.mark.parametrize(
    "sentences",
    [
        lambda corpus: corpus,
        lambda corpus: [tuple(tags) for tags in corpus],
        lambda corpus: [pieces(tags) for tags in corpus],
        lambda corpus: [[Text(tag) for tag in tags] for tags in corpus],
        lambda corpus: [[Text(tag) if i % 2 else tag for i, tag in enumerate(t)] for t in corpus],
        lambda corpus: (iter(tags) for tags in corpus),
        lambda corpus: (tags for tags in corpus),
        lambda corpus: [[Member(tag) for tag in tags] for tags in corpus],
        lambda corpus: [dict.fromkeys(tags) for tags in corpus],
    ],
)
@pytest.mark.parametrize("kernel", [compiled, tags_numpy])
def test_encode_takes_what_holds_strings(
    kernel: Any, sentences: Callable[[list[list[str]]], Iterable[Any]]
) -> None:
    corpus = [["B-X", "I-X"], ["O"], []]
    vocabulary: dict[str, int] = {}
    codes, offsets = kernel.encode(sentences(corpus), vocabulary)
    assert codes.tolist() == [0, 1, 2]
    assert offsets.tolist() == [0, 2, 3, 3]
    assert vocabulary == {"B-X": 0, "I-X": 1, "O": 2}
    assert {type(tag) for tag in vocabulary} == {str}


@pytest.mark.parametrize("kernel", [compiled, tags_numpy])
def test_equal_strings_are_one_tag_whatever_the_object(kernel: Any) -> None:
    """More tags than a cache has slots, each as one object and as many, short, long, not ASCII."""
    labels = ["", "creative-work-", "gr\u00f6\u00dfe", "\u4eba", "\U0001f600", "a\0"]
    names = [f"B-{label}{i}{end}" for label in labels for i in range(700) for end in ("", "\0")]
    corpus = [names, pieces(names), names, [Text(tag) for tag in names], pieces(names)]
    vocabulary: dict[str, int] = {}
    codes, _ = kernel.encode(corpus, vocabulary)
    assert codes.reshape(5, -1).tolist() == [list(range(len(names)))] * 5
    assert list(vocabulary) == names


def test_tags_that_differ_in_one_character_only() -> None:
    """Every length around the eight characters that are hashed at a time, every place."""
    names = [
        "x" * i + other + "x" * (length - i - 1)
        for length in range(1, 27)
        for i in range(length)
        for other in "yz\u00ff"
    ]
    expected = np.arange(len(names), dtype=np.int32)
    codes, _ = agree("encode", [names, pieces(names)], {})
    assert codes.reshape(2, -1).tolist() == [expected.tolist()] * 2


@pytest.mark.parametrize("kernel", [compiled, tags_numpy])
@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([["O"], "B-X"], "sentence 1 is 'B-X'"),
        ([b"O"], "sentence 0 is b'O'"),
        ([["O"], ["O", None]], "Sentence 1, token 1: a tag is a str, not None"),
        ([["O", b"O"]], "Sentence 0, token 1: a tag is a str, not b'O'"),
        ([None], "not iterable"),
        (3, "not iterable"),
    ],
)
def test_encode_refuses_alike(kernel: Any, corpus: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        kernel.encode(corpus, {})


@pytest.mark.parametrize("kernel", [compiled, tags_numpy])
@pytest.mark.parametrize("collecting", [True, False])
def test_lists_leaves_the_collector_as_it_was(kernel: Any, collecting: bool) -> None:
    before = gc.isenabled()
    codes, offsets = np.array([0, 0], dtype=np.int32), np.array([0, 1, 2], dtype=np.int64)
    try:
        (gc.enable if collecting else gc.disable)()
        assert kernel.lists(codes, offsets, ("O",)) == [["O"], ["O"]]
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()


def test_a_generator_may_yield_one_list_again_and_again() -> None:
    def rows() -> Iterator[list[str]]:
        buffer: list[str] = []
        for tag in ("B-X", "O", "B-Y"):
            buffer[:] = [tag]
            yield buffer

    for twin in (compiled, tags_numpy):
        vocabulary: dict[str, int] = {}
        codes, _ = twin.encode(rows(), vocabulary)
        assert [list(vocabulary)[code] for code in codes] == ["B-X", "O", "B-Y"]
