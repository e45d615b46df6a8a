"""Violations: where they are, of which kind, and how the policy `raise` reports them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

from spacy_iobes import Span, Violation, convert, parse, parse_many, repair, validate, write
from spacy_iobes.codes import KINDS
from spacy_iobes.errors import IobesError, MalformedTagsError, TagError

from .by_hand import PREFIXES

EXAMPLES: list[tuple[str, str, int, str | None, str | None, str]] = [
    ("bio", "O I-X", 1, "O", "I-X", "start"),
    ("bio", "I-X", 0, None, "I-X", "start"),
    ("bio", "B-X I-Y", 1, "B-X", "I-Y", "label"),
    ("bio", "O Z-X O", 1, "O", "Z-X", "unreadable"),
    ("iob1", "B-X", 0, None, "B-X", "start"),
    ("iob1", "O B-X I-X", 1, "O", "B-X", "start"),
    ("iob1", "I-X B-Y", 1, "I-X", "B-Y", "label"),
    ("ioe1", "I-X E-X O", 2, "E-X", "O", "end"),
    ("ioe1", "I-X E-X", 2, "E-X", None, "end"),
    ("ioe1", "E-X I-Y", 1, "E-X", "I-Y", "label"),
    ("ioe2", "I-X O", 1, "I-X", "O", "end"),
    ("ioe2", "I-X", 1, "I-X", None, "end"),
    ("ioe2", "I-X E-Y", 1, "I-X", "E-Y", "label"),
    ("iobes", "I-X E-X", 0, None, "I-X", "start"),
    ("iobes", "O E-X", 1, "O", "E-X", "start"),
    ("iobes", "S-X I-X E-X", 1, "S-X", "I-X", "start"),
    ("iobes", "B-X O", 1, "B-X", "O", "end"),
    ("iobes", "B-X S-X", 1, "B-X", "S-X", "end"),
    ("iobes", "B-X I-X B-Y E-Y", 2, "I-X", "B-Y", "end"),
    ("iobes", "B-X", 1, "B-X", None, "end"),
    ("iobes", "B-X E-Y", 1, "B-X", "E-Y", "label"),
    ("bilou", "B-X U-X", 1, "B-X", "U-X", "end"),
    ("bmewo", "M-X E-X", 0, None, "M-X", "start"),
    ("bmes", "B-X M-Y E-Y", 1, "B-X", "M-Y", "label"),
    ("bie", "B-X BE-X", 1, "B-X", "BE-X", "end"),
    ("bia", "B-X O", 1, "B-X", "O", "after"),
    ("bia", "B-X A-Y", 1, "B-X", "A-Y", "after"),
    ("bia", "O A-X", 1, "O", "A-X", "after"),
    ("bia", "A-X O", 0, None, "A-X", "after"),
    ("bia", "B-X A-X A-X", 2, "A-X", "A-X", "after"),
    ("bia", "B-X A-X I-X", 2, "A-X", "I-X", "start"),
    ("bia", "B-X I-Y", 1, "B-X", "I-Y", "label"),
    ("be", "B-X O B-Y O E-Y", 1, "B-X", "O", "end"),
    ("be", "B-X BE-X", 1, "B-X", "BE-X", "end"),
    ("be", "B-X", 1, "B-X", None, "end"),
    ("be", "BE-X O E-X", 2, "O", "E-X", "start"),
    ("be", "E-X", 0, None, "E-X", "start"),
    ("be", "B-X E-Y", 1, "B-X", "E-Y", "label"),
    ("be", "O I-X O", 1, "O", "I-X", "unreadable"),
]


@pytest.mark.parametrize(("scheme", "tags", "index", "previous", "current", "kind"), EXAMPLES)
def test_one_violation(
    scheme: str, tags: str, index: int, previous: str | None, current: str | None, kind: str
) -> None:
    [found] = validate(tags.split(), scheme)
    assert (found.index, found.previous, found.current) == (index, previous, current)
    assert found.kind == kind
    assert (found.file, found.line, found.token) == (None, None, None)
    place = f"token {index}" if current else f"after token {index - 1}"
    assert str(found) == f"{place}: {found.message}"
    named = (previous, current) if kind != "unreadable" else (current,)
    assert all(tag in found.message for tag in named if tag)


def test_every_kind_and_every_scheme_but_io_is_shown() -> None:
    assert {kind for *_, kind in EXAMPLES} == set(KINDS)
    assert {scheme for scheme, *_ in EXAMPLES} == set(PREFIXES) - {"io"}


def test_io_is_always_legal() -> None:
    assert validate(["I-X", "I-Y", "O", "I-X"], "io") == []


def test_several_violations_in_order() -> None:
    found = validate(["I-X", "O", "I-Y", "B-X", "I-Y", "Q"], "bio")
    expected = [(0, "start"), (2, "start"), (4, "label"), (5, "unreadable")]
    assert [(violation.index, violation.kind) for violation in found] == expected


def test_one_tag_can_be_wrong_on_both_sides() -> None:
    found = [(v.index, v.previous, v.current, v.kind) for v in validate(["I-X"], "iobes")]
    assert found == [(0, None, "I-X", "start"), (1, "I-X", None, "end")]


def test_a_violation_from_a_file_says_the_line() -> None:
    violation = replace(validate(["I-X"], "bio")[0], file="train.conll", line=12, token="Bonn")
    for part in ("train.conll", "12", "Bonn", violation.message):
        assert part in str(violation)


def test_raise_lists_every_violation() -> None:
    tags = ["O", "I-X"] * 20
    with pytest.raises(MalformedTagsError) as error:
        parse(tags, "bio")
    found = error.value.violations
    assert [violation.index for violation in found] == list(range(1, 40, 2))
    assert list(found) == validate(tags, "bio")
    message = str(error.value)
    assert "token 1:" in message
    assert "15 more" in message
    assert message.count("O -> I-X") == 5


@pytest.mark.parametrize(
    "verb",
    [
        lambda tags: parse(tags, "bio"),
        lambda tags: parse(tags, "bio", "raise"),
        lambda tags: parse(tags, "bio", "none"),
        lambda tags: convert(tags, "bio", "iobes"),
        lambda tags: repair(tags, "bio", "raise"),
    ],
)
def test_who_refuses(verb: Callable[[list[str]], object]) -> None:
    verb(["B-X", "I-X"])
    with pytest.raises(MalformedTagsError, match="begin, discard") as error:
        verb(["B-X", "I-Y"])
    assert [violation.kind for violation in error.value.violations] == ["label"]


def test_raise_names_the_sentence() -> None:
    with pytest.raises(MalformedTagsError, match="sentence 2, token 1") as error:
        parse_many([["B-X"], [], ["O", "I-X"], ["I-Y"]], "bio")
    assert [(v.index, v.current) for v in error.value.violations] == [(1, "I-X"), (0, "I-Y")]


def test_repair_returns_what_was_wrong() -> None:
    tags, spans, violations = repair(["B-X", "I-Y", "O"], "bio", "begin")
    assert tags == ["B-X", "B-Y", "O"]
    assert spans == [Span(0, 1, "X"), Span(1, 2, "Y")]
    assert [(v.index, v.previous, v.current, v.kind) for v in violations] == [
        (1, "B-X", "I-Y", "label")
    ]


@pytest.mark.parametrize(
    "fail",
    [
        lambda: parse(["I-X", "O"], "bio"),
        lambda: parse(["Q"], "bio"),
        lambda: parse(["Q"], "nonsense"),
        lambda: parse(["Q"], "bio", "nonsense"),
        lambda: write([Span(0, 9, "X")], 1, "bio"),
        lambda: write([Span(0, 2, "X"), Span(1, 2, "X")], 2, "bio"),
        lambda: write([Span(0, 1, "X"), Span(1, 2, "X")], 2, "io"),
    ],
)
def test_errors_survive_pickling(fail: Callable[[], object]) -> None:
    with pytest.raises(IobesError) as caught:
        fail()
    error = caught.value
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert vars(error), "an error without its facts"


def test_what_a_violation_is() -> None:
    violation = Violation(1, "O", "I-X", "start", "why")
    assert violation == Violation(1, "O", "I-X", "start", "why")
    assert pickle.loads(pickle.dumps(violation)) == violation
    assert issubclass(MalformedTagsError, TagError)
    assert issubclass(TagError, ValueError)
