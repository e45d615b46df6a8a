"""Docs of sentences: the text to the last character, every token at its place, nothing made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_iobes import SpanColumns
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Sentences, Words, make_docs, read
from spacy_iobes.errors import (
    FileError,
    InexpressibleError,
    MalformedTagsError,
    OverlapError,
    UnknownNameError,
)

from .docs import group
from .docs import stored as tags_of
from .plain_docs import Plain, plain_docs, sentences, stored

Mention = tuple[int, int, str]
blanks = st.text(st.sampled_from(" \t\n\u00a0\u2003"), max_size=3)


def of_texts(
    texts: Sequence[str],
    tokens: Sequence[Sequence[tuple[int, int]]],
    starts: Sequence[Sequence[int]] = (),
    spans: Sequence[Sequence[Mention]] = (),
    missing: Sequence[int] = (),
    **more: Any,
) -> Sentences:
    """Texts as sentences; tokens are counted in each text, missing ones over all of them."""
    sizes = [len(some) for some in tokens]
    begins = np.cumsum([0, *sizes]).tolist()
    boundaries = [sorted({0, *mine}) for mine in starts] or [[0] for _ in texts]
    offsets = [at + start for at, mine in zip(begins, boundaries) for start in mine]
    opens = np.cumsum([0, *map(len, boundaries)])[:-1]
    old = np.array(begins, dtype=np.int64)
    new = np.array([*offsets, begins[-1]], dtype=np.int64)
    columns = SpanColumns.of(spans or [[] for _ in texts], sizes).regrouped(old, new)
    flags = np.isin(np.arange(begins[-1]), missing) if missing else None
    known = Known(columns, flags)
    return Sentences("made", new, opens, lambda: Words.in_texts(texts, tokens), given=known, **more)


def cut_up(doc: Doc) -> list[tuple[str, str]]:
    return [(token.text, token.whitespace_) for token in doc]


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text and its tokens, with any blanks around them."""
    text, tokens = draw(blanks), list[tuple[int, int]]()
    for word in draw(st.lists(st.sampled_from(["a", "é", "😀!", "x y"]), max_size=4)):
        tokens.append((len(text), len(text) + len(word)))
        text += word + draw(blanks)
    return text, tokens


@given(st.lists(texts(), min_size=1, max_size=4), st.data())
def test_the_text_of_a_doc_is_that_of_its_document(
    cases: list[tuple[str, list[tuple[int, int]]]], data: st.DataObject
) -> None:
    spans, starts, names = list[list[Mention]](), list[list[int]](), ["X", "Y"]
    for _, tokens in cases:
        size = len(tokens)
        places = st.tuples(st.integers(0, size - 1), st.integers(1, size)).filter(
            lambda x: x[0] < x[1]
        )
        some = data.draw(st.lists(places, max_size=2)) if size else []
        spans.append([(a, b, data.draw(st.sampled_from(names))) for a, b in some])
        crossed = {token for a, b in some for token in range(a + 1, b)}
        starts.append(
            sorted(
                set(data.draw(st.lists(st.integers(0, size), max_size=2)))
                & {*range(size)} - crossed
            )
        )
    part = of_texts([x for x, _ in cases], [x for _, x in cases], starts, spans)
    made = list(make_docs([part], target="spans:x", unit="document"))
    assert len(made) == len(cases)
    for doc, (text, tokens), mentions, begins in zip(made, cases, spans, starts):
        assert doc.text == text
        mine = [(token.idx, token.idx + len(token)) for token in doc]
        assert set(tokens) <= set(mine)
        others = [token for token, place in zip(doc, mine) if place not in tokens]
        assert all(token.text.isspace() and not token.whitespace_ for token in others)
        assert all(one.i + 1 < other.i for one, other in pairwise(others))
        found = {(span.start_char, span.end_char, span.label_) for span in doc.spans["x"]}
        assert found == {(tokens[a][0], tokens[b - 1][1], label) for a, b, label in mentions}
        if {0, *begins} != {0} and tokens:
            wanted = {tokens[start][0] for start in begins if start} | {0}
            assert {token.idx for token in doc if token.is_sent_start} == wanted
    apart = list(make_docs([part], target="spans:x", unit="sentence"))
    assert "".join(doc.text for doc in apart) == "".join(text for text, _ in cases)
    found_ = sorted(span.text for doc in apart for span in doc.spans["x"])
    assert found_ == sorted(span.text for doc in made for span in doc.spans["x"])


