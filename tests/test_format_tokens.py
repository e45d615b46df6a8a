"""The format `tokens`: a sentence on each line, spaces between tokens."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes import read, save

from .commands import fine, run

WORDS = st.text("abé漢🦊\u00a0.-", min_size=1, max_size=4)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=5)


def words_of(path: Path) -> list[list[str]]:
    """The tokens of each sentence, as the package reads them."""
    found = list[list[str]]()
    for part in read(path, format="tokens"):
        bounds = part.offsets.tolist()
        found += (part.words.strings(a, b) for a, b in pairwise(bounds))
        assert part.known().missing is not None or not part.tokens
    return found


@settings(deadline=None)
@given(sentences=SENTENCES, blanks=st.sampled_from([" ", "  ", "\t", " \t "]))
def test_lines_are_sentences(
    sentences: list[list[str]], blanks: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tokens")
    source, out = folder / "in.txt", folder / "out.txt"
    text = "\n\n".join(f" {blanks.join(some)}\r" for some in sentences)
    source.write_bytes(text.encode())
    assert words_of(source) == sentences
    save(read(source, format="tokens"), out, to="tokens")
    assert out.read_text(encoding="utf8") == "".join(f"{' '.join(some)}\n" for some in sentences)
    assert words_of(out) == sentences


def test_a_long_file_is_read_part_by_part(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Ada met Bo\n" * 300_000)
    parts = [*read(path, format="tokens")]
    assert len(parts) > 1
    assert sum(map(len, parts)) == 300_000
    assert sum(len(part.opens) for part in parts) == 1
    assert parts[-1].place(parts[-1].tokens - 1) == f"{path}:300000"


def test_nothing_is_a_file_without_sentences(tmp_path: Path) -> None:
    for text in ("", "\n", " \n\t\n", "\ufeff"):
        path = tmp_path / "a.txt"
        path.write_text(text, encoding="utf8")
        assert words_of(path) == []


def test_what_no_line_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"tokens": ["Ada", "New York"], "spans": []}))
    result = run("convert", path, tmp_path / "out", "-t", "tokens")
    assert result.exit_code == 2
    assert f"{path}:1: a token holds white space" in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_annotation_is_not_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.bio"
    path.write_text("Ada I-PER\nran B_X\n\n-DOCSTART- O\n\nBo O\n")
    assert fine("convert", path, "-", "-t", "tokens").stdout == "Ada ran\nBo\n"
    made = fine("convert", path, tmp_path / "a.txt", "-t", "tokens").stdout
    assert made == f"{tmp_path / 'a.txt'}: 0 spans in 2 documents, 2 sentences, 3 tokens\n"
