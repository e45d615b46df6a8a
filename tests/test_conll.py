"""Column files: every layout of the field, nothing guessed, nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.corpus.conll import BOM, Block, ColumnReader, Columns, Output
from spacy_iobes.errors import ColumnError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def read(path: Path, text: str, **options: Any) -> tuple[ColumnReader, list[Block]]:
    path.write_bytes(text.encode("utf8"))
    reader = ColumnReader(path, Columns(**options))
    return reader, list(reader)


def sentences(blocks: list[Block]) -> list[list[tuple[str, str]]]:
    return [list(zip(block.tokens, block.tags)) for block in blocks if block.rows]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a x B-X\nb y O\n\nc z O\n", {}),
        ("a\tx\tB-X\nb\ty\tO\n\nc\tz\tO", {}),
        ("a  x\t B-X \n b y O\n \t\nc z O\n\n\n", {"delimiter": None}),
        ("a,x,B-X\nb,y,O\n\nc,z,O\n", {"delimiter": ","}),
        ("B-X a\nO b\n\nO c\n", {"token": 1, "tag": 0}),
        ("a B-X - -\nb O - -\n\nc O - -\n", {"tag": 1}),
        ("a B-X - -\nb O - -\n\nc O - -\n", {"token": -4, "tag": -3}),
        ("a x B-X\r\nb y O\r\n\r\nc z O\r\n", {}),
        (BOM + "a x B-X\nb y O\n\nc z O\n", {}),
        (BOM + "\na B-X\nb O\n\nc O", {}),
        ("# one\na B-X\nb O\n\n# two\n# more\nc O\n", {"comment": "#"}),
        ("a B-X\n# a comment ends no sentence\nb O\n\nc O\n#", {"comment": "#"}),
        ("-DOCSTART- O\n\na B-X\nb O\n\nc O\n", {}),
        ("-DOCSTART- -DOCSTART- O\na x B-X\nb y O\n-DOCSTART-\nc z O\n", {}),
        ("###MEDLINE:1\n\na\tB-X\nb\tO\n\n###MEDLINE:2\n\nc\tO\n", {}),
    ],
)
def test_layouts(path: Path, text: str, options: dict[str, Any]) -> None:
    reader, blocks = read(path, text, **options)
    assert sentences(blocks) == [[("a", "B-X"), ("b", "O")], [("c", "O")]]
    assert "\n".join(line for block in blocks for line in block.lines) == text
    assert (reader.sentences, reader.tokens) == (2, 3)
    lines = text.split("\n")
    for block in blocks:
        for i, token in enumerate(block.tokens):
            assert token in lines[block.number(i) - 1]


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


def test_hash_signs_are_tokens_unless_told_otherwise(path: Path) -> None:
    assert sentences(read(path, "#\tO\n#tag\tB-X\n")[1]) == [[("#", "O"), ("#tag", "B-X")]]


def test_invisible_and_wide_spaces_are_part_of_a_token(path: Path) -> None:
    for strange in ("\u00a0", "\u3000", "\u200b", "a\x85b", "\u2028", "\ufeff", "\x1c"):
        assert sentences(read(path, f"x O\n{strange} B-X\n")[1]) == [[("x", "O"), (strange, "B-X")]]


def test_empty_tokens_between_tabs(path: Path) -> None:
    assert sentences(read(path, "a\tO\n\tB-X\n")[1]) == [[("a", "O"), ("", "B-X")]]


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
def test_wrong_columns_are_refused(
    path: Path, text: str, line: int, said: str, options: dict[str, Any]
) -> None:
    with pytest.raises(ColumnError) as caught:
        read(path, text, **options)
    assert said in str(caught.value)
    assert f"{path}, line {line}:" in str(caught.value)
    assert caught.value.line == line


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
    exact = None if delimiter in (" ", "  \t ") else delimiter
    reader = ColumnReader(path, Columns(exact, *((1, 0) if tag_first else (0, -1))))
    new = iter([row[3] for row in rows if row])
    output = Output()
    made = [output.render(b, [next(new) for _ in b.tags], reader.layout) for b in reader]
    assert "\n".join(made) == text(1)


def test_other_columns_on_demand(path: Path) -> None:
    reader, blocks = read(path, "a x O\r\nb y O\r\n\r\n")
    output = Output(delimiter="|", only_token_and_tag=True)
    made = "\n".join(output.render(b, ["B", "O"][: len(b.tags)], reader.layout) for b in blocks)
    assert made == "a|B\r\nb|O\r\n\r\n"
    reader, blocks = read(path, "B x a\n", token=2, tag=0)
    assert Output(None, True).render(blocks[0], ["S"], reader.layout) == "a S"
    reader, blocks = read(path, "B x a\n", token=2, tag=0)
    assert Output("\t").render(blocks[0], ["S"], reader.layout) == "S\tx\ta"