@pytest.mark.parametrize(
    ("text", "tokens", "wanted"),
    [
        ("Ada met", [(0, 3), (4, 7)], [("Ada", " "), ("met", "")]),
        ("Ada met ", [(0, 3), (4, 7)], [("Ada", " "), ("met", " ")]),
        (
            " Ada  met\n",
            [(1, 4), (6, 9)],
            [(" ", ""), ("Ada", " "), (" ", ""), ("met", ""), ("\n", "")],
        ),
        ("a\t \tb", [(0, 1), (4, 5)], [("a", ""), ("\t \t", ""), ("b", "")]),
        ("a   b", [(0, 1), (4, 5)], [("a", " "), ("  ", ""), ("b", "")]),
        ("a\u00a0b", [(0, 1), (2, 3)], [("a", ""), ("\u00a0", ""), ("b", "")]),
        ("a \u2003b", [(0, 1), (3, 4)], [("a", " "), ("\u2003", ""), ("b", "")]),
        ("😀é", [(0, 1), (1, 2)], [("😀", ""), ("é", "")]),
        ("a, b.", [(0, 1), (3, 4)], [("a", ""), (", ", ""), ("b", ""), (".", "")]),
        ("a \n b", [(0, 1), (2, 3), (4, 5)], [("a", " "), ("\n", " "), ("b", "")]),
        ("  ", [], [("  ", "")]),
        ("", [], []),
    ],
)
def test_white_space_makes_tokens(text: str, tokens: Any, wanted: Any) -> None:
    (doc,) = make_docs([of_texts([text], [tokens])], unit="document")
    assert cut_up(doc) == wanted
    assert (doc.text, doc.has_unknown_spaces) == (text, False)


def test_it_cuts_texts_as_spacy_does() -> None:
    """Of a text whose tokens are those of spaCy without white space, the Doc is that of spaCy."""
    nlp = spacy.blank("en")
    for text in ("Ada  met Bo.\n\nThen\tshe left. ", " a", "a\n", "\n \n", "a   ", "don't  go"):
        wanted = nlp(text)
        tokens = [(x.idx, x.idx + len(x)) for x in wanted if not x.is_space]
        (doc,) = make_docs([of_texts([text], [tokens])], unit="document")
        assert cut_up(doc) == cut_up(wanted)


@given(st.lists(plain_docs(), min_size=1, max_size=4), st.sampled_from(["ents", "spans:x"]))
def test_docs_are_those_that_spacy_makes(cases: list[Plain], target: str) -> None:
    vocab, key = Vocab(), target.partition(":")[2]
    made = make_docs([sentences(cases)], vocab, target, "document")
    for doc, case in zip(made, cases):
        wanted = stored(case, vocab, key)
        assert doc.vocab is vocab
        assert cut_up(doc) == cut_up(wanted)
        if len(case.starts) > 1:
            assert [sent.text for sent in doc.sents] == [sent.text for sent in wanted.sents]
        assert tags_of(doc) == tags_of(wanted)
        if key and not 0 < len(case.tokens) == len(case.missing):
            assert group(doc, key) == group(wanted, key)
            absent = {"layer_missing": case.missing, "layer_blocked": case.blocked}
            attrs = {name: [[0, i] for i in some] for name, some in absent.items() if some}
            assert doc.spans[key].attrs == attrs
        else:
            assert not doc.spans
        assert json.loads(doc.user_data.get("iobes_json", "{}")) == case.info


