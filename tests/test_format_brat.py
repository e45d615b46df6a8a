"""brat folders: read and written, and edited so that nothing but mentions changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes import SpanColumns
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Sentences, read, save
from spacy_iobes.errors import FileError, InexpressibleError, SettingError

from .made_texts import MadeText, held, made, texts, tokens_of, whole
from .shared import SHARED, needs_shared, unpacked

FILES = Path(__file__).parent / "cases" / "files"

TEXT = "Ada 🎉 met José\u0301 in New\nYork.\r\nShe won\u2019t go."
MENTIONS = {  # the parts of each mention, whose characters the test slices
    "T1": ("PER", [(0, 3)], "Ada"),
    "T2": ("PER", [(10, 15)], "José\u0301"),
    "T3": ("LOC", [(19, 22), (23, 27)], "New York"),
    "T4": ("EVENT", [(6, 9), (40, 42)], "met go"),
    "T7": ("X", [(34, 36)], "wo"),
}


def ann(mentions: Mapping[str, tuple[str, list[tuple[int, int]], str]]) -> list[str]:
    lines = []
    for key, (label, parts, words) in mentions.items():
        places = ";".join(f"{a} {b}" for a, b in parts)
        lines.append(f"{key}\t{label} {places}\t{words}")
    return lines


REST = [
    "R1\tMeets Arg1:T1 Arg2:T2",
    "E1\tEVENT:T4 Who:T1",
    "A1\tNegated E1",
    "N1\tReference T3 Wikipedia:T1\tNew York City",
    "#1\tAnnotatorNotes R1\tsee T3",
    "*\tEquiv T1 T2",
    "",
    "a line of another tool T1",
]


def folder(path: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        (path / name).write_bytes(data)
    return path


def contents(path: Path) -> dict[str, str]:
    """Every file below a folder, byte for byte."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {file.relative_to(path).as_posix(): file.read_bytes().decode() for file in files}


def with_spans(part: Sentences, *sentences: list[tuple[int, int, str]]) -> Sentences:
    """The sentences with other spans; lists are those of the first sentences, others have none."""
    lengths = [b - a for a, b in pairwise(part.offsets.tolist())]
    rows = [*sentences, *[[]] * (len(part) - len(sentences))]
    return replace(part, given=Known(SpanColumns.of(rows, lengths)))


# Reading


def test_a_folder(tmp_path: Path) -> None:
    for _, parts, words in MENTIONS.values():
        assert " ".join(TEXT[a:b] for a, b in parts) == words
    lines = "\n".join([*ann(MENTIONS), *REST])
    folder(tmp_path, {"b.txt": TEXT, "b.ann": lines, "a/1.txt": "x y", "a/1.ann": ""})
    part = whole(tmp_path)
    assert (part.name, part.opens.tolist(), len(part)) == (str(tmp_path), [0, 1], 2)
    assert list(part.info) == [{"id": "a/1"}, {"id": "b"}]
    tokens = ["Ada", "🎉", "met", "José\u0301", "in", "New", "York", ".", "She", "won"]
    tokens += ["\u2019", "t", "go", "."]
    assert part.words.strings(2) == tokens
    assert [TEXT[a:b] for a, b in tokens_of(TEXT)] == tokens
    assert list(part.known().spans) == [[], [(0, 1, "PER"), (3, 4, "PER"), (5, 7, "LOC")]]
    assert part.known().missing is None
    found = [(f.kind, f.place, f.sentence, f.label, f.parts, f.gone[0][2]) for f in part.findings]
    place = f"{tmp_path / 'b.ann'}"
    assert found == [
        ("discontinuous", f"{place}:4", 1, "EVENT", ((6, 9), (40, 42)), "met … go"),
        ("misaligned", f"{place}:5", 1, "X", ((34, 36),), "wo"),
    ]
    text = tmp_path / "b.txt"
    assert [part.place(at) for at in (0, 2, 8, 10)] == [
        f"{tmp_path / 'a' / '1.txt'}:1",
        f"{text}:1",
        f"{text}:2",
        f"{text}:3",
    ]
    assert part.text(1, 5, 7) == "New York"


