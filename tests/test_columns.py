"""Many sentences as columns: integer input, and output that builds objects only when asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_iobes import (
    POLICIES,
    CodedTags,
    Span,
    convert_many,
    parse_many,
    repair_many,
    validate_many,
)
from spacy_iobes.errors import MalformedTagsError, UnreadableTagError

CORPUS = [["B-X", "I-X", "O", "B-Y"], [], ["I-Y", "I-X"], ["O"]]
TAGS = ("I-X", "O", "B-Y", "never", "B-X", "I-Y")
CODES = [4, 0, 1, 2, 5, 0, 1]
LENGTHS = [4, 0, 2, 1]


@pytest.fixture
def coded() -> CodedTags:
    return CodedTags.from_lengths(CODES, LENGTHS, TAGS)


def test_coded_tags(coded: CodedTags) -> None:
    assert len(coded) == 4
    assert list(coded) == coded.lists() == CORPUS
    assert coded.offsets.tolist() == [0, 4, 4, 6, 7]
    assert (coded.codes.dtype.name, coded.offsets.dtype.name) == ("int32", "int64")
    assert [coded.tag(2, i) for i in (-1, 0, 1, 2)] == [None, "I-Y", "I-X", None]
    assert coded.tag(1, 0) is None


def test_any_integers_will_do() -> None:
    codes, offsets = np.array([9, 1, 9, 0])[1::2], np.array([0, 1, 2], dtype=np.int16)
    assert CodedTags(codes, offsets, ["O", "B"]).lists() == [["B"], ["O"]]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codes", "offsets"),
    [
        ([0, 1], [0, 1]),  # a code too many
        ([0], [0, 2]),  # a code too few
        ([0, 1], [1, 2]),  # the first sentence begins at 0
        ([0, 1], [0, 2, 1, 2]),  # backwards
        ([0, 1], []),  # not even the end of nothing
        ([], []),
        ([0, 2], [0, 2]),  # there are two tags
        ([0, -1], [0, 2]),
        ([[0, 1]], [0, 2]),
        ([0, 1], [[0, 2]]),
    ],
)
def test_bad_codes_and_offsets_are_refused(codes: list[Any], offsets: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"Codes|Offsets"):
        CodedTags(np.array(codes, dtype=np.int32), np.array(offsets, dtype=np.int64), ("O", "B-X"))


def test_bad_lengths_are_refused() -> None:
    for lengths in ([1], [3], [3, -1]):
        with pytest.raises(ValueError, match="Offsets"):
            CodedTags.from_lengths([0, 0], lengths, ["O"])
    with pytest.raises(ValueError, match="Codes"):
        CodedTags.from_lengths([0], [1], [])


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "raise"])
def test_codes_say_what_lists_say(coded: CodedTags, policy: str) -> None:
    assert list(parse_many(coded, "bio", policy)) == list(parse_many(CORPUS, "bio", policy))
    lists, codes = (repair_many(corpus, "bio", policy) for corpus in (CORPUS, coded))
    assert isinstance(codes.tags, CodedTags)
    assert codes.tags.lists() == lists.tags
    assert list(codes.spans) == list(lists.spans)
    assert list(codes.violations) == list(lists.violations)
    converted = convert_many(coded, "bio", "bilou", policy)
    assert isinstance(converted, CodedTags)
    assert converted.lists() == convert_many(CORPUS, "bio", "bilou", policy)
    assert coded.lists() == CORPUS


def test_codes_are_refused_like_lists(coded: CodedTags) -> None:
    assert list(validate_many(coded, "bio")) == list(validate_many(CORPUS, "bio"))
    with pytest.raises(MalformedTagsError) as error:
        parse_many(coded, "bio")
    assert [violation.index for violation in error.value.violations] == [0, 1]
    with pytest.raises(UnreadableTagError, match="sentence 0, token 0") as unreadable:
        parse_many(coded, "ioe1", "begin")
    assert unreadable.value.tag == "B-X"


def test_a_tag_that_no_token_has_does_not_matter(coded: CodedTags) -> None:
    assert "never" in coded.tags
    assert parse_many(coded, "bio", "begin").total == 4


def test_no_sentences() -> None:
    nothing = CodedTags.from_lengths([], [], [])
    assert len(nothing) == 0
    assert nothing.lists() == []
    assert list(parse_many(nothing, "bio", "nearest")) == []
    assert convert_many(nothing, "bio", "io").lists() == []


def test_span_columns() -> None:
    found = parse_many(CORPUS, "bio", "begin")
    sentences = [
        [Span(0, 2, "X"), Span(3, 4, "Y")],
        [],
        [Span(0, 1, "Y"), Span(1, 2, "X")],
        [],
    ]
    assert list(found) == list(found) == sentences
    assert (len(found), found.total) == (4, 4)
    assert [found[i] for i in range(4)] == [found[i - 4] for i in range(4)] == sentences
    assert found.row(2) == Span(0, 1, "Y")
    assert found.spans() == [span for spans in sentences for span in spans]
    assert found.sentence.tolist() == [0, 0, 2, 2]
    assert found.start.tolist() == [0, 3, 0, 1]
    assert found.end.tolist() == [2, 4, 1, 2]
    assert [found.labels[label] for label in found.label] == ["X", "Y", "Y", "X"]
    columns: list[NDArray[np.int32]] = [found.sentence, found.start, found.end, found.label]
    assert {column.dtype for column in columns} == {np.dtype(np.int32)}
    assert all(type(span.start) is type(span.end) is int for span in found.spans())


def test_violation_columns() -> None:
    found = validate_many(CORPUS, "bio")
    expected = [[], [], [(0, None, "I-Y", "start"), (1, "I-Y", "I-X", "label")], []]
    sentences = list(found)
    assert [[(v.index, v.previous, v.current, v.kind) for v in s] for s in sentences] == expected
    assert list(found) == sentences
    assert (len(found), found.total) == (4, 2)
    assert [found[i] for i in range(4)] == [found[i - 4] for i in range(4)] == sentences
    assert found.sentence.tolist() == [2, 2]
    assert found.index.tolist() == [0, 1]
    assert [(s, v) for s, v in found.rows()] == [(2, v) for v in sentences[2]]


@pytest.mark.parametrize("number", [4, -5])
def test_no_such_sentence(number: int) -> None:
    with pytest.raises(IndexError):
        parse_many(CORPUS, "bio", "begin")[number]
    with pytest.raises(IndexError):
        validate_many(CORPUS, "bio")[number]
