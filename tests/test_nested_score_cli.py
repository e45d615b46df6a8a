"""The commands score and report on files with nested mentions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan

from spacy_iobes import score
from spacy_iobes.scoring import MATCH_WORDS

from .commands import fine, run
from .docs import BLANK
from .shared import SHARED, needs_shared
from .test_nested_scores import by_definition, genia

WORDS = ["The", "human", "IL-2", "gene", "promoter"]
GOLD = [(1, 5, "DNA"), (1, 4, "DNA"), (2, 3, "protein")]
PREDICTED = [(1, 5, "DNA"), (2, 4, "DNA"), (2, 3, "protein")]


def json_file(path: Path, *sentences: Any) -> Path:
    rows = [
        {"tokens": words, "spans": [list(span) for span in spans]} for words, spans in sentences
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    rest = (["one"], [(0, 1, "DNA")])
    gold = json_file(tmp_path / "gold.jsonl", (WORDS, GOLD), rest)
    return [gold, json_file(tmp_path / "system.jsonl", (WORDS, PREDICTED), rest)]


def other_format(path: Path, form: str) -> list[object]:
    """The same file in another format, and how it is read."""
    stored = path.with_suffix(".spacy")
    fine("convert", path, stored)
    if form == "spacy":
        return [stored]
    if form == "brat":
        folder = path.with_suffix("")
        fine("convert", stored, folder, "--to", "brat", "--spans-key", "sc")
        return [folder]
    columns = path.with_suffix(".tsv")
    fine("convert", stored, columns, "--to-scheme", "bio", "--spans-key", "sc", "--set", "layers=3")
    return [columns]


@pytest.mark.parametrize("form", ["jsonl", "spacy", "brat", "columns"])
def test_every_format_has_the_same_score(files: list[Path], form: str) -> None:
    paths: list[object] = list(files)
    if form != "jsonl":
        paths = [path for file in files for path in other_format(file, form)]
    options = ["-s", "bio", "--layer", 1, "--layer", 2, "--layer", 3] if form == "columns" else []
    options += ["--lang", "en"] if form == "brat" else []
    found = json.loads(fine("score", *paths, *options, "--layout", "json").stdout)
    expected = score([GOLD, [(0, 1, "DNA")]], [PREDICTED, [(0, 1, "DNA")]]).as_dict()
    for name in ("micro", "labels", "nested", "confusion", "muc", "sentences"):
        if form != "brat" or name == "nested":
            assert found[name] == expected[name]
    assert found["nested"]["nested"] == {"correct": 1, "gold": 2, "recall": 0.5}
    assert found["nested"]["overlapping"]["sentences"] == 1
    assert f"scheme:{'bio' if form == 'columns' else 'spans'}|" in found["signature"]


def test_the_table(files: list[Path]) -> None:
    rows = [line.split("  ") for line in fine("score", *files).stdout.splitlines()]
    found = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}
    overlap = found["sentences in which gold mentions overlap"]
    assert overlap == ["3", "3", "2", "66.67", "66.67", "66.67"]
    assert found["all other sentences"] == ["1", "1", "1", "100.00", "100.00", "100.00"]
    assert found["inside another mention"] == ["2", "1", "50.00"]
    assert found["with another mention inside"] == ["2", "1", "50.00"]


@pytest.mark.parametrize("form", ["markdown", "csv", "latex"])
def test_other_tables(files: list[Path], form: str) -> None:
    text = fine("score", *files, "--layout", form).stdout
    assert "inside another mention of the same label" in text


def test_runs_and_intervals(files: list[Path]) -> None:
    assert "mean" in fine("score", *files, files[1]).stdout
    assert (
        "95 % interval" in fine("score", *files, "--confidence", 0.95, "--set", "rounds=50").stdout
    )


def test_one_column_is_scored_as_ever(tmp_path: Path) -> None:
    """The micro average of one layer is that of its tags."""
    for name, tags in (("gold", "BIOB"), ("system", "BOOB")):
        lines = (f"w{i}\t{tag if tag == 'O' else tag + '-X'}\n" for i, tag in enumerate(tags))
        (tmp_path / name).write_text("".join(lines))
    paths = tmp_path / "gold", tmp_path / "system"
    one, other = (
        json.loads(fine("score", *paths, "-s", "bio", *more, "--layout", "json").stdout)
        for more in ([], ["--layer", 1])
    )
    assert one == other
    assert "nested" not in one


def test_columns_that_nobody_named_are_not_trained_on(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("a\tB-X\tO\nb\tI-X\tB-Y\n")
    (tmp_path / "system").write_text("a\tB-X\tO\nb\tO\tB-Y\n")
    arguments = ["score", tmp_path / "gold", tmp_path / "system", "-s", "bio"]
    assert "score 50.00" in fine(*arguments, "--layer", 1, "--layer", 2).stdout
    assert "score 100.00" in fine(*arguments, "--layer", -1).stdout
    assert "score 0.00" in fine(*arguments, "--tag", 1).stdout
    trained = run("train", *arguments[1:], "--nested", "--output", tmp_path / "model")
    assert "gold has 3 columns: name each" in trained.stderr
    config = fine("train", *arguments[1:], "--nested", "--tag", 1, "--print-config").stdout
    assert config.count("\ntag = 1\n") == 2


@pytest.mark.parametrize("option", [["--layer", 1], ["--header"]])
def test_options_of_columns_are_for_columns(
    files: list[Path], tmp_path: Path, option: list[object]
) -> None:
    for command in (["score"], ["train", "--nested", "--output", tmp_path / "model"]):
        result = run(*command, *files, *option)
        assert result.exit_code == 2
        assert str(option[0]) in result.stderr
        assert "this is for column files" in " ".join(result.stderr.split())


def test_malformed_tags(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("a\tB-X\tO\nb\tI-X\tB-X\n")
    (tmp_path / "system").write_text("a\tI-X\tO\nb\tI-X\tI-X\n")
    arguments = ["score", tmp_path / "gold", tmp_path / "system", "-s", "bio"]
    arguments += ["--layer", 1, "--layer", 2]
    assert run(*arguments).exit_code == 1
    result = fine(*arguments, "--policy", "begin")
    assert "score 100.00" in result.stdout
    assert "policy:begin" in result.stdout
    assert "violations repaired: 2 in the predictions, 0 in the gold" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([["a"]], "system.jsonl ends after 1 documents, but"),
        ([["a"], ["b"], ["c"]], "gold.jsonl ends after 2 documents, but"),
        ([["a"], ["x"]], "gold.jsonl has 'b' in line 2, but"),
        ([["a"], ["b", "c"]], "system.jsonl goes on with 'c' in line 2"),
    ],
)
def test_other_tokens_are_refused(tmp_path: Path, words: list[list[str]], said: str) -> None:
    gold = json_file(tmp_path / "gold.jsonl", (["a"], []), (["b"], []))
    other = json_file(tmp_path / "system.jsonl", *((row, []) for row in words))
    result = run("score", gold, other)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def mixed(folder: Path, data: list[Any], name: str, form: str) -> Path:
    """Sentences as JSON lines, or as columns, perhaps with documents of two sentences."""
    if form == "jsonl":
        return json_file(folder / f"{name}.jsonl", *data)
    lines = []
    for number, (words, spans) in enumerate(data):
        if form == "documents" and number % 2 == 0:
            lines += ["-DOCSTART-\tO\tO\tO\n", "\n"]
        layers = [["O"] * len(words) for _ in range(3)]
        for layer, (start, end, label) in zip(layers, spans):
            layer[start:end] = [f"{'I' if i else 'B'}-{label}" for i in range(end - start)]
        lines += ["\t".join(row) + "\n" for row in zip(words, *layers)] + ["\n"]
    (folder / name).write_text("".join(lines))
    return folder / name


@pytest.mark.parametrize("gold", ["jsonl", "columns", "documents"])
@pytest.mark.parametrize("system", ["jsonl", "columns", "documents"])
def test_files_of_different_kinds(tmp_path: Path, gold: str, system: str) -> None:
    """What a file takes for a Doc does not matter, if the tokens are the same."""
    rest = [(["one"], [(0, 1, "DNA")]), (["a", "b"], []), (["c"], [(0, 1, "X")])]
    paths = [
        mixed(tmp_path, [(WORDS, GOLD), *rest], "gold", gold),
        mixed(tmp_path, [(WORDS, PREDICTED), *rest], "system", system),
    ]
    columns = {gold, system} != {"jsonl"}
    options = ["-s", "bio", "--layer", 1, "--layer", 2, "--layer", 3] if columns else []
    found = json.loads(fine("score", *paths, *options, "--layout", "json").stdout)
    others = [spans for _, spans in rest]
    expected = score([GOLD, *others], [PREDICTED, *others]).as_dict()
    for name in ("micro", "labels", "nested", "sentences"):
        assert found[name] == expected[name]


def test_other_tokens_in_files_of_different_kinds(tmp_path: Path) -> None:
    gold = tmp_path / "gold"
    gold.write_text("a\tO\nb\tO\n\nc\tO\n")
    cases: dict[str, list[list[str]]] = {
        "gold has 'c' in line 4, but": [["a", "b"], ["x"]],
        "gold goes on with 'c' in line 4": [["a", "b"]],
        "system.jsonl goes on with 'd' in line 2": [["a", "b"], ["c", "d"]],
        "gold ends after 2 sentences, but": [["a", "b"], ["c"], ["d"]],
    }
    for said, words in cases.items():
        other = json_file(tmp_path / "system.jsonl", *((row, []) for row in words))
        result = run("score", gold, other, "-s", "bio")
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())
    other = json_file(tmp_path / "system.jsonl", ([], []), (["a", "b"], []), (["c"], []), ([], []))
    fine("score", gold, other, "-s", "bio")


@pytest.mark.parametrize("side", ["gold", "system"])
def test_a_span_without_tokens_is_named(tmp_path: Path, side: str) -> None:
    for name in ("gold", "system"):
        docs = [Doc(BLANK.vocab, words=["a", "b"]) for _ in range(2)]
        for doc in docs:
            doc.spans["sc"] = [DocSpan(doc, 0, 2, "X")]
        if name == side:
            docs[1].spans["sc"] = [DocSpan(docs[1], 1, 1, "X")]
        DocBin(docs=docs).to_disk(tmp_path / f"{name}.spacy")
    files = [tmp_path / f"{name}.spacy" for name in ("gold", "system")]
    result = run("score", *files)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert f"{side}.spacy, Doc 1: the span 1:1 ('') in spans['sc'] has no tokens" in said
    assert "Remove it from the group" in said
    trained = run("train", *files, "--nested", "--output", tmp_path / "model")
    assert f"{side}.spacy, Doc 1: the span 1:1" in " ".join(trained.stderr.split())


def test_bad_usage(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "in.tsv").write_text("a\tO\n")
    cases: list[tuple[list[object], str]] = [
        ([files[0]], "GOLD PRED"),
        ([*files, "--layout", "conlleval"], "--layout"),
        ([*files, "--misaligned", "x"], "misaligned"),
    ]
    for arguments, said in cases:
        result = run("score", *arguments)
        assert result.exit_code == 2, arguments
        assert said in result.stderr


def test_what_is_left_out_is_told_beside_the_score(tmp_path: Path) -> None:
    rows = [{"text": "abc d", "spans": [[0, 3, "X"], [1, 3, "X"]]}]
    for name in ("gold.jsonl", "system.jsonl"):
        (tmp_path / name).write_text(json.dumps(rows[0]))
    result = fine("score", tmp_path / "gold.jsonl", tmp_path / "system.jsonl")
    assert result.stderr.count("1 mention misaligned, the first at") == 2


def test_the_page(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    said = fine("score", *files, "--html", out).stderr
    assert "1 mistake" in said
    text = out.read_text(encoding="utf8")
    assert '"nested":true' in text
    assert MATCH_WORDS["exact"] in text
    assert run("score", files[0], "--html", out).exit_code == 2


@needs_shared
def test_real_files() -> None:
    folder = SHARED / "data" / "genia-nested"
    paths = [folder / f"genia.dev.{name}.iob2.gz" for name in ("nested", "released")]
    layers = [argument for n in range(1, 5) for argument in ("--layer", n)]
    found = json.loads(fine("score", *paths, "-s", "bio", *layers, "--layout", "json").stdout)
    assert (found["gold"], found["predicted"], found["correct"]) == (4371, 4337, 4337)
    counts = by_definition(*(genia(path.name) for path in paths))
    fields = ("sentences", "correct", "predicted", "gold")
    for name, row in found["nested"].items():
        assert tuple(row[field] for field in fields if field in row) == counts[name]
    assert found["nested"]["nested_same_label"]["gold"] == 224  # says the data's description
