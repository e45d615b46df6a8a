"""The components `iobes_validator`, `iobes_repairer` and `iobes_converter`, Doc by Doc."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import spacy
from confection import ConfigValidationError
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.util import ignore_error

from spacy_iobes import Span
from spacy_iobes.errors import (
    AlignmentError,
    InexpressibleError,
    MalformedTagsError,
    MalformedTagsWarning,
    UnknownNameError,
    UnreadableTagError,
)
from spacy_iobes.pipeline import TagChange, Validator

from . import by_hand, policies_by_hand, strategies
from .docs import (
    TAGS,
    VOCAB,
    bare,
    bio,
    component,
    group,
    ids,
    pipeline,
    stored,
    with_entities,
    with_group,
    with_tags,
    with_token_tags,
)

LEGAL = ["B-X", "I-X", "O", "-", "!", "B-Y"]
BROKEN = ["I-X", "I-Y", "O", "-", "I-Y", "!"]
FOUND = [(0, None, "I-X", "start"), (1, "I-X", "I-Y", "label"), (4, None, "I-Y", "start")]
"""What is wrong with BROKEN: the token, the tags on both sides, and the kind."""

TAG_PLACES = ("user_data", "user_data:other", "tag", "token:test_tag")
every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)


def validator(**config: Any) -> Any:
    return component("iobes_validator", **{"scheme": "bio"} | config)


def repairer(**config: Any) -> Any:
    return component("iobes_repairer", **{"scheme": "bio", "policy": "begin"} | config)


def converter(**config: Any) -> Any:
    return component("iobes_converter", **{"scheme": "bio"} | config)


def found(doc: Doc) -> list[tuple[int, str | None, str | None, str]]:
    return [(v.index, v.previous, v.current, v.kind) for v in doc._.iobes_violations]


def with_sentences(tags: list[str], *starts: int) -> Doc:
    doc = Doc(
        VOCAB,
        words=[f"w{number}" for number in range(len(tags))],
        sent_starts=[number in starts for number in range(len(tags))],
    )
    doc.user_data[TAGS] = tags
    return doc


class TestValidator:
    def test_records_violations_and_changes_nothing(self) -> None:
        doc = with_tags(BROKEN)
        before = doc.to_bytes(exclude=["user_data"])
        assert validator(on_error="ignore")(doc) is doc
        assert found(doc) == FOUND
        assert [v.token for v in doc._.iobes_violations] == ["w0", "w1", "w4"]
        assert doc.user_data[TAGS] == BROKEN
        assert doc.to_bytes(exclude=["user_data"]) == before

    def test_legal_tags_have_no_violations(self) -> None:
        doc = validator()(with_tags(LEGAL))
        assert doc._.iobes_violations == []

    def test_a_token_without_a_tag_is_named(self) -> None:
        doc = validator(on_error="ignore")(with_tags(["-", "I-X"]))
        (wrong,) = doc._.iobes_violations
        assert str(wrong) == (
            "token 1: a token without a tag -> I-X: I cannot start a span here, B can"
        )

    def test_the_end_of_a_doc(self) -> None:
        doc = validator(scheme="iobes", on_error="ignore")(with_tags(["O", "B-X"]))
        assert found(doc) == [(2, "B-X", None, "end")]
        assert doc._.iobes_violations[0].token == "w1"

    def test_an_unreadable_tag_is_a_violation(self) -> None:
        doc = validator(on_error="ignore")(with_tags(["O", "X-X", "O"]))
        assert found(doc) == [(1, "O", "X-X", "unreadable")]

    def test_warn(self) -> None:
        with pytest.warns(MalformedTagsWarning) as warned:
            doc = validator()(with_tags(BROKEN))
        (warning,) = warned
        start = "iobes_validator: the Doc 'w0 w1 w2 w3 w4 w5' is not legal bio: token 0: "
        assert str(warning.message).startswith(start)
        assert found(doc) == FOUND

    def test_many_violations_are_counted(self) -> None:
        with pytest.warns(MalformedTagsWarning, match="token 8: .*; and 2 more.$") as warned:
            validator()(with_tags(["I-X", "O"] * 7))
        assert len(warned) == 1

    def test_raise(self) -> None:
        doc = with_tags(BROKEN)
        with pytest.raises(MalformedTagsError, match=r"In the Doc 'w0 w1 .* token 4") as error:
            validator(on_error="raise")(doc)
        assert len(error.value.violations) == 3
        assert set(doc.user_data) == {TAGS}

    def test_marks_are_renewed(self) -> None:
        doc = validator(on_error="ignore")(with_tags(BROKEN))
        doc.user_data[TAGS] = LEGAL
        assert validator()(doc)._.iobes_violations == []

    def test_sentences(self) -> None:
        doc = with_sentences(["B-X", "I-X", "I-X"], 0, 2)
        assert found(validator(on_error="raise")(doc)) == []
        assert found(validator(on_error="ignore", unit="sentence")(doc)) == [
            (2, None, "I-X", "start")
        ]

    def test_entities_are_looked_at_without_reading_doc_ents(self) -> None:
        doc = with_entities(BROKEN)
        assert found(validator(source="ents", on_error="ignore")(doc)) == FOUND
        assert stored(doc) == BROKEN

    @given(scheme=strategies.schemes, data=st.data())
    def test_violations_are_the_pairs_that_no_legal_sequence_has(
        self, scheme: str, data: st.DataObject
    ) -> None:
        tags = data.draw(st.lists(st.sampled_from(by_hand.all_tags(scheme)), max_size=8))
        legal = by_hand.legal_neighbours(scheme)
        said = by_hand.spoken(tags, scheme)
        pairs = list(zip(["^", *said], [*said, "$"])) if tags else []
        doc = kept("iobes_validator", scheme=scheme, on_error="ignore")(with_tags(tags))
        wrong = [i for i, pair in enumerate(pairs) if pair not in legal]
        assert [v.index for v in doc._.iobes_violations] == wrong

    def test_a_wrong_name_in_python(self) -> None:
        with pytest.raises(UnknownNameError, match="Known: warn, raise, ignore"):
            Validator("v", scheme="bio", on_error="error")  # type: ignore[arg-type]
        strange = Validator("v", scheme="bio", unit="page")  # type: ignore[arg-type]
        with pytest.raises(UnknownNameError, match=r"Unknown unit 'page'\. Known: doc, sentence"):
            strange(with_tags(["O"]))


class TestRepairer:
    def test_tags_become_entities(self) -> None:
        doc = repairer()(with_tags(BROKEN))
        assert stored(doc) == ["B-X", "B-Y", "O", "-", "B-Y", "!"]
        assert found(doc) == FOUND
        assert doc._.iobes_changes == [
            TagChange(0, "I-X", "B-X"),
            TagChange(1, "I-Y", "B-Y"),
            TagChange(4, "I-Y", "B-Y"),
        ]
        assert doc.user_data[TAGS] == BROKEN

    def test_legal_tags_change_nothing(self) -> None:
        doc = repairer(policy="raise")(with_tags(LEGAL))
        assert stored(doc) == LEGAL
        assert (doc._.iobes_violations, doc._.iobes_changes) == ([], [])

    def test_what_was_there_is_replaced(self) -> None:
        doc = with_entities(["B-Z", "I-Z", "!", "-", "I-Z", "O"])
        doc.user_data[TAGS] = LEGAL
        assert stored(repairer()(doc)) == LEGAL

    def test_raise(self) -> None:
        doc = with_tags(BROKEN)
        with pytest.raises(MalformedTagsError, match=r"In the Doc 'w0 w1 .*Not legal bio: token 0"):
            repairer(policy="raise")(doc)
        assert set(stored(doc)) == {"-"}
        assert set(doc.user_data) == {TAGS}

    @pytest.mark.parametrize("policy", ["begin", "discard", "nearest"])
    def test_what_no_policy_can_read(self, policy: str) -> None:
        docs = [with_tags(["-", "O"]), with_tags(["-", "b-X"])]
        with pytest.raises(UnreadableTagError, match="In the Doc 'w0 w1', token 1: 'b-X'"):
            list(repairer(policy=policy).pipe(docs))

    def test_a_span_group(self) -> None:
        doc = with_entities(["B-Z"] * 6)
        doc.user_data[TAGS] = BROKEN
        repairer(target="spans:sc")(doc)
        assert group(doc) == [(0, 1, "X"), (1, 2, "Y"), (4, 5, "Y")]
        assert stored(doc) == ["B-Z"] * 6

    def test_sentences_bound_spans(self) -> None:
        tags = ["B-X", "I-X", "I-X"]
        assert stored(repairer(unit="sentence")(with_sentences(tags, 0, 2))) == [
            "B-X",
            "I-X",
            "B-X",
        ]
        assert stored(repairer(unit="sentence")(with_tags(tags))) == tags
        assert stored(repairer()(with_sentences(tags, 0, 2))) == tags

    def test_legal_entities_are_left_alone(self) -> None:
        doc = with_entities(LEGAL)
        doc[1].ent_id_ = "an id on one token only"
        before = doc.to_bytes()
        after = repairer(source="ents")(doc)
        del after.user_data["iobes_violations"], after.user_data["iobes_changes"]
        assert after.to_bytes() == before

    def test_malformed_entities_are_repaired_in_place(self) -> None:
        doc = with_entities(BROKEN)
        with pytest.raises(ValueError, match="E093"):
            _ = doc.ents
        assert stored(repairer(source="ents")(doc)) == ["B-X", "B-Y", "O", "-", "B-Y", "!"]
        assert [ent.text for ent in doc.ents] == ["w0", "w1", "w4"]

    def test_ids_of_malformed_entities_are_kept(self) -> None:
        doc = with_entities(["I-X", "I-X", "O", "B-Y", "I-Z"])
        for number, kb_id in ((0, "Q1"), (1, "Q1"), (3, "Q2"), (4, "Q2")):
            doc[number].ent_kb_id_, doc[number].ent_id_ = kb_id, f"id {kb_id}"
        repairer(source="ents", policy="stanza")(doc)
        assert [(e.start, e.end, e.label_) for e in doc.ents] == [(0, 2, "X"), (3, 5, "Z")]
        assert ids(doc) == [("Q1", "id Q1")] * 2 + [("", "")] * 3

    def test_the_other_sources(self) -> None:
        repaired = ["B-X", "B-Y", "O", "-", "B-Y", "!"]
        assert stored(repairer(source="tag")(with_token_tags(BROKEN))) == repaired
        assert stored(repairer(source="spans:sc")(with_group([(1, 3, "X")], 4))) == [
            "O",
            "B-X",
            "I-X",
            "O",
        ]

    @settings(max_examples=800)
    @given(scheme=strategies.schemes, policy=strategies.repairs, data=st.data())
    def test_every_policy_by_hand(self, scheme: str, policy: str, data: st.DataObject) -> None:
        tag = st.sampled_from(by_hand.all_tags(scheme)) | st.sampled_from("-!")
        longest = 5 if policy == "nearest" else 9
        rows = data.draw(st.lists(st.lists(tag, max_size=longest), max_size=3))
        docs = [with_tags(tags) for tags in rows]
        list(kept("iobes_repairer", scheme=scheme, policy=policy).pipe(docs))
        for tags, doc in zip(rows, docs):
            assert stored(doc) == bio(policies_by_hand.in_pieces(tags, scheme, policy), tags)

    @given(scheme=strategies.schemes, data=st.data())
    def test_every_scheme_in_sentences(self, scheme: str, data: st.DataObject) -> None:
        tags = data.draw(st.lists(st.sampled_from(by_hand.all_tags(scheme)), max_size=8))
        starts = [i for i in range(1, len(tags)) if data.draw(st.booleans())]
        doc = with_sentences(tags, 0, *starts)
        kept("iobes_repairer", scheme=scheme, policy="begin", unit="sentence")(doc)
        assert stored(doc) == bio(policies_by_hand.in_pieces(tags, scheme, "begin", starts), tags)

    @given(scheme=strategies.schemes, data=st.data())
    def test_changes_are_the_tags_that_the_spans_are_not_written_as(
        self, scheme: str, data: st.DataObject
    ) -> None:
        tags = data.draw(st.lists(st.sampled_from(by_hand.all_tags(scheme)), max_size=9))
        doc = kept("iobes_repairer", scheme=scheme, policy="begin")(with_tags(tags))
        written = by_hand.encode(by_hand.begin(tags, scheme), len(tags), scheme)
        assert doc._.iobes_changes == [
            TagChange(i, old, new) for i, (old, new) in enumerate(zip(tags, written)) if old != new
        ]


class TestConverter:
    @every_scheme
    def test_entities_become_tags(self, scheme: str) -> None:
        spans = [Span(1, 2, "X"), Span(2, 5, "Y"), Span(6, 8, "X")]
        tags = list(by_hand.encode(spans, 9, scheme))
        doc = converter(scheme=scheme)(with_entities(by_hand.encode(spans, 9, "bio")))
        assert doc.user_data == {TAGS: tags}
        back = converter(scheme=scheme, source="user_data", target="spans:sc")(with_tags(tags))
        assert group(back) == spans

    def test_missing_and_blocked_tokens_cut(self) -> None:
        doc = with_entities(["B-X", "-", "B-X", "!", "B-X", "I-X", "-"])
        assert converter(scheme="iobes")(doc).user_data[TAGS] == (
            ["S-X", "-", "S-X", "!", "B-X", "E-X", "-"]
        )
        assert converter(scheme="io")(doc).user_data[TAGS] == (
            ["I-X", "-", "I-X", "!", "I-X", "I-X", "-"]
        )
        assert converter(scheme="bia")(doc).user_data[TAGS][-1] == "-"

    @settings(max_examples=400)
    @given(scheme=strategies.schemes, target=st.sampled_from(TAG_PLACES), data=st.data())
    def test_to_tags_and_back(self, scheme: str, target: str, data: st.DataObject) -> None:
        spans, length = data.draw(strategies.spans(scheme))
        labelled = [span._replace(label=span.label or "Z") for span in spans]
        assume(by_hand.expressible(labelled, scheme))
        tags = list(by_hand.encode(labelled, length, "bio"))
        for number in data.draw(st.sets(st.integers(0, max(length - 1, 0)), max_size=2)):
            cut(tags, number, data.draw(st.sampled_from("-!")))
        doc = with_entities(tags)
        kept("iobes_converter", scheme=scheme, target=target)(doc)
        doc.set_ents([])
        kept("iobes_converter", scheme=scheme, source=target, target="ents")(doc)
        assert stored(doc) == tags

    def test_tags_to_tags(self) -> None:
        doc = converter(source="user_data", target="tag", scheme="bio", target_scheme="bilou")(
            with_tags(["B-X", "I-X", "-", "B-Y"])
        )
        assert [token.tag_ for token in doc] == ["B-X", "L-X", "", "U-Y"]

    def test_a_policy_for_malformed_tags(self) -> None:
        doc = with_entities(BROKEN)
        with pytest.raises(MalformedTagsError):
            converter(scheme="iobes")(doc)
        assert converter(scheme="iobes", policy="begin")(doc).user_data[TAGS] == (
            ["S-X", "S-Y", "O", "-", "S-Y", "!"]
        )

    def test_spans_that_a_scheme_cannot_tell_apart(self) -> None:
        doc = with_entities(["O", "-", "B-X", "I-X", "B-X"])
        with pytest.raises(InexpressibleError) as error:
            list(converter(scheme="io").pipe([with_entities(["B-X"]), doc]))
        assert str(error.value).startswith(
            "In the Doc 'w0 w1 w2 w3 w4': io cannot tell apart (2, 4, 'X') and (4, 5, 'X')"
        )
        assert error.value.spans == (Span(2, 4, "X"), Span(4, 5, "X"))
        assert doc.user_data == {}

    def test_sentences_are_written_one_by_one(self) -> None:
        doc = with_sentences(["I-X", "I-X"], 0, 1)
        config = {"source": "user_data", "scheme": "iob1", "target_scheme": "bio"}
        assert converter(**config)(doc).user_data[TAGS] == ["B-X", "I-X"]
        doc.user_data[TAGS] = ["I-X", "I-X"]
        assert converter(**config, unit="sentence")(doc).user_data[TAGS] == ["B-X", "B-X"]


def cut(tags: list[str], number: int, absent: str) -> None:
    """Take a token out of its span; what was behind it begins another one."""
    if tags:
        tags[number] = absent
    if tags[number + 1 : number + 2] and tags[number + 1].startswith("I"):
        tags[number + 1] = f"B{tags[number + 1][1:]}"


@cache
def kept(factory: str, **config: str) -> Any:
    """A component that is made once."""
    return component(factory, **config)


FACTORIES: dict[str, dict[str, Any]] = {
    "iobes_validator": {"scheme": "bio", "on_error": "raise"},
    "iobes_repairer": {"scheme": "bio", "policy": "raise"},
    "iobes_converter": {"scheme": "bio", "source": "user_data", "target": "ents"},
}
every_factory = pytest.mark.parametrize("factory", FACTORIES)


@every_factory
def test_empty_docs_empty_batches_and_single_tokens(factory: str) -> None:
    nlp = pipeline(factory, **FACTORIES[factory])
    assert list(nlp.pipe([])) == []
    assert len(nlp(bare(0, nlp.vocab))) == 0
    docs = list(nlp.pipe([with_tags([]), with_tags(["B-X"]), bare(0), with_tags(["-"])]))
    assert [len(doc) for doc in docs] == [0, 1, 0, 1]
    if factory != "iobes_validator":
        assert [stored(doc) for doc in docs] == [[], ["B-X"], [], ["-"]]


@every_factory
@pytest.mark.parametrize("wrong", [["I-X", "O"], ["O"], ["O"] * 3, [1, 2], "OO", ["E-X", "O"]])
def test_only_the_bad_doc_goes_to_the_error_handler(factory: str, wrong: Any) -> None:
    nlp = pipeline(factory, **FACTORIES[factory])
    bad = bare(2)
    bad.user_data[TAGS] = wrong
    seen: list[tuple[str, list[Doc], type[Exception]]] = []

    def handle(name: str, proc: Any, docs: list[Doc], error: Exception) -> Any:
        seen.append((name, docs, type(error)))

    nlp.set_error_handler(handle)
    docs = [with_tags(["B-X", "O"]), bad, with_tags(["O", "B-Y"])]
    assert list(nlp.pipe(docs)) == [docs[0], docs[2]]
    ((name, failed, kind),) = seen
    assert (name, failed) == (factory, [bad])
    assert issubclass(kind, (AlignmentError, MalformedTagsError, UnreadableTagError, TypeError))
    assert bad.user_data == {TAGS: wrong}
    if factory != "iobes_validator":
        assert [stored(doc) for doc in docs] == [["B-X", "O"], ["-", "-"], ["O", "B-Y"]]


@every_factory
def test_errors_can_be_ignored(factory: str) -> None:
    nlp = pipeline(factory, **FACTORIES[factory])
    nlp.set_error_handler(ignore_error)
    assert nlp(with_tags(["I-X"])).user_data == {TAGS: ["I-X"]}
    assert list(nlp.pipe([with_tags(["I-X"])])) == []


@every_factory
def test_errors_stop_the_pipeline_by_default(factory: str) -> None:
    nlp = pipeline(factory, **FACTORIES[factory])
    with pytest.raises(MalformedTagsError):
        nlp(with_tags(["I-X"]))
    with pytest.raises(MalformedTagsError):
        list(nlp.pipe([with_tags(["O"]), with_tags(["I-X"])]))


@pytest.mark.parametrize("batch_size", [1, 2, 1000])
def test_batches_are_no_other_than_single_docs(batch_size: int) -> None:
    rows = [BROKEN, [], LEGAL, ["I-X"], ["O", "O"], BROKEN[::-1]]
    nlp = pipeline("iobes_repairer", scheme="bio", policy="discard")
    alone = [nlp(with_tags(tags)) for tags in rows]
    together = list(nlp.pipe(map(with_tags, rows), batch_size=batch_size))
    assert [doc.to_bytes() for doc in together] == [doc.to_bytes() for doc in alone]


BAD = [
    ("iobes_repairer", {"scheme": "iob"}, "Known: io, iob1, bio, ioe1, ioe2, iobes, bilou"),
    ("iobes_repairer", {"policy": "fix"}, "Known: raise, begin, discard, ncrfpp, stanza, nearest"),
    ("iobes_converter", {"policy": "best"}, "raise, begin, discard, ncrfpp, stanza, nearest"),
    ("iobes_repairer", {"source": "ent"}, "Known: user_data, user_data:KEY, ents, tag, token:NAME"),
    ("iobes_repairer", {"target": "ent"}, "Known: user_data, user_data:KEY, ents, tag, token:NAME"),
    ("iobes_repairer", {"target": "tag"}, "Known: ents, spans:KEY"),
    ("iobes_repairer", {"unit": "page"}, "'doc', 'sentence'"),
    ("iobes_validator", {"scheme": "x"}, "Known: io, iob1, bio, ioe1, ioe2, iobes, bilou"),
    ("iobes_validator", {"source": "x"}, "Known: user_data, user_data:KEY, ents"),
    ("iobes_validator", {"on_error": "x"}, "'warn', 'raise', 'ignore'"),
    ("iobes_validator", {"unit": "x"}, "'doc', 'sentence'"),
    ("iobes_validator", {"polcy": "x"}, "polcy"),
    ("iobes_converter", {"scheme": "x"}, "Known: io, iob1, bio, ioe1, ioe2, iobes, bilou"),
    ("iobes_converter", {"target_scheme": "x"}, "Known: io, iob1, bio, ioe1, ioe2, iobes, bilou"),
    ("iobes_converter", {"policy": "x"}, "Known: raise, begin, discard, ncrfpp, stanza, nearest"),
    ("iobes_converter", {"target": "x"}, "Known: user_data, user_data:KEY, ents, tag"),
    ("iobes_converter", {"source": "x"}, "Known: user_data, user_data:KEY, ents, tag"),
]


@pytest.mark.parametrize(("factory", "wrong", "message"), BAD)
def test_a_wrong_name_in_a_config(factory: str, wrong: dict[str, str], message: str) -> None:
    config = FACTORIES[factory] | wrong
    with pytest.raises((UnknownNameError, ConfigValidationError), match=message):
        spacy.blank("en").add_pipe(factory, config=config)


@pytest.mark.parametrize(
    ("factory", "missing"),
    [("iobes_validator", "scheme"), ("iobes_repairer", "policy"), ("iobes_converter", "scheme")],
)
def test_what_must_be_said(factory: str, missing: str) -> None:
    config = {key: value for key, value in FACTORIES[factory].items() if key != missing}
    with pytest.raises(
        ConfigValidationError, match=rf"required argument: '{missing}'|{missing}\s+field required"
    ):
        spacy.blank("en").add_pipe(factory, config=config)


def test_iob_is_two_schemes() -> None:
    with pytest.raises(UnknownNameError, match="say 'iob1' or 'iob2'"):
        pipeline("iobes_validator", scheme="IOB")


def test_repaired_entities_stay_in_spacy_s_hands() -> None:
    """The whole way: malformed to repaired to spans, JSON and slices."""
    doc = repairer(source="ents")(with_entities(["O", "I-X", "I-X"]))
    assert doc.to_json()["ents"] == [{"start": 3, "end": 8, "label": "X"}]
    assert [ent.label_ for ent in doc[1:3].as_doc().ents] == ["X"]
    assert isinstance(doc.ents[0], DocSpan)
