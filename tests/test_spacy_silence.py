"""What spaCy makes of tags without a word, and what we do instead: an error, or nothing lost.

The first half of each test tells when spaCy changes; the second half is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example, biluo_to_iob, iob_to_biluo

from spacy_iobes import Span, convert, parse, validate
from spacy_iobes.errors import MalformedTagsError, UnreadableTagError

from .docs import TAGS, VOCAB, bare, component, stored, with_entities, with_tags

Spans = list[tuple[int, int, str]]


def from_dict(tags: Sequence[str], length: int | None = None) -> Spans:
    """The entities that spaCy makes of tags given as "entities"."""
    doc = bare(len(tags) if length is None else length)
    reference = Example.from_dict(doc, {"entities": list(tags)}).reference
    return [(ent.start, ent.end, ent.label_) for ent in reference.ents]


def repaired(tags: Sequence[str], scheme: str, policy: str = "raise", length: int = 0) -> Spans:
    """The entities that `iobes_repairer` makes of them."""
    doc = bare(length or len(tags))
    doc.user_data[TAGS] = list(tags)
    component("iobes_repairer", scheme=scheme, policy=policy)(doc)
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


class TestExampleFromDict:
    """spaCy expects BILUO there and says nothing if it gets something else."""

    def test_bio_tags_lose_every_entity(self) -> None:
        tags = ["B-X", "I-X", "O", "B-Y"]
        assert from_dict(tags) == []
        assert repaired(tags, "bio") == [(0, 2, "X"), (3, 4, "Y")]
        with pytest.raises(MalformedTagsError, match="Is it another scheme"):
            repaired(tags, "bilou")

    @pytest.mark.parametrize(
        ("tags", "theirs", "begin"),
        [
            (["B-X", "L-Y"], [(0, 2, "Y")], [(0, 1, "X"), (1, 2, "Y")]),
            (["B-X", "O", "L-X"], [(0, 3, "X")], [(0, 1, "X"), (2, 3, "X")]),
            (["B-X", "I-Y", "L-X"], [(0, 3, "X")], [(0, 1, "X"), (1, 2, "Y"), (2, 3, "X")]),
            (["O", "B-X"], [], [(1, 2, "X")]),
            (["B-X", "B-X", "L-X"], [(1, 3, "X")], [(0, 1, "X"), (1, 3, "X")]),
        ],
    )
    def test_malformed_biluo_is_read_somehow(
        self, tags: list[str], theirs: Spans, begin: Spans
    ) -> None:
        assert from_dict(tags) == theirs
        assert validate(tags, "bilou")
        with pytest.raises(MalformedTagsError, match="In the Doc 'w0 w1"):
            repaired(tags, "bilou")
        assert repaired(tags, "bilou", "begin") == begin

    def test_a_label_without_a_prefix_is_outside(self) -> None:
        assert from_dict(["ORG", "O"]) == []
        with pytest.raises(UnreadableTagError, match="token 0: 'ORG' is not a tag of bilou"):
            repaired(["ORG", "O"], "bilou", "begin")

    def test_too_few_tags_are_filled_up(self) -> None:
        assert from_dict(["U-X"], length=3) == [(0, 1, "X")]
        with pytest.raises(ValueError, match="has 3 tokens but 1 tags"):
            repaired(["U-X"], "bilou", length=3)

    @pytest.mark.parametrize("tags", [["I-X", "O"], ["L-X", "O"]])
    def test_a_sequence_that_starts_inside(self, tags: list[str]) -> None:
        with pytest.raises(ValueError, match="E067"):
            from_dict(tags)
        assert repaired(tags, "bilou", "begin") == [(0, 1, "X")]

    @pytest.mark.parametrize("tags", [["B-X", "E-X"], ["S-X", "O"]])
    def test_iobes_is_no_biluo(self, tags: list[str]) -> None:
        with pytest.raises(ValueError, match="E068"):
            from_dict(tags)
        assert repaired(tags, "iobes") == parse(tags, "iobes")


class TestDocEnts:
    """`Doc(ents=...)` reads BIO, and makes B of an I that should not be there."""

    @staticmethod
    def doc(tags: list[str]) -> Doc:
        return Doc(VOCAB, words=[f"w{number}" for number in range(len(tags))], ents=tags)

    def test_an_inside_at_the_start_is_accepted_and_breaks_later(self) -> None:
        doc = self.doc(["I-X", "O"])
        with pytest.raises(ValueError, match="E093"):
            _ = doc.ents
        (wrong,) = component("iobes_validator", scheme="bio", source="ents", on_error="ignore")(
            doc
        )._.iobes_violations
        assert (wrong.index, wrong.kind) == (0, "start")
        component("iobes_repairer", scheme="bio", policy="begin", source="ents")(doc)
        assert [ent.text for ent in doc.ents] == ["w0"]

    @pytest.mark.parametrize(
        ("tags", "theirs"),
        [(["O", "I-X"], ["O", "B-X"]), (["B-X", "I-Y"], ["B-X", "B-Y"])],
    )
    def test_an_inside_elsewhere_becomes_a_begin(self, tags: list[str], theirs: list[str]) -> None:
        assert stored(self.doc(tags)) == theirs
        doc = with_tags(tags)
        component("iobes_repairer", scheme="bio", policy="begin")(doc)
        assert (stored(doc), doc.user_data[TAGS]) == (theirs, tags)
        assert [(c.old, c.new) for c in doc._.iobes_changes] == [(tags[1], theirs[1])]
        with pytest.raises(MalformedTagsError):
            repaired(tags, "bio")

    @pytest.mark.parametrize("tag", ["L-X", "U-X", "S-X", "-", "B"])
    def test_other_tags_are_ill_formed(self, tag: str) -> None:
        with pytest.raises(ValueError, match="E177"):
            self.doc([tag, "O"])

    def test_a_missing_token_can_be_said(self) -> None:
        doc = component("iobes_repairer", scheme="bio", policy="raise")(with_tags(["-", "O"]))
        assert [token.ent_iob for token in doc] == [0, 2]


class TestFromArray:
    """`Doc.from_array` accepts anything; what comes of it shows later."""

    READERS: tuple[Callable[[Doc], Any], ...] = (
        lambda doc: doc.ents,
        lambda doc: doc.to_json(),
        lambda doc: doc[0:3].as_doc(),
        lambda doc: displacy.render(doc, style="ent"),
    )

    @pytest.mark.parametrize("use", READERS)
    def test_an_inside_after_an_outside_breaks_every_reader(self, use: Any) -> None:
        doc = with_entities(["O", "I-X", "O"])
        with pytest.raises(ValueError, match="E093"):
            use(doc)
        component("iobes_repairer", scheme="bio", policy="begin", source="ents")(doc)
        assert stored(doc) == ["O", "B-X", "O"]
        use(doc)

    def test_a_change_of_label_is_not_seen(self) -> None:
        doc = with_entities(["B-X", "I-Y", "O"])
        assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == [(0, 2, "X")]
        with pytest.raises(MalformedTagsError, match="B-X -> I-Y"):
            component("iobes_repairer", scheme="bio", policy="raise", source="ents")(doc)
        component("iobes_repairer", scheme="bio", policy="begin", source="ents")(doc)
        assert [(e.start, e.end, e.label_) for e in doc.ents] == [(0, 1, "X"), (1, 2, "Y")]

    def test_nor_is_one_by_hand(self) -> None:
        doc = with_entities(["B-X", "I-X", "O"])
        doc[1].ent_type_ = "Y"
        assert [ent.label_ for ent in doc.ents] == ["X"]
        with pytest.raises(MalformedTagsError, match="B-X -> I-Y"):
            component("iobes_validator", scheme="bio", on_error="raise", source="ents")(doc)


class TestConversions:
    def test_iobes_given_as_iob_is_torn_apart(self) -> None:
        tags = ["B-X", "I-X", "E-X", "S-X"]
        assert iob_to_biluo(tags) == ["B-X", "L-X", "U-X", "U-X"]
        assert convert(tags, "iobes", "bilou") == ["B-X", "I-X", "L-X", "U-X"]
        with pytest.raises(UnreadableTagError, match="'E-X' is not a tag of bio"):
            convert(tags, "bio", "bilou", "begin")

    def test_tags_without_a_label(self) -> None:
        assert iob_to_biluo(["B", "I"]) == ["B-", "L-"]
        assert convert(["B", "I"], "bio", "bilou") == ["B", "L"]
        with pytest.raises(UnreadableTagError):
            convert(["B-", "L-"], "bilou", "bio")

    @pytest.mark.parametrize(
        ("tags", "theirs", "ours"),
        [
            (["B-EU-ORG", "L-EU-ORG"], ["B-EB-ORG", "I-EB-ORG"], ["B-EU-ORG", "I-EU-ORG"]),
            (["U-EL-X"], ["B-EI-X"], ["B-EL-X"]),
        ],
    )
    def test_labels_that_look_like_prefixes(
        self, tags: list[str], theirs: list[str], ours: list[str]
    ) -> None:
        assert biluo_to_iob(tags) == theirs
        assert convert(tags, "bilou", "bio") == ours
        doc = with_tags(tags)
        converter = {"scheme": "bilou", "target_scheme": "bio", "source": "user_data"}
        component("iobes_converter", **converter, target="user_data")(doc)
        assert doc.user_data[TAGS] == ours


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_training_on_a_malformed_reference_fails_late_and_names_nobody() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    references = [with_entities(["B-X", "O"], nlp.vocab), with_entities(["O", "I-X"], nlp.vocab)]
    pairs = [Example(bare(2, nlp.vocab), reference) for reference in references]
    nlp.initialize(lambda: pairs)
    for use in (nlp.update, nlp.evaluate):
        with pytest.raises(ValueError, match="E093"):
            use(pairs)
    validator = component("iobes_validator", scheme="bio", source="ents", on_error="raise")
    with pytest.raises(MalformedTagsError, match="In the Doc 'w0 w1': Not legal bio: token 1"):
        list(validator.pipe(references))


class TestWhatIsKept:
    MIXED = ("-", "!", "B-X", "I-X", "O")

    def test_json_forgets_missing_and_blocked(self) -> None:
        doc = with_entities(self.MIXED)
        assert stored(Doc(VOCAB).from_json(doc.to_json())) == ["O", "O", "B-X", "I-X", "O"]
        component("iobes_converter", scheme="bio")(doc)
        assert doc.user_data[TAGS] == list(self.MIXED)

    def test_a_doc_bin_keeps_marks_with_the_user_data(self) -> None:
        doc = with_tags(["I-X", "-", "!"])
        component("iobes_repairer", scheme="bio", policy="begin")(doc)
        for keep in (True, False):
            (read,) = DocBin(store_user_data=keep, docs=[doc]).get_docs(VOCAB)
            assert stored(read) == ["B-X", "-", "!"]
            assert read._.iobes_violations == (doc._.iobes_violations if keep else [])
            assert read._.iobes_changes == (doc._.iobes_changes if keep else [])

    def test_bytes_keep_marks(self) -> None:
        doc = component("iobes_repairer", scheme="bio", policy="begin")(with_tags(["I-X"]))
        read = Doc(VOCAB).from_bytes(doc.to_bytes())
        assert read._.iobes_violations == doc._.iobes_violations != []
        assert read._.iobes_changes == doc._.iobes_changes != []

    def test_tags_of_a_doc_bin_can_be_repaired(self) -> None:
        (doc,) = DocBin(store_user_data=True, docs=[with_tags(["I-X", "O"])]).get_docs(VOCAB)
        assert isinstance(doc.user_data[TAGS], tuple)
        component("iobes_repairer", scheme="bio", policy="begin")(doc)
        assert [Span(e.start, e.end, e.label_) for e in doc.ents] == [Span(0, 1, "X")]
