"""What goes from one format into another: nothing is lost, nothing else changes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan

import spacy_iobes as si

from .commands import fine, run

NLP = spacy.blank("en")


def lines(path: Path, *rows: str) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf8")
    return path


def tagged(path: Path) -> Path:
    """Sentences of Hugging Face with two lists of tags."""
    row = {
        "tokens": ["Ada", "met", "Bo"],
        "ner_tags": ["B-PER", "O", "B-PER"],
        "chunk_tags": ["B-NP", "B-VP", "B-NP"],
    }
    return lines(path, json.dumps(row))


def docbin(path: Path, *docs: Doc) -> Path:
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


def test_layers_are_columns_or_keys(tmp_path: Path) -> None:
    """Numbers are columns of column files alone, and keys are those of JSON."""
    layered = lines(tmp_path / "a.tsv", "Ada\tB\tO", "met\tO\tO", "Bo\tB\tO")
    hf = tagged(tmp_path / "a.jsonl")
    both = fine("score", layered, hf, "-s", "bio", "--layer", "1=PER", "--layer", "2=LOC")
    assert "score 100.00" in both.stdout
    chunks = fine("summarize", hf, "-s", "bio", "--layer", "chunk_tags", "--json").stdout
    assert json.loads(chunks)["labels"] == {"NP": 2, "VP": 1}
    wrong = run("summarize", hf, "-s", "bio", "--layer", "nope")
    assert wrong.exit_code == 2
    assert "no tags under the key 'nope'" in " ".join(wrong.stderr.split())
    assert "ner_tags, chunk_tags" in " ".join(wrong.stderr.split())


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_tags_without_labels_stay_bare(scheme: str, tmp_path: Path) -> None:
    source = lines(tmp_path / "a.tsv", "Ada\tB\tO", "King\tI\tO", "saw\tO\tO", "Rio\tO\tB")
    more = ["-s", "bio", "--layer", "1=PER", "--layer", "2=LOC"]
    fine("convert", source, tmp_path / "b.tsv", *more, "--to-scheme", scheme)
    last, only = ("I", "B") if scheme == "bio" else ("E", "S")
    wanted = f"Ada\tB\tO\nKing\t{last}\tO\nsaw\tO\tO\nRio\tO\t{only}\n"
    assert (tmp_path / "b.tsv").read_text() == wanted
    fine("convert", source, tmp_path / "c.tsv", *more, "--map", "PER=HUM")
    assert (
        tmp_path / "c.tsv"
    ).read_text() == "Ada\tB-HUM\tO\nKing\tI-HUM\tO\nsaw\tO\tO\nRio\tO\tB\n"


@pytest.mark.parametrize("text", ["", "  \n "])
@pytest.mark.parametrize(
    "target", ["columns", "docbin", "brat", "inline", "hugging_face", "tokens"]
)
def test_a_source_of_nothing_but_white_space(text: str, target: str, tmp_path: Path) -> None:
    source = lines(tmp_path / "a.jsonl", json.dumps({"text": text, "spans": []}))
    out = tmp_path / ("out.spacy" if target == "docbin" else "out")
    more = ["--to-scheme", "bio"] * (target in ("columns", "hugging_face"))
    fine("convert", source, out, "-t", target, *more)
    blank = docbin(tmp_path / "a.spacy", Doc(NLP.vocab, words=[text] if text else []))
    fine("convert", blank, tmp_path / "other.bio", "--to-scheme", "bio")


def test_columns_in_a_txt_file(tmp_path: Path) -> None:
    marked = lines(tmp_path / "a.txt", "-DOCSTART-", "", "Ada B-PER", "ran O")
    result = fine("summarize", marked, "-s", "bio", "--json")
    assert json.loads(result.stdout)["labels"] == {"PER": 1}
    assert result.stderr == f"{marked}: read as a column file (else: --format text)\n"
    commented = lines(tmp_path / "b.txt", "# id 1", "Ada B-PER", "ran O")
    found = fine("summarize", commented, "-s", "bio", "--comment", "#", "--json").stdout
    assert json.loads(found)["labels"] == {"PER": 1}
    prose = lines(tmp_path / "c.txt", "Ada ran to Rio.")
    result = fine("summarize", prose)
    assert result.stderr.startswith(f"{prose}: read as plain text (else: --format columns)\n")


@pytest.mark.parametrize("target", ["brat", "inline", "jsonl"])
def test_white_space_at_the_ends_of_spans(target: str, tmp_path: Path) -> None:
    words = ["  ", "Ada", "Ann", " ", "met", "Bo"]
    doc = Doc(NLP.vocab, words=words, spaces=[False, True, False, False, True, False])
    doc.spans["sc"] = [DocSpan(doc, 0, 4, "PER"), DocSpan(doc, 5, 6, "PER")]
    source = docbin(tmp_path / "a.spacy", doc)
    out = tmp_path / "out"
    fine("convert", source, out, "-g", "sc", "-t", target)
    assert "score 100.00" in fine("score", source, out, "-g", "sc").stdout


def test_ids_stay_where_a_label_is_renamed(tmp_path: Path) -> None:
    doc = Doc(NLP.vocab, words=["Ada", "Ann", "ran"])
    span = DocSpan(doc, 0, 2, "PER", kb_id="Q7259", span_id="e1")
    doc.set_ents([span])
    doc.spans["sc"] = [span]
    source, out = docbin(tmp_path / "a.spacy", doc), tmp_path / "b.spacy"
    fine("convert", source, out, "--map", "PER=HUM")
    fine("convert", out, tmp_path / "c.spacy", "--map", "PER=HUM", "-g", "sc")
    (found,) = DocBin().from_disk(tmp_path / "c.spacy").get_docs(spacy.blank("en").vocab)
    for each in (*found.ents, *found.spans["sc"]):
        assert (each.label_, each.kb_id_, each.id_) == ("HUM", "Q7259", "e1")


def test_several_files_get_the_ending_of_their_format(tmp_path: Path) -> None:
    files = [lines(tmp_path / name, "Ada B-PER", "ran O") for name in ("a.bio", "b.bio")]
    folder = tmp_path / "out"
    folder.mkdir()
    for target, ending in (("docbin", ".spacy"), ("jsonl", ".jsonl"), ("tokens", ".txt")):
        fine("convert", *files, folder, "-s", "bio", "-t", target)
        for file, name in zip(files, ("a", "b")):
            written = folder / f"{name}{ending}"
            more = ["-f", target, "-s", "bio"]
            if target != "tokens":
                assert "score 100.00" in fine("score", file, written, "-s", "bio").stdout
            assert '"tokens": 2' in fine("summarize", written, *more, "--json").stdout
    bins = [folder / "a.spacy", folder / "b.spacy"]
    fine("convert", *bins, tmp_path / "columns", "-t", "columns", "--to-scheme", "bio")
    assert (tmp_path / "columns" / "b.conll").read_text() == "Ada\tB-PER\nran\tO\n\n"


def test_an_empty_document_hides_no_marker(tmp_path: Path) -> None:
    long = Doc(NLP.vocab, words=["a", "b"], sent_starts=[True, True])
    source = docbin(tmp_path / "a.spacy", long, Doc(NLP.vocab), Doc(NLP.vocab, words=["c"]))
    for doc in (long,):
        doc.set_ents([])
    fine("convert", source, tmp_path / "a.bio", "--to-scheme", "bio")
    assert (tmp_path / "a.bio").read_text().count("-DOCSTART-") == 2


def test_the_scheme_to_write_is_that_of_the_source(tmp_path: Path) -> None:
    source = lines(tmp_path / "a.bio", "Ada\tB-PER", "ran\tO", "")
    si.save(si.read(source), tmp_path / "b.bio", scheme="bio")
    assert (tmp_path / "b.bio").read_bytes() == source.read_bytes()
    doc = Doc(NLP.vocab, words=["Ada", "ran"])
    doc.set_ents([DocSpan(doc, 0, 1, "PER")])
    si.save(si.read(docbin(tmp_path / "a.spacy", doc)), tmp_path / "c.bio")
    assert (tmp_path / "c.bio").read_bytes() == source.read_bytes()


def test_what_is_missing_and_what_is_found(tmp_path: Path) -> None:
    path = tmp_path / "no.bio"
    said = " ".join(run("summarize", path).stderr.split())
    assert said == f"Error: {path}: cannot be read: no such file or directory."
    hf = tagged(tmp_path / "a.jsonl")
    assert "|scheme:bio|" in fine("score", hf, hf).stdout
    doc = Doc(NLP.vocab, words=["Ada", "ran"])
    doc.set_ents([DocSpan(doc, 0, 1, "PER")])
    data = docbin(tmp_path / "a.spacy", doc).read_bytes()
    (tmp_path / "b.spacy.gz").write_bytes(gzip.compress(data))
    assert "score 100.00" in fine("score", tmp_path / "a.spacy", tmp_path / "b.spacy.gz").stdout
