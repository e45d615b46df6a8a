"""The scheme of a file may be left out where all that it might be read the same spans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_iobes import SCHEMES, parse_many, read, validate_many, write
from spacy_iobes.cli import app
from spacy_iobes.corpus import find_scheme

from . import by_hand, strategies
from .commands import fine, run
from .shared import SHARED, needs_shared

ORDER = ["bio", "iobes", "bilou", "iob1", "io"]


def written(path: Path, sentences: list[list[str]]) -> Path:
    blocks = ("".join(f"w{i}\t{tag}\n" for i, tag in enumerate(some)) for some in sentences)
    path.write_text("\n".join(blocks), encoding="utf8")
    return path


def candidates(sentences: list[list[str]]) -> list[str]:
    """The schemes that have all prefixes of the tags, but for those that are only named."""
    prefixes = {tag.split("-")[0] for some in sentences for tag in some}
    names = [*ORDER, *(name for name in SCHEMES if name not in (*ORDER, "be", "bia"))]
    return [name for name in names if prefixes <= {*by_hand.PREFIXES[name], "O"}]


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_the_scheme_is_found_or_asked_for(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By the definition: what is legal, and what every candidate reads."""
    tags = st.sampled_from([f"{x}-{y}" for x in "BIESLU" for y in "XY"] + ["O", "O"])
    sentences = data.draw(st.lists(st.lists(tags, min_size=1, max_size=5), min_size=1, max_size=3))
    path = written(tmp_path_factory.mktemp("schemes") / "a.bio", sentences)
    names = candidates(sentences)
    legal = [name for name in names if not any(validate_many(sentences, name))]
    readings = {str([*parse_many(sentences, name, "begin")]) for name in names}
    result = run("summarize", path, "--json")
    if legal and len(readings) == 1:
        assert result.exit_code == 0, result.output
        assert result.stderr.startswith(f"{path}: tags read as {legal[0]}\n")
        assert find_scheme(read(path), "a") == legal[0]
    else:
        assert result.exit_code == 2
        assert str(path) in " ".join(result.stderr.split())


@settings(deadline=None, max_examples=50)
@given(scheme=strategies.schemes, data=st.data())
def test_what_is_found_reads_what_was_written(
    scheme: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    drawn = [data.draw(strategies.spans(scheme)) for _ in range(3)]
    sentences = [write(found, length, scheme) for found, length in drawn if length] or [["O"]]
    path = written(tmp_path_factory.mktemp("schemes") / "a.bio", sentences)
    result = run("summarize", path, "--mentions", "--json")
    named = run("summarize", path, "--mentions", "--json", "-s", scheme)
    if scheme not in ("be", "bia"):
        assert result.exit_code == 2 or result.stdout == named.stdout


def test_each_side_of_a_score_has_its_own(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.bio", [["B-X", "I-X", "O", "B-Y"]])
    predicted = written(tmp_path / "pred.iobes", [["B-X", "E-X", "O", "S-Y"]])
    result = fine("score", gold, predicted)
    assert "score 100.00" in result.stdout
    assert "|scheme:bio/iobes|" in result.stdout
    named = run("score", gold, predicted, "-s", "bio")
    assert named.exit_code == 1


ASKED = ": name the scheme of its tags (--scheme): it is "


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        (["B-PER", "O", "E-PER"], ASKED + "legal only in be, which has to be named (--scheme be)."),
        (
            ["B-PER", "I-PER", "A-PER"],
            ASKED + "legal only in bia, which has to be named (--scheme bia).",
        ),
        (
            ["I-PER", "A-PER", "A-PER"],
            ASKED + "malformed in every scheme that has its tags; the fewest",
        ),
        (
            ["B-PER", "O", "O", "S-PER"],
            ASKED + "malformed in every scheme that has its tags; the fewest",
        ),
        (["I-PER", "B_PER"], ":2: no scheme has the tag 'B_PER' beside the others. Is this the"),
        (["B-PER", "I-LOC", "Q-PER"], ":3: no scheme has the tag 'Q-PER' beside the others."),
        (["B-PER", "S-PER", "U-PER"], ":3: no scheme has the tag 'U-PER' beside the others."),
    ],
)
def test_what_is_asked(tags: list[str], said: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.bio", [tags])
    result = run("convert", path, tmp_path / "out", "--to-scheme", "iobes")
    assert result.exit_code == 2
    assert f"{path}{said}" in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_nothing_is_guessed_of_what_is_read_once() -> None:
    result = CliRunner().invoke(app, ["summarize", "-"], input="a B-X\n")
    assert result.exit_code == 2
    assert "name one of io, iob1" in " ".join(result.stderr.replace("│", " ").split())


def test_all_outside(tmp_path: Path) -> None:
    path = written(tmp_path / "a.bio", [["O", "O"]])
    assert json.loads(fine("summarize", path, "--json").stdout)["labels"] == {}
    assert fine("summarize", path).stderr == f"{path}: tags read as bio\n"


@needs_shared
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("conll2003-eng/eng.testb", "tags read as iob1"),
        ("conll2003-eng/eng.train", "the fewest violations are those of iob1 (2)"),
        ("masakhaner1/hau/test.txt", "the fewest violations are those of bio (1)"),
        ("masakhaner1/ibo/test.txt", "tags read as bio"),
    ],
)
def test_real_files_say_their_scheme_or_why_not(file: str, said: str) -> None:
    result = run("summarize", SHARED / "data" / file)
    assert said in result.stderr
    assert result.exit_code == (0 if "read as" in said else 2)
