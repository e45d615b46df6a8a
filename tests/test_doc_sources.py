"""Where tags are read from and spans written to: every place, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import Span
from spacy_iobes.codes import get_scheme
from spacy_iobes.corpus import ToEntities, get_source, get_span_target, get_target
from spacy_iobes.errors import AlignmentError, OverlapError, SpanError, UnknownNameError

from .docs import (
    TAGS,
    bare,
    component,
    group,
    ids,
    stored,
    with_entities,
    with_extension,
    with_group,
    with_tags,
    with_token_tags,
)

MIXED = ["-", "B-X", "I-X", "!", "O", "I-Y", "-"]
KNOWN = "user_data, user_data:KEY, ents, tag, token:NAME, spans:KEY"

MAKERS: dict[str, Callable[[Sequence[str]], Doc]] = {
    "user_data": with_tags,
    "user_data:mine": lambda tags: with_tags(tags, "mine"),
    "ents": with_entities,
    "tag": with_token_tags,
    "token:test_tag": with_extension,
}
every_source = pytest.mark.parametrize("source", MAKERS)


def read(source: str, *docs: Doc, scheme: str = "bio") -> list[list[str]]:
    return get_source(source).read(docs, get_scheme(scheme)).lists()


@every_source
def test_every_source_reads_what_was_put_there(source: str) -> None:
    make = MAKERS[source]
    assert read(source, make(MIXED), make([]), make(["B-Y"])) == [MIXED, [], ["B-Y"]]


@pytest.mark.parametrize("source", [*MAKERS, "spans:sc"])
def test_no_docs_and_empty_docs(source: str) -> None:
    assert read(source) == []
    assert read(source, bare(0), bare(0)) == [[], []]


@every_source
def test_docs_need_not_share_a_vocabulary(source: str) -> None:
    docs = [with_entities(["B-first"], Vocab()), with_entities(["B-second"], Vocab())]
    for doc in docs:
        doc.user_data |= {TAGS: stored(doc), "mine": stored(doc)}
        doc[0].tag_ = stored(doc)[0]
        doc[0]._.set("test_tag", stored(doc)[0])
    assert read(source, *docs) == [["B-first"], ["B-second"]]


def test_a_token_without_a_tag_is_missing() -> None:
    assert read("user_data", with_tags([None, "", "-", "O"])) == [["-", "-", "-", "O"]]
    assert read("token:test_tag", with_extension([None, "", "O"])) == [["-", "-", "O"]]
    assert read("tag", with_token_tags(["", "-", "O"])) == [["-", "-", "O"]]


def test_two_ways_to_have_no_tag_are_one() -> None:
    doc = component("iobes_repairer", scheme="bio", policy="begin", source="tag")(
        with_token_tags(["", "-", "B-X", "O"])
    )
    assert stored(doc) == ["-", "-", "B-X", "O"]


def test_tags_may_be_a_tuple_as_they_come_out_of_a_doc_bin() -> None:
    doc = bare(2)
    doc.user_data[TAGS] = ("B-X", "O")
    assert read("user_data", doc) == [["B-X", "O"]]


def test_span_groups_are_written_as_tags() -> None:
    doc = with_group([(2, 3, "Y"), (0, 2, "X")], 4)
    assert read("spans:sc", doc) == [["B-X", "I-X", "B-Y", "O"]]
    assert read("spans:sc", doc, scheme="iobes") == [["B-X", "E-X", "S-Y", "O"]]
    assert read("spans:none", doc) == [["O"] * 4]


def test_spans_that_share_a_token_are_no_tags() -> None:
    doc = with_group([(0, 2, "X"), (1, 3, "Y")], 4)
    with pytest.raises(OverlapError, match=r"the Doc 'w0 w1 w2 w3', doc.spans\['sc'\]: \(0, 2, 'X"):
        read("spans:sc", doc)
    same = with_group([(0, 2, "X"), (0, 2, "X")], 4)
    with pytest.raises(OverlapError):
        read("spans:sc", same)


def test_entities_are_bio_and_nothing_else() -> None:
    with pytest.raises(UnknownNameError, match="stored as bio, not iobes"):
        read("ents", with_entities(["O"]), scheme="iobes")
    with pytest.raises(UnknownNameError, match="stored as bio, not iobes"):
        component("iobes_repairer", scheme="iobes", policy="begin", source="ents")
    with pytest.raises(UnknownNameError, match="stored as bio, not iobes"):
        component("iobes_validator", scheme="iobes", source="ents")


def test_an_inside_without_a_label_is_unreadable() -> None:
    repairer = component("iobes_repairer", scheme="bio", policy="begin", source="ents")
    with pytest.raises(ValueError, match=r"token 1: 'I-' is not a tag of bio.*No policy repairs"):
        repairer(with_entities(["O", "I", "O"]))


@pytest.mark.parametrize("tags", [["O"], ["O"] * 3, ()])
def test_one_tag_for_each_token(tags: Sequence[str]) -> None:
    doc = bare(2)
    doc.user_data[TAGS] = tags
    with pytest.raises(AlignmentError, match=f"the Doc 'w0 w1' has 2 tokens but {len(tags)} tags"):
        read("user_data", doc)


def test_tags_of_an_empty_doc() -> None:
    doc = bare(0)
    doc.user_data[TAGS] = ["O"]
    with pytest.raises(AlignmentError, match="0 tokens but 1 tags"):
        read("user_data", doc)


def test_a_doc_without_tags() -> None:
    with pytest.raises(AlignmentError, match=r"put a list of 2 into doc.user_data\['mine'\]"):
        read("user_data:mine", bare(2))


def test_a_long_doc_is_named_by_its_first_words() -> None:
    with pytest.raises(AlignmentError, match="the Doc 'w0 w1 w2 w3 w4 w5 w6 w7 …' has no tags"):
        read("user_data", bare(9))


def test_an_extension_that_nobody_made() -> None:
    hint = r"Token.set_extension\('nobody', default=None\)"
    with pytest.raises(AlignmentError, match=hint):
        read("token:nobody", bare(1))
    target = get_target("token:nobody")
    assert not target.holds_spans
    with pytest.raises(AlignmentError, match=hint):
        target.write(bare(1), ["O"])


@pytest.mark.parametrize("tags", ["OO", b"OO", 2, {"O": 1, "B": 2}, np.array(["O", "O"])])
def test_tags_that_are_no_list(tags: Any) -> None:
    doc = bare(2)
    doc.user_data[TAGS] = tags
    with pytest.raises(TypeError, match="is a list of tags, not"):
        read("user_data", doc)


@pytest.mark.parametrize("tag", [1, b"O", ["O"], 1.5, float("nan"), True, np.array([1, 2])])
@pytest.mark.parametrize("first", ["O", None])
def test_tags_that_are_no_strings(tag: Any, first: str | None) -> None:
    with pytest.raises(TypeError, match="the Doc 'w0 w1', token 1: a tag is a str, not"):
        read("user_data", with_tags(["O", "O"]), with_tags([first, tag]))
    if not isinstance(tag, np.ndarray):
        with pytest.raises(TypeError, match="the Doc 'w0 w1', token 1: a tag is a str, not"):
            read("token:test_tag", with_extension([first, tag]))


@pytest.mark.parametrize(
    "name", ["", "user", "user_data:", "tag:x", "ents:x", "token", "token:", "spans", "spans:", ":"]
)
def test_unknown_places(name: str) -> None:
    for find in (get_source, get_target, get_span_target):
        with pytest.raises(UnknownNameError) as error:
            find(name)
        assert repr(name) in str(error.value)
        assert f"Known: {KNOWN}." in str(error.value)


@pytest.mark.parametrize("name", ["user_data", "tag", "token:x"])
def test_places_that_hold_no_spans(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"holds no spans\. Known: ents, spans:KEY"):
        get_span_target(name)


def test_entities_are_written_with_what_is_missing_and_blocked() -> None:
    doc = with_entities(["I-Y", "B-Y", "O", "-", "!", "I-Z"])
    ToEntities().write(doc, [Span(3, 4, "Y"), Span(0, 2, "X")], [2], [5])
    assert stored(doc) == ["B-X", "I-X", "-", "B-Y", "O", "!"]


def test_entities_that_touch_stay_two() -> None:
    doc = bare(4)
    ToEntities().write(doc, [Span(0, 1, "X"), Span(1, 3, "X"), Span(3, 4, "X")], [], [])
    assert stored(doc) == ["B-X", "B-X", "I-X", "B-X"]
    assert [(e.start, e.end) for e in doc.ents] == [(0, 1), (1, 3), (3, 4)]


def test_entities_of_a_new_label() -> None:
    doc = bare(1, Vocab())
    ToEntities().write(doc, [Span(0, 1, "a label nobody has seen")], [], [])
    assert doc.ents[0].label_ == "a label nobody has seen"


def linked() -> Doc:
    """X with ids on two tokens, Y with ids on one, and a token between them."""
    doc = bare(4)
    first = DocSpan(doc, 0, 2, "X", kb_id="Q1", span_id="one")
    doc.set_ents([first, DocSpan(doc, 3, 4, "Y", kb_id="Q2", span_id="two")])
    return doc


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 2, "X"), (3, 4, "Y")], [("Q1", "one")] * 2 + [("", "")] + [("Q2", "two")]),
        ([(0, 3, "X")], [("Q1", "one")] * 3 + [("", "")]),
        ([(0, 1, "X"), (1, 2, "X")], [("Q1", "one")] * 2 + [("", "")] * 2),
        ([(0, 2, "Z"), (3, 4, "X")], [("", "")] * 4),
        ([(2, 4, "Y")], [("", "")] * 4),
        ([], [("", "")] * 4),
    ],
)
def test_an_entity_keeps_its_ids_and_no_other_has_them(
    spans: list[tuple[int, int, str]], expected: list[tuple[str, str]]
) -> None:
    doc = linked()
    ToEntities().write(doc, [Span(*span) for span in spans], [], [])
    assert ids(doc) == expected
    assert [(e.start, e.end, e.label_) for e in doc.ents] == spans


def test_an_entity_has_a_label() -> None:
    repairer = component("iobes_repairer", scheme="bio", policy="begin")
    docs = [with_tags(["B-X", "O"]), with_tags(["O", "B"])]
    with pytest.raises(SpanError, match="the Doc 'w0 w1', tokens 1 to 1: a span without a label"):
        list(repairer.pipe(docs))
    assert stored(docs[1]) == ["-", "-"]
    assert docs[1].user_data == {TAGS: ["O", "B"]}
    other = component("iobes_repairer", scheme="bio", policy="begin", target="spans:sc")
    assert group(other(docs[1])) == [(1, 2, "")]


def test_span_groups_are_replaced() -> None:
    doc = with_group([(0, 1, "old")], 3)
    target = get_span_target("spans:sc")
    target.write(doc, [Span(1, 3, "new")], [0], [])
    assert group(doc) == [(1, 3, "new")]


TARGETS = ("user_data", "user_data:mine", "tag", "token:test_tag")


@pytest.mark.parametrize("target", TARGETS)
def test_tags_are_written_to_every_place(target: str) -> None:
    place, doc = get_target(target), bare(len(MIXED))
    assert not place.holds_spans
    place.write(doc, MIXED)
    assert read(target, doc) == [MIXED]


def test_a_tagger_does_not_learn_from_a_missing_token() -> None:
    place, doc = get_target("tag"), bare(3)
    assert not place.holds_spans
    place.write(doc, ["B-X", "-", "O"])
    assert [token.tag_ for token in doc] == ["B-X", "", "O"]


def test_entities_are_written_whatever_holds_the_tokens_without_any() -> None:
    """An empty tuple is no token; as an index of an array it would be all of them."""
    nothing: list[Sequence[int]] = [[], ()]
    for none in nothing:
        doc = Doc(Vocab(), words=["a", "b", "c", "d"])
        ToEntities().write(doc, [Span(1, 2, "X")], none, none)
        assert [token.ent_iob_ for token in doc] == ["O", "B", "O", "O"]
        ToEntities().write(doc, [Span(1, 2, "X")], (0,), (3,))
        assert [(token.ent_iob_, token.ent_type_) for token in doc] == [
            ("", ""),
            ("B", "X"),
            ("O", ""),
            ("B", ""),
        ]
