"""What is a tag and what is not: labels of every kind, empty input, tags that cannot be read."""

from __future__ import annotations

from typing import Any, cast

import pytest

from spacy_iobes import (
    POLICIES,
    convert,
    convert_many,
    parse,
    parse_many,
    repair,
    repair_many,
    validate,
    validate_many,
    write,
    write_many,
)
from spacy_iobes.errors import TagError, UnreadableTagError

from .by_hand import PREFIXES

LABELS = ["ORG", "B-side", "EU-GRANT", "creative-work", "O", "B", "I-", "-", "--", "ø 1", "$"]
UNREADABLE = ["X-ORG", "ORG", "B-", "O-X", "O-", "", "--", "-ORG", "b-ORG", "BI-ORG", " B-ORG", "$"]

every_scheme = pytest.mark.parametrize("scheme", PREFIXES)
every_policy = pytest.mark.parametrize("policy", POLICIES)


@every_scheme
@pytest.mark.parametrize("label", LABELS)
def test_labels_of_every_kind(scheme: str, label: str) -> None:
    spans = [(0, 1, label), (2, 5, label)]
    tags = write(spans, 6, scheme)
    assert all(tag == "O" or tag.endswith(f"-{label}") for tag in tags)
    assert parse(tags, scheme) == spans


def test_labels_that_look_like_prefixes() -> None:
    tags = ["B-B-side", "I-B-side", "B-O", "B-B", "I-B", "O", "B-EU-GRANT"]
    spans = [(0, 2, "B-side"), (2, 3, "O"), (3, 5, "B"), (6, 7, "EU-GRANT")]
    assert parse(tags, "bio") == spans
    assert convert(tags, "bio", "bilou") == [
        *("B-B-side", "L-B-side", "U-O", "B-B", "L-B", "O", "U-EU-GRANT")
    ]
    assert parse(["BE-BE", "B-E", "E-E"], "bie") == [(0, 1, "BE"), (1, 3, "E")]


def test_untyped_tags() -> None:
    assert parse(["B", "I", "O", "B"], "bio") == [(0, 2, ""), (3, 4, "")]
    assert convert(["B", "I", "O", "B"], "bio", "iobes") == ["B", "E", "O", "S"]
    assert parse(["B", "I-X"], "bio", "begin") == [(0, 1, ""), (1, 2, "X")]
    assert [v.kind for v in validate(["B", "I-X"], "bio")] == ["label"]
    assert repair(["I", "I"], "bio", "begin").tags == ["B", "I"]
    assert parse(["BE", "B", "E"], "bie") == [(0, 1, ""), (1, 3, "")]
    assert convert(["B", "A", "O"], "bia", "bio") == ["B", "O", "O"]


@every_policy
def test_no_tokens_and_no_sentences(policy: str) -> None:
    assert parse([], "bio", policy) == []
    assert convert([], "bio", "io", policy) == []
    assert repair([], "bio", policy) == ([], [], [])
    assert list(parse_many([], "bio", policy)) == []
    assert list(parse_many([[], ["B-X"], []], "bio", policy)) == [[], [(0, 1, "X")], []]
    assert convert_many([], "bio", "iobes", policy) == []
    tags, spans, violations = repair_many([], "bio", policy)
    assert (tags, list(spans), list(violations)) == ([], [], [])


def test_nothing_to_validate_or_write() -> None:
    assert validate([], "iobes") == []
    assert list(validate_many([], "iobes")) == []
    assert list(validate_many([[], []], "iobes")) == [[], []]
    assert write([], 0, "bio") == []
    assert write([], 2, "bio") == ["O", "O"]
    assert write_many([], [], "bio") == []
    assert write_many([[], []], [0, 1], "bia") == [[], ["O"]]


