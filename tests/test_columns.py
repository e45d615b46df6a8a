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
    SpanColumns,
    check,
    convert_many,
    mask,
    parse,
    parse_many,
    repair_many,
    transitions,
    validate_many,
    write,
    write_many,
)
from spacy_iobes.errors import MalformedTagsError, SpanRangeError, UnreadableTagError

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
    with pytest.raises(ValueError, match=r"[Cc]odes|[Oo]ffset"):
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


def ints(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def columns(sentence: list[int], start: list[int], end: list[int], label: list[int]) -> SpanColumns:
    """Two sentences, one label; the numbers as numpy makes them of a list."""
    a, b, c, d = map(np.array, (sentence, start, end, label))
    return SpanColumns(a, b, c, d, ("X",), 2)


@pytest.mark.parametrize(
    ("sentence", "start", "end", "label"),
    [
        ([0], [0], [1], [100_000]),
        ([0], [0], [1], [-1]),
        ([-1], [0], [1], [0]),
        ([7], [0], [1], [0]),
        ([1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]),
        ([0, 0], [2, 0], [3, 1], [0, 0]),
        ([0, 0], [0], [1], [0]),
        ([0], [0], [2**40], [0]),
    ],
)
def test_bad_span_columns_are_refused(
    sentence: list[int], start: list[int], end: list[int], label: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"lie between|sorted|same length"):
        columns(sentence, start, end, label)


def test_good_span_columns_can_be_written_whatever_their_integers() -> None:
    assert write_many(columns([0], [0], [1], [0]), [2, 0], "bio") == [["B-X", "O"], []]


def test_codes_are_copied_and_cannot_be_changed() -> None:
    codes = ints(0, 0)
    coded = CodedTags(codes, np.array([0, 2]), ("O",))
    codes[0] = 10**8
    assert list(coded) == [["O", "O"]]
    with pytest.raises(ValueError, match="read-only"):
        coded.codes[0] = 10**8


@pytest.mark.parametrize("codes", [[0.5], [True], ["0"], [2**32]])
def test_codes_are_integers_that_fit(codes: list[Any]) -> None:
    with pytest.raises((TypeError, ValueError), match="codes"):
        CodedTags(np.array(codes), np.array([0, 1]), ("O",))


def test_strings_are_no_lists_of_strings() -> None:
    for call in (lambda: check("BIO"), lambda: mask("BIO", "bio"), lambda: transitions("X", "bio")):
        with pytest.raises(TypeError, match=r"'BIO'|'X'"):
            call()
    with pytest.raises(TypeError, match="'BIO'"):
        CodedTags(ints(0), np.array([0, 1]), "BIO")  # type: ignore[arg-type]


@pytest.mark.parametrize("span", [(0.5, 1.9, "X"), (0, 1, None), ("0", 1, "X")])
def test_spans_are_integers_and_a_label(span: Any) -> None:
    with pytest.raises(TypeError):
        write([span], 3, "bio")
    with pytest.raises(SpanRangeError):
        write([Span(0, 2**80, "X")], 3, "bio")
    with pytest.raises(TypeError):
        write([], 1.7, "bio")  # type: ignore[arg-type]


def test_schemes_and_policies_have_names() -> None:
    with pytest.raises(TypeError, match="scheme is given by its name"):
        parse([], None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policy is given by its name"):
        parse([], "bio", 3)  # type: ignore[arg-type]