def test_one_file_of_a_folder(tmp_path: Path) -> None:
    folder(tmp_path, {"a.txt": "x y", "a.ann": "T1\tA 2 3\ty\n", "b.txt": "z", "b.ann": ""})
    part = whole(tmp_path / "a.ann")
    assert (list(part.known().spans), part.info) == ([[(1, 2, "A")]], ({"id": "a"},))
    assert part.place(0) == f"{tmp_path / 'a.txt'}:1"


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_marks(tmp_path: Path, feed: str, mark: str) -> None:
    """Offsets count every character of the text, a byte order mark too."""
    text = f"{mark}One{feed}two"
    at = text.index("two")
    assert text[at : at + 3] == "two"
    lines = mark + feed.join(
        [f"T1\tA {at} {at + 3}", f"T2\tB {len(mark)} {at - len(feed)}\tOne", ""]
    )
    folder(tmp_path, {"a.txt": text, "a.ann": lines})
    part = whole(tmp_path)
    first = len(mark)
    assert part.words.strings() == [*mark, "One", "two"]
    assert list(part.known().spans) == [[(first, first + 1, "B"), (first + 1, first + 2, "A")]]


def test_a_mark_that_belongs_to_the_encoding_does_not_count(tmp_path: Path) -> None:
    folder(tmp_path, {"a.txt": "\ufeffOne two", "a.ann": "\ufeffT1\tA 4 7\ttwo"})
    part = whole(tmp_path, encoding="utf-8-sig")
    assert part.words.strings() == ["One", "two"]
    assert list(part.known().spans) == [[(1, 2, "A")]]


def test_other_encodings(tmp_path: Path) -> None:
    files = {"a.txt": "Zoë é", "a.ann": "T1\tA 4 5\té\n"}
    folder(tmp_path, {name: text.encode("latin-1") for name, text in files.items()})
    with pytest.raises(FileError, match=r"a\.txt, line 1: cannot be read as utf-8"):
        whole(tmp_path)
    part = whole(tmp_path, encoding="latin-1")
    assert list(part.known().spans) == [[(1, 2, "A")]]
    assert part.words.document(0) == "Zoë é"


@pytest.mark.parametrize(
    ("sentences", "words"),
    [
        ("whole", [["One", ".", "Two", "three", "."]]),
        ("lines", [["One", ".", "Two"], ["three", "."]]),
        ("rules", [["One", "."], ["Two", "three", "."]]),
    ],
)
def test_sentences(tmp_path: Path, sentences: str, words: list[list[str]]) -> None:
    folder(tmp_path, {"a.txt": "One. Two\nthree.", "a.ann": "T1\tA 4 5\t.\n".replace("4 5", "3 4")})
    part = whole(tmp_path, sentences=sentences)
    bounds = part.offsets.tolist()
    assert [part.words.strings(a, b) for a, b in pairwise(bounds)] == words
    assert part.opens.tolist() == [0]
    assert part.known().spans[0] == [(1, 2, "A")]


def test_where_a_mention_is_is_no_boundary(tmp_path: Path) -> None:
    folder(tmp_path, {"a.txt": "One two\nthree\nfour", "a.ann": "T1\tA 4 13\ttwo three\n"})
    part = whole(tmp_path, sentences="lines")
    assert part.offsets.tolist() == [0, 3, 4]
    assert list(part.known().spans) == [[(1, 3, "A")], []]
    assert [(found.kind, found.sentence) for found in part.findings] == [("crossing", 0)]


def test_tokens_of_a_language(tmp_path: Path) -> None:
    text = "I can't  go"
    folder(tmp_path, {"a.txt": text, "a.ann": "T1\tA 2 4\tca\nT2\tB 4 7\tn't\nT3\tC 5 6\t'\n"})
    part = whole(tmp_path, lang="en")
    assert part.words.strings() == [token.text for token in spacy.blank("en")(text)]
    assert list(part.known().spans) == [[(1, 2, "A"), (2, 3, "B")]]
    with pytest.raises(SettingError, match=r"no language 'nope'.*--lang"):
        whole(tmp_path, lang="nope")


