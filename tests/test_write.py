"""Writing spans: in any order, and refused when they are no set of disjoint spans."""

from __future__ import annotations

from typing import Any, cast

import pytest

from spacy_iobes import Span, convert, convert_many, parse_many, write, write_many
from spacy_iobes.errors import InexpressibleError, OverlapError, SpanError, SpanRangeError

from .by_hand import PREFIXES

every_scheme = pytest.mark.parametrize("scheme", PREFIXES)

SPANS = [Span(0, 3, "X"), Span(3, 4, "X"), Span(4, 5, "Y"), Span(6, 8, "X")]
WRITTEN = {
    "iob1": "I-X I-X I-X B-X I-Y O I-X I-X O",
    "bio": "B-X I-X I-X B-X B-Y O B-X I-X O",
    "ioe1": "I-X I-X E-X I-X I-Y O I-X I-X O",
    "ioe2": "I-X I-X E-X E-X E-Y O I-X E-X O",
    "iobes": "B-X I-X E-X S-X S-Y O B-X E-X O",
    "bilou": "B-X I-X L-X U-X U-Y O B-X L-X O",
    "bmewo": "B-X M-X E-X W-X W-Y O B-X E-X O",
    "bmes": "B-X M-X E-X S-X S-Y O B-X E-X O",
    "bie": "B-X I-X E-X BE-X BE-Y O B-X E-X O",
    "bia": "B-X I-X I-X B-X B-Y A-Y B-X I-X A-X",
}


@pytest.mark.parametrize(("scheme", "tags"), WRITTEN.items())
def test_one_sentence_in_every_scheme(scheme: str, tags: str) -> None:
    assert write(SPANS, 9, scheme) == tags.split()
    assert write(reversed(SPANS), 9, scheme) == tags.split()
    assert write_many([SPANS, [], SPANS], [9, 1, 9], scheme) == [tags.split(), ["O"], tags.split()]


def test_io() -> None:
    apart = [Span(0, 3, "X"), Span(3, 4, "Y"), Span(5, 6, "X")]
    assert write(apart, 6, "io") == ["I-X", "I-X", "I-X", "I-Y", "O", "I-X"]


@pytest.mark.parametrize("after", [[], [Span(3, 5, "Y")]])
def test_spans_of_one_label_cannot_touch_in_io(after: list[Span]) -> None:
    spans = [Span(0, 1, "Y"), Span(1, 2, "X"), Span(2, 3, "X"), *after]
    with pytest.raises(InexpressibleError, match="touch") as error:
        write(spans, 5, "io")
    assert error.value.spans == (Span(1, 2, "X"), Span(2, 3, "X"))
    assert "(1, 2, 'X')" in str(error.value)
    with pytest.raises(InexpressibleError, match="Sentence 1"):
        write_many([[], spans], [0, 5], "io")
    with pytest.raises(InexpressibleError):
        convert(["B-X", "B-X"], "bio", "io")
    with pytest.raises(InexpressibleError, match="Sentence 2"):
        convert_many([["B-X", "B-Y"], ["B-X"], ["B-X", "B-X"]], "bio", "io")


@every_scheme
def test_the_ends_of_two_sentences_do_not_touch(scheme: str) -> None:
    spans = [[Span(0, 1, "X")], [Span(0, 1, "X")]]
    tags = write_many(spans, [1, 1], scheme)
    assert tags[0] == tags[1] == write([Span(0, 1, "X")], 1, scheme)
    assert list(parse_many(tags, scheme)) == spans


@every_scheme
@pytest.mark.parametrize(
    "wrong", [Span(0, 0, "X"), Span(2, 1, "X"), Span(-1, 1, "X"), Span(3, 5, "X"), Span(4, 5, "X")]
)
def test_out_of_range(scheme: str, wrong: Span) -> None:
    with pytest.raises(SpanRangeError) as error:
        write([wrong], 4, scheme)
    assert error.value.spans == (wrong,)
    assert str(tuple(wrong)) in str(error.value)
    with pytest.raises(SpanRangeError, match="Sentence 2"):
        write_many([[], [Span(0, 5, "Y")], [wrong]], [0, 9, 4], scheme)


@every_scheme
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Span(0, 2, "X"), Span(1, 3, "Y")),
        (Span(0, 3, "X"), Span(1, 2, "X")),
        (Span(1, 2, "X"), Span(1, 2, "X")),
        (Span(1, 2, "X"), Span(1, 2, "Y")),
        (Span(1, 2, "Y"), Span(1, 3, "X")),
    ],
)
def test_overlap(scheme: str, a: Span, b: Span) -> None:
    for spans in ([a, b], [b, a], [b, Span(3, 4, "Z"), a]):
        with pytest.raises(OverlapError) as error:
            write(spans, 4, scheme)
        assert error.value.spans == (a, b)
        assert str(tuple(a)) in str(error.value)
        assert str(tuple(b)) in str(error.value)
    with pytest.raises(OverlapError, match="Sentence 1"):
        write_many([[a], [a, b], [b]], [4, 4, 4], scheme)


def test_every_span_error_is_one() -> None:
    for kind in (SpanRangeError, OverlapError, InexpressibleError):
        assert issubclass(kind, SpanError)
        assert issubclass(kind, ValueError)


def test_lengths_must_fit() -> None:
    with pytest.raises(ValueError, match="2 sentences but 1 lengths"):
        write_many([[], []], [3], "bio")
    with pytest.raises(ValueError, match="-1"):
        write([], -1, "bio")


def test_a_label_is_a_string() -> None:
    with pytest.raises(TypeError, match="None"):
        write(cast(Any, [(0, 1, None)]), 1, "bio")


def test_columns_can_be_written_again() -> None:
    tags = [["B-X", "I-X", "O"], [], ["B-Y", "B-X"]]
    columns = parse_many(tags, "bio")
    assert write_many(columns, [3, 0, 2], "bio") == tags
    assert write_many(columns, [3, 0, 2], "ioe2") == [["I-X", "E-X", "O"], [], ["E-Y", "E-X"]]
    with pytest.raises(SpanRangeError):
        write_many(columns, [1, 0, 2], "bio")