def test_sentences_of_columns_are_docs(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("Ada\tB-PER\nmet\t-\n\nBo\tB-PER\n\n-DOCSTART-\tO\n\n.\t!\n")
    made = list(make_docs(read(path), scheme="bio"))
    assert [doc.text for doc in made] == ["Ada met ", "Bo ", ". "]
    assert all(doc.has_unknown_spaces for doc in made)
    assert [tags_of(doc) for doc in made] == [["B-PER", "-"], ["B-PER"], ["!"]]
    assert [[token.is_sent_start for token in doc] for doc in made] == [
        [True, False],
        [True],
        [True],
    ]
    made = list(make_docs(read(path), target="spans:sc", unit="document", scheme="bio"))
    assert [doc.text for doc in made] == ["Ada met Bo ", ". "]
    assert [group(doc) for doc in made] == [[(0, 1, "PER"), (2, 3, "PER")], []]
    attrs: list[dict[str, Any]] = [
        {"layers": [0, 0], "layer_count": 1, "layer_missing": [[0, 1]]},
        {"layers": [], "layer_count": 1, "layer_blocked": [[0, 0]]},
    ]
    assert [doc.spans["sc"].attrs for doc in made] == attrs
    assert [[token.i for token in doc if token.is_sent_start] for doc in made] == [[0, 2], [0]]


def test_layers_and_their_absent_tokens(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a\tB-X\tB-Y\nb\tI-X\t-\nc\t!\tB-Y\n")
    (doc,) = make_docs(read(path, layers=(1, 2)), target="spans:sc", scheme="bio")
    assert group(doc) == [(0, 2, "X"), (0, 1, "Y"), (2, 3, "Y")]
    assert doc.spans["sc"].attrs == {
        "layers": [0, 1, 1],
        "layer_count": 2,
        "layer_missing": [[1, 1]],
        "layer_blocked": [[0, 2]],
    }
    with pytest.raises(OverlapError):
        list(make_docs(read(path, layers=(1, 2)), scheme="bio"))


def test_documents_come_whole(tmp_path: Path, monkeypatch: Any) -> None:
    """A document is one Doc, however many parts of the file it is in."""
    monkeypatch.setattr("spacy_iobes.corpus.files.CHUNK", 40)
    lines, wanted = list[str](), list[int]()
    for number in range(6):
        lines.append("-DOCSTART-\tO\n\n")
        wanted.append(5 * number + 1)
        lines += [f"w{token}\tB-X\n" + "\n" * (token % 3 == 2) for token in range(wanted[-1])]
        lines.append("\n")
    path = tmp_path / "a"
    path.write_text("".join(lines))
    parts = list(read(path))
    assert any(part.opens.tolist() in ([], [1]) for part in parts)
    for source in (read(path), parts):
        made = list(make_docs(source, unit="document", scheme="bio"))
        assert [len(doc) for doc in made] == wanted
        assert [len(doc.ents) for doc in made] == wanted
        assert [len(list(doc.sents)) for doc in made] == [-(-size // 3) for size in wanted]
    assert sum(len(doc) for doc in make_docs(read(path), scheme="bio")) == sum(wanted)


def test_white_space_is_missing_where_its_neighbours_are() -> None:
    text, tokens = "  a\tb\nc\t", [(2, 3), (4, 5), (6, 7)]

    def tags(missing: Sequence[int]) -> list[str]:
        parts = [of_texts(["\tz\t", text, "\t"], [[(1, 2)], tokens, []], missing=missing)]
        return ["".join(tags_of(doc)) for doc in make_docs(parts, unit="document")]

    assert tags([]) == ["OOO", "OOOOOOO", "O"]
    assert tags([1]) == ["OOO", "---OOOO", "O"]
    assert tags([3]) == ["OOO", "OOOOO--", "O"]
    assert tags([0, 2]) == ["---", "OOO--OO", "O"]
    assert tags([1, 2, 3]) == ["OOO", "-------", "O"]
    (doc,) = make_docs([of_texts([text], [tokens], missing=[0, 1, 2])], target="spans:x")
    assert not doc.spans


def test_a_doc_of_one_sentence_of_a_text_leaves_its_boundaries_open() -> None:
    """A parser may still find them; where a text was cut into sentences they are set."""
    one, two = [(0, 1), (2, 3)], [(0, 1), (2, 3)]
    part = of_texts(["a b", "c d"], [one, two], [[0], [0, 1]])
    made = list(make_docs([part], unit="document"))
    assert [doc.has_annotation("SENT_START") for doc in made] == [False, True]
    made = list(make_docs([part]))
    assert [doc.text for doc in made] == ["a b", "c ", "d"]
    assert [cut_up(doc) for doc in made[1:]] == [[("c", " ")], [("d", "")]]


def test_sentences_that_are_cut_off_take_no_text_along() -> None:
    tokens = [(1, 2), (3, 4), (5, 6), (7, 8)]
    part = of_texts(
        [" a b c d ", "\u00a0e "], [tokens, [(1, 2)]], [[0, 1, 2, 3], [0]], info=({"id": 1}, {})
    )
    assert [doc.text for doc in make_docs([part])] == [" a ", "b ", "c ", "d ", "\u00a0e "]
    assert [doc.text for doc in make_docs([part.cut(1, 3)])] == ["b ", "c "]
    assert [doc.text for doc in make_docs([part.cut(2, 5)])] == ["c ", "d ", "\u00a0e "]
    assert [doc.text for doc in make_docs([part.cut(2, 5)], unit="document")] == [
        "c d ",
        "\u00a0e ",
    ]
    data = [doc.user_data for doc in make_docs([part.cut(0, 2)])]
    assert data == [{"iobes_json": '{"id": 1}'}] * 2
    assert [doc.user_data for doc in make_docs([part.cut(1, 2)])] == [{}]


def test_errors_have_a_place(tmp_path: Path) -> None:
    mentions = [(0, 3, "X"), (1, 2, "Y"), (2, 3, "Z")]
    part = of_texts(
        ["z", "Ada met Bo"], [[(0, 1)], [(0, 3), (4, 7), (8, 10)]], spans=[[], mentions]
    )
    with pytest.raises(OverlapError) as error:
        list(make_docs([part]))
    assert str(error.value) == (
        "made, Doc 1, token 1, 'met': X 'Ada met Bo' and Y 'met' overlap, and entities cannot. "
        "Write a span group (--set output-spans-key), or keep one of them."
    )
    assert error.value.spans == ((0, 3, "X"), (1, 2, "Y"))
    nameless = of_texts(["Ada"], [[(0, 3)]], spans=[[(0, 1, "")]])
    for target in ("ents", "spans:x"):
        with pytest.raises(
            InexpressibleError, match=r"made, Doc 0, token 0, 'Ada': .* needs a label"
        ):
            list(make_docs([nameless], target=target))
    empty = of_texts(["a ", "b"], [[(0, 1)], [(0, 1), (1, 1)]])
    with pytest.raises(FileError, match="made, Doc 1, token 1: a token is empty"):
        list(make_docs([empty]))
    words = replace(empty, read_words=lambda: Words.of(["a", "b", ""]))
    with pytest.raises(FileError, match="made, Doc 1, token 1: a token is empty"):
        list(make_docs([words]))
    for target in ("tag", "spans:", "x"):
        with pytest.raises(UnknownNameError):
            list(make_docs([empty], target=target))
    with pytest.raises(UnknownNameError, match=r"Unknown unit 'page'\. Known: sentence, document"):
        list(make_docs([empty], unit="page"))  # type: ignore[arg-type]


def test_schemes_and_policies_are_those_of_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a\tI-X\nb\tE-X\n")
    (doc,) = make_docs(read(path), scheme="iobes", policy="begin")
    assert tags_of(doc) == ["B-X", "I-X"]
    with pytest.raises(MalformedTagsError):
        list(make_docs(read(path), scheme="iobes"))
    with pytest.raises(FileError, match="name the scheme"):
        list(make_docs(read(path)))
    assert list(make_docs([])) == []


def test_labels_of_layers_and_their_holes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a\tB\nb\t-\n")
    (doc,) = make_docs(read(path, layers=("1=PER",)), scheme="bio")
    assert tags_of(doc) == ["B-PER", "-"]
