"""The command `generate`: every format says the same, and recognisers learn from it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_iobes import SCHEMES
from spacy_iobes.corpus import GeneratedSentence, generated_files, limited

from .commands import fine, run

LAYERS = ("--layer", 1, "--layer", 2, "--layer", 3)
Spans = list[tuple[int, int, str]]


def blocks(text: str) -> list[list[list[str]]]:
    """The rows of every sentence of a column file, and of every line that marks a document."""
    return [[row.split("\t") for row in each.split("\n")] for each in text.split("\n\n") if each]


def read(column: list[str]) -> Spans:
    """The spans of legal bio tags."""
    text = " ".join(column)
    found = []
    for match in re.finditer(r"B-(\w+)( I-\1)*", text):
        start = text[: match.start()].count(" ")
        found.append((start, start + 1 + match.group().count(" "), match.group(1)))
    return found


def said(sentence: GeneratedSentence, layers: int) -> list[Spans]:
    return [[(s, e, label) for s, e, label in layer] for layer in sentence.layers[:layers]]


@pytest.mark.parametrize("nested", [False, True])
def test_columns(nested: bool, tmp_path: Path) -> None:
    path, count = tmp_path / "out", 3 if nested else 1
    fine("generate", path, "--sentences", 60, "--seed", 4, *["--nested"] * nested)
    found = iter(blocks(path.read_text(encoding="utf8")))
    for sentence in limited(4, 60):
        if sentence.opens:
            assert next(found) == [["-DOCSTART-", *["O"] * count]]
        words, *columns = zip(*next(found))
        assert list(words) == sentence.words
        assert [read(list(column)) for column in columns] == said(sentence, count)
    assert not list(found)


@pytest.mark.parametrize("nested", [False, True])
def test_json_lines_and_docbins(nested: bool, tmp_path: Path) -> None:
    some, count = list(limited(0, 60)), 3 if nested else 1
    options = ("--sentences", 60, *["--nested"] * nested)
    wanted = [sorted(span for layer in said(s, count) for span in layer) for s in some]
    fine("generate", tmp_path / "out.jsonl", *options)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf8").splitlines()]
    assert [row["tokens"] for row in rows] == [sentence.words for sentence in some]
    assert [sorted(tuple(s.values()) for s in row["spans"]) for row in rows] == wanted
    fine("generate", tmp_path / "out.spacy", *options)
    docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab))
    assert len(docs) == sum(sentence.opens for sentence in some)
    sentences = [sentence for doc in docs for sentence in doc.sents]
    assert [[t.text for t in sentence] for sentence in sentences] == [s.words for s in some]
    assert [spans for doc in docs for spans in of_doc(doc, nested)] == wanted


def of_doc(doc: Doc, nested: bool) -> list[Spans]:
    """The spans of each sentence of a Doc."""
    found: list[Spans] = []
    for sentence in doc.sents:
        every = doc.spans["sc"] if nested else doc.ents
        mine = [s for s in every if sentence.start <= s.start < sentence.end]
        found.append(
            sorted((s.start - sentence.start, s.end - sentence.start, s.label_) for s in mine)
        )
    return found


def test_what_it_says(tmp_path: Path) -> None:
    done = json.loads(fine("generate", tmp_path / "out", "--tokens", 3000, "--json").stdout)
    some = list(limited(0, tokens=3000))
    assert done["tokens"] == sum(len(sentence.words) for sentence in some) >= 3000
    assert done["sentences"] == len(some)
    assert done["documents"] == sum(sentence.opens for sentence in some)
    assert sum(done["labels"].values()) == sum(len(sentence.spans) for sentence in some)
    assert "violations" not in done
    words = fine("generate", tmp_path / "out", "--tokens", 3000).stdout
    assert f"{len(some):,} sentences, {done['tokens']:,} tokens" in words
    assert f"PER {done['labels']['PER']:,}" in words
    validated = fine("validate", tmp_path / "out", "-s", "bio").stdout
    assert f"no violations of bio in {done['documents']:,} documents" in validated


def test_standard_output_and_gzip(tmp_path: Path) -> None:
    fine("generate", tmp_path / "out", "--sentences", 20)
    text = (tmp_path / "out").read_bytes()
    printed = fine("generate", "-", "--sentences", 20)
    assert printed.stdout.encode() == text
    assert "20 sentences" in printed.stderr
    fine("generate", tmp_path / "out.gz", "--sentences", 20)
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == text


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in ("io", "be")])
def test_planted_violations_are_found(scheme: str, tmp_path: Path) -> None:
    path, options = tmp_path / "out", ("--scheme", scheme)
    shares = ("--violations", 0.2, "--unreadable", 0.05)
    done = json.loads(
        fine("generate", path, "--sentences", 300, *options, *shares, "--json").stdout
    )
    fine("validate", path, *options, "--tag", 1)
    result = run("validate", path, *options, "--json")
    assert result.exit_code == 1
    (file,) = json.loads(result.stdout)["files"]
    kinds = [violation["kind"] for violation in file["violations"]]
    assert {kind: kinds.count(kind) for kind in kinds} == done["violations"]
    assert len(kinds) == sum(done["ways"].values())
    spoilt = set()
    for number, line in enumerate(path.read_text(encoding="utf8").split("\n"), 1):
        if len(set(line.split("\t")[1:])) > 1:
            spoilt.add(number)
    assert len(spoilt) == done["spoilt"]
    near = {line + step for line in spoilt for step in (0, 1)}
    assert {violation["line"] for violation in file["violations"]} <= near


def test_repair_can_be_scored(tmp_path: Path) -> None:
    path = tmp_path / "out"
    told = fine("generate", path, "--sentences", 300, "--violations", 0.3).stdout
    assert "violations planted in" in told
    scores = []
    for policy in ("begin", "discard", "nearest"):
        scored = fine("score", path, "-s", "bio", "--policy", policy).stdout
        scores += [float(found) for found in re.findall(r"^score (\S+)", scored, re.MULTILINE)]
    assert len(set(scores)) == 3
    assert all(80 < score < 99 for score in scores)
    legal = fine("generate", path, "--sentences", 300).stdout
    assert "planted" not in legal
    wanted = [row[:2] for block in blocks(path.read_text("utf8")) for row in block]
    fine("generate", path, "--sentences", 300, "--violations", 0.3)
    assert [row[:2] for block in blocks(path.read_text("utf8")) for row in block] == wanted


@pytest.mark.parametrize("name", ["out", "out.jsonl", "out.spacy"])
def test_nested_mentions_come_back_from_separators(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    fine("generate", path, "--nested", "--sentences", 400)
    more = ("--scheme", "bio", *LAYERS) if name == "out" else ()
    assert ", best F1 100.00; 400 " in fine("validate", "--fits", "separators", path, *more).stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["out", "--sentences", "5", "--tokens", "5"], "in one way"),
        (["out", "--sentences", "0"], "--sentences"),
        (["out", "--seed", "-1"], "--seed"),
        (["out", "--scheme", "bioo"], "Did you mean"),
        (["out", "--nested", "--violations", "0.1"], "only flat tags"),
        (["out", "--violations", "0.7", "--unreadable", "0.7"], "more sentences"),
        (["out", "-s", "io", "--violations", "0.1"], "every sequence of io tags is legal"),
        (["out.jsonl", "-s", "bio"], "only column files have tags"),
        (["out.spacy", "--violations", "0.1"], "only column files have tags"),
        (["out.ann"], "name a column file"),
        (["no/such/folder/out"], "cannot be written"),
    ],
)
def test_what_is_refused(
    arguments: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("generate", *arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_io_cannot_have_mentions_that_touch(tmp_path: Path) -> None:
    result = run("generate", tmp_path / "out", "-s", "io")
    assert result.exit_code == 1
    assert "io cannot tell apart" in result.stderr
    assert not list(tmp_path.iterdir())


def test_columns_need_no_spacy(tmp_path: Path) -> None:
    script = (
        "import sys; from spacy_iobes.cli import main; sys.argv[1:] = sys.argv[2:]\n"
        "try: main()\n"
        "except SystemExit: print('spacy' in sys.modules)"
    )
    command = [sys.executable, "-c", script, "", "generate", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_memory_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated_files, "BLOCK", 200)
    peaks = []
    for count in (400, 400, 2000):  # the first time, tables are made
        tracemalloc.start()
        generated_files.write_generated_columns(
            limited(0, count), str(tmp_path / "out"), SCHEMES["bio"]
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 2 * peaks[1]


@pytest.mark.parametrize("nested", [False, True])
def test_there_is_something_to_learn(nested: bool, tmp_path: Path) -> None:
    files = [tmp_path / "train", tmp_path / "dev"]
    for seed, (path, count) in enumerate(zip(files, (500, 300))):
        fine("generate", path, "--sentences", count, "--seed", seed, *["--nested"] * nested)
    more = ("--nested", *LAYERS) if nested else ()
    fine("train", *files, "-s", "bio", *more, "--output", tmp_path / "model")
    meta = json.loads((tmp_path / "model" / "meta.json").read_text())["performance"]
    key = "iobes_nested_f" if nested else "iobes_f"
    assert 0.8 < meta[key] < 0.95
    assert meta[f"{key}_per_type"]["DATE"]["f"] > meta[f"{key}_per_type"]["ORG"]["f"] > 0.7