@every_policy
@pytest.mark.parametrize("tag", UNREADABLE)
def test_unreadable_tags_are_refused_by_every_policy(tag: str, policy: str) -> None:
    tags = ["B-ORG", "O", tag, "I-ORG", "Z-ORG"]
    for verb in (
        lambda: parse(tags, "bio", policy),
        lambda: repair(tags, "bio", policy),
        lambda: convert(tags, "bio", "iobes", policy),
    ):
        with pytest.raises(UnreadableTagError) as error:
            verb()
        assert (error.value.tag, error.value.sentence, error.value.index) == (tag, 0, 2)
        assert repr(tag) in str(error.value)
        assert "token 2" in str(error.value)
        assert "bio" in str(error.value)


@every_policy
def test_unreadable_tags_in_a_corpus(policy: str) -> None:
    corpus = [[], ["B-X", "I-X"], [], ["O", "O", "E-X"], ["Z"]]
    with pytest.raises(UnreadableTagError, match=r"sentence 3, token 2: 'E-X'") as error:
        parse_many(corpus, "bio", policy)
    assert (error.value.tag, error.value.sentence, error.value.index) == ("E-X", 3, 2)
    assert isinstance(error.value, TagError)


@pytest.mark.parametrize("tag", UNREADABLE)
def test_unreadable_tags_are_violations(tag: str) -> None:
    found = validate(["B-ORG", tag, "I-ORG", "O", "I-ORG"], "bio")
    # what follows an unreadable tag is not judged
    assert [(v.index, v.previous, v.current, v.kind) for v in found] == [
        (1, "B-ORG", tag, "unreadable"),
        (4, "O", "I-ORG", "start"),
    ]
    assert repr(tag) in found[0].message


@every_scheme
def test_the_prefixes_of_other_schemes_cannot_be_read(scheme: str) -> None:
    foreign = {prefix for prefixes in PREFIXES.values() for prefix in prefixes}
    for prefix in foreign - set(PREFIXES[scheme]):
        assert [v.kind for v in validate([f"{prefix}-X"], scheme)] == ["unreadable"]


@pytest.mark.parametrize("tag", [None, 3, b"O", ("B", "X"), ["O"], float("nan")])
def test_tags_that_are_no_strings(tag: object) -> None:
    for verb in (
        lambda: parse(cast(Any, ["O", tag]), "bio"),
        lambda: validate(cast(Any, ["O", tag]), "bio"),
        lambda: repair(cast(Any, ["O", tag]), "bio", "begin"),
        lambda: convert(cast(Any, ["O", tag]), "bio", "io"),
    ):
        with pytest.raises(TypeError, match=r"token 1.*str"):
            verb()
    with pytest.raises(TypeError, match="Sentence 2, token 1"):
        parse_many(cast(Any, [[], ["O"], ["O", tag]]), "bio")


@pytest.mark.parametrize("text", ["", "O", "B-X I-X"])
def test_a_string_is_no_list_of_tags(text: str) -> None:
    for verb in (
        lambda: parse(text, "bio"),
        lambda: validate(text, "bio"),
        lambda: repair(text, "bio", "begin"),
        lambda: convert(text, "bio", "io"),
        lambda: parse_many(text, "bio"),
        lambda: validate_many(text, "bio"),
        lambda: parse_many([["O"], text], "bio"),
        lambda: parse_many(cast(Any, text.encode()), "bio"),
        lambda: parse_many(cast(Any, [text.encode()]), "bio"),
    ):
        with pytest.raises(TypeError, match="list of"):
            verb()


def test_sentences_of_other_kinds() -> None:
    expected = [[(0, 2, "X")], []]
    tags = [["B-X", "I-X"], ["O"]]
    assert list(parse_many([("B-X", "I-X"), ("O",)], "bio")) == expected
    assert list(parse_many(cast(Any, map(iter, tags)), "bio")) == expected
    assert parse(("B-X", "I-X"), "bio") == expected[0]
    assert convert(("B-X", "I-X"), "bio", "iobes") == ["B-X", "E-X"]


def test_the_input_stays_as_it_was() -> None:
    tags = ["I-X", "O", "I-X"]
    for policy in ("begin", "nearest"):
        repair(tags, "bio", policy)
        convert(tags, "bio", "iobes", policy)
    assert tags == ["I-X", "O", "I-X"]
