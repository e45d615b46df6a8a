"""Column files: every layout of the field, nothing guessed, nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import CodedTags
from spacy_iobes.codes import code_tags
from spacy_iobes.corpus import (
    ColumnReader,
    Columns,
    Corpus,
    Part,
    ReadOptions,
    SaveOptions,
    files,
)
from spacy_iobes.corpus.formats.columns import edit
from spacy_iobes.errors import ColumnError

BOM = "\ufeff"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def read(path: Path, text: str, **options: Any) -> tuple[ColumnReader, list[Part]]:
    path.write_bytes(text.encode("utf8"))
    reader = ColumnReader(path, Columns(**options))
    return reader, list(reader)


def sentences(parts: list[Part]) -> list[list[tuple[str, str]]]:
    return [
        [(part.token(s, i), tag) for i, tag in enumerate(tags)]
        for part in parts
        for s, tags in enumerate(part.tags)
    ]


LAYOUTS: list[tuple[str, dict[str, Any]]] = [
    ("a x B-X\nb y O\n\nc z O\n", {}),
    ("a\tx\tB-X\nb\ty\tO\n\nc\tz\tO", {}),
    ("a  x\t B-X \n b y O\n \t\nc z O\n\n\n", {"delimiter": ""}),
    ("a,x,B-X\nb,y,O\n\nc,z,O\n", {"delimiter": ","}),
    ("a::x::B-X\nb::y::O\n\nc::z::O\n", {"delimiter": "::"}),
    ("B-X a\nO b\n\nO c\n", {"token": 1, "tag": 0}),
    ("a B-X - -\nb O - -\n\nc O - -\n", {"tag": 1}),
    ("a B-X - -\nb O - -\n\nc O - -\n", {"token": -4, "tag": -3}),
    ("a x B-X\r\nb y O\r\n\r\nc z O\r\n", {}),
    (BOM + "a x B-X\nb y O\n\nc z O\n", {}),
    (BOM + "\na B-X\nb O\n\nc O", {}),
    ("# one\na B-X\nb O\n\n# two\n# more\nc O\n", {"comment": "#"}),
    ("# a\tb\n\na B-X\nb O\n\nc O\n", {"comment": "#"}),
    ("a B-X\n# a comment ends no sentence\nb O\n\nc O\n#", {"comment": "#"}),
    ("-DOCSTART- O\n\na B-X\nb O\n\nc O\n", {}),
    ("-DOCSTART- -DOCSTART- O\na x B-X\nb y O\n-DOCSTART-\nc z O\n", {}),
    ("###MEDLINE:1\n\na\tB-X\nb\tO\n\n###MEDLINE:2\n\nc\tO\n", {}),
]


@pytest.mark.parametrize(("text", "options"), LAYOUTS)
@pytest.mark.parametrize("chunk", [1, 7, files.CHUNK])
def test_layouts(
    path: Path, monkeypatch: pytest.MonkeyPatch, text: str, options: dict[str, Any], chunk: int
) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    reader, parts = read(path, text, **options)
    assert sentences(parts) == [[("a", "B-X"), ("b", "O")], [("c", "O")]]
    assert reader.mark + b"".join(part.buffer for part in parts) == text.encode()
    assert (reader.sentences, reader.tokens, reader.lines) == (2, 3, text.count("\n"))
    lines = text.split("\n")
    for part in parts:
        for s, tags in enumerate(part.tags):
            for i in range(len(tags)):
                assert part.token(s, i) in lines[part.number(s, i) - 1]
            assert part.number(s, len(tags)) == part.number(s, len(tags) - 1)


@pytest.mark.parametrize(
    ("text", "documents", "options"),
    [
        ("", 0, {}),
        ("\n\n", 0, {}),
        ("a O\n", 1, {}),
        ("-DOCSTART- O\n\na O\n\n-DOCSTART- O\n\nb O\n", 2, {}),
        ("-DOCSTART- O\n\na O\n\n-DOCSTART- O\n\nb O\n", 1, {"count_documents": False}),
        ("###MEDLINE:1\n\na\tO\n\n###MEDLINE:2\n\nb\tO\n", 2, {}),
        ("# newdoc id = 1\na O\n\nb O\n\n#newdoc\nc O\n", 2, {"comment": "#"}),
    ],
)
def test_documents(path: Path, text: str, documents: int, options: dict[str, Any]) -> None:
    assert read(path, text, **options)[0].documents == documents


def test_without_markers_they_are_tokens(path: Path) -> None:
    found = sentences(read(path, "-DOCSTART- O\n\na O\n", markers=())[1])
    assert found == [[("-DOCSTART-", "O")], [("a", "O")]]


def test_hash_signs_are_tokens_unless_told_otherwise(path: Path) -> None:
    assert sentences(read(path, "#\tO\n#tag\tB-X\n")[1]) == [[("#", "O"), ("#tag", "B-X")]]


def test_invisible_and_wide_spaces_are_part_of_a_token(path: Path) -> None:
    for strange in ("\u00a0", "\u3000", "\u200b", "a\x85b", "\u2028", "\ufeff", "\x1c"):
        assert sentences(read(path, f"x O\n{strange} B-X\n")[1]) == [[("x", "O"), (strange, "B-X")]]


def test_empty_tokens_between_tabs(path: Path) -> None:
    assert sentences(read(path, "a\tO\n\tB-X\n")[1]) == [[("a", "O"), ("", "B-X")]]


def test_text_of_sentences_and_spans(path: Path) -> None:
    first, second = read(path, "é\tO\nb c\tB-X\n\nd\tI-X\n")[1]
    assert [first.text(0), second.text(0), first.text(0, 1, 2)] == ["é b c", "d", "b c"]


@pytest.mark.parametrize(
    ("text", "line", "said", "options"),
    [
        ("a x O\n\nb O\n", 3, "2 columns where line 1 has 3: 'b O'", {}),
        ("\n\na x O\nb\n", 4, "1 column where line 3 has 3", {}),
        ("a O\nNew York O\n", 2, "hold the delimiter", {}),
        ("a\tO\n# text = b c\n", 2, "--comment", {}),
        ("a O\n", 1, "no column 2 for the tag", {"tag": 2}),
        ("a O\n", 1, "no column -3 for the token", {"token": -3}),
        ("a O\n", 1, "no column 1 for the tag", {"delimiter": "\t", "tag": 1}),
    ],
)
@pytest.mark.parametrize("chunk", [1, files.CHUNK])
def test_wrong_columns_are_refused(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    line: int,
    said: str,
    options: dict[str, Any],
    chunk: int,
) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    with pytest.raises(ColumnError) as caught:
        read(path, text, **options)
    assert said in str(caught.value)
    assert f"{path}, line {line}:" in str(caught.value)
    assert caught.value.line == line


def recoded(layer: CodedTags, names: list[str]) -> CodedTags:
    """The layer with other tags, one name for each token."""
    codes = np.arange(len(names), dtype=np.int32)
    return CodedTags(codes, layer.offsets, tuple(names))


cells = st.text(alphabet="aé語-#.\u00a0", min_size=1, max_size=3).filter(lambda c: c[0] != "#")
tags = st.sampled_from(["O", "B-X", "I-Y", "B", "S-creative-work"])


@given(
    rows=st.lists(st.none() | st.tuples(cells, cells, tags, tags), max_size=12),
    delimiter=st.sampled_from(["\t", " ", ", ", "  \t "]),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", BOM]),
    tag_first=st.booleans(),
    last=st.booleans(),
)
def test_only_the_tags_change(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str, str] | None],
    delimiter: str,
    end: str,
    mark: str,
    tag_first: bool,
    last: bool,
) -> None:
    def text(which: int) -> str:
        lines = []
        for row in rows:
            token, extra, *both = row or ("", "", "", "")
            order = [both[which], token, extra] if tag_first else [token, extra, both[which]]
            lines.append(delimiter.join(order) if row else "")
        return mark + end.join(lines) + (end if last else "")

    path = tmp_path_factory.mktemp("conll") / "file"
    path.write_bytes(text(0).encode("utf8"))
    exact = "whitespace" if delimiter in (" ", "  \t ") else delimiter
    token, tag = (1, 0) if tag_first else (0, -1)
    new = iter([row[3] for row in rows if row])
    made = b""
    for part in Corpus(str(path), ReadOptions(delimiter=exact, token=token, tag=tag)):
        names = [next(new) for _ in part.tags[0].codes]
        made += edit(part, [recoded(part.tags[0], names)])
    assert made.decode("utf8") == text(1)


@pytest.mark.parametrize(
    ("text", "options", "how", "made"),
    [
        ("a x O\r\nb y O\r\n\r\n", {}, {"delimiter": "|", "only_tags": True}, "a|B\r\nb|I\r\n\r\n"),
        ("O x a\nO y b", {"token": 2, "tag": 0}, {"only_tags": True}, "a B\nb I"),
        ("O x a\nO y b\n", {"token": 2, "tag": 0}, {"delimiter": "tab"}, "B\tx\ta\nI\ty\tb\n"),
        ("# c\na\tx\tO\nb\t\tO\n", {"comment": "#"}, {"delimiter": " "}, "# c\na x B\nb  I\n"),
    ],
)
def test_other_columns_on_demand(
    path: Path, text: str, options: dict[str, Any], how: dict[str, Any], made: str
) -> None:
    path.write_bytes(text.encode())
    (part,) = [part for part in Corpus(str(path), ReadOptions("columns", **options)) if len(part)]
    tags = code_tags([["B", "I"]])
    assert edit(part, [tags], SaveOptions(**how)).decode() == made


@pytest.mark.parametrize("text", ["a B-X\rb I-X\r", "a B-X\n\nb\rc O\n"])
def test_carriage_returns_inside_of_lines_are_refused(path: Path, text: str) -> None:
    with pytest.raises(ColumnError, match="carriage return"):
        read(path, text)


def test_a_reader_reads_once(path: Path) -> None:
    reader, _ = read(path, "a O\n")
    with pytest.raises(ValueError, match="read already"):
        list(reader)


def test_one_long_sentence_is_not_read_again_and_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[int] = []
    original = ColumnReader._scan

    def counting(self: ColumnReader, buffer: bytes, final: bool) -> Part:
        scanned.append(len(buffer))
        return original(self, buffer, final)

    monkeypatch.setattr(files, "CHUNK", 100)
    monkeypatch.setattr(ColumnReader, "_scan", counting)
    reader, _ = read(path, "a O\n" * 10_000)
    assert (reader.sentences, reader.tokens) == (1, 10_000)
    assert sum(scanned) < 5 * 40_000
