"""The command `predict` on files of every format: the same entities, and offsets of real texts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_iobes import SpanColumns, read, save
from spacy_iobes.cli import app
from spacy_iobes.corpus import Words, text_batch

from . import nested_recognizers
from .commands import fine, run
from .recognizers import SENTENCES, ner
from .test_features_training import trained

GOLD: list[dict[str, Any]] = [
    {"id": 7, "text": "Anna lives in New York .", "spans": [[3, 6, "OLD"], [14, 22, "LOC"]]},
    {"id": 8, "text": "New York likes Anna Lee .", "spans": []},
    {"id": 9, "text": "Lee is in Paris .", "spans": [[0, 3, "PER"]]},
]
FOUND = [
    [("Anna", "PER"), ("New York", "LOC")],
    [("New York", "LOC"), ("Anna Lee", "PER")],
    [("Lee", "PER"), ("Paris", "LOC")],
]
"""What the model has learned, by hand."""
WORDS = ["Anna", "lives", "in", "New", "York", "."]
FORMATS = {
    "prodigy": "in.jsonl",
    "doccano": "in.jsonl",
    "hugging_face": "in.json",
    "label_studio": "in.json",
    "jsonl": "in.jsonl",
    "brat": "in",
    "inline": "in.xml",
    "docbin": "in.spacy",
    "columns": "in.conll",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("formats") / "model"
    trained().to_disk(path)
    return path


@pytest.fixture(scope="module")
def ruler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that finds New York, Zoë, a smile and Åsa, and nothing else."""
    path = tmp_path_factory.mktemp("formats") / "ruler"
    nlp = spacy.blank("en")
    found: Any = nlp.add_pipe("entity_ruler")
    blanks = {"IS_SPACE": True, "OP": "*"}
    found.add_patterns(
        [
            {"label": "LOC", "pattern": [{"TEXT": "New"}, blanks, {"TEXT": "York"}]},
            *({"label": "PER", "pattern": [{"TEXT": x}]} for x in ("Zoë", "Zoe\u0308", "Åsa")),
            {"label": "SIGN", "pattern": [{"TEXT": "🙂"}]},
        ]
    )
    nlp.to_disk(path)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in GOLD))
    return path


def in_format(name: str, source: Path) -> Path:
    path = source.with_name(FORMATS[name])
    save(read(source), path, to=name, to_scheme="bio", lossy=True)
    return path


