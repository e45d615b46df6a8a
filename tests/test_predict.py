"""The command `predict`: column files in, the same files with predicted tags out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner, Result

from spacy_iobes import convert
from spacy_iobes.cli import app

from .people import column_file
from .recognizers import examples, learn, make
from .test_features_training import trained

LINES = "Anna lives in New York ."
TAGS = ["S-PER", "O", "O", "B-LOC", "E-LOC", "O"]


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def fine(*arguments: object, stdin: bytes | None = None) -> Result:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("predict") / "model"
    trained().to_disk(path)
    return path


def test_only_the_tags_are_replaced(model: Path, tmp_path: Path) -> None:
    """Byte order mark, comments, markers, odd spaces, two kinds of line ends, no last one."""
    source, target = tmp_path / "in", tmp_path / "out"
    text = "# by hand\r\n-DOCSTART- -X- O\n\nAnna NNP O\r\nlives  VBZ O\nin IN\tB-X\n"
    text += "New NNP ?\nYork NNP O  \n. . _\n\n \nLee NNP O"
    source.write_bytes(b"\xef\xbb\xbf" + text.encode())
    result = fine("predict", model, source, target, "--comment", "#", "--delimiter", "whitespace")
    wanted = "# by hand\r\n-DOCSTART- -X- O\n\nAnna NNP S-PER\r\nlives  VBZ O\nin IN\tO\n"
    wanted += "New NNP B-LOC\nYork NNP E-LOC  \n. . O\n\n \nLee NNP S-PER"
    assert target.read_bytes() == b"\xef\xbb\xbf" + wanted.encode()
    assert (
        "3 entities in 1 document, 2 sentences, 7 tokens; iobes tags in column -1" in result.stdout
    )


@pytest.mark.parametrize("scheme", ["bio", "iob1", "bilou", "io", "bia"])
def test_any_scheme_out(scheme: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("".join(f"{word} O\n" for word in LINES.split()))
    fine("predict", model, tmp_path / "in", tmp_path / "out", "--scheme", scheme)
    tags = [line.split()[1] for line in (tmp_path / "out").read_text().splitlines()]
    assert tags == convert(TAGS, "iobes", scheme)


def test_tokens_alone_get_a_column(model: Path) -> None:
    text = LINES.replace(" ", "\n").encode()
    result = fine("predict", model, "-", "--format", "columns", stdin=text)
    rows = [line.split(" ") for line in result.stdout.splitlines()]
    assert rows == [list(row) for row in zip(LINES.split(), TAGS)]
    assert "standard output: 2 entities" in result.stderr
    assert "as a new column" in result.stderr


def test_a_column_can_be_added(model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.gz", tmp_path / "out.gz"
    text = "Anna\tNNP\r\nmet\tVBD\n\nLee\tNNP"
    source.write_bytes(gzip.compress(text.encode("utf-16-le")))
    more = ["--append", "--encoding", "utf-16-le", "--json"]
    (report,) = json.loads(fine("predict", model, source, target, *more).stdout)
    wanted = "Anna\tNNP\tS-PER\r\nmet\tVBD\tO\n\nLee\tNNP\tS-PER"
    assert gzip.decompress(target.read_bytes()).decode("utf-16-le") == wanted
    assert report["appended"] is True
    assert (report["labels"], report["spans"], report["target"]) == ({"PER": 2}, 2, "ents")
    assert (report["scheme"], report["sentences"], report["tokens"]) == ("iobes", 2, 3)


@pytest.mark.parametrize("cell", ["NNP", "nn", "12", "X-PER", "B-", "O-PER", "PER", "o", "-LRB-"])
def test_a_column_of_something_else_is_not_lost(cell: str, model: Path, tmp_path: Path) -> None:
    """One such cell is enough, in whatever part of the file."""
    source, target = tmp_path / "in", tmp_path / "out"
    text = "Anna O\nmet B-X\n\n" * 30_000 + f"Lee {cell}\nsmiles O\n"
    source.write_text(text)
    result = run("predict", model, source, target)
    assert result.exit_code == 2
    assert f"{source}, line 90001: {cell!r} is no tag" in result.stderr
    assert all(name in result.stderr for name in ("--append", "--tag", "--force"))
    assert not target.exists()


def test_a_column_of_something_else_is_kept_or_overwritten(model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("Anna NNP\nmet VBD\n. .\n")
    fine("predict", model, source, target, "--append")
    assert target.read_text() == "Anna NNP S-PER\nmet VBD O\n. . O\n"
    fine("predict", model, source, target, "--force")
    assert target.read_text() == "Anna S-PER\nmet O\n. O\n"
    result = run("predict", model, source, target, "--force", "--append")
    assert result.exit_code == 2
    assert "a new column or an old one?" in result.stderr


@pytest.mark.parametrize(
    "cell", ["O", "_", "-", "?", "!", "*", "B-X", "U-a-b", "M-X", "W-X", "BE-X", "A-X", "S", "E-é"]
)
def test_tags_and_signs_for_none_are_overwritten(cell: str, model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text(f"Anna {cell}\nmet {cell}\n", encoding="utf8")
    fine("predict", model, source, target, "--to-scheme", "iobes")
    assert target.read_text() == "Anna S-PER\nmet O\n"


def test_another_column_can_be_written(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("O Anna NNP\nO met VBD\n")
    fine("predict", model, tmp_path / "in", tmp_path / "in", "--token", 1, "--tag", 0)
    assert (tmp_path / "in").read_text() == "S-PER Anna NNP\nO met VBD\n"


def test_many_sentences_are_those_of_the_pipeline(model: Path, tmp_path: Path) -> None:
    source = column_file(tmp_path / "in", 300)
    fine("predict", model, source, tmp_path / "out", "--scheme", "bio")
    nlp = spacy.load(model)
    fine("convert", source, tmp_path / "in.spacy", "-s", "bio")
    docs = DocBin().from_disk(tmp_path / "in.spacy").get_docs(nlp.vocab)
    wanted = [
        f"{token.text} {token.ent_iob_}-{token.ent_type_}".removesuffix("-")
        for doc in nlp.pipe(nlp.make_doc(doc.text) for doc in docs)
        for token in doc
    ]
    assert [line for line in (tmp_path / "out").read_text().splitlines() if line] == wanted


def test_white_space_is_never_an_entity(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\u3000\tO\nAnna\tO\n\u00a0\tO\n", encoding="utf8")
    fine("predict", model, tmp_path / "in", tmp_path / "out")
    tags = [line.split("\t")[1] for line in (tmp_path / "out").read_text("utf8").splitlines()]
    assert tags == ["O", "S-PER", "O"]


def test_an_empty_file(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\n\n")
    result = fine("predict", model, tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "\n\n"
    assert "the file holds no tokens" in result.stdout


def test_any_component_that_sets_entities_will_do(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("".join(f"{word} O\n" for word in LINES.split()))
    nlp = spacy.blank("en")
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "LOC", "pattern": "New York"}])
    nlp.to_disk(tmp_path / "ruler")
    fine("predict", tmp_path / "ruler", tmp_path / "in", tmp_path / "out")
    tags = [line.split()[1] for line in (tmp_path / "out").read_text().splitlines()]
    assert tags == ["O", "O", "O", "B-LOC", "I-LOC", "O"]
    learn(make(), examples()).to_disk(tmp_path / "cnn")
    fine("predict", tmp_path / "cnn", tmp_path / "in", tmp_path / "out")
    tags = [line.split()[1] for line in (tmp_path / "out").read_text().splitlines()]
    assert tags == TAGS


def test_what_the_command_cannot_use(model: Path, tmp_path: Path) -> None:
    good, out = column_file(tmp_path / "good", 3), tmp_path / "out"
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.to_disk(tmp_path / "blank")
    ruler: Any = spacy.blank("en")
    ruler.add_pipe("entity_ruler").add_patterns([{"label": "TWO WORDS", "pattern": "Grace"}])
    ruler.to_disk(tmp_path / "ruler")
    (tmp_path / "void").write_text("a\tO\n\tO\n")
    (tmp_path / "ragged").write_text("a O\nb\n")
    (tmp_path / "words").write_text("Grace O\n")
    cases: list[tuple[list[object], str]] = [
        ([tmp_path / "none", good], "no pipeline there"),
        ([tmp_path / "blank", good], "none of its components sets them. It has: sentencizer"),
        ([tmp_path / "ruler", tmp_path / "words"], "'B-TWO WORDS' would break its column"),
        ([model, tmp_path / "none"], "cannot be read"),
        ([model, tmp_path / "void"], "void:2: a token is empty"),
        ([model, tmp_path / "ragged"], "ragged, line 2"),
        ([model, good, "--scheme", "ibo"], "Unknown scheme 'ibo'"),
        ([model, good, "--tag", 0], "the column of the tag is that of the token"),
    ]
    for (pipeline, source, *more), message in cases:
        result = run("predict", pipeline, source, out, *more)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
        assert not out.exists()


def test_a_group_that_nobody_writes(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("Anna O\n")
    result = run("predict", model, tmp_path / "in", tmp_path / "out", "--spans-key", "sc")
    assert result.exit_code == 2
    said = "No component writes the span group 'sc'. There are: iobes_ner."
    assert said in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_a_damaged_model(model: Path, tmp_path: Path) -> None:
    spacy.load(model).to_disk(tmp_path / "model")
    (tmp_path / "model" / "iobes_ner" / "model").write_bytes(b"\x00")
    result = run("predict", tmp_path / "model", column_file(tmp_path / "in", 1), tmp_path / "out")
    assert result.exit_code == 2
    assert "what is stored does not load" in result.stderr


def test_spans_that_touch_cannot_be_written_in_io(tmp_path: Path) -> None:
    ruler: Any = spacy.blank("en")
    ruler.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": p} for p in "ab"])
    ruler.to_disk(tmp_path / "ruler")
    (tmp_path / "in").write_text("c O\n\na O\nb O\n")
    result = run("predict", tmp_path / "ruler", tmp_path / "in", tmp_path / "out", "-s", "io")
    assert result.exit_code == 1
    assert "in, line 3, 'a': io cannot tell apart" in result.stderr
    assert not (tmp_path / "out").exists()
