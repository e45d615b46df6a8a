"""Word pieces of a token classifier, reduced to the tokens of a Doc."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_iobes import Span, write
from spacy_iobes.corpus import HOW, Piece, token_tags
from spacy_iobes.errors import AlignmentError, IobesError, UnknownNameError, UnreadableTagError

from .by_hand import PREFIXES

NLP = spacy.blank("en")
NAN = float("nan")


def piece(doc: Doc, text: str, tag: str, score: float = 1.0) -> dict[str, Any]:
    """A row as transformers returns it, for the first place in the text where it fits."""
    start = doc.text.index(text)
    return {"entity": tag, "start": start, "end": start + len(text), "score": score, "word": text}


def tags_of(text: str, rows: str, **settings: Any) -> str:
    """The tags of a text whose pieces are given as `piece/tag` or `piece/tag/score`."""
    doc = NLP(text)
    parts = [row.split("/") for row in rows.split("|")]
    pieces = [piece(doc, word, tag, *map(float, score)) for word, tag, *score in parts]
    return " ".join(token_tags(doc, pieces, **{"scheme": "bio"} | settings))


def test_the_first_piece_of_a_token_decides() -> None:
    rows = "Ada/B-PER|Love/I-PER|lace/B-LOC"
    assert tags_of("Ada Lovelace wrote", rows) == "B-PER I-PER O"


def test_the_last_and_the_strongest_piece() -> None:
    rows = "Ada/B-PER|Lo/I-PER/0.5|ve/B-ORG/0.9|lace/B-LOC/0.7"
    assert tags_of("Ada Lovelace", rows, how="last") == "B-PER B-LOC"
    assert tags_of("Ada Lovelace", rows, how="strongest") == "B-PER B-ORG"
    assert tags_of("Ada Lovelace", rows.replace("0.9", "0.7"), how="strongest") == "B-PER B-ORG"


def test_a_first_piece_that_was_left_out_was_outside() -> None:
    assert tags_of("Ada Lovelace", "Ada/B-PER|lace/I-PER") == "B-PER O"
    assert tags_of("Ada Lovelace", "Ada/B-PER|Love/I-PER", how="last") == "B-PER O"
    assert tags_of("Ada Lovelace", "Ada/B-PER|lace/I-PER", uncovered="-") == "B-PER -"


@pytest.mark.parametrize(
    ("scheme", "tag", "expected"),
    [
        ("bio", "B-X", "B-X I-X I-X"),
        ("bio", "I-X", "I-X I-X I-X"),
        ("io", "I-X", "I-X I-X I-X"),
        ("iob1", "B-X", "B-X I-X I-X"),
        ("ioe2", "E-X", "I-X I-X E-X"),
        ("iobes", "B-X", "B-X I-X I-X"),
        ("iobes", "E-X", "I-X I-X E-X"),
        ("iobes", "S-X", "B-X I-X E-X"),
        ("bilou", "U-X", "B-X I-X L-X"),
        ("bmewo", "W-X", "B-X M-X E-X"),
        ("bie", "BE-X", "B-X I-X E-X"),
        ("bia", "A-X", "A-X O O"),
        ("bio", "O", "O O O"),
        ("bio", "B", "B I I"),
    ],
)
def test_a_piece_over_several_tokens_is_one_stretch(scheme: str, tag: str, expected: str) -> None:
    doc = Doc(NLP.vocab, ["New", "York", "City", "!"], spaces=[False, False, False, False])
    assert token_tags(doc, [(0, 11, tag)], scheme=scheme) == [*expected.split(), "O"]


def test_white_space_inside_a_span_belongs_to_it() -> None:
    text = "in New  York  today"  # two tokens of white space
    assert tags_of(text, "New/B-X|York/I-X") == "O B-X I-X I-X O O"
    assert tags_of(text, "New/B-X|York/B-X") == "O B-X O B-X O O"
    assert tags_of(text, "New/B-X|York/E-X", scheme="iobes") == "O B-X I-X E-X O O"
    assert tags_of(text, "New  York/S-X", scheme="iobes") == "O B-X I-X E-X O O"
    assert tags_of(text, "New/B-X|York/I-X", uncovered="-") == "- B-X I-X I-X - -"


def test_pieces_may_begin_with_the_space_before_them() -> None:
    assert tags_of("Ada Lovelace ran", "Ada/B-PER| Love/I-PER| ran/O") == "B-PER I-PER O"


def test_characters_that_a_tokenizer_drops_do_not_count() -> None:
    doc = Doc(NLP.vocab, ["\u200bAda\u200b", "ran"])
    for how in HOW:
        assert token_tags(doc, [(1, 4, "B-PER", 0.5)], scheme="bio", how=how) == ["B-PER", "O"]


def test_several_pieces_over_one_character() -> None:
    """Byte-level tokenizers cut a character into several pieces with the same place."""
    doc = Doc(NLP.vocab, ["🙂", "ran"])
    pieces = [(0, 1, "B-X", 0.2), (0, 1, "B-Y", 0.4), (0, 1, "B-Z", 0.3)]
    found = {how: token_tags(doc, pieces, scheme="bio", how=how)[0] for how in HOW}
    assert found == {"first": "B-X", "last": "B-Z", "strongest": "B-Y"}


def test_order_and_special_tokens_do_not_matter() -> None:
    doc = NLP("Ada Lovelace")
    special = [(0, 0, "LABEL_0"), (12, 12, "O")]
    pieces = [(8, 12, "B-LOC"), (0, 3, "B-PER"), (4, 8, "I-PER")]
    assert token_tags(doc, special + pieces, scheme="bio") == ["B-PER", "I-PER"]


def test_contractions() -> None:
    assert tags_of("I don't", "don/B-X|'/I-X|t/I-X") == "O B-X I-X"  # I, do, n't


def test_nothing() -> None:
    assert token_tags(NLP(""), [], scheme="bio") == []
    assert token_tags(NLP("a b"), [], scheme="bio", uncovered="-") == ["-", "-"]


def test_the_repairer_works_from_there() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("iobes_repairer", config={"scheme": "bio", "policy": "begin"})
    doc = nlp.make_doc("Ada Lovelace saw Rome")
    rows = [piece(doc, "Ada", "I-PER"), piece(doc, "Love", "I-PER"), piece(doc, "Rome", "I-LOC")]
    doc.user_data["iobes_tags"] = token_tags(doc, rows, scheme="bio")
    found = [(ent.text, ent.label_) for ent in nlp(doc).ents]
    assert found == [("Ada Lovelace", "PER"), ("Rome", "LOC")]


@pytest.mark.parametrize(
    ("pieces", "kind", "said"),
    [
        ([(0, 99, "B-X")], AlignmentError, "'B-X' at characters 0 to 99.*13 characters"),
        ([(-1, 2, "B-X")], AlignmentError, "characters -1 to 2"),
        ([(4, 2, "B-X")], AlignmentError, "characters 4 to 2"),
        ([(0, 3, "LABEL_1")], UnreadableTagError, "'LABEL_1' is not a tag of bio.*id2label"),
        ([(0, 3, "PER")], UnreadableTagError, "Piece 0 .*'PER' is not a tag of bio"),
        ([(0, 3, "S-X")], UnreadableTagError, "prefixes: B, I, O"),
        ([{"entity_group": "X", "start": 0, "end": 3}], AlignmentError, "strategy='none'"),
        ([{"entity": "B-X", "start": None, "end": None}], AlignmentError, "fast tokenizer"),
        ([[{"entity": "B-X"}]], TypeError, "Piece 0 is a dict of transformers, or a tuple"),
        ([(0, 3)], TypeError, "not \\(0, 3\\)"),
        ([(0, 3, 7)], TypeError, "not \\(0, 3, 7\\)"),
        ([(0.5, 3, "B-X")], TypeError, "float"),
    ],
)
def test_what_is_refused(pieces: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        token_tags(NLP("Ada, of Paris"), pieces, scheme="bio")


@pytest.mark.parametrize("row", [(0, 3, "B-X"), (0, 3, "B-X", NAN)])
def test_the_strongest_needs_scores(row: tuple[Any, ...]) -> None:
    with pytest.raises(AlignmentError, match="no score"):
        token_tags(NLP("Ada"), [row], scheme="bio", how="strongest")


@pytest.mark.parametrize("settings", [{"how": "average"}, {"uncovered": "X"}, {"scheme": "iob"}])
def test_unknown_names_list_the_known_ones(settings: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        token_tags(NLP("Ada"), [], **{"scheme": "bio"} | settings)
    assert isinstance(caught.value, IobesError)
    assert caught.value.known


@st.composite
def cut_texts(draw: st.DrawFn) -> tuple[Doc, list[Span], list[tuple[int, int]]]:
    """A Doc, disjoint spans of it, and its text cut into pieces, at least where spans have ends."""
    words = draw(st.lists(st.text("abç…🙂", min_size=1, max_size=4), min_size=1, max_size=8))
    spaces = draw(st.tuples(*[st.booleans()] * len(words)))
    doc = Doc(NLP.vocab, words, spaces=list(spaces))
    boundaries = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
    pairs = zip(boundaries[::2], boundaries[1::2])
    spans = [Span(start, end, draw(st.sampled_from("XY"))) for start, end in pairs]
    cuts = draw(st.sets(st.integers(1, len(doc.text)))) | {0, len(doc.text)}
    for start, end, _ in spans:
        cuts |= {doc[start].idx, doc[end - 1].idx + len(doc[end - 1])}
    ordered = sorted(cuts)
    return doc, spans, list(pairwise(ordered))


def piece_spans(doc: Doc, spans: list[Span], pieces: list[tuple[int, int]]) -> list[Span]:
    """The same spans, counted in pieces."""
    found = []
    for start, end, label in spans:
        low, high = doc[start].idx, doc[end - 1].idx + len(doc[end - 1])
        inside = [i for i, (a, b) in enumerate(pieces) if low <= a and b <= high]
        found.append(Span(inside[0], inside[-1] + 1, label))
    return found


@given(cut_texts())
def test_however_a_text_is_cut_bio_gives_the_same_spans(
    found: tuple[Doc, list[Span], list[tuple[int, int]]],
) -> None:
    doc, spans, pieces = found
    tags = write(piece_spans(doc, spans, pieces), len(pieces), "bio")
    rows = [(start, end, tag) for (start, end), tag in zip(pieces, tags)]
    expected = write(spans, len(doc), "bio")
    assert token_tags(doc, rows, scheme="bio") == expected
    rows = [row for row in rows if row[2] != "O"]
    assert token_tags(doc, rows, scheme="bio") == expected


@given(cut_texts(), st.sampled_from(sorted(PREFIXES)), st.sampled_from(sorted(HOW)), st.data())
def test_pieces_of_whole_tokens_give_the_same_spans_in_every_scheme(
    found: tuple[Doc, list[Span], list[tuple[int, int]]], scheme: str, how: str, data: st.DataObject
) -> None:
    doc, spans, _ = found
    spans = spans[:1] if scheme == "io" else spans
    forced = {boundary for span in spans for boundary in span[:2]} | {0, len(doc)}
    forced |= set(range(spans[-1].end, len(doc))) if scheme == "bia" and spans else set()
    cuts = sorted(forced | data.draw(st.sets(st.integers(0, len(doc)))))
    groups = list(pairwise(cuts))
    ends = [(doc[a].idx, doc[b - 1].idx + len(doc[b - 1])) for a, b in groups]
    tags = write(piece_spans(doc, spans, ends), len(ends), scheme)
    rows = [Piece(*place, tag, 0.5) for place, tag in zip(ends, tags)]
    assert token_tags(doc, rows, scheme=scheme, how=how) == write(spans, len(doc), scheme)