@pytest.mark.parametrize(
    ("misaligned", "spans", "kinds"),
    [
        ("count", [], ["misaligned"]),
        ("expand", [(0, 1, "A")], ["moved"]),
        ("contract", [], ["misaligned"]),
        ("split", [(1, 2, "A")], []),
    ],
)
def test_misaligned(tmp_path: Path, misaligned: str, spans: list[Any], kinds: list[str]) -> None:
    folder(tmp_path, {"a.txt": "unhappy", "a.ann": "T1\tA 2 7\thappy\n"})
    part = whole(tmp_path, misaligned=misaligned)
    assert list(part.known().spans) == [spans]
    assert [found.kind for found in part.findings] == kinds
    with pytest.raises(FileError, match=r"a\.ann:1: 'happy' \(A\) begins or ends within a token"):
        whole(tmp_path, misaligned="raise")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("T1", "cannot be read"),
        ("T1 A 0 1\ta", "cannot be read"),
        ("T1\tA 0 1 2\ta", "cannot be read"),
        ("T1\tA 0 1\tb", "the text at 0 1 is 'a', not 'b'"),
        ("T1\tA 1 1\t", "1 1 is no part of 3 characters"),
        ("T1\tA 2 4\tb", "2 4 is no part of 3 characters"),
        ("T1\tA 0 1;9 10\ta", "is no part of 3 characters"),
        ("T1\tA 0 99999999999999999999\ta", "cannot be read"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, said: str) -> None:
    folder(tmp_path, {"1.txt": "a b", "1.ann": f"\nT2\tA 0 1\ta\n{line}\r\n"})
    with pytest.raises(FileError, match=r"1\.ann, line 3: ") as error:
        whole(tmp_path)
    assert said in str(error.value)
    assert (error.value.path, error.value.line) == (str(tmp_path / "1.ann"), 3)


def test_what_is_no_brat_folder(tmp_path: Path) -> None:
    for name in ("", "nowhere"):
        with pytest.raises(FileError, match=r"no \.ann files in or below it"):
            list(read(tmp_path / name, format="brat"))
    with pytest.raises(FileError, match=r"a\.txt: cannot be read: no such file"):
        whole(folder(tmp_path, {"a.ann": ""}))
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(FileError, match=r"a\.txt"):
        whole(tmp_path)


def test_a_mention_of_a_text_without_tokens(tmp_path: Path) -> None:
    files = {"a.txt": "a", "a.ann": "", "b.txt": "\n \n", "b.ann": "T1\tX 0 2\t \n"}
    part = whole(folder(tmp_path, files))
    assert [(found.kind, found.place) for found in part.findings] == [
        ("misaligned", f"{tmp_path / 'b.ann'}:1")
    ]
    save([part], tmp_path / "new", to="brat")
    assert contents(tmp_path / "new") == files


# Writing


def test_what_is_written(tmp_path: Path) -> None:
    spans = frozenset({(0, 1, "PER"), (0, 2, "PER"), (2, 3, "LOC")})
    others = frozenset({(((4, 5), (8, 9)), "X"), (((10, 11),), "Y")})
    one = MadeText("Ada ö\n\tR Rom", spans, others)
    done = save([made([one, MadeText("x ")])], tmp_path / "new", to="brat")
    assert contents(tmp_path / "new") == {
        "0.ann": "T1\tPER 0 5\tAda ö\nT2\tPER 0 3\tAda\nT3\tX 4 5;8 9\tö  \nT4\tLOC 7 8\tR\n"
        "T5\tY 10 11\to\n",
        "0.txt": "Ada ö\n\tR Rom",
        "1.ann": "",
        "1.txt": "x ",
    }
    assert (done.documents, done.tokens, done.labels) == (2, 5, {"PER": 2, "LOC": 1})


