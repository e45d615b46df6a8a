"""Nested mentions in files of every kind: there and back, and what a format cannot hold is told."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import read, save
from spacy_iobes.corpus import read_docbin

from .commands import fine, run
from .docs import group
from .shared import SHARED, needs_shared, unpacked

Mention = tuple[int, int, str]
Sentence = tuple[list[str], set[Mention]]


def doc_of(words: Sequence[str], mentions: Sequence[Mention], spaces: Any = None) -> Doc:
    doc = Doc(Vocab(), words=list(words), spaces=spaces)
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=[DocSpan(doc, *m) for m in mentions])
    return doc


@st.composite
def documents(draw: st.DrawFn, labels: Sequence[str] = ("X", "Y", "Z-z")) -> Doc:
    """A few words with any mentions, crossing ones and one span with two labels among them."""
    words = draw(st.lists(st.sampled_from(["a", "bc", "ö", "7"]), min_size=1, max_size=7))
    places = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    pairs = st.tuples(st.sampled_from(places), st.sampled_from(list(labels)))
    mentions = draw(st.sets(pairs.map(lambda two: (*two[0], two[1])), max_size=8))
    return doc_of(words, sorted(mentions))


corpora = st.lists(documents(), min_size=1, max_size=3)


def held(docs: Sequence[Doc]) -> list[Sentence]:
    return [([token.text for token in doc], set(group(doc))) for doc in docs]


def stored(docs: Sequence[Doc], path: Path) -> Path:
    DocBin(docs=docs).to_disk(path)
    return path


def sentences_in(path: Path, **options: Any) -> list[Sentence]:
    """The tokens of each sentence of a file, and its mentions."""
    found = list[Sentence]()
    for part in read(path, **options):
        words = part.words.strings()
        for number, spans in enumerate(part.known("bio").spans):
            begin, end = part.offsets[number : number + 2].tolist()
            found.append((words[begin:end], {(*span,) for span in spans}))
    return found


# there and back


@settings(max_examples=100)
@given(corpora, st.sampled_from(["brat", "jsonl", "tokens", "prodigy", "doccano"]))
def test_formats_of_offsets_come_back(docs: list[Doc], form: str) -> None:
    with TemporaryDirectory() as folder:
        source = stored(docs, Path(folder) / "in.spacy")
        path = Path(folder) / ("out" if form == "brat" else "out.jsonl")
        more = {"to": "jsonl", "offsets": "tokens"} if form == "tokens" else {"to": form}
        done = save(read(source, spans_key="sc"), path, **more)
        found = sentences_in(path)
    assert found == held(docs)
    assert not done.findings
    assert (done.documents, done.labels.total()) == (
        len(docs),
        sum(len(doc.spans["sc"]) for doc in docs),
    )


@settings(max_examples=100)
@given(corpora, st.sampled_from(["source", "outermost", "innermost"]))
def test_columns_come_back_in_any_order(docs: list[Doc], order: str) -> None:
    with TemporaryDirectory() as folder:
        source = stored(docs, Path(folder) / "in.spacy")
        path, again = Path(folder) / "out.tsv", Path(folder) / "again.tsv"
        done = save(read(source, spans_key="sc"), path, to_scheme="bio", order=order)
        layers = range(1, path.read_text().partition("\n")[0].count("\t") + 1)
        found = sentences_in(path, layers=layers)
        save(read(path, layers=layers), again, scheme="bio")
        assert path.read_bytes() == again.read_bytes()
    assert not done.findings
    assert found == held(docs)


def inside(a: Mention, b: Mention) -> bool:
    return a != b and b[0] <= a[0] and a[1] <= b[1]


@given(documents())
def test_which_column_comes_first(doc: Doc) -> None:
    """Where no mentions cross, one that is inside another is on the side that the order says."""
    mentions = group(doc)
    crossing = [(a, b) for a in mentions for b in mentions if a[0] < b[0] < a[1] < b[1]]
    if crossing:
        return
    for order in ("outermost", "innermost"):
        with TemporaryDirectory() as folder:
            source, path = stored([doc], Path(folder) / "in.spacy"), Path(folder) / "out.tsv"
            save(read(source, spans_key="sc"), path, to_scheme="bio", order=order)
            rows = [line.split("\t")[1:] for line in path.read_text().splitlines() if line]
        number = {}
        for n, tags in enumerate(map(list, zip(*rows))):
            for start, end, label in mentions:
                wanted = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
                ends = tags[end : end + 1] != [f"I-{label}"]
                if tags[start:end] == wanted and ends:
                    number[start, end, label] = n
        assert number.keys() == set(mentions)
        for a in mentions:
            for b in mentions:
                if inside(a, b) and a[:2] != b[:2]:
                    assert (number[a] < number[b]) == (order == "innermost")


@given(corpora)
def test_a_column_for_each_label(docs: list[Doc]) -> None:
    """Mentions of one label that overlap are counted, all others come back."""
    labels = sorted({m[2] for doc in docs for m in group(doc)})
    with TemporaryDirectory() as folder:
        source, path = stored(docs, Path(folder) / "in.spacy"), Path(folder) / "out.tsv"
        how: dict[str, Any] = {"to_scheme": "bio", "order": "label", "lossy": True}
        done = save(read(source, spans_key="sc"), path, header=True, **how)
        if not labels:
            return
        assert path.read_text().split("\n")[0].split("\t") == ["token", *labels]
        found = sentences_in(path, header=True)
    total = 0
    for doc, (_, kept) in zip(docs, found):
        wanted = set(group(doc))
        assert kept <= wanted
        for start, end, label in wanted - kept:  # a longer or equal one of its label is kept
            over = [m for m in kept if m[2] == label and m[0] < end and start < m[1]]
            assert any(m[1] - m[0] >= end - start for m in over)
        for a in kept:
            assert not [b for b in kept if a < b and a[2] == b[2] and b[0] < a[1]]
        total += len(wanted - kept)
    assert [finding.kind for finding in done.findings] == ["overlapping"] * total


# reading columns


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


BARE = "a\tB\tO\nb\tI\tB\nc\tO\tI\n"


@pytest.mark.parametrize("header", [True, False])
def test_columns_with_a_label_each(tmp_path: Path, header: bool) -> None:
    """Tags that name no label have that of their column: by header, or by option."""
    path = written(tmp_path / "in.tsv", "word\tPER\tORG\n" * header + BARE)
    options = ["--header"] if header else ["--layer", "1=PER", "--layer", "2=ORG"]
    out = tmp_path / "out.spacy"
    fine("convert", path, out, "-s", "bio", "--spans-key", "sc", *options)
    (doc,) = read_docbin(out)
    assert ([token.text for token in doc], group(doc)) == (
        ["a", "b", "c"],
        [(0, 2, "PER"), (1, 3, "ORG")],
    )
    assert "ORG" in fine("validate", "--fits", "separators", path, "-s", "bio", *options).stdout


def test_a_label_in_the_tags_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "in", "w PER ORG\na B-LOC B\n")
    assert sentences_in(path, header=True) == [(["a"], {(0, 1, "LOC"), (0, 1, "ORG")})]


def test_a_header_before_markers(tmp_path: Path) -> None:
    text = "w\tPER\n-DOCSTART-\tO\n\na\tB\n\nb\tO\n\n-DOCSTART-\tO\n\nc\tB\n"
    path = written(tmp_path / "in", text)
    documents = list(read(path, header=True).documents())
    assert [part.words.strings() for part in documents] == [["a", "b"], ["c"]]
    assert [part.opens.tolist() for part in documents] == [[0], [0]]


def test_a_mention_in_two_columns_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "in", "# x\nw\tO\tO\na\tB-X\tB-X\n")
    out = tmp_path / "out.spacy"
    options = ["-s", "bio", "--spans-key", "sc", "--layer", 1, "--layer", 2, "--comment", "#"]
    said = fine("convert", path, out, *options).stdout
    assert f"1 mention repeated, the first at {path}:3: X: a mention is there twice" in said


def test_many_labels_and_empty_docs(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(200)]
    every = doc_of(words, [(i, i + 1 + i % 3, f"L{i}") for i in range(197)])
    DocBin(docs=[every, doc_of([], [])]).to_disk(tmp_path / "in.spacy")
    for name in ("out.jsonl", "brat"):
        options = ["--to", "brat"] if name == "brat" else []
        fine("convert", tmp_path / "in.spacy", tmp_path / name, "--spans-key", "sc", *options)
        assert [x for x in sentences_in(tmp_path / name) if x[0]] == held([every])


# writing


def test_too_few_columns(tmp_path: Path) -> None:
    doc = doc_of("abc", [(0, 3, "X"), (0, 2, "X"), (1, 2, "X"), (2, 3, "Y")])
    DocBin(docs=[doc, doc]).to_disk(tmp_path / "in.spacy")
    arguments = ["convert", tmp_path / "in.spacy", tmp_path / "out", "--to-scheme", "bio"]
    arguments += ["--spans-key", "sc", "--set", "layers=1"]
    for more in ([], ["--set", "order=outermost"]):
        result = run(*arguments, *more)
        assert result.exit_code == 1
        assert "6 mentions overlap others in all columns, the first at" in result.stderr
        assert "Choose 3 columns (--set layers=3), another order" in result.stderr
    fine(*arguments[:-1], "layers=3")
    assert "6 mentions overlap others in all columns" in fine(*arguments, "--lossy").stdout
    block = "a\tB-X\nb\tI-X\nc\tI-X\n"
    assert (tmp_path / "out").read_text() == f"{block}\n{block}\n"


def test_entities_in_formats_of_offsets(tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=["a", "b", "c"], ents=["B-X", "I-X", "O"])
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    fine("convert", tmp_path / "in.spacy", tmp_path / "out.jsonl")
    row = {"tokens": ["a", "b", "c"], "spans": [{"start": 0, "end": 2, "label": "X"}]}
    assert json.loads((tmp_path / "out.jsonl").read_text()) == row


@pytest.mark.parametrize("form", ["jsonl", "prodigy", "label_studio"])
def test_nothing_found_is_not_the_same_as_not_annotated(tmp_path: Path, form: str) -> None:
    docs = [doc_of("ab", [(0, 1, "X")]), doc_of("cd", []), doc_of("ef", [])]
    del docs[2].spans["sc"]
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    path, again = tmp_path / "out.jsonl", tmp_path / "again.spacy"
    options = ["--to", form, "--spans-key", "sc"]
    fine("convert", tmp_path / "in.spacy", path, *options)
    assert (
        "(2 not annotated)" in fine("convert", path, again, "--set", "output-spans-key=sc").stdout
    )
    back = list(DocBin().from_disk(again).get_docs(Vocab()))
    assert ["sc" in doc.spans for doc in back] == [True, True, False]
    # what is predicted for the last one is neither right nor wrong, in whatever files
    system = [doc_of("ab", [(0, 1, "X")]), doc_of("cd", []), doc_of("ef", [(0, 2, "X")])]
    DocBin(docs=system).to_disk(tmp_path / "system.spacy")
    assert "score 100.00" in fine("score", path, tmp_path / "system.spacy").stdout
    columns = tmp_path / "system.tsv"
    lines = "a\tB-X\nb\tO\n\nc\tO\nd\tO\n\ne\tB-X\nf\tI-X\n"
    assert "score 100.00" in fine("score", path, written(columns, lines), "-s", "bio").stdout


def test_what_formats_cannot_say_of_tokens_without_annotation(tmp_path: Path) -> None:
    docs = [doc_of("ab", [(0, 1, "X")]), doc_of("cd", [])]
    docs[0].spans["sc"].attrs.update({"layers": [0], "layer_missing": [[0, 1]]})
    del docs[1].spans["sc"]
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    for form, said in (("prodigy", "1 token unannotated"), ("brat", "1 document bare")):
        arguments = ["convert", tmp_path / "in.spacy", tmp_path / form, "--spans-key", "sc"]
        refused = run(*arguments, "--to", form)
        assert refused.exit_code == 1
        assert f"{said}, the first at {tmp_path}/in.spacy, Doc " in refused.stderr
        assert "1 token unannotated" in refused.stderr
        assert not (tmp_path / form).exists()
        assert said in fine(*arguments, "--to", form, "--lossy").stdout


def test_a_folder_is_not_printed(tmp_path: Path) -> None:
    DocBin(docs=[doc_of("ab", [(0, 1, "X")])]).to_disk(tmp_path / "in.spacy")
    result = run("convert", tmp_path / "in.spacy", "-", "--to", "brat", "--spans-key", "sc")
    assert result.exit_code == 2
    assert "brat has a folder" in result.stderr


def test_missing_tokens_keep_their_layer(tmp_path: Path) -> None:
    doc = doc_of("ab", [(0, 1, "X")])
    doc.spans["sc"].attrs.update({"layers": [0], "layer_missing": [[0, 1]]})
    source = stored([doc], tmp_path / "in.spacy")
    fine("convert", source, tmp_path / "out.tsv", "-g", "sc", "--to-scheme", "bio")
    assert (tmp_path / "out.tsv").read_text() == "a\tB-X\nb\t-\n\n"


# real corpora


@needs_shared
def test_genia_is_innermost_first(tmp_path: Path) -> None:
    """The order is found anew from the mentions alone, and the file is the same to the byte."""
    path = SHARED / "data" / "genia-nested" / "genia.test.nested.iob2.gz"
    text = gzip.decompress(path.read_bytes()).decode().rstrip("\n") + "\n"
    save(read(path, layers=(1, 2, 3, 4)), tmp_path / "in.jsonl", scheme="bio", offsets="tokens")
    source = read(tmp_path / "in.jsonl")
    save(source, tmp_path / "out", to_scheme="bio", order="innermost", layers=4, to="columns")
    assert (tmp_path / "out").read_text(encoding="utf8").rstrip("\n") + "\n" == text
    more: dict[str, Any] = {"to_scheme": "bio", "order": "label", "lossy": True, "to": "columns"}
    done = save(source, tmp_path / "labels", **more)
    assert len(done.findings) == 325  # inside one of the same type, says the data's description


@needs_shared
def test_germeval_with_numbers_and_comments() -> None:
    path = SHARED / "data" / "germeval2014" / "NER-de-dev.tsv.gz"
    found = sentences_in(path, layers=(2, 3), token=1, comment="#")
    assert len(found) == 2200
    assert sum(len(words) for words, _ in found) == 41_653
    assert sum(len(mentions) for _, mentions in found) == 2674 + 212


@needs_shared
def test_nerel_comes_back(tmp_path: Path) -> None:
    unpacked(SHARED / "data" / "nerel" / "NEREL-v1.1.tar.gz", tmp_path)
    dev = tmp_path / "NEREL-v1.1" / "dev"
    found = sentences_in(dev)
    kinds = [finding.kind for part in read(dev) for finding in part.findings]
    assert (len(found), kinds.count("discontinuous")) == (94, 7)
    assert sum(len(mentions) for _, mentions in found) + kinds.count("misaligned") == 5583
    save(read(dev), tmp_path / "new", to="brat")
    old, new = (sorted(folder.glob("*.txt")) for folder in (dev, tmp_path / "new"))
    assert [path.read_bytes() for path in old] == [path.read_bytes() for path in new]
    assert sentences_in(tmp_path / "new") == found
    save(read(dev), tmp_path / "new.jsonl", lossy=True)
    assert sentences_in(tmp_path / "new.jsonl") == found
