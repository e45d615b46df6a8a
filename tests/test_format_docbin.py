"""DocBins as sentences and back: what spaCy reads, all that the file has, and clear errors."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.tokens.doc import DOCBIN_ALL_ATTRS
from spacy.vocab import Vocab

from spacy_iobes import CodedTags, Span, SpanColumns
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Finding, Sentences, StoredDocs, read, save
from spacy_iobes.errors import (
    AlignmentError,
    FileError,
    InexpressibleError,
    MalformedTagsError,
    OverlapError,
    SpanError,
    UnknownNameError,
    UnreadableTagError,
)

from . import by_hand, strategies
from .docs import group
from .plain_docs import Plain, plain, plain_docs, sentences, stored

ENOUGH = "spacy_iobes.corpus.formats.docbin.ENOUGH"


def there(path: Path, docs: Sequence[Doc], **more: Any) -> Path:
    """A file that spaCy has written."""
    DocBin(docs=docs, **more).to_disk(path)
    return path


def back(path: Path) -> list[Doc]:
    """What spaCy reads."""
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def made(words: str, **more: Any) -> Doc:
    return Doc(Vocab(), words=words.split(" "), **more)


def grouped(words: str, *spans: tuple[int, int, str], key: str = "sc", **attrs: Any) -> Doc:
    doc = made(words)
    members = [DocSpan(doc, *span) for span in spans]
    doc.spans[key] = SpanGroup(doc, name=key, spans=members, attrs=attrs)
    return doc


def malformed(words: str, *tags: str) -> Doc:
    """A Doc whose entities are stored as these tags say, which spaCy would refuse or change."""
    doc = made(words)
    codes = {"": 0, "I": 1, "O": 2, "B": 3, "!": 3}
    parts = [tag.partition("-") for tag in tags]
    rows = [[codes[prefix], doc.vocab.strings.add(label)] for prefix, _, label in parts]
    table: Any = np.array(rows, dtype=np.uint64)
    return doc.from_array([ENT_IOB, ENT_TYPE], table)


def tags(path: Path, **options: Any) -> list[list[list[str]]]:
    """The tags of each layer, sentence by sentence."""
    parts = list(read(path, **options))
    return [
        [tags for part in parts for tags in part.tags[n].lists()] for n in range(len(parts[0].tags))
    ]


# What spaCy says is in a file.


@given(st.lists(plain_docs(), max_size=5), st.integers(1, 9))
def test_entities_text_and_sentences_are_those_of_spacy(docs: list[Plain], size: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENOUGH, size)
        vocab = Vocab()
        path = there(Path(folder) / "a.spacy", [stored(doc, vocab) for doc in docs])
        found, wanted = plain(read(path)), back(path)
        assert sum(len(part.opens) for part in read(path)) == len(docs)
    assert [doc.text for doc in found] == [doc.text for doc in wanted]
    for mine, doc in zip(found, wanted):
        assert mine.tokens == [token.text for token in doc]
        assert mine.spaces == [bool(token.whitespace_) for token in doc]
        assert mine.spans == [(ent.start, ent.end, ent.label_) for ent in doc.ents]
        assert mine.starts == [sent.start for sent in doc.sents]
        iob = [(token.ent_iob, token.ent_type_) for token in doc]
        assert mine.missing == [i for i, state in enumerate(iob) if state == (0, "")]
        assert mine.blocked == [i for i, state in enumerate(iob) if state == (3, "")]


@given(st.lists(plain_docs(overlap=True, holes=False), min_size=1, max_size=4))
def test_groups_are_those_of_spacy(docs: list[Plain]) -> None:
    vocab = Vocab()
    with TemporaryDirectory() as folder:
        path = there(Path(folder) / "a.spacy", [stored(doc, vocab, "x") for doc in docs])
        found, wanted = plain(read(path, spans_key="x")), back(path)
        assert found == plain(read(path))  # the only group
    for mine, doc in zip(found, wanted):
        assert mine.text == doc.text
        assert mine.spans == sorted((s.start, s.end, s.label_) for s in doc.spans["x"])
        assert not mine.missing
        assert not mine.blocked


def test_places_count_docs_and_tokens_over_parts(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(ENOUGH, 2)
    docs = [Doc(Vocab()), made("a b"), Doc(Vocab()), Doc(Vocab()), made("c"), made("d e f")]
    parts = list(read(there(tmp_path / "a.spacy", docs)))
    assert [part.before for part in parts] == [(0, 0), (2, 2)]
    places = [part.place(at) for part in parts for at in range(part.tokens)]
    wanted = [(1, 0), (1, 1), (4, 0), (5, 0), (5, 1), (5, 2)]
    assert places == [f"{tmp_path / 'a.spacy'}, Doc {doc}, token {token}" for doc, token in wanted]
    assert [part.words.strings() for part in parts] == [["a", "b"], ["c", "d", "e", "f"]]
    whole = list(read(tmp_path / "a.spacy").documents())
    assert plain(whole) == plain(parts)
    assert len(plain(whole)) == len(docs)
    both = Sentences.joined(parts)
    assert [both.place(at) for at in range(both.tokens)] == places
    assert plain([both]) == plain(parts)


def test_spaces_that_nobody_knows_make_a_part_of_their_own(tmp_path: Path) -> None:
    known, unknown = made("a b", spaces=[False, False]), made("c d")
    docs = [known, Doc(Vocab()), unknown, Doc(Vocab()), unknown, known, Doc(Vocab())]
    parts = list(read(there(tmp_path / "a.spacy", docs)))
    assert [(part.words.verbatim, len(part.opens)) for part in parts] == [
        (True, 2),
        (False, 3),
        (True, 2),
    ]
    assert parts[0].words.document(0) == "ab"
    assert parts[1].words.texts is None
    assert parts[1].text(0) == "c d"
    assert list(read(there(tmp_path / "b.spacy", []))) == []
    (only,) = read(there(tmp_path / "c.spacy", [Doc(Vocab())]))
    assert (only.tokens, len(only), only.opens.tolist()) == (0, 1, [0])


def test_malformed_entities_stay_malformed(tmp_path: Path) -> None:
    docs = [made("x"), malformed("a b c d", "I-X", "I-Y", "O", "!")]
    path = there(tmp_path / "a.spacy", docs)
    assert tags(path) == [[["-"], ["I-X", "I-Y", "O", "!"]]]
    (part,) = read(path)
    assert [str(wrong).split(": ")[:3] for wrong in part.violations()] == [
        [f"{path}, Doc 1, token 0", "'a'", "the sentence start -> I-X"],
        [f"{path}, Doc 1, token 1", "'b'", "I-X -> I-Y"],
    ]
    with pytest.raises(MalformedTagsError):
        part.known()
    assert part.known(policy="begin").spans[1] == [Span(0, 1, "X"), Span(1, 2, "Y")]
    (part,) = read(there(tmp_path / "b.spacy", [malformed("a b", "B-X", "I")]))
    with pytest.raises(UnreadableTagError, match="Doc 0, token 1, 'b': 'I-' is not a tag of bio"):
        part.known(policy="begin")


def test_a_boundary_inside_an_entity_is_none(tmp_path: Path) -> None:
    begins: Any = [True, False, True, True, False, True]
    doc = Doc(
        Vocab(),
        words=list("abcdef"),
        sent_starts=begins,
        ents=["O", "B-X", "I-X", "I-X", "O", "B-X"],
    )
    (part,) = read(there(tmp_path / "a.spacy", [made("z"), doc]))
    assert part.offsets.tolist() == [0, 1, 6, 7]
    assert part.known().spans[1] == [Span(1, 4, "X")]
    (found,) = part.findings
    assert (found.kind, found.sentence, found.label) == ("crossing", 1, "X")
    assert found.place == f"{tmp_path / 'a.spacy'}, Doc 1, token 1"
    assert found.gone == ((1, 4, "b c d"),)
    # neighbours and malformed ones, which no boundary is inside of
    doc = Doc(Vocab(), words=list("abc"), sent_starts=[True] * 3, ents=["B-X", "B-X", "B-Y"])
    (part,) = read(there(tmp_path / "b.spacy", [doc]))
    assert (part.offsets.tolist(), part.findings) == ([0, 1, 2, 3], ())
    doc = malformed("a b c", "O", "I-X", "I-Y")
    doc[1].is_sent_start = doc[2].is_sent_start = True
    (part,) = read(there(tmp_path / "c.spacy", [doc, malformed("a", "I-X"), malformed("b", "I-X")]))
    assert (part.offsets.tolist(), part.findings) == ([0, 1, 2, 3, 4, 5], ())


def test_a_boundary_inside_a_span_is_none(tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=list("abcde"), sent_starts=[True, True, False, True, True])
    doc.spans["sc"] = [doc[0:1], doc[2:4], doc[1:4]]
    for span, label in zip(doc.spans["sc"], "XYZ"):
        span.label_ = label
    doc.spans["sc"] = [DocSpan(doc, 0, 1, "X"), DocSpan(doc, 2, 4, "Y"), DocSpan(doc, 1, 4, "Z")]
    (part,) = read(there(tmp_path / "a.spacy", [doc]))
    assert part.offsets.tolist() == [0, 1, 4, 5]
    assert list(part.known().spans) == [[Span(0, 1, "X")], [Span(0, 3, "Z"), Span(1, 3, "Y")], []]
    assert {(f.label, f.gone) for f in part.findings} == {
        ("Y", ((1, 3, "c d"),)),
        ("Z", ((0, 3, "b c d"),)),
    }


def test_what_else_is_written_of_a_document(tmp_path: Path) -> None:
    docs = [made("a"), made("b"), Doc(Vocab()), made("c")]
    docs[1].user_data = {"iobes_json": '{"id": "é", "meta": [1, {}]}'}
    extension: Any = ("._.", "x", 1, None)  # how spaCy keeps attributes of `doc._`
    docs[1].user_data[extension] = (1, 2)
    docs[2].user_data = {"iobes_json": '{"id": 3}'}
    docs[3].user_data = {"other": "iobes_json"}
    path = there(tmp_path / "a.spacy", docs, store_user_data=True)
    (part,) = read(path)
    assert part.info == ({}, {"id": "é", "meta": [1, {}]}, {"id": 3}, {})
    (part,) = read(there(path, docs))
    assert part.info == ()
    docs[3].user_data = {"iobes_json": "{"}
    with pytest.raises(FileError, match="not a DocBin, or a damaged one"):
        list(read(there(path, docs, store_user_data=True)))


# Which annotation is read.


def test_entities_or_the_only_group(tmp_path: Path) -> None:
    both = grouped("a b", (0, 2, "X"))
    both.set_ents([DocSpan(both, 0, 1, "Y")])
    path = there(tmp_path / "a.spacy", [grouped("z", (0, 1, "Z")), both])
    assert [doc.spans for doc in plain(read(path))] == [[], [(0, 1, "Y")]]
    assert [doc.spans for doc in plain(read(path, spans_key="sc"))] == [
        [(0, 1, "Z")],
        [(0, 2, "X")],
    ]
    only = there(tmp_path / "b.spacy", [made("y"), grouped("a b", (0, 2, "X"), key="my key")])
    assert [(doc.spans, doc.missing) for doc in plain(read(only))] == [
        ([], [0]),
        ([(0, 2, "X")], []),
    ]
    none = there(tmp_path / "c.spacy", [made("a b"), made("c")])
    assert tags(none) == [[["-", "-"], ["-"]]]


def test_groups_that_cannot_be_chosen(tmp_path: Path) -> None:
    path = there(tmp_path / "a.spacy", [grouped("a"), grouped("b", key="x")])
    with pytest.raises(UnknownNameError) as error:
        list(read(path))
    assert str(error.value) == (
        f"{path}: no token has an entity annotation, but there are span groups: 'sc', 'x'. Name "
        "one (--spans-key)."
    )
    with pytest.raises(UnknownNameError) as error:
        list(read(path, spans_key="y"))
    assert str(error.value) == f"{path}: no Doc has a span group 'y'. There are: 'sc', 'x'."
    with pytest.raises(UnknownNameError, match="There are: no groups at all"):
        list(read(there(path, [made("a")]), spans_key="y"))
    assert list(read(there(path, []), spans_key="y")) == []
    assert plain(read(there(path, [Doc(Vocab())]), spans_key="y")) == [Plain([], [], [], [])]


def test_each_span_once_and_ids_ignored(tmp_path: Path) -> None:
    doc = made("a b")
    spans = [(0, 2, "X", 7), (0, 1, "X", 0), (0, 2, "X", 0), (0, 2, "A", 0)]
    doc.spans["sc"] = [DocSpan(doc, a, b, label, kb_id=kb) for a, b, label, kb in spans]
    path = there(tmp_path / "a.spacy", [doc])
    assert plain(read(path))[0].spans == [(0, 1, "X"), (0, 2, "A"), (0, 2, "X")]
    doc = made("a b")
    doc.set_ents([DocSpan(doc, 0, 2, "X", kb_id="Q1", span_id="e1")])
    assert plain(read(there(path, [doc])))[0].spans == [(0, 2, "X")]


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (
            (1, 2, ""),
            "the span 1:2 ('b') in spans['sc'] has no label. Give it one, or leave it out.",
        ),
        ((1, 1, "X"), "the span 1:1 ('') in spans['sc'] has no tokens. Remove it from the group."),
    ],
)
def test_spans_without_label_or_tokens(tmp_path: Path, span: Any, said: str) -> None:
    path = there(tmp_path / "a.spacy", [made("z"), grouped("a b", (0, 1, "X"), span)])
    with pytest.raises(SpanError) as error:
        list(read(path))
    assert str(error.value) == f"{path}, Doc 1: {said}"


# Layers.


def test_attributes_make_layers(tmp_path: Path) -> None:
    attrs: dict[str, Any] = {"layers": [0, 1], "layer_count": 3}
    absent: dict[str, Any] = {"layer_missing": [[0, 2], [2, 0]], "layer_blocked": [[1, 1]]}
    first = grouped("a b c", (0, 2, "X"), (0, 1, ""), **attrs, **absent)
    docs = [first, made("d"), grouped("e"), grouped("f", (0, 1, "Y"), layers=[0])]
    path = there(tmp_path / "a.spacy", docs)
    assert tags(path) == [
        [["B-X", "I-X", "-"], ["-"], ["O"], ["B-Y"]],
        [["B", "!", "O"], ["-"], ["O"], ["O"]],
        [["-", "O", "O"], ["-"], ["O"], ["O"]],
    ]
    # if one group does not say its layers, none is read as such
    path = there(tmp_path / "b.spacy", [*docs, grouped("g", (0, 1, "Z"))])
    with pytest.raises(
        SpanError, match=r"Doc 0: the span 0:1 \('a'\) in spans\['sc'\] has no label"
    ):
        list(read(path))
    absent = {"layer_missing": [[0, 2], [0, 0]], "layer_blocked": [[0, 1]]}
    first.spans["sc"] = SpanGroup(first, name="sc", attrs=absent)
    (found, *_) = plain(read(there(path, [first, grouped("g", (0, 1, "Z"))])))
    assert (found.spans, found.missing, found.blocked) == ([], [0, 2], [1])


@pytest.mark.parametrize(
    "attrs",
    [
        {"layers": [0]},
        {"layers": [0, -1]},
        {"layers": "01"},
        {"layers": 3},
        {"layers": [0, 0.5]},
        {"layers": [0, 10**9]},
        {"layer_count": "x"},
        {"layer_count": 10**9},
        {"layer_missing": [[0, 9]]},
        {"layer_missing": [[0, -1]]},
        {"layer_missing": [[0]]},
        {"layer_missing": True},
        {"layer_blocked": [[7, 0]]},
    ],
)
def test_attributes_that_do_not_fit(tmp_path: Path, attrs: dict[str, Any]) -> None:
    spans = ((0, 1, "X"), (1, 2, "X"))
    path = there(tmp_path / "a.spacy", [made("z"), grouped("a b", *spans, **attrs)])
    with pytest.raises(AlignmentError) as error:
        list(read(path))
    said = f"{path}, Doc 1, spans['sc']: the attributes do not fit the group: {{"
    assert str(error.value).startswith(said)


def test_overlap_in_one_layer_is_refused(tmp_path: Path) -> None:
    spans = ((0, 2, "X"), (1, 2, "X"))
    path = there(tmp_path / "a.spacy", [made("z"), grouped("a b", *spans, layers=[0, 0])])
    with pytest.raises(OverlapError) as error:
        list(read(path))
    place = f"{path}, Doc 1, spans['sc']"
    assert str(error.value).startswith(f"{place}: (0, 2, 'X') and (1, 2, 'X') overlap")


letters = st.characters(codec="utf8", exclude_characters="\t\n\r\0")
tokens = st.text(letters, min_size=1, max_size=5).filter(
    lambda text: text.strip(" \v\f") and not text.startswith(("-DOCSTART-", "###MEDLINE:"))
)


@st.composite
def layers(draw: st.DrawFn, scheme: str, most: int) -> list[tuple[str, ...]]:
    """The tags of a sentence in columns, in pieces between tokens that are missing or blocked."""
    columns = []
    for _ in range(draw(st.integers(1, most))):
        column: list[str] = []
        for _ in range(draw(st.integers(1, 3))):
            spans, length = draw(strategies.spans(scheme))
            spans = [span for span in spans if span.label or most > 1]
            column += [draw(st.sampled_from("-!"))] * bool(column or draw(st.booleans()))
            column += by_hand.encode(spans, length, scheme)
        columns.append(column)
    columns += [["O"]] * (most - len(columns))
    # where a longer layer fills up a shorter one, O would have to be A
    return list(zip_longest(*columns, fillvalue="-" if scheme == "bia" else "O"))


@st.composite
def column_files(draw: st.DrawFn) -> tuple[str, int, str]:
    scheme, count = draw(strategies.schemes), draw(st.integers(1, 3))
    sentences = [draw(layers(scheme, count)) for _ in range(draw(st.integers(1, 3)))]
    blocks = [
        "".join("\t".join((draw(tokens), *row)) + "\n" for row in sentence) + "\n"
        for sentence in sentences
        if sentence
    ]
    text = "".join(blocks)
    return scheme, count, "\ufeff" * text.startswith("\ufeff") + text


@settings(max_examples=100)
@given(column_files(), st.sampled_from(["sentence", "document"]), st.booleans())
def test_columns_come_back_byte_for_byte(case: tuple[str, int, str], unit: str, key: bool) -> None:
    scheme, count, text = case
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").write_bytes(text.encode())
        source = read(folder / "in", layers=tuple(range(1, count + 1)), delimiter="tab")
        how = {"unit": unit, "spans_key": "x" if key or count > 1 else ""}
        save(source, folder / "a.spacy", scheme=scheme, **how)
        save(read(folder / "a.spacy"), folder / "out", to_scheme=scheme)
        found = (folder / "out").read_bytes().decode()
        marker = "-DOCSTART-" + "\tO" * count + "\n\n"  # of a document of several sentences
        assert found.replace(marker, "").strip("\ufeff") == text.strip("\ufeff")


# Written, and read back.


@given(st.lists(plain_docs(), min_size=1, max_size=4), st.booleans())
def test_disjoint_spans_come_back_as_entities(docs: list[Plain], key: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.spacy"
        save([sentences(docs)], path, unit="document", spans_key="x" if key else "")
        assert plain(read(path)) == docs
        for mine, doc in zip(docs, back(path)):
            assert (doc.text, doc.has_unknown_spaces) == (mine.text, False)
            if key:
                nothing = 0 < len(mine.tokens) == len(mine.missing)
                assert list(doc.spans) == ["x"] * (not nothing)
                assert nothing or group(doc, "x") == mine.spans
            else:
                assert [(e.start, e.end, e.label_) for e in doc.ents] == mine.spans


@given(st.lists(plain_docs(overlap=True), min_size=1, max_size=4))
def test_overlapping_spans_come_back_as_a_group(docs: list[Plain]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.spacy"
        save([sentences(docs)], path, unit="document")
        assert plain(read(path)) == docs
        flat = all(b <= c for doc in docs for (_, b, _), (c, _, _) in pairwise(doc.spans))
        assert {key for doc in back(path) for key in doc.spans} <= (set() if flat else {"sc"})


@given(st.lists(plain_docs(known_spaces=False), min_size=1, max_size=4))
def test_spaces_that_nobody_knows_stay_unknown(docs: list[Plain]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.spacy"
        save([sentences(docs)], path, unit="document")
        assert plain(read(path)) == docs
        assert all(doc.has_unknown_spaces for doc in back(path) if len(doc))


@given(st.lists(plain_docs(), max_size=4), st.booleans())
def test_docs_are_stored_as_spacy_stores_them(docs: list[Plain], data: bool) -> None:
    vocab = Vocab()
    made = [stored(doc, vocab) for doc in docs] + rich(vocab, 2) * data
    for doc, other in zip(made, docs):
        spans = [DocSpan(doc, *span, kb_id="Q1") for span in other.spans]
        doc.spans["x"] = doc.spans["again"] = SpanGroup(doc, name="y", spans=spans, attrs={"n": 1})
        doc.user_data = other.info if data else {}
    box = DocBin(docs=made, store_user_data=data)
    found = StoredDocs.of_docs(made, user_data=data).to_bytes()
    assert unpacked(found) == unpacked(box.to_bytes())
    assert found == StoredDocs.of(found).to_bytes()


def test_each_sentence_or_each_document_is_a_doc(tmp_path: Path) -> None:
    docs = [
        Plain(
            ["Ada", ".", "Bo", "\n"], [False, True, True, False], [0, 2], [(2, 3, "PER")], [], []
        ),
        Plain([], [], [], []),
        Plain(["x"], [False], [0], [], [], [], {"id": 7}),
    ]
    path = tmp_path / "a.spacy"
    save([sentences(docs)], path, unit="document")
    assert [[sent.text for sent in doc.sents] for doc in back(path)] == [
        ["Ada.", "Bo \n"],
        [],
        ["x"],
    ]
    save([sentences(docs)], path)
    assert [doc.text for doc in back(path)] == ["Ada. ", "Bo \n", "", "x"]
    assert [doc.user_data for doc in back(path)] == [{}, {}, {}, {"iobes_json": '{"id": 7}'}]


@pytest.mark.parametrize("key", ["", "sc"])
def test_spans_without_a_label(tmp_path: Path, key: str) -> None:
    (tmp_path / "a").write_text("Ada\tB\nmet\tO\nBo\tB\n")
    source, path = read(tmp_path / "a"), tmp_path / "a.spacy"
    if key:  # a layer of tags
        save(source, path, scheme="bio", spans_key=key)
        assert tags(path) == [[["B", "O", "B"]]]
        return
    with pytest.raises(InexpressibleError) as error:
        save(source, path, scheme="bio")
    assert str(error.value) == (
        f"{tmp_path / 'a'}, line 1, 'Ada': an entity of a Doc needs a label. Give these spans one, "
        "or put them into a span group (--set output-spans-key), where they may go without."
    )
    given_ = sentences([Plain(["Ada"], [False], [0], [(0, 1, "")])])
    with pytest.raises(InexpressibleError, match="Doc 0, token 0, 'Ada': a span needs a label"):
        save([given_], path, spans_key="sc")
    assert not path.exists()


def test_names_and_sizes_that_spacy_cannot_have(tmp_path: Path, monkeypatch: Any) -> None:
    source = [sentences([Plain(["Ada"], [False], [0], [])])]
    with pytest.raises(
        FileError, match=r"spaCy only reads files whose names end in .spacy. Name it"
    ):
        save(source, tmp_path / "a.bin", to="docbin")
    with pytest.raises(FileError, match="no such file"):
        save(source, tmp_path / "no" / "a.spacy")

    def fails(self: Any) -> bytes:
        raise ValueError("too large")

    monkeypatch.setattr("spacy_iobes.corpus.stored_docs.StoredDocs.to_bytes", fails)
    with pytest.raises(FileError, match=r"too much for one DocBin \(too large\). Write several"):
        save(source, tmp_path / "a.spacy")
    assert list(tmp_path.iterdir()) == []


def test_mentions_that_are_no_spans_are_left_out_only_if_asked(tmp_path: Path) -> None:
    part, path = sentences([Plain(["Ada"], [False], [0], [])]), tmp_path / "a.spacy"
    lost = Finding("misaligned", "x, Doc 0", 0, "PER", ((0, 1, "da"),))
    part = replace(part, findings=(lost,))
    with pytest.raises(
        InexpressibleError, match="1 mention misaligned, the first at x, Doc 0: PER"
    ):
        save([part], path)
    assert not path.exists()
    assert save([part], path, lossy=True).findings == [lost]
    assert path.exists()


# Edited in place.


def rich(vocab: Vocab, count: int, key: str = "") -> list[Doc]:
    """Docs with everything that a DocBin keeps."""
    found = [Doc(vocab)]
    for number in range(count):
        doc = Doc(
            vocab,
            words=["Ada", "met", "Bo", "in", "Rome", "\n"][: 3 + number % 4],
            spaces=[True, number % 2 == 0, True, True, False, False][: 3 + number % 4],
            tags=["NNP", "VBD", "NNP", "IN", "NNP", "_SP"][: 3 + number % 4],
            pos=["PROPN", "VERB", "PROPN", "ADP", "PROPN", "SPACE"][: 3 + number % 4],
            lemmas=["Ada", "meet", "Bo", "in", "Rome", "\n"][: 3 + number % 4],
            morphs=["Number=Sing", "Tense=Past", "", "", "", ""][: 3 + number % 4],
            deps=["nsubj", "ROOT", "dobj", "prep", "pobj", "dep"][: 3 + number % 4],
            heads=[1, 1, 1, 1, 3, 4][: 3 + number % 4],
        )
        ada = DocSpan(doc, 0, 1, "PER", kb_id="Q7259", span_id="e1")
        if not key:
            doc.set_ents([ada], missing=[doc[1:2]], default="outside")
        doc.spans["other"] = SpanGroup(doc, name="named", spans=[doc[0:2]], attrs={"n": [number]})
        if key:
            attrs = {"by": "me", "layers": [0, 0]}
            spans = [ada, DocSpan(doc, 2, 3, "PER")]
            doc.spans[key] = SpanGroup(doc, name="group", spans=spans, attrs=attrs)
        doc.spans["more"] = []
        doc.cats = {"good": number / 7}
        doc.user_data = {"iobes_json": f'{{"id": {number}}}', "key": (number, "é")}
        found.append(doc)
    return [*found, Doc(vocab), Doc(vocab)]


ENTITIES = {"ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"}


def all_of(doc: Doc, without: str = "") -> dict[str, Any]:
    """All that a Doc holds but its entities, or one span group."""
    attrs: Any = [attr for attr in DOCBIN_ALL_ATTRS if without or attr not in ENTITIES]
    groups = {
        key: (some.name, some.attrs, [(*ends(span), span.kb_id, span.id) for span in some])
        for key, some in doc.spans.items()
        if key != without
    }
    return {
        "text": doc.text,
        "unknown": doc.has_unknown_spaces,
        "tokens": doc.to_array(attrs).tolist(),
        "strings": [(t.tag_, t.lemma_, str(t.morph), t.dep_, t.ent_kb_id_) for t in doc]
        if without
        else [],
        "groups": groups,
        "cats": doc.cats,
        "data": doc.user_data,
    }


def ends(span: DocSpan) -> tuple[int, int, str, int, int]:
    return span.start, span.end, span.label_, span.start_char, span.end_char


def changed(part: Sentences, spans: Sequence[Iterable[tuple[int, int, str]]]) -> Sentences:
    """The sentences with other spans."""
    known = Known(SpanColumns.of(spans, np.diff(part.offsets).tolist()))
    return replace(part, tags=(), given=known)


def test_what_is_not_changed_stays_byte_for_byte(tmp_path: Path) -> None:
    for key in ("", "sc"):
        docs = rich(Vocab(), 9, key)
        path = there(tmp_path / f"a{key}.spacy", docs, store_user_data=True)
        out = tmp_path / "out.spacy"
        save(read(path, spans_key=key), out)
        assert out.read_bytes() == path.read_bytes()
        save(read(path, spans_key=key), out, unit="document")
        assert out.read_bytes() == path.read_bytes()


def test_entities_are_edited_and_nothing_else(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(ENOUGH, 7)
    path = there(tmp_path / "a.spacy", rich(Vocab(), 9), store_user_data=True)
    out = tmp_path / "out.spacy"
    parts = [
        changed(
            part,
            [
                [(0, 1, "PER"), (1, 3, "NEW LABEL")] if size else []
                for size in np.diff(part.offsets)
            ],
        )
        for part in read(path)
    ]
    assert len(parts) > 3
    save(parts, out)
    before, after = back(path), back(out)
    assert list(map(all_of, after)) == list(map(all_of, before))
    for doc in filter(len, after):
        assert [(*ends(e)[:3], e.kb_id_, e.id_) for e in doc.ents] == [
            (0, 1, "PER", "Q7259", "e1"),
            (1, 3, "NEW LABEL", "", ""),
        ]
        assert {token.ent_iob for token in doc[3:]} <= {2}


def test_ids_go_with_the_tokens_or_the_label_of_the_first(tmp_path: Path) -> None:
    doc = made("a b c d e")
    spans = [("X", 0, 2, "Q1"), ("Y", 2, 3, "Q2"), ("Z", 4, 5, "Q3")]
    doc.set_ents([DocSpan(doc, a, b, label, kb_id=kb) for label, a, b, kb in spans])
    (part,) = read(there(tmp_path / "a.spacy", [doc]))
    save([changed(part, [[(0, 3, "X"), (4, 5, "W")]])], tmp_path / "b.spacy")
    (found,) = back(tmp_path / "b.spacy")
    assert [token.ent_kb_id_ for token in found] == ["Q1", "Q1", "Q1", "", "Q3"]
    assert [token.ent_type_ for token in found] == ["X", "X", "X", "", "W"]


def test_missing_and_blocked_are_edited(tmp_path: Path) -> None:
    path = there(tmp_path / "a.spacy", [malformed("a b c d", "-", "!", "B-X", "I-Y")])
    (part,) = read(path)
    save([part], tmp_path / "b.spacy", policy="begin")
    assert tags(tmp_path / "b.spacy") == [[["-", "!", "B-X", "B-Y"]]]
    with pytest.raises(MalformedTagsError):
        save([part], tmp_path / "c.spacy")
    flags = np.array([False, True, False, False]), np.array([True, False, False, False])
    given_ = replace(
        part, tags=(), given=Known(part.known(policy="begin").spans, flags[0], blocked=flags[1])
    )
    save([given_], tmp_path / "d.spacy")
    assert tags(tmp_path / "d.spacy") == [[["!", "-", "B-X", "B-Y"]]]


def test_a_group_is_edited_and_nothing_else(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(ENOUGH, 7)
    path = there(tmp_path / "a.spacy", rich(Vocab(), 9, "sc"), store_user_data=True)
    out = tmp_path / "out.spacy"
    new = [(0, 1, "PER"), (0, 3, "NEW LABEL")]
    parts = [
        changed(part, [new if size else [] for size in np.diff(part.offsets)])
        for part in read(path, spans_key="sc")
    ]
    save(parts, out)
    before, after = back(path), back(out)
    assert [all_of(doc, "sc") for doc in after] == [all_of(doc, "sc") for doc in before]
    for doc in filter(len, after):
        some = doc.spans["sc"]
        assert (some.name, some.attrs) == ("group", {"by": "me"})
        assert [(s.label_, s.text, s.kb_id_) for s in some] == [
            ("NEW LABEL", doc[0:3].text, ""),
            ("PER", "Ada", "Q7259"),
        ]
        assert [ends(s)[3:] for s in some] == [(0, doc[2].idx + 2), (0, 3)]


def test_layers_are_edited(tmp_path: Path) -> None:
    attrs: dict[str, Any] = {"layers": [0, 1], "layer_count": 2, "layer_blocked": [[1, 2]]}
    doc = grouped("a b c", (0, 2, "X"), (0, 1, "Y"), **attrs)
    (part,) = read(there(tmp_path / "a.spacy", [made("z"), doc]))
    other = CodedTags.from_lengths([0, 1, 2, 0], [1, 3], ("-", "O", "B-NEW"))
    tags_ = (part.tags[0], other)
    save([replace(part, tags=tags_)], tmp_path / "b.spacy")
    assert tags(tmp_path / "b.spacy") == [
        [["-"], ["B-X", "I-X", "O"]],
        [["-"], ["O", "B-NEW", "-"]],
    ]
    z, found = back(tmp_path / "b.spacy")
    assert group(found) == [(0, 2, "X"), (1, 2, "NEW")]
    wanted = {"layers": [0, 1], "layer_count": 2, "layer_missing": [[1, 2]]}
    assert found.spans["sc"].attrs == wanted
    assert not z.spans  # there was no group, and nothing is known


def test_a_group_that_was_not_read_gives_way(tmp_path: Path) -> None:
    doc = grouped("a b", (0, 1, "X"), layers=[7, 7], by="me")
    doc.set_ents([DocSpan(doc, 0, 1, "X")])
    path = there(tmp_path / "a.spacy", [doc])
    save(read(path), path, spans_key="sc")
    (doc,) = back(path)
    assert (group(doc), doc.spans["sc"].attrs["layers"]) == ([(0, 1, "X")], [0])
    assert doc.spans["sc"].attrs["by"] == "me"


def test_another_group_is_added(tmp_path: Path) -> None:
    path = there(tmp_path / "a.spacy", rich(Vocab(), 5), store_user_data=True)
    save(read(path), tmp_path / "b.spacy", spans_key="new")
    before, after = back(path), back(tmp_path / "b.spacy")
    assert [all_of(doc, "new") for doc in after] == [all_of(doc, "new") for doc in before]
    assert [group(doc, "new") for doc in after if len(doc)] == [[(0, 1, "PER")]] * 5
    assert [
        doc.missing for doc in plain(read(tmp_path / "b.spacy", spans_key="new")) if doc.tokens
    ] == [[1]] * 5


def test_spans_that_overlap_become_a_group_only_where_there_are_no_entities(tmp_path: Path) -> None:
    doc, path, out = made("a b"), tmp_path / "a.spacy", tmp_path / "b.spacy"
    (part,) = read(there(path, [doc]))
    part = changed(part, [[(0, 2, "X"), (1, 2, "Y")]])
    save([part], out)
    assert plain(read(out))[0].spans == [(0, 2, "X"), (1, 2, "Y")]
    (other,) = read(there(path, [made("a b", ents=["B-X", "O"])]))
    with pytest.raises(OverlapError) as error:
        save([changed(other, list(part.known().spans))], out)
    assert str(error.value) == (
        f"{path}, Doc 0, token 1, 'b': X 'a b' and Y 'b' overlap, and entities cannot. Write a "
        "span group (--set output-spans-key), or keep one of them."
    )


def test_some_docs_of_a_file(tmp_path: Path) -> None:
    path, out = (
        there(tmp_path / "a.spacy", rich(Vocab(), 6), store_user_data=True),
        tmp_path / "b.spacy",
    )
    (part,) = read(path)
    whole = back(path)
    save([part.cut(2, 4), part.cut(5, 6)], out)  # sentence 0 is the empty Doc
    assert list(map(all_of, back(out))) == [all_of(whole[number]) for number in (2, 3, 5)]
    save([part.cut(0, 4), part.cut(4, len(part))], out)
    assert out.read_bytes() == path.read_bytes()
    save([Sentences.joined([part.cut(0, 4), part.cut(4, len(part))])], out)
    assert out.read_bytes() == path.read_bytes()
    # in another order they are made anew
    save([part.cut(4, 6), part.cut(1, 2)], out)
    found = back(out)
    assert [doc.text for doc in found] == [whole[number].text for number in (4, 5, 1)]
    assert [doc.user_data for doc in found] == [{"iobes_json": f'{{"id": {n}}}'} for n in (3, 4, 0)]
    assert not any(doc.cats or doc.spans for doc in found)
    sents = Doc(Vocab(), words=list("ab"), sent_starts=[True, True], ents=["B-X", "B-Y"])
    (part,) = read(there(path, [sents]))
    save([part.cut(1, 2)], out)
    assert [(doc.text, [e.label_ for e in doc.ents]) for doc in back(out)] == [("b ", ["Y"])]
    save([part.cut(0, 1), part.cut(1, 2)], out)
    assert out.read_bytes() == path.read_bytes()


# Files of other versions, and damaged ones.


def unpacked(data: bytes) -> Any:
    return srsly.msgpack_loads(zlib.decompress(data))


def docbin(**changes: Any) -> bytes:
    """A DocBin with some fields of its message changed; None leaves one out."""
    doc = Doc(
        Vocab(),
        words=["Ada", "met", "Bo", "ran"],
        heads=[1, 1, 3, 3],
        deps=["nsubj", "ROOT", "nsubj", "ROOT"],
        ents=["B-PER", "O", "B-PER", "O"],
    )
    doc.spans["sc"] = [DocSpan(doc, 0, 3, "SCENE")]
    message = unpacked(DocBin(docs=[doc] * 3).to_bytes())
    message = {name: x for name, x in {**message, **changes}.items() if x is not None}
    data: bytes = zlib.compress(srsly.msgpack_dumps(message))
    return data


def with_columns(*attrs: str) -> bytes:
    """The same Docs with some attributes alone."""
    (doc, *_) = DocBin().from_bytes(docbin()).get_docs(Vocab())
    data: bytes = DocBin(attrs=attrs, docs=[doc] * 3).to_bytes()
    return data


@pytest.mark.parametrize(
    "data",
    [
        docbin(version=None),
        docbin(version="0.0", flags=None, span_groups=None),
        with_columns("ENT_IOB", "ENT_TYPE", "HEAD", "DEP"),
        with_columns("ENT_IOB", "ENT_TYPE", "SENT_START"),
    ],
    ids=["no version", "old", "parsed", "few"],
)
def test_files_of_other_versions(tmp_path: Path, data: bytes) -> None:
    path, out = tmp_path / "a.spacy", tmp_path / "out.spacy"
    path.write_bytes(data)
    wanted = Plain(["Ada", "met", "Bo", "ran"], [], [0, 2], [(0, 1, "PER"), (2, 3, "PER")])
    known = b"has_unknown" in zlib.decompress(data)
    assert [doc._replace(spaces=[]) for doc in plain(read(path))] == [wanted] * 3
    assert [part.words.verbatim for part in read(path)] == [not known]
    save(read(path), out)
    assert [all_of(doc, "x") for doc in back(out)] == [all_of(doc, "x") for doc in back(path)]


def test_attributes_that_a_file_lacks_are_added(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(with_columns("TAG"))
    (part,) = read(path, spans_key="sc")
    part = replace(part, origin=replace(part.origin, key=""))
    save([changed(part, [[(1, 2, "X")]] * 3)], path)
    assert [[e.label_ for e in doc.ents] for doc in back(path)] == [["X"]] * 3


def test_groups_as_early_versions_wrote_them(tmp_path: Path) -> None:
    key, path = Vocab().strings["SCENE"], tmp_path / "a.spacy"
    row = struct.pack(">QQQllll", 0, 0, key, 0, 3, 0, 10)
    one = srsly.msgpack_dumps({"name": "sc", "attrs": {}, "spans": [row]})
    path.write_bytes(docbin(span_groups=[srsly.msgpack_dumps([one]), b"", srsly.msgpack_dumps([])]))
    found = plain(read(path, spans_key="sc"))
    assert [(doc.spans, len(doc.missing)) for doc in found] == [
        ([(0, 3, "SCENE")], 0),
        ([], 4),
        ([], 4),
    ]
    (part,) = read(path, spans_key="sc")
    assert part.offsets.tolist() == [0, 4, 6, 8, 10, 12]  # the span is over a boundary
    save([changed(part, [[(0, 4, "X")], *[[(0, 2, "X")]] * 4])], path)
    pair = [(0, 2, "X"), (2, 4, "X")]
    assert [group(doc) for doc in back(path)] == [[(0, 4, "X")], pair, pair]


def beyond(start: int, end: int) -> list[bytes]:
    """Groups with a span that is not in its Doc."""
    row = struct.pack(">QQQllll", 0, 0, Vocab().strings["PER"], start, end, 0, 10)
    one = srsly.msgpack_dumps({"name": "sc", "attrs": {}, "spans": [row]})
    return [srsly.msgpack_dumps({one: ["sc"]})] * 3


def strings_without(name: str) -> list[str]:
    return [x for x in unpacked(docbin())["strings"] if x != name]


def lengths(*numbers: int) -> bytes:
    return np.array(numbers, dtype=np.int32).tobytes()


@pytest.mark.parametrize(
    "content",
    {
        "cut": docbin()[:-1],
        "half": docbin()[: len(docbin()) // 2],
        "changed": docbin()[:40] + b"xyz" + docbin()[43:],
        "gzip": gzip.compress(docbin()[:-9]),
        "text": zlib.compress(b"Ada met Bo"),
        "list": zlib.compress(srsly.msgpack_dumps([1, 2])),
        "nothing": zlib.compress(srsly.msgpack_dumps({"attrs": []})),
        "empty": b"",
        "columns": b"a\tO\n",
        "no label": docbin(strings=strings_without("PER")),
        "no label of a span": docbin(strings=strings_without("SCENE")),
        "no word": docbin(strings=strings_without("Ada")),
        "no lemma": docbin(strings=[]),
        "strings": docbin(strings=[1, 2]),
        "no attributes": docbin(attrs=[]),
        "an attribute too many": docbin(attrs=[*unpacked(docbin())["attrs"], 70]),
        "short": docbin(lengths=lengths(4, 4)),
        "long": docbin(lengths=lengths(4, 4, 5)),
        "negative": docbin(lengths=lengths(8, -4, 8)),
        "spaces": docbin(spaces=b"\0" * 11),
        "odd": docbin(tokens=unpacked(docbin())["tokens"][:-1]),
        "rows": docbin(tokens=unpacked(docbin())["tokens"][:-8]),
        "cats": docbin(cats=[{}]),
        "groups": docbin(span_groups=[b"", b""]),
        "flags": docbin(flags=[{}]),
        "no group": docbin(span_groups=[b"\x81\xff"] * 3),
        "behind": docbin(span_groups=beyond(3, 5)),
        "before": docbin(span_groups=beyond(-1, 2)),
        "backwards": docbin(span_groups=beyond(2, 1)),
        "no tokens": docbin(tokens=bytes(len(unpacked(docbin())["tokens"]))),
    }.items(),
    ids=lambda item: item[0],
)
def test_damaged_files(tmp_path: Path, content: tuple[str, bytes]) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(content[1])
    for key in ("", "sc"):  # whatever is read
        with pytest.raises(FileError) as error:
            list(read(path, spans_key=key, format="docbin"))
        said = str(error.value)
        assert said.startswith(f"{path}: not a DocBin, or a damaged one (")
        assert "\n" not in said
        assert error.value.path == str(path)


def test_states_that_no_entity_has(tmp_path: Path) -> None:
    message = unpacked(docbin())
    table = np.frombuffer(message["tokens"], np.uint64).reshape(12, -1).copy()
    table[3, message["attrs"].index(ENT_IOB)] = 4
    path = tmp_path / "a.spacy"
    path.write_bytes(docbin(tokens=table.tobytes()))
    with pytest.raises(FileError, match="not a DocBin, or a damaged one"):
        list(read(path))


def test_other_errors_of_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        list(read(tmp_path / "a.spacy"))
    told: list[int] = []
    path = there(tmp_path / "a.spacy", [made("a b")])
    list(read(path, progress=told.append))
    assert sum(told) == path.stat().st_size