@settings(max_examples=150)
@given(st.lists(texts(), min_size=1, max_size=3))
def test_what_is_written_is_read(wanted: list[MadeText]) -> None:
    wanted = [replace(text, id=f"d/{number} é") for number, text in enumerate(wanted)]
    with TemporaryDirectory() as place:
        save([made(wanted)], Path(place) / "new", to="brat")
        part = whole(Path(place) / "new")
        assert held(part) == wanted
        for text, number in zip(wanted, range(len(wanted))):
            lines = (Path(place) / "new" / "d" / f"{number} é.ann").read_bytes().decode()
            for line in filter(None, lines.split("\n")):
                _, (_, rest), words = (f.split(" ", 1) for f in line.split("\t"))
                ends = [tuple(map(int, part.split())) for part in rest.split(";")]
                there = " ".join(text.text[a:b] for a, b in ends)
                assert there.split() == " ".join(words).split()
        parts = [part.cut(i, i + 1) for i in range(len(part))]
        save(parts, Path(place) / "again", to="brat")
        assert contents(Path(place) / "again") == contents(Path(place) / "new")


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["a", "b"], ["a", "b"]),
        (["a/1", "b"], ["a/1", "b"]),
        (["b", "a"], ["0-b", "1-a"]),  # another order when read
        (["a", "a"], ["0-a", "1-a"]),
        (["A", "a"], ["0-A", "1-a"]),  # one file on some systems
        (["", "a"], ["0", "1-a"]),
        (["../a", "b"], ["0-.._a", "1-b"]),
        (["/etc/x", "b"], ["0-_etc_x", "1-b"]),
        (["..", "b"], ["0", "1-b"]),
        (["a.txt/b", "c"], ["0-a.txt_b", "1-c"]),
        ([".a", "b"], ["0-.a", "1-b"]),
        (["a\0\n:b", "c"], ["0-a_b", "1-c"]),
        (["a" * 300, "b"], ["0-" + "a" * 50, "1-b"]),
    ],
)
def test_names_of_files(tmp_path: Path, ids: list[str], names: list[str]) -> None:
    wanted = [MadeText(f"text {n}", id=name) for n, name in enumerate(ids)]
    save([made(wanted)], tmp_path / "new", to="brat")
    assert [name for name in contents(tmp_path / "new") if name.endswith(".txt")] == [
        f"{name}.txt" for name in names
    ]
    assert [text.text for text in held(whole(tmp_path / "new"))] == ["text 0", "text 1"]
    assert [file.name for file in tmp_path.iterdir()] == ["new"]


def test_columns_as_texts(tmp_path: Path) -> None:
    (tmp_path / "in.bio").write_text(
        "-DOCSTART- O\n\nAda B-PER\nmet O\n\nBo B-PER\nLee I-PER\n\n-DOCSTART- O\n\nx O\n"
    )
    save(read(tmp_path / "in.bio"), tmp_path / "new", scheme="bio", to="brat")
    assert contents(tmp_path / "new") == {
        "0.txt": "Ada met\nBo Lee",
        "0.ann": "T1\tPER 0 3\tAda\nT2\tPER 8 14\tBo Lee\n",
        "1.txt": "x",
        "1.ann": "",
    }


def test_a_document_of_several_parts_is_one_file(tmp_path: Path) -> None:
    text = MadeText("a b\nc d", frozenset({(1, 2, "X"), (2, 4, "Y")}), breaks=(2,))
    part = made([text, MadeText("e")])
    save([part.cut(0, 1), part.cut(1, 3)], tmp_path / "new", to="brat")
    assert contents(tmp_path / "new") == {
        "0.txt": "a b\nc d",
        "0.ann": "T1\tX 2 3\tb\nT2\tY 4 7\tc d\n",
        "1.txt": "e",
        "1.ann": "",
    }


