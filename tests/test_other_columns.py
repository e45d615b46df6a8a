"""Other columns of a source: parts of speech and the like, read when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_iobes.corpus import Sentences, read
from spacy_iobes.errors import ColumnError, FileError, UnknownNameError

ROWS = [
    [("Ada", "NNP", "nsubj", "B-PER"), ("saw", "VBD", "ROOT", "O"), ("it", "PRP", "dobj", "O")],
    [("Nothing", "NN", "ROOT", "O")],
    [("In", "IN", "prep", "O"), ("Åbo", "NNP", "pobj", "B-LOC")],
]
HEADER = "word pos dep ner\n"


def column(number: int) -> list[list[str]]:
    return [[row[number] for row in sentence] for sentence in ROWS]


def column_file(path: Path, header: str = "") -> Path:
    sentences = ("".join(" ".join(row) + "\n" for row in sentence) for sentence in ROWS)
    path.write_text(header + "\n".join(sentences), encoding="utf8")
    return path


def docs() -> list[Doc]:
    vocab, made = Vocab(), list[Doc]()
    for sentence in ROWS:
        words, tags, deps, _ = map(list, zip(*sentence))
        pos = ["PROPN" if tag == "NNP" else "X" for tag in tags]
        made.append(Doc(vocab, words=words, tags=tags, pos=pos, deps=deps, heads=[0] * len(words)))
    return made


def docbin(path: Path, some: Sequence[Doc]) -> Path:
    DocBin(docs=some).to_disk(path)
    return path


def whole(path: Path, **options: Any) -> Sentences:
    return Sentences.joined(list(read(path, **options)))


@pytest.mark.parametrize(("name", "number"), [(0, 0), (1, 1), (-2, 2), (3, 3), (-4, 0)])
def test_columns_have_numbers(tmp_path: Path, name: int, number: int) -> None:
    part = whole(column_file(tmp_path / "a.bio"))
    assert part.column(name).lists() == column(number)
    assert part.tags[0].lists() == column(3)


@pytest.mark.parametrize(("name", "number"), [("word", 0), ("pos", 1), ("dep", 2), (-1, 3)])
def test_a_header_names_columns(tmp_path: Path, name: str | int, number: int) -> None:
    path = column_file(tmp_path / "a.bio", HEADER)
    part = whole(path, header=True, layers=("3",))
    assert part.column(name).lists() == column(number)


def test_tags_of_other_columns_are_as_they_are_written(tmp_path: Path) -> None:
    """Neither `-` nor suffixes mean anything in them."""
    path = tmp_path / "a.bio"
    path.write_text("a - PER-B\nb x-y O\n", encoding="utf8")
    assert whole(path, suffix=True).column(1).lists() == [["-", "x-y"]]


@pytest.mark.parametrize(("name", "number"), [("tag", 1), ("dep", 2)])
def test_a_docbin_has_attributes(tmp_path: Path, name: str, number: int) -> None:
    part = whole(docbin(tmp_path / "a.spacy", docs()))
    assert part.column(name).lists() == column(number)
    pos = [["PROPN" if tag == "NNP" else "X" for tag in row] for row in column(1)]
    assert part.column("pos").lists() == pos


def test_lemmas_of_some_tokens(tmp_path: Path) -> None:
    some = docs()
    some[2][0].lemma_ = "in"
    found = whole(docbin(tmp_path / "a.spacy", some)).column("lemma")
    assert found.lists() == [["", "", ""], [""], ["in", ""]]


@pytest.mark.parametrize("ending", ["bio", "spacy"])
def test_columns_are_cut_and_joined_like_tokens(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    column_file(path) if ending == "bio" else docbin(path, docs())
    name = 1 if ending == "bio" else "tag"
    part = whole(path)
    assert part.cut(1, 3).column(name).lists() == column(1)[1:]
    assert part.cut(1, 3).cut(1, 2).column(name).lists() == column(1)[2:]
    again = Sentences.joined([part.cut(0, 1), part.cut(1, 3)])
    assert again.column(name).lists() == column(1)
    other = Sentences.joined([part.cut(2, 3), part.cut(0, 1)])
    assert other.column(name).lists() == [column(1)[2], column(1)[0]]


def test_columns_without_tokens_of_white_space(tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=["a", "\n", "b"], tags=["X", "SP", "Y"])
    part = whole(docbin(tmp_path / "a.spacy", [doc]))
    assert part.column("tag").lists() == [["X", "SP", "Y"]]
    assert part.without_blanks().column("tag").lists() == [["X", "Y"]]


def test_columns_of_a_file_that_is_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_iobes.corpus.files.CHUNK", 16)
    parts = list(read(column_file(tmp_path / "a.bio")))
    assert len(parts) > 1
    assert [row for part in parts for row in part.column(1).lists()] == column(1)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    plain = whole(column_file(tmp_path / "a.bio"))
    with pytest.raises(ColumnError, match=r"no column 4\. There are columns 0 to 3, which"):
        plain.column(4)
    with pytest.raises(ColumnError, match="no column 'pos'"):
        plain.column("pos")
    headed = whole(column_file(tmp_path / "b.bio", HEADER), header=True, layers=("3",))
    with pytest.raises(ColumnError, match=r"no column 'lemma'\. There are columns 0 to 3: word"):
        headed.column("lemma")
    stored = whole(docbin(tmp_path / "a.spacy", docs()))
    for name in ("lemma", 1, "shape"):
        with pytest.raises(UnknownNameError, match="There are: pos, tag, dep"):
            stored.column(name)
    bare = whole(docbin(tmp_path / "b.spacy", [Doc(Vocab(), words=["a"])]))
    with pytest.raises(UnknownNameError, match="none but the annotation"):
        bare.column("pos")


def test_sources_without_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "spans": []}\n', encoding="utf8")
    with pytest.raises(FileError, match="only column files and"):
        whole(path).column("pos")
