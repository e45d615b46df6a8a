"""Plain text: paragraphs are documents, of whose tokens nothing is known."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_iobes.corpus import Sentences, read, save
from spacy_iobes.corpus.formats import format_of
from spacy_iobes.errors import FileError, SettingError

from .made_texts import MadeText, held, made, texts, tokens_of, whole

FILES = Path(__file__).parent / "cases" / "files"
TEXT = "\n  One two.\tThree\r\nfour é\u0301.\n \t\r\n\n\tFive 🎉\n\n\n"


def words_of(part: Sentences) -> list[list[list[str]]]:
    """The words of each sentence of each document, without white space."""
    strings, bounds = part.words.strings(), part.offsets.tolist()
    sentences = [[w for w in strings[a:b] if not w.isspace()] for a, b in pairwise(bounds)]
    documents = [*part.opens.tolist(), len(part)]
    return [sentences[a:b] for a, b in pairwise(documents)]


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_paragraphs_are_documents(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", TEXT)
    part = whole(path)
    assert words_of(part) == [
        [["One", "two", ".", "Three", "four", "é\u0301", "."]],
        [["Five", "🎉"]],
    ]
    assert [part.words.document(n) for n in (0, 1)] == [
        "One two.\tThree\r\nfour é\u0301.",
        "Five 🎉",
    ]
    assert [part.place(at) for at in (0, 4, 7)] == [f"{path}:{line}" for line in (2, 3, 6)]
    known = part.known()
    assert known.missing is not None
    assert known.missing.all()
    assert known.spans.total == 0
    assert part.name == str(path)
    assert part.info == ({}, {})


@pytest.mark.parametrize(
    ("sentences", "words"),
    [
        ("lines", [[["One", "two", ".", "Three"], ["four", "é\u0301", "."]], [["Five", "🎉"]]]),
        (
            "rules",
            [[["One", "two", "."], ["Three", "four", "é\u0301", "."]], [["Five", "🎉"]]],
        ),
    ],
)
def test_sentences(tmp_path: Path, sentences: str, words: list[Any]) -> None:
    path = written(tmp_path / "a.txt", TEXT)
    assert words_of(whole(path, sentences=sentences)) == words


def test_closing_quotes_belong_to_the_sentence(tmp_path: Path) -> None:
    """The rules know what punctuation is, also without a language."""
    path = written(tmp_path / "a.txt", 'He said "go." Then (he did.) Yes.')
    for language in ("", "en"):
        part = whole(path, sentences="rules", lang=language)
        assert [part.text(n)[-2:] for n in range(len(part))] == ['."', ".)", "s."]


@pytest.mark.parametrize("sentences", ["whole", "lines", "rules"])
@pytest.mark.parametrize(
    "text", [TEXT, (FILES / "text.txt").read_text(), 'Dr. No can\'t go! "Why?"']
)
def test_words_are_those_of_spacy(tmp_path: Path, sentences: str, text: str) -> None:
    path, nlp = written(tmp_path / "a.txt", text), spacy.blank("en")
    rules, wanted = nlp.add_pipe("sentencizer"), list[list[list[str]]]()
    for paragraph in re.split(r"\n[ \t\r]*\n\s*", text):
        lines = paragraph.split("\n") if sentences == "lines" else [paragraph]
        tokens = [[t.text for t in nlp.tokenizer(line) if not t.is_space] for line in lines]
        found = [words for words in tokens if words]
        if found and sentences == "rules":
            found = [[t.text for t in sent] for sent in rules(Doc(nlp.vocab, found[0])).sents]
        wanted += [found] if found else []
    part = whole(path, sentences=sentences, lang="en")
    assert words_of(part) == wanted
    assert not [word for word in part.words.strings() if word.isspace()]
    assert format_of(path).name == "text"


def test_nothing_is_no_document(tmp_path: Path) -> None:
    for text in ("", "\n", " \t\r\n\n\u3000\n"):
        assert not list(read(written(tmp_path / "a.txt", text), format="text"))


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_encodings(tmp_path: Path, name: str) -> None:
    path, data = tmp_path / name, "\nZoë".encode("latin-1")
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(FileError, match=r"txt(\.gz)?, line 2: cannot be read as utf-8"):
        whole(path, format="text")
    assert whole(path, encoding="latin-1", format="text").words.strings() == ["Zoë"]
    written(tmp_path / "b.txt", "\ufeffa")
    assert whole(tmp_path / "b.txt").words.document(0) == "a"


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        whole(tmp_path / "no.txt", format="text")
    with pytest.raises(FileError, match="NUL"):
        whole(written(tmp_path / "a.txt", "a\0b"), format="text")
    with pytest.raises(SettingError, match=r"no language 'nope'.*--lang"):
        whole(written(tmp_path / "a.txt", "a"), lang="nope")
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with pytest.raises(FileError, match=r"a\.txt"):
        whole(tmp_path / "a.txt", format="text")


def test_a_long_text_is_read_part_by_part(tmp_path: Path) -> None:
    """Chunks of a file end within characters, lines and blank lines."""
    paragraphs = [f"é{number} " * 30_001 for number in range(20)]
    path = written(tmp_path / "a.txt", "\n \r\n\n".join(paragraphs))
    parts = list(read(path, format="text"))
    assert len(parts) > 2
    found = [part.words.document(n) for part in parts for n in range(len(part.opens))]
    assert found == [paragraph.rstrip() for paragraph in paragraphs]
    assert [part.before[0] for part in parts][1] == len(parts[0].opens)
    assert parts[1].line is not None
    assert int(parts[1].line[0]) == 1 + 3 * len(parts[0].opens)


def test_how_much_is_read_is_told(tmp_path: Path) -> None:
    path, counts = written(tmp_path / "a.txt", "one\n\ntwo\n"), list[int]()
    list(read(path, counts.append, format="text"))
    assert sum(counts) == path.stat().st_size


# Saving


def with_no_blank_line(text: MadeText) -> bool:
    blank = re.search(r"\n[ \t\r]*\n", text.text)
    return not blank and text.text == text.text.strip() and text.text[:1] != "\ufeff"


plain = texts(parts=False).map(lambda text: MadeText(text.text.strip())).filter(with_no_blank_line)


@settings(max_examples=150)
@given(st.lists(plain, min_size=1, max_size=4))
def test_what_is_saved_is_read(wanted: Sequence[MadeText]) -> None:
    unknown = [MadeText(t.text, missing=frozenset(range(len(t.tokens)))) for t in wanted]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "new.txt"
        save([made(unknown)], path, to="text")
        assert path.read_bytes().decode() == "\n\n".join(text.text for text in wanted) + "\n"
        part = whole(path, format="text")
        assert held(part) == unknown
        again = Path(folder) / "again.txt"
        save([part.cut(i, i + 1) for i in range(len(part))], again, to="text")
        assert again.read_bytes() == path.read_bytes()


def test_texts_are_saved_to_the_last_character(tmp_path: Path) -> None:
    """Mentions are not: no text has any."""
    rows = [MadeText(" a  b\t\n", frozenset({(0, 1, "X")})), MadeText("\r\nc")]
    done = save([made(rows)], tmp_path / "new", to="text")
    assert (tmp_path / "new").read_bytes() == b" a  b\t\n\n\n\r\nc\n"
    assert (done.documents, done.findings) == (2, [])


def test_columns_as_text(tmp_path: Path) -> None:
    rows = "Ada B-PER\nmet O\n\nBo B-PER\n"
    path = written(tmp_path / "in.bio", f"{rows}\n-DOCSTART- O\n\nc O\n")
    save(read(path), tmp_path / "new.txt", scheme="bio", to="text")
    assert (tmp_path / "new.txt").read_text() == "Ada met\nBo\n\nc\n"
    part = whole(tmp_path / "new.txt", sentences="lines")
    assert words_of(part) == [[["Ada", "met"], ["Bo"]], [["c"]]]


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    for text in ("a \0", "a \ud800"):
        with pytest.raises(FileError, match=r"made, Doc 0, token .: no text file can hold"):
            save([made([MadeText(text)])], tmp_path / "a", to="text")
    with pytest.raises(FileError, match="'ö' cannot be written as ascii"):
        save([made([MadeText("ö")])], tmp_path / "a", to="text", encoding="ascii")
    assert not [*tmp_path.iterdir()]
    save([], tmp_path / "a", to="text")
    assert (tmp_path / "a").read_bytes() == b""


def test_tokens_of_these_tests() -> None:
    assert tokens_of("a_1é b\u0301.\n") == [(0, 4), (5, 7), (7, 8)]


def test_sentences_that_are_cut_off_are_not_in_the_text(tmp_path: Path) -> None:
    part = made([MadeText("a b\u2028c d\te", breaks=(2, 4)), MadeText("f")])
    wanted = {
        (0, 4): "a b\u2028c d\te\n\nf",
        (0, 1): "a b\u2028",
        (1, 2): "c d\t",
        (1, 4): "c d\te\n\nf",
    }
    for (begin, end), text in wanted.items():
        save([part.cut(begin, end)], tmp_path / "new", to="text")
        assert (tmp_path / "new").read_bytes().decode() == text + "\n"
        pieces = [part.cut(at, at + 1) for at in range(begin, end)]
        save(pieces, tmp_path / "again", to="text")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "new").read_bytes()
    some = Sentences.joined([part.cut(0, 1), part.cut(2, 4)])
    assert some.words.strings() == ["a", "b", "e", "f"]
    assert some.words.texts is None