@pytest.mark.parametrize("label", ["", "two words", "tab\there", " x", "x\0"])
def test_labels_that_cannot_be_written(tmp_path: Path, label: str) -> None:
    part = made([MadeText("a b", frozenset({(0, 1, label), (1, 2, "Y")}))])
    with pytest.raises(InexpressibleError, match="be written, the first at made, Doc 0, tok"):
        save([part], tmp_path / "new", to="brat")
    assert not [*tmp_path.iterdir()]
    done = save([part], tmp_path / "new", to="brat", lossy=True)
    assert [(found.kind, found.label) for found in done.findings] == [("label", label)]
    assert contents(tmp_path / "new")["0.ann"] == "T1\tY 2 3\tb\n"


def test_tokens_that_are_not_annotated(tmp_path: Path) -> None:
    part = made([MadeText("a b c", frozenset({(0, 1, "X")}), missing=frozenset({1, 2}))])
    with pytest.raises(InexpressibleError, match="2 tokens unannotated, the first at made, Doc 0"):
        save([part], tmp_path / "new", to="brat")
    done = save([part], tmp_path / "new", to="brat", lossy=True)
    assert [found.gone[0][2] for found in done.findings] == ["b", "c"]
    assert contents(tmp_path / "new")["0.ann"] == "T1\tX 0 1\ta\n"


@pytest.mark.parametrize("text", ["a \0", "a \ud800b"])
def test_characters_that_no_file_can_hold(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match=r"made, Doc 0, token [01]: no text file can hold"):
        save([made([MadeText(text)])], tmp_path / "new", to="brat")
    assert not [*tmp_path.iterdir()]


def test_encodings_are_written(tmp_path: Path) -> None:
    part = made([MadeText("ö x", frozenset({(1, 2, "X")}))])
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        save([part], tmp_path / encoding, to="brat", encoding=encoding)
        data = (tmp_path / encoding / "0.txt").read_bytes()
        assert data == "ö x".encode(encoding)
        assert held(whole(tmp_path / encoding, encoding=encoding))[0].spans == {(1, 2, "X")}
    with pytest.raises(FileError, match="'ö' cannot be written as ascii"):
        save([part], tmp_path / "ascii", to="brat", encoding="ascii")
    with pytest.raises(FileError, match="no text encoding 'no'"):
        save([part], tmp_path / "no", to="brat", encoding="no")


def test_what_is_there_stays(tmp_path: Path) -> None:
    part = made([MadeText("a")])
    folder(tmp_path, {"old/x": "1", "file": "2"})
    for name in ("old", "file"):
        with pytest.raises(FileError, match="something is there already"):
            save([part], tmp_path / name, to="brat")
    for path in ("-", str(tmp_path / "a.ann")):
        with pytest.raises(FileError, match="brat has a folder"):
            save([part], path, to="brat")
    assert contents(tmp_path) == {"old/x": "1", "file": "2"}
    (tmp_path / "empty").mkdir()
    save([part], tmp_path / "empty", to="brat")
    assert contents(tmp_path / "empty") == {"0.ann": "", "0.txt": "a"}


# Editing


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "a.txt": " \n",
        "a.ann": "#1\tnothing\tto see",
        "b.txt": TEXT,
        "b.ann": "\n".join([*ann(MENTIONS), *REST, ""]),
        "c/d.txt": "x y z",
        "c/d.ann": "\ufeffT1\tA 0 1\tx\r\nT2\tB 2 3\ty\r\nT12\tC 4 5\tz",
        "e.txt": "",
        "e.ann": "",
        "annotation.conf": "[entities]\nPER\n",
        "c/visual.conf": "[labels]\r\n",
    }
    return folder(tmp_path / "in", files)


def test_nothing_changes_where_nothing_does(annotated: Path, tmp_path: Path) -> None:
    save(read(annotated), tmp_path / "new", to="brat")
    assert contents(tmp_path / "new") == contents(annotated)
    part = whole(annotated)
    assert part.info == ({"id": "b"}, {"id": "c/d"})
    pieces = [part.cut(i, i + 1) for i in range(len(part))]
    save(pieces, tmp_path / "again", to="brat")
    assert contents(tmp_path / "again") == contents(annotated)


