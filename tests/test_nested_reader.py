"""Nested mentions in `spacy train`: what the examples hold, whatever the files are."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Example
from spacy.util import registry

from spacy_iobes.errors import FileError, MalformedTagsError, UnknownNameError

from .commands import fine
from .docs import group

NAME = "spacy-iobes.NestedCorpus.v1"
COLUMNS = "Ada\tB-PER\tO\n\nIBM\tB-ORG\tB-ORG\nUK\tI-ORG\tO\n.\tO\tO\n"
WANTED = [("Ada", [(0, 1, "PER")]), ("IBM UK .", [(0, 2, "ORG"), (0, 1, "ORG")])]


def examples(path: Path, **config: Any) -> list[Example]:
    settings = {"corpus": {"@readers": NAME, "path": str(path), **config}}
    corpus = registry.resolve(settings)["corpus"]
    return list(corpus(spacy.blank("en")))


def columns(path: Path) -> Path:
    (path / "in.tsv").write_text(COLUMNS)
    return path / "in.tsv"


def json_lines(path: Path) -> Path:
    rows = [
        {"text": "Ada", "label": [[0, 3, "PER"]]},
        {"text": "IBM UK .", "label": [[0, 6, "ORG"], [0, 3, "ORG"]]},
    ]
    (path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path / "in.jsonl"


def brat(path: Path) -> Path:
    fine("convert", json_lines(path), path / "in.spacy")
    fine("convert", path / "in.spacy", path / "brat", "--to", "brat")
    return path / "brat"


def docbin(path: Path) -> Path:
    brat(path)
    return path / "in.spacy"


@pytest.mark.parametrize("made", [columns, json_lines, brat, docbin])
def test_every_kind_of_file(tmp_path: Path, made: Any) -> None:
    found = examples(made(tmp_path), scheme="bio", layers=[1, 2])
    held = [(" ".join(t.text for t in e.reference), group(e.reference)) for e in found]
    assert held == WANTED
    for example in found:
        assert [t.text for t in example.predicted] == [t.text for t in example.reference]
        assert not example.predicted.spans


def test_settings(tmp_path: Path) -> None:
    path = columns(tmp_path)
    (whole,) = examples(
        path, scheme="bio", layers=[1, 2], unit="document", spans_key="x", keep_sentences=True
    )
    assert group(whole.reference, "x") == [(0, 1, "PER"), (1, 3, "ORG"), (1, 2, "ORG")]
    assert [token.is_sent_start for token in whole.predicted] == [True, True, False, False]
    assert len(examples(path, scheme="bio", layers=[1, 2], limit=1, shuffle=True)) == 1
    (tmp_path / "bare.tsv").write_text("w\tPER\nAda\tB\n")
    (headed,) = examples(tmp_path / "bare.tsv", scheme="bio", header=True)
    (named,) = examples(tmp_path / "bare.tsv", scheme="bio", layers=["1=PER"], comment="w\t")
    assert group(headed.reference) == group(named.reference) == [(0, 1, "PER")]


def test_entities_of_docs_without_groups_are_mentions(tmp_path: Path) -> None:
    (tmp_path / "in.bio").write_text("Ada B-PER\n\nIBM B-ORG\nUK I-ORG\n")
    fine("convert", tmp_path / "in.bio", tmp_path / "in.spacy", "-s", "bio")
    one, two = examples(tmp_path / "in.spacy", unit="document")
    assert [group(x.reference) for x in (one, two)] == [[(0, 1, "PER")], [(0, 2, "ORG")]]
    assert [ent.text for ent in two.reference.ents] == ["IBM UK"]  # they stay
    with pytest.raises(UnknownNameError, match="no Doc has a span group 'x'"):
        examples(docbin(tmp_path), spans_key="x")


def test_a_folder_of_files(tmp_path: Path) -> None:
    json_lines(tmp_path)
    assert len(examples(tmp_path)) == 2


def test_the_log_names_what_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "can\'t go", "spans": [[0, 3, "X"], [0, 5, "X"], [0, 5, "X"]]}\n')
    logger = logging.getLogger("spacy")
    logger.addHandler(caplog.handler)
    try:
        (example,) = examples(path)
    finally:
        logger.removeHandler(caplog.handler)
    assert group(example.reference) == [(0, 2, "X")]
    assert f"1 mention repeated, the first at {path}:1: X" in caplog.text
    assert f"1 mention misaligned, the first at {path}:1: X" in caplog.text
    with pytest.raises(FileError, match="begins or ends within a token"):
        examples(path, misaligned="raise")


@pytest.mark.parametrize(
    ("config", "error", "said"),
    [
        ({"scheme": "bio", "policy": "x"}, UnknownNameError, "Unknown policy"),
        ({"scheme": "x"}, UnknownNameError, "Unknown scheme"),
        ({"scheme": "bio", "layers": [1, 1]}, FileError, "A column is one layer"),
        ({"scheme": "iobes", "layers": [1, 2]}, MalformedTagsError, "in.tsv"),
    ],
)
def test_bad_settings(tmp_path: Path, config: dict[str, Any], error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        examples(columns(tmp_path), **config)


def test_nothing_to_train_on(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "", "spans": []}\n')
    with pytest.raises(FileError, match="there is no token"):
        examples(path)
    with pytest.raises(FileError, match="null or empty"):
        registry.readers.get(NAME)(path=None)
