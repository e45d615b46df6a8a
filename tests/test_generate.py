"""The command `generate`: every format says the same, and recognisers learn from it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tracemalloc
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

import spacy_iobes as si
from spacy_iobes import SCHEMES
from spacy_iobes.corpus import make_docs
from spacy_iobes.generate import GeneratedCorpus, GeneratedSentence, limited

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
    fine("generate", tmp_path / "out.jsonl", "--unit", "sentence", *options)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf8").splitlines()]
    assert [row["tokens"] for row in rows] == [sentence.words for sentence in some]
    assert [sorted(tuple(s.values()) for s in row["spans"]) for row in rows] == wanted
    fine("generate", tmp_path / "out.spacy", *options)
    docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab))
    fine("generate", tmp_path / "out.jsonl", *options)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf8").splitlines()]
    assert [row["tokens"] for row in rows] == [[token.text for token in doc] for doc in docs]
    assert len(docs) == sum(sentence.opens for sentence in some)
    sentences = [sentence for doc in docs for sentence in doc.sents]
    assert [[t.text for t in sentence] for sentence in sentences] == [s.words for s in some]
    assert [spans for doc in docs for spans in of_doc(doc, nested)] == wanted


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("name", [row.name for row in si.FORMATS.values() if row.writable])
def test_every_format_that_can_be_written(name: str, nested: bool, tmp_path: Path) -> None:
    """What is written is read back: the same words, documents and mentions."""
    path = tmp_path / ("out.spacy" if name == "docbin" else "out")
    told = json.loads(fine("generate", path, "-t", name, "--json", *["--nested"] * nested).stdout)
    count, some = 3 if nested else 1, list(limited(0, 1000))
    wanted = [
        " ".join(sentence.words[start:end])
        for sentence in some
        for start, end, _ in sorted(chain.from_iterable(said(sentence, count)))
        if si.FORMATS[name].annotated
    ]
    assert (told["sentences"], told["tokens"]) == (1000, sum(len(s.words) for s in some))
    assert sum(told["labels"].values()) == len(wanted)
    layers = ["1", "2", "3"][:count] if name == "columns" else []
    parts = list(si.read(path, format=name, layers=layers))
    assert [x for part in parts for x in mentions(part, part.known("bio").spans)] == wanted
    lines = {"hugging_face": 1000, "tokens": 1}  # of lines nobody knows what is a document
    opens = lines.get(name, sum(sentence.opens for sentence in some))
    assert sum(len(part.opens) for part in parts) == opens


def mentions(part: si.Sentences, spans: si.SpanColumns) -> list[str]:
    """The words of every mention, those that begin first and the shorter ones first."""
    rows = sorted(zip(spans.sentence.tolist(), spans.start.tolist(), spans.end.tolist()))
    return [part.text(*row) for row in rows]


AS_BEFORE = [
    ("--sentences 300 --seed 4", "eb62fbe6ff6f0e37"),
    ("--sentences 300 --seed 4 --to-scheme iobes", "be673a23db8e03fa"),
    ("--sentences 300 --seed 4 --nested", "dd9381477a93748a"),
    (
        "--tokens 3000 --seed 1 --to-scheme bilou --violations 0.3 --set unreadable=0.05",
        "2d533533d06c3f64",
    ),
    ("--sentences 200 --seed 2 --to-scheme bia --violations 0.3", "8b0af3fbf14cb4d3"),
    ("--sentences 2500 --seed 9 --violations 0.1", "1888247ef683a6dc"),
    ("--sentences 1 --seed 3", "b9363c1af67a13e5"),
]
"""How the SHA-256 of the column file begins that version 0.1.0 writes, where --scheme is the option
that --to-scheme is now."""


@pytest.mark.parametrize(("options", "digest"), AS_BEFORE)
def test_columns_are_those_of_version_0_1_0(options: str, digest: str, tmp_path: Path) -> None:
    fine("generate", tmp_path / "out", *options.split())
    assert sha256((tmp_path / "out").read_bytes()).hexdigest().startswith(digest)


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
    written = ("--to-scheme", scheme)
    shares = ("--violations", 0.2, "--set", "unreadable=0.05")
    done = json.loads(
        fine("generate", path, "--sentences", 300, *written, *shares, "--json").stdout
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


def test_every_format_with_layers_holds_spoilt_tags(tmp_path: Path) -> None:
    options = ("--sentences", 200, "--violations", 0.3, "--set", "unreadable=0.1")
    found = list[list[list[list[str]]]]()
    for name, layers in (("columns", ("1", "2")), ("hugging_face", ("ner_tags", "ner_tags_1"))):
        path = tmp_path / name
        fine("generate", path, "-t", name, *options)
        parts = si.read(path, format=name, layers=layers)
        found.append([[tags for part in parts for tags in part.tags[layer]] for layer in (0, 1)])
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


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
        (["out", "--to-scheme", "bioo"], "Did you mean"),
        (["out", "--nested", "--violations", "0.1"], "only flat tags"),
        (
            ["out", "--violations", "0.7", "--set", "unreadable=0.7"],
            "Shares of sentences are from 0 to 1",
        ),
        (
            ["out", "--to-scheme", "io", "--violations", "0.1"],
            "Every sequence of tags is legal in io",
        ),
        (["out", "--to-scheme", "be", "--violations", "0.1"], "Plant them in another scheme"),
        (["out.jsonl", "--violations", "0.1"], "These do (--to): columns, hugging_face."),
        (["out.spacy", "--violations", "0.1"], "the format docbin hold no layers of tags"),
        (["out", "-t", "session"], "files of the format session cannot be written"),
        (["out", "-t", "iobes"], "Unknown format 'iobes'"),
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


@pytest.mark.parametrize(
    "number", ["--sentences 0", "--sentences 1.5", "--seed -1", "--violations 2", "--violations x"]
)
def test_numbers_that_an_option_does_not_take(number: str) -> None:
    result = run("generate", "-", *number.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert number.split()[0].removeprefix("--") in result.stderr


def test_io_cannot_have_mentions_that_touch(tmp_path: Path) -> None:
    result = run("generate", tmp_path / "out", "--to-scheme", "io")
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


@pytest.mark.parametrize("name", ["columns", "jsonl", "hugging_face", "inline"])
def test_memory_does_not_grow(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[GeneratedCorpus.__module__], "BLOCK", 200)
    peaks = []
    for count in (400, 400, 2000):  # the first time, tables are made
        tracemalloc.start()
        si.save(GeneratedCorpus(0, count), tmp_path / "out", to=name, to_scheme="bio")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 2 * peaks[1]


def test_a_corpus_can_be_read_again_and_cut_anywhere() -> None:
    """A corpus longer than a part says what sentences say, and where documents go on."""
    corpus, some = GeneratedCorpus(3, 4500, nested=True), list(limited(3, 4500))
    for _ in range(2):
        parts = list(corpus)
        assert [len(part) for part in parts] == [2000, 2000, 500]
        layers = [layer for part in parts for layer in zip(*part.known().layers)]
        assert layers == [sentence.layers for sentence in some]
        words = [word for part in parts for word in part.words.strings()]
        assert words == [word for sentence in some for word in sentence.words]
        opens = [part.before[1] + at for part in parts for at in part.opens.tolist()]
        assert opens == [number for number, sentence in enumerate(some) if sentence.opens]
        assert [part.before[0] for part in parts] == [
            sum(sentence.opens for sentence in some[: part.before[1]]) for part in parts
        ]
    docs = list(make_docs(corpus, target="spans:sc", unit="document"))
    assert len(docs) == sum(sentence.opens for sentence in some)
    assert [[sentence.text.split() for sentence in doc.sents] for doc in docs[:3]] == [
        [sentence.words for sentence in some[a:b]] for a, b in pairwise(opens[:4])
    ]


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