def test_mentions_come_and_go(annotated: Path, tmp_path: Path) -> None:
    """Nobody names T7 and T12; T2 of the second text is another mention now, T1 has a new label."""
    part = whole(annotated)
    first = [(0, 1, "PER"), (3, 4, "PER"), (5, 7, "GPE"), (8, 9, "PER"), (0, 3, "S")]
    save([with_spans(part, first, [(0, 1, "D"), (1, 3, "B")])], tmp_path / "new", to="brat")
    found, before = contents(tmp_path / "new"), contents(annotated)
    lines = before.pop("b.ann").split("\n")
    lines[2] = lines[2].replace("\tLOC ", "\tGPE ")
    she = TEXT.index("She")
    new = ["T8\tS 0 9\tAda 🎉 met", f"T9\tPER {she} {she + 3}\tShe", ""]
    assert found.pop("b.ann").split("\n") == [*lines[:-1], *new]
    before.pop("c/d.ann")
    assert found.pop("c/d.ann") == "\ufeffT1\tD 0 1\tx\r\nT13\tB 2 5\ty z\r"
    assert found == before


def test_what_is_about_a_mention_that_is_gone(annotated: Path, tmp_path: Path) -> None:
    """E1 goes with T1, which it names, and A1 with E1; N1 names a Wikipedia page of that name."""
    part = with_spans(whole(annotated), [(3, 4, "PER"), (5, 7, "LOC")], [(0, 1, "A")])
    place = annotated / "b.ann"
    with pytest.raises(InexpressibleError) as error:
        save([part], tmp_path / "new", to="brat")
    said = f"5 annotations orphaned, the first at {place}:6: Meets: what it is about is gone: "
    assert said in str(error.value)
    assert "--lossy" in str(error.value)
    assert not (tmp_path / "new").exists()
    done = save([part], tmp_path / "new", to="brat", lossy=True)
    kept = contents(annotated)["b.ann"].split("\n")
    assert contents(tmp_path / "new")["b.ann"].split("\n") == [*kept[1:5], REST[3], *REST[6:], ""]
    places = [int(found.place.rpartition(":")[2]) for found in done.findings[2:]]
    assert sorted(places) == [6, 7, 8, 10, 11]


def test_some_sentences_of_a_text(tmp_path: Path) -> None:
    """Mentions of the others stay."""
    text = "One two.\nThree four."
    lines = "T1\tA 0 3\tOne\nT2\tB 9 14\tThree\nT3\tC 15 19\tfour\nR1\tX Arg1:T1 Arg2:T2\n"
    source = folder(tmp_path / "in", {"a.txt": text, "a.ann": lines})
    part = whole(source, sentences="lines").cut(1, 2)
    assert list(part.known().spans) == [[(0, 1, "B"), (1, 2, "C")]]
    save([with_spans(part, [(0, 1, "B"), (0, 2, "C")])], tmp_path / "new", to="brat")
    new = contents(tmp_path / "new")
    assert new["a.txt"] == text
    assert new["a.ann"] == lines.replace("T3\tC 15 19\tfour\n", "") + "T4\tC 9 19\tThree four\n"


def test_all_mentions_of_a_place(tmp_path: Path) -> None:
    """One that is there twice stays twice; of two labels of a place each finds its own."""
    lines = "T1\tA 0 1\ta\nT2\tA 0 1\ta\nT3\tB 0 1\ta\nT4\tC 0 1\ta\n"
    source = folder(tmp_path / "in", {"a.txt": "a", "a.ann": lines})
    part = with_spans(whole(source), [(0, 1, "A"), (0, 1, "C"), (0, 1, "D"), (0, 1, "E")])
    save([part], tmp_path / "new", to="brat")
    assert contents(tmp_path / "new")["a.ann"] == lines.replace("B", "D") + "T5\tE 0 1\ta\n"