def objects(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def told(path: Path, **options: Any) -> list[list[tuple[str, str]]]:
    """The texts and labels of the spans of each document."""
    found = []
    for part in read(path, **options).documents():
        known = part.known("bio")
        starts = [*part.opens.tolist(), len(part)]
        every = list(known.spans)
        for first, last in pairwise(starts):
            rows = [(n, span) for n in range(first, last) for span in every[n]]
            found.append([(part.text(n, span.start, span.end), span.label) for n, span in rows])
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_same_entities(
    name: str, model: Path, source: Path, tmp_path: Path
) -> None:
    """In the format that was read, and in another one; nothing is left of old annotation."""
    path = in_format(name, source)
    out = tmp_path / "out" / path.name
    out.parent.mkdir()
    fine("predict", model, path, out)
    assert [x for some in told(out) for x in some] == [x for some in FOUND for x in some]
    assert read(out).format.name == read(path).format.name
    fine("predict", model, path, tmp_path / "out.jsonl")
    rows = objects(tmp_path / "out.jsonl")
    if name in ("prodigy", "doccano"):
        assert rows == objects(out)
    if name in ("jsonl", "doccano", "prodigy", "hugging_face"):
        assert [row["id"] for row in rows] == [7, 8, 9]


def test_json_lines_say_how_probable_spans_are(model: Path, source: Path, tmp_path: Path) -> None:
    fine("predict", model, source, tmp_path / "out.jsonl")
    nlp = spacy.load(model)
    for row, wanted in zip(objects(tmp_path / "out.jsonl"), FOUND):
        doc = nlp.make_doc(row["text"])
        assert [(x["text"], x["label"]) for x in row["spans"]] == wanted
        for span in row["spans"]:
            assert row["text"][span["start"] : span["end"]] == span["text"]
            place: Any = doc.char_span(span["start"], span["end"])
            mine = ner(nlp).span_probability(doc, place.start, place.end, span["label"])
            assert span["probability"] == pytest.approx(mine, abs=2e-6)


@pytest.mark.parametrize("nested", [False, True])
def test_probabilities_of_many_spans(nested: bool) -> None:
    """All at once they are those of each alone; spans over sentences are impossible if bound."""
    words = [text.split() for text, _ in SENTENCES]
    if nested:
        nlp = nested_recognizers.make("hashed")
        nlp.initialize(nested_recognizers.examples)
        pipe: Any = nlp.get_pipe("iobes_nested_ner")
    else:
        nlp = trained(3)
        pipe = ner(nlp)
    docs = [Doc(nlp.vocab, words=row) for row in words]
    docs[0][3].is_sent_start = True
    every = [
        [(a, b, label) for a in range(3) for b in range(a + 1, 5) for label in pipe.labels]
        for _ in docs
    ]
    found = pipe.span_probabilities(docs, SpanColumns.of(every, list(map(len, docs))))
    wanted = [
        pipe.span_probability(doc, *x) for doc, some in zip(docs, every) for x in sorted(some)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    assert nested == (found == 0).any()


TEXTS = {
    "runs of blanks": ("Zoë   went  to   New  York .  ", ["Zoë", "New  York"]),
    "tabs": ("\tZoë\twent\tto\tNew\tYork\t.", ["Zoë", "New\tYork"]),
    "emoji": ("🙂 👩‍👩‍👧 Zoë 🙂 sees New York 🇰🇪 Zoë", ["🙂", "Zoë", "🙂", "New York", "Zoë"]),
    "combining characters": ("Zoe\u0308 a\u0301 e\u0301 Åsa", ["Zoe\u0308", "Åsa"]),
    "lines": ("Zoë saw New\nYork and New\r\nYork .", ["Zoë", "New\nYork", "New\r\nYork"]),
    "nothing but blanks": (" \t ", []),
    "wide": ("𝔘𝔫𝔦 Zoë\u3000New\u00a0York New York", ["Zoë", "New\u00a0York", "New York"]),
}


def sliced(row: dict[str, Any]) -> list[str]:
    """The texts of the spans, by slicing the text."""
    assert all(row["text"][x["start"] : x["end"]] for x in row["spans"])
    return [row["text"][span["start"] : span["end"]] for span in row["spans"]]


@pytest.mark.parametrize("case", TEXTS)
@pytest.mark.parametrize("form", ["jsonl", "text", "brat", "docbin", "prodigy"])
def test_offsets_of_real_texts(case: str, form: str, ruler: Path, tmp_path: Path) -> None:
    text, wanted = TEXTS[case]
    path = tmp_path / {"text": "in.txt", "brat": "in"}.get(form, "in.jsonl")
    if form == "text":
        path.write_bytes(text.encode())
    elif form == "brat":
        path.mkdir()
        (path / "a.txt").write_bytes(text.encode())
        (path / "a.ann").write_text("")
    elif form == "docbin":
        path = path.with_suffix(".spacy")
        DocBin(docs=[spacy.blank("en")(text)]).to_disk(path)
    else:
        row = {"text": text, "spans": []} | ({"answer": "accept"} if form == "prodigy" else {})
        path.write_text(json.dumps(row) + "\n")
    fine("predict", ruler, path, tmp_path / "out.jsonl", "--format", form, "--to", "jsonl")
    rows = objects(tmp_path / "out.jsonl")
    found = [piece for row in rows for piece in sliced(row)]
    assert found == wanted
    if form == "text":
        assert all(row["text"] in text for row in rows)
    else:
        assert [row["text"] for row in rows] in ([text], [])


def test_paragraphs_with_a_mark_and_other_line_ends(ruler: Path, tmp_path: Path) -> None:
    text = "Zoë saw\r\nNew York .\r\n\r\n\r\n  Åsa did\r\nnot .\r\n"
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    said = fine("predict", ruler, tmp_path / "in.txt")
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    assert [row["text"] for row in rows] == ["Zoë saw\r\nNew York .", "Åsa did\r\nnot ."]
    assert [sliced(row) for row in rows] == [["Zoë", "New York"], ["Åsa"]]
    assert "2 documents, 2 sentences" in said.stderr
    assert "read as plain text" in said.stderr


@pytest.mark.parametrize("form", ["jsonl", "docbin"])
def test_an_entity_over_a_boundary_joins_sentences(form: str, ruler: Path, tmp_path: Path) -> None:
    """Also one at the end of a text, and one that does not cross keeps its boundary."""
    text, starts = "Zoë saw New York . Åsa did not . New York", [0, 12, 19, 37]
    row = {"text": text, "spans": [], "sents": [[a, a + 1] for a in starts], "id": "x"}
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(row))
    if form == "docbin":
        doc = spacy.blank("en")(text)
        for token in doc:
            token.is_sent_start = token.idx in starts
        path = path.with_suffix(".spacy")
        DocBin(docs=[doc]).to_disk(path)
    fine("predict", ruler, path, tmp_path / "out.jsonl")
    (found,) = objects(tmp_path / "out.jsonl")
    assert found["text"] == text
    assert sliced(found) == ["Zoë", "New York", "Åsa", "New York"]
    assert [x["start"] for x in found["sents"]] == [0, 19]
    fine("predict", ruler, path, tmp_path / "out.conll", "--scheme", "bio")
    sentences = (tmp_path / "out.conll").read_text().strip().split("\n\n")
    assert [block.split()[::2] for block in sentences] == [
        ["Zoë", "saw", "New", "York", "."],
        ["Åsa", "did", "not", ".", "New", "York"],
    ]


def test_docs_keep_all_else(model: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    docs = [nlp(row["text"]) for row in GOLD]
    for doc in docs:
        doc[0].pos_, doc.user_data["mine"] = "PROPN", len(doc)
        doc.spans["other"] = [doc[0:2]]
        doc.spans["sc"] = [doc[1:2]]
        doc.set_ents([], missing=[doc[0:2]])
    DocBin(docs=docs, attrs=["POS", "ENT_IOB", "ENT_TYPE"], store_user_data=True).to_disk(
        tmp_path / "in.spacy"
    )
    fine("predict", model, tmp_path / "in.spacy", tmp_path / "out.spacy")
    found = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(nlp.vocab))
    assert [[(e.text, e.label_) for e in doc.ents] for doc in found] == FOUND
    for doc, old in zip(found, docs):
        assert not any(token.ent_iob == 0 for token in doc)
        assert (doc[0].pos_, doc.user_data["mine"], doc.text) == ("PROPN", len(old), old.text)
        groups = {key: [(s.start, s.end) for s in some] for key, some in doc.spans.items()}
        assert groups == {"other": [(0, 2)], "sc": [(1, 2)]}


def test_groups_without_entities_are_no_matter(model: Path, tmp_path: Path) -> None:
    """Whatever a file has is not asked for, several groups among it; entities are written."""
    nlp = spacy.blank("en")
    doc = nlp(GOLD[0]["text"])
    doc.spans["a"], doc.spans["b"] = [doc[0:6]], [doc[1:2]]
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    fine("predict", model, tmp_path / "in.spacy", tmp_path / "out.spacy")
    (found,) = DocBin().from_disk(tmp_path / "out.spacy").get_docs(nlp.vocab)
    assert [(e.text, e.label_) for e in found.ents] == FOUND[0]
    assert list(found.spans) == ["a", "b"]


def test_old_annotation_does_not_matter(model: Path, tmp_path: Path) -> None:
    """Tags that are malformed, missing or blocked are written over; their scheme is not asked."""
    text = "Anna E-X\nlives -\nin !\nNew O\nYork O\n. I-Y\n"
    (tmp_path / "in.conll").write_text(text)
    said = fine("predict", model, tmp_path / "in.conll", tmp_path / "out.conll").stdout
    tags = [line.split()[1] for line in (tmp_path / "out.conll").read_text().splitlines()]
    assert tags == ["S-PER", "O", "O", "B-LOC", "E-LOC", "O"]
    assert "2 entities in 1 document, 1 sentence, 6 tokens; iobes tags in column -1" in said
    row = {"tokens": text.split()[::2], "ner_tags": [1, 2, 3, 4, -100, 77]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    fine("predict", model, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert objects(tmp_path / "out.jsonl") == [row | {"ner_tags": tags}]


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("B-X I-X O O O B-Y", "bio"),
        ("B-X E-X O O O S-Y", "iobes"),
        ("B-X L-X O O O U-Y", "bilou"),
        ("O O O O O O", "iobes"),
        ("I-X I-X O O O O", "iob1"),
        ("B-X B-X E-X O O O", "iobes"),
    ],
)
def test_the_scheme_of_the_input(tags: str, scheme: str, model: Path, tmp_path: Path) -> None:
    """It is that of the model where the tags do not tell."""
    (tmp_path / "in.conll").write_text("".join(f"{a} {b}\n" for a, b in zip(WORDS, tags.split())))
    (found,) = json.loads(
        fine("predict", model, tmp_path / "in.conll", tmp_path / "out", "--json").stdout
    )
    assert (found["scheme"], found["spans"]) == (scheme, 2)
    more = ["--to-scheme", "bmes", "--scheme", "bio"]
    fine("predict", model, tmp_path / "in.conll", tmp_path / "out", *more)
    assert "York E-LOC" in (tmp_path / "out").read_text()


def test_layers_with_labels(model: Path, tmp_path: Path) -> None:
    """A span goes to the column of its label; tags without labels stay so."""
    rows = [f"{word}\t{tag}\tx\tO" for word, tag in zip(WORDS, "BOOOOI")]
    (tmp_path / "in.tsv").write_text("\n".join(rows) + "\n")
    layers = ["--layer", "1=PER", "--layer", "3=LOC"]
    fine("predict", model, tmp_path / "in.tsv", tmp_path / "out.tsv", *layers, "-s", "bio")
    found = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    assert [row[1] for row in found] == ["B", "O", "O", "O", "O", "O"]
    assert [row[2] for row in found] == ["x"] * 6
    assert [row[3] for row in found] == ["O", "O", "O", "B", "I", "O"]
    result = run("predict", model, tmp_path / "in.tsv", tmp_path / "out.tsv", *layers[:2])
    assert result.exit_code == 2
    assert "no column is for the label LOC" in result.stderr


def piped(model: Path, data: bytes, *options: str) -> Any:
    return CliRunner().invoke(app, ["predict", str(model), "-", *options], input=data)


def test_pipes(model: Path) -> None:
    """What comes through a pipe is told by its content."""
    text = piped(model, b"Anna lives in New York .\n")
    assert json.loads(text.stdout)["spans"][1]["text"] == "New York"
    assert "standard input: read as plain text (else: --format columns)" in text.stderr
    columns = piped(model, b"Anna O\nlives O\n")
    assert columns.stdout == "Anna S-PER\nlives O\n"
    assert "standard input: read as a column file" in columns.stderr
    row = piped(model, json.dumps(GOLD[1]).encode())
    assert [x["text"] for x in json.loads(row.stdout)["spans"]] == ["New York", "Anna Lee"]
    alone = piped(model, b"Anna\nlives\n", "--format", "columns")
    assert alone.stdout == "Anna S-PER\nlives O\n"
    assert piped(model, b"").stdout == ""


def test_folders(model: Path, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt").write_text("Anna lives in New York .")
    (folder / "below" / "b.txt").write_text("New York likes Anna Lee .")
    (folder / "c.bio").write_text("Lee O\nis B-X\n")
    out = tmp_path / "out"
    fine("predict", model, folder, out)
    assert sorted(str(x.relative_to(out)) for x in out.rglob("*.*")) == [
        "a.jsonl",
        "below/b.jsonl",
        "c.bio",
    ]
    assert (out / "c.bio").read_text() == "Lee B-PER\nis O\n"
    fine("predict", model, folder, tmp_path / "one.jsonl")
    rows = objects(tmp_path / "one.jsonl")
    assert [[x["label"] for x in row["spans"]] for row in rows] == [
        ["PER", "LOC"],
        ["LOC", "PER"],
        ["PER"],
    ]
    mixed = run("predict", model, folder)
    assert mixed.exit_code == 2
    assert "Files of several formats (columns, text): name one (--to)" in mixed.stderr


@pytest.mark.parametrize("second", ["b.txt", "b.txt.gz"])
def test_a_text_is_never_written_over(second: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna lives .")
    (tmp_path / second).write_text("precious")
    result = run("predict", model, tmp_path / "a.txt", tmp_path / second)
    assert result.exit_code == 2
    assert "the format text holds no annotation. Name a file that ends in .jsonl" in result.stderr
    assert (tmp_path / second).read_text() == "precious"


@pytest.mark.parametrize("enough", [1, 60])
def test_many_parts(
    enough: int, model: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format that reads its source twice asks the pipeline once, and counts once."""
    monkeypatch.setattr(text_batch, "ENOUGH", enough)
    (found,) = json.loads(
        fine("predict", model, source, tmp_path / "out.conll", "--json", "-s", "bio").stdout
    )
    assert (found["spans"], found["documents"], found["tokens"]) == (6, 3, 17)
    assert told(tmp_path / "out.conll") == [[x for some in FOUND for x in some]]
    done = save(read(source), tmp_path / "again.conll", to_scheme="bio", lossy=True)
    assert (done.documents, done.tokens, done.labels.total()) == (3, 17, 2)


def test_words_of_white_space(ruler: Path, tmp_path: Path) -> None:
    """Tokens of white space in a file are no part of its columns, and no entity ends on one."""
    words = ["Zoë", " ", "New", "\n", "York", "\n"]
    (tmp_path / "in.jsonl").write_text(json.dumps({"tokens": words, "spans": []}))
    fine("predict", ruler, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    (row,) = objects(tmp_path / "out.jsonl")
    assert [(x["start"], x["end"]) for x in row["spans"]] == [(0, 1), (2, 5)]
    fine("predict", ruler, tmp_path / "in.jsonl", tmp_path / "out.conll")
    assert (tmp_path / "out.conll").read_text() == "Zoë\tB-PER\nNew\tB-LOC\nYork\tI-LOC\n\n"
    assert Words.of(words).blank().tolist() == [False, True, False, True, False, True]