def test_an_edit_to_another_encoding(tmp_path: Path) -> None:
    files = {"a.txt": "ö é", "a.ann": "T1\tA 2 3\té\n#1\tnote T1\tö\n"}
    source = folder(tmp_path / "in", {n: text.encode("latin-1") for n, text in files.items()})
    save(read(source, encoding="latin-1"), tmp_path / "new", to="brat")
    assert contents(tmp_path / "new") == files


@given(
    texts(characters="ab \n", parts=True),
    st.sets(st.tuples(st.integers(0, 5), st.integers(1, 6), st.sampled_from("XYZ"))),
)
def test_any_edit_is_read_as_it_was_meant(text: MadeText, wanted: set[Any]) -> None:
    count = len(text.tokens)
    spans = {(a, b, label) for a, b, label in wanted if a < b <= count}
    with TemporaryDirectory() as place:
        save([made([text])], Path(place) / "in", to="brat")
        part = with_spans(whole(Path(place) / "in"), sorted(spans))
        save([part], Path(place) / "new", to="brat")
        (found,) = held(whole(Path(place) / "new"))
        lines = (Path(place) / "new" / "0.ann").read_text("utf8").splitlines()
        old = (Path(place) / "in" / "0.ann").read_text("utf8").splitlines()
    assert found == replace(text, spans=frozenset(spans), id="0")
    ids = [line.split("\t")[0] for line in lines]
    assert len(set(ids)) == len(ids)
    assert [line for line in old if line in lines] == [line for line in lines if line in old]


# Real folders


def test_the_cases(tmp_path: Path) -> None:
    """The mentions are what the files say, line by line."""
    part = whole(FILES / "brat")
    for number, found in enumerate(held(part)):
        lines = (FILES / "brat" / f"doc{number}.ann").read_text().splitlines()
        wanted = {tuple(line.split("\t")[1:]) for line in lines}
        ends = {(found.tokens[a][0], found.tokens[b - 1][1], x) for a, b, x in found.spans}
        assert {(f"{x} {a} {b}", found.text[a:b]) for a, b, x in ends} == wanted
    save([part], tmp_path / "new", to="brat")
    assert contents(tmp_path / "new") == contents(FILES / "brat")


@needs_shared
def test_nerel(tmp_path: Path) -> None:
    """Every mention is read or found; relations, links and mentions come back to the byte."""
    unpacked(SHARED / "data" / "nerel" / "NEREL-v1.1.tar.gz", tmp_path)
    dev = tmp_path / "NEREL-v1.1" / "dev"
    part = whole(dev)
    kinds = [found.kind for found in part.findings]
    spans, files = part.known().spans, contents(dev)
    lines = [row for name in files if name.endswith(".ann") for row in files[name].split("\n")]
    assert spans.total + len(kinds) == sum(row.startswith("T") for row in lines)
    assert (len(part.opens), kinds.count("discontinuous")) == (94, 7)
    for found in part.findings:
        if found.parts and found.kind == "discontinuous":
            document = held(part.cut(found.sentence, found.sentence + 1))[0].text
            there = " … ".join(" ".join(document[a:b].split()) for a, b in found.parts)
            assert there == found.gone[0][2]
    save([part], tmp_path / "same", to="brat")
    assert contents(tmp_path / "same") == files
    save([replace(part, origin=None)], tmp_path / "new", to="brat")
    again = whole(tmp_path / "new")
    assert held(again) == held(part)
    without = part.known().spans.with_labels([x for x in spans.labels if x != "PERSON"])
    fewer = replace(part, given=Known(without))
    with pytest.raises(InexpressibleError, match=r"annotations orphaned, the first at .*\.ann:\d+"):
        save([fewer], tmp_path / "fewer", to="brat")
    done = save([fewer], tmp_path / "fewer", to="brat", lossy=True)
    assert {found.kind for found in done.findings} >= {"orphaned"}
    (back,) = [whole(tmp_path / "fewer")]
    assert list(back.known().spans) == list(without)
