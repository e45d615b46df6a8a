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

from spacy_iobes import Span
from spacy_iobes.codes import get_scheme
from spacy_iobes.corpus import (
    WRITERS,
    Arrangement,
    ColumnFormat,
    Columns,
    DocFile,
    Mentions,
    NestedDoc,
    NestedReading,
    NestedText,
    Order,
    TagReading,
    TextReading,
    print_columns,
    read_brat,
    read_docbin,
    read_json_lines,
    text_doc,
)
from spacy_iobes.corpus.layered_columns import layered_columns
from spacy_iobes.corpus.nested_corpus import nested
from spacy_iobes.errors import FileError, InexpressibleError

from .commands import fine, run
from .docs import group
from .shared import SHARED, needs_shared, unpacked

Mention = tuple[int, int, str]


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


def held(docs: Sequence[Doc]) -> list[tuple[list[str], set[Mention]]]:
    return [([token.text for token in doc], set(group(doc))) for doc in docs]


def back(path: Path, **settings: Any) -> list[NestedDoc]:
    return list(nested(path, NestedReading(**settings)))


def columns_of_tags(count: int, names: tuple[str, ...] = ()) -> TagReading:
    layers = tuple(range(1, count + 1))
    return TagReading(get_scheme("bio"), layers=layers, labelled=False, names=names)


# there and back


@settings(max_examples=100)
@given(corpora, st.sampled_from(["brat", "jsonl", "jsonl-tokens"]))
def test_formats_of_offsets_come_back(docs: list[Doc], form: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("out" if form == "brat" else "out.jsonl")
        done = WRITERS[form](Mentions(DocFile("docs", docs), "sc"), str(path), False)
        found = back(path)
    assert held([doc for doc, *_ in found]) == held(docs)
    assert not [finding for made in found for finding in made.findings]
    assert (done.docs, done.spans) == (len(docs), sum(len(doc.spans["sc"]) for doc in docs))


@settings(max_examples=100)
@given(corpora, st.sampled_from(["group", "outermost", "innermost"]))
def test_columns_come_back_in_any_order(docs: list[Doc], order: Order) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.tsv"
        file, scheme = DocFile("docs", docs), get_scheme("bio")
        columns, _, findings = layered_columns(file, "sc", scheme, Arrangement(order))
        print_columns(file, columns, path, ColumnFormat())
        tags = columns_of_tags(len(columns[0]))
        first = path.read_bytes()
        again = back(path, tags=tags)
        stored = DocFile("again", [made.doc for made in again])
        columns, _, _ = layered_columns(stored, "sc", scheme, Arrangement("group"))
        print_columns(stored, columns, path, ColumnFormat())
        assert path.read_bytes() == first
    assert not findings
    assert held(stored.docs) == held(docs)


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
        how = Arrangement(order)
        ((*columns,),), _, _ = layered_columns(DocFile("doc", [doc]), "sc", get_scheme("bio"), how)
        number = {}
        for n, tags in enumerate(columns):
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
    file = DocFile("docs", docs)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.tsv"
        columns, labels, findings = layered_columns(
            file, "sc", get_scheme("bio"), Arrangement("label", lossy=True)
        )
        header = ("token", *labels)
        print_columns(file, columns, path, ColumnFormat(header=header))
        if not labels:
            return
        tags = TagReading(get_scheme("bio"), labelled=False)
        found = back(path, tags=tags, header=True)
    assert labels == tuple(sorted({m[2] for doc in docs for m in group(doc)}))
    total = 0
    for doc, (made, *_) in zip(docs, found):
        wanted, kept = set(group(doc)), set(group(made))
        assert kept <= wanted
        for start, end, label in wanted - kept:  # a longer or equal one of its label is kept
            over = [m for m in kept if m[2] == label and m[0] < end and start < m[1]]
            assert any(m[1] - m[0] >= end - start for m in over)
        for a in kept:
            assert not [b for b in kept if a < b and a[2] == b[2] and b[0] < a[1]]
        total += len(wanted - kept)
    assert [finding.kind for finding in findings] == ["overlapping"] * total


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
    (made,) = back(path, tags=TagReading(get_scheme("bio"), labelled=False), header=True)
    assert group(made.doc) == [(0, 1, "LOC"), (0, 1, "ORG")]


def test_a_header_before_markers(tmp_path: Path) -> None:
    text = "w\tPER\n-DOCSTART-\tO\n\na\tB\n\nb\tO\n\n-DOCSTART-\tO\n\nc\tB\n"
    path = written(tmp_path / "in", text)
    tags = TagReading(get_scheme("bio"), labelled=False)
    found = back(path, tags=tags, header=True, unit="document")
    assert [[token.text for token in made.doc] for made in found] == [["a", "b"], ["c"]]


def test_a_mention_in_two_columns_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "in", "# x\nw\tO\tO\na\tB-X\tB-X\n")
    out = tmp_path / "out.spacy"
    options = ["-s", "bio", "--spans-key", "sc", "--layer", 1, "--layer", 2, "--comment", "#"]
    said = fine("convert", path, out, *options).stdout
    assert f"1 mention repeated, the first at {path}:3: X: a mention is there twice" in said


# reading JSON lines


def mentions_in(tmp_path: Path, *rows: Any, **how: Any) -> list[NestedText]:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return list(read_json_lines(path, TextReading(**how)))


TEXT = "Ada of IBM UK"
WANTED = [(0, 1, "PER"), (2, 4, "ORG"), (2, 3, "ORG")]
OFFSETS = [(0, 3, "PER"), (7, 13, "ORG"), (7, 10, "ORG")]
OBJECTS = {
    "spans": [{"start": s, "end": e, "label": x} for s, e, x in OFFSETS],
    "entities": [list(row) for row in OFFSETS],
    "label": [list(row) for row in OFFSETS],
    "labels": [{"start_offset": s, "end_offset": e, "label": x, "id": 1} for s, e, x in OFFSETS],
    "mentions": [{"begin": s, "end": e, "type": x} for s, e, x in OFFSETS],
    "ents": [{"start": s, "end": e, "labels": [x]} for s, e, x in OFFSETS],
}


@pytest.mark.parametrize("name", OBJECTS)
def test_spellings(tmp_path: Path, name: str) -> None:
    (text,) = mentions_in(tmp_path, {"id": 3, "text": TEXT, name: OBJECTS[name]})
    assert text.spans == WANTED
    assert not text.findings


def test_training_data_of_old(tmp_path: Path) -> None:
    (text,) = mentions_in(tmp_path, [TEXT, {"entities": OBJECTS["entities"]}])
    assert text.spans == WANTED


def test_tokens(tmp_path: Path) -> None:
    """Offsets count tokens if there is no text; with one, or if so named, they are as named."""
    words = TEXT.split()
    rows = [{"start": s, "end": e, "label": x} for s, e, x in WANTED]
    assert mentions_in(tmp_path, {"tokens": words, "spans": rows})[0].spans == WANTED
    both = {"text": TEXT, "tokens": [{"text": word} for word in words]}
    assert mentions_in(tmp_path, both | {"spans": OBJECTS["spans"]})[0].spans == WANTED
    (text,) = mentions_in(tmp_path, both | {"spans": rows}, offsets="tokens")
    assert text.spans == WANTED
    dotted = {"text": "U.S.A. x", "tokens": ["U.S.A.", "x"], "spans": [[0, 6, "L"]]}
    assert mentions_in(tmp_path, dotted)[0].spans == [(0, 1, "L")]


def test_a_list_of_objects(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    rows = [{"text": "a", "spans": []}, {"text": "b", "spans": [[0, 9, "X"]]}]
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(rows, indent=1).encode())
    with pytest.raises(FileError, match=r"in\.json, item 2: X 0 9 is no part of 1 char"):
        list(read_json_lines(path))
    path.write_bytes(json.dumps(rows[:1]).encode())
    assert [text.text for text in read_json_lines(path)] == ["a"]


def test_gzip_blank_lines_and_long_ones(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    long = "wort " * 300_000
    lines = [
        "",
        json.dumps({"text": long, "spans": [[0, 4, "X"]]}),
        "",
        '{"text": "", "spans": []}',
    ]
    path.write_bytes(gzip.compress("\r\n".join(lines).encode()))
    found = list(read_json_lines(path))
    assert [(len(text.tokens), text.line) for text in found] == [(300_000, 2), (0, 4)]


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes('{"text": "é", "spans": [[0, 1, "X"]]}\n'.encode("latin-1"))
    result = run("convert", path, tmp_path / "out.spacy")
    assert result.exit_code == 2
    assert "line 1: cannot be read as utf-8" in " ".join(result.stderr.split())
    fine("convert", path, tmp_path / "out.spacy", "--encoding", "latin-1")
    assert read_docbin(tmp_path / "out.spacy")[0].text == "é"


@pytest.mark.parametrize(
    ("way", "spans", "kind"),
    [
        ("count", [], "misaligned"),
        ("expand", [(0, 2, "X")], "moved"),
        ("contract", [], "misaligned"),
    ],
)
def test_misaligned(tmp_path: Path, way: Any, spans: list[Mention], kind: str) -> None:
    (text,) = mentions_in(tmp_path, {"text": "abc def", "spans": [[1, 6, "X"]]}, misaligned=way)
    assert (text.spans, [found.kind for found in text.findings]) == (spans, [kind])
    row = {"text": "abc def", "spans": [[1, 7, "X"]]}
    (text,) = mentions_in(tmp_path, row, misaligned="contract")
    assert text.spans == [(1, 2, "X")]
    with pytest.raises(FileError, match=r"in\.jsonl:1: 'bc def' \(X\) begins or ends within"):
        mentions_in(tmp_path, row, misaligned="raise")


# texts


@given(st.text(st.sampled_from("ab .\n\t\r"), max_size=20))
def test_a_doc_has_the_same_text(text: str) -> None:
    for tokens in (TextReading().tokenize(text), []):
        made = NestedText("x", text, tokens)
        for number in range(len(made.tokens)):
            made.keep(Span(number, number + 1, str(number)), "", "")
        doc = text_doc(Vocab(), made, "sc")
        assert doc.text == text
        for span in doc.spans["sc"]:
            begin, end = made.tokens[int(span.label_)]
            assert (span.start_char, span.end_char) == (begin, end)


def test_brat_parts_on_two_lines_are_one_mention(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("New\nYork is big")
    (tmp_path / "1.ann").write_text("T1\tLOC 0 3;4 8\tNew York\nT2\tX 4 8;12 15\tYork big\n")
    (text,) = read_brat(tmp_path)
    assert text.spans == [(0, 2, "LOC")]
    assert [found.kind for found in text.findings] == ["discontinuous"]
    assert next(read_brat(tmp_path / "1.ann")).spans == text.spans


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("T1", "cannot be read"),
        ("T1 A 0 1\ta", "cannot be read"),
        ("T1\tA 0 1\tb", "the text at 0 1 is 'a', not 'b'"),
    ],
)
def test_bad_lines_of_brat(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "1.txt").write_text("a b")
    (tmp_path / "1.ann").write_text(f"{line}\n")
    with pytest.raises(FileError, match=r"1\.ann, line 1") as error:
        list(read_brat(tmp_path))
    assert said in str(error.value)


def test_many_labels_and_empty_docs(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(200)]
    every = doc_of(words, [(i, i + 1 + i % 3, f"L{i}") for i in range(197)])
    DocBin(docs=[every, doc_of([], [])]).to_disk(tmp_path / "in.spacy")
    for name in ("out.jsonl", "brat"):
        options = ["--to", "brat"] if name == "brat" else []
        fine("convert", tmp_path / "in.spacy", tmp_path / name, "--spans-key", "sc", *options)
        found = back(tmp_path / name)
        assert held([made.doc for made in found]) == held([every, doc_of([], [])])


# writing


def test_too_few_columns(tmp_path: Path) -> None:
    doc = doc_of("abc", [(0, 3, "X"), (0, 2, "X"), (1, 2, "X"), (2, 3, "Y")])
    DocBin(docs=[doc, doc]).to_disk(tmp_path / "in.spacy")
    arguments = ["convert", tmp_path / "in.spacy", tmp_path / "out", "--to-scheme", "bio"]
    arguments += ["--spans-key", "sc", "--layers", 1]
    for more in ([], ["--order", "outermost"]):
        result = run(*arguments, *more)
        assert result.exit_code == 1
        assert "6 mentions deep, the first at" in result.stderr
    assert "6 mentions deep" in fine(*arguments, "--lossy").stdout
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
    assert "(2 not annotated)" in fine("convert", path, again, "--output-spans-key", "sc").stdout
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


def test_missing_tokens_keep_their_layer() -> None:
    doc = doc_of("ab", [(0, 1, "X")])
    doc.spans["sc"].attrs.update({"layers": [0], "layer_missing": [[0, 1]]})
    file, scheme = DocFile("docs", [doc]), get_scheme("bio")
    assert layered_columns(file, "sc", scheme, Arrangement()).columns == [[["B-X", "-"]]]
    with pytest.raises(Exception, match="Doc 0, spans\\['sc'\\]: tokens without a tag"):
        layered_columns(file, "sc", scheme, Arrangement("innermost"))


def test_refusals_name_every_kind() -> None:
    doc = doc_of("abcd", [(0, 2, "X"), (1, 3, "X"), (2, 2, "X")])
    doc.spans["sc"].attrs["layers"] = [0, 0, 0]
    with pytest.raises(InexpressibleError) as error:
        layered_columns(DocFile("docs", [doc]), "sc", get_scheme("bio"), Arrangement())
    assert "1 mention empty, the first at docs, Doc 0, token 2" in str(error.value)
    assert "1 mention overlapping, the first at docs, Doc 0, token 1" in str(error.value)


# real corpora


@needs_shared
def test_genia_is_innermost_first(tmp_path: Path) -> None:
    """The order is found anew from the mentions alone, and the file is the same to the byte."""
    path = SHARED / "data" / "genia-nested" / "genia.test.nested.iob2.gz"
    text = gzip.decompress(path.read_bytes()).decode().rstrip("\n") + "\n"
    docs = [made.doc for made in back(path, tags=columns_of_tags(4), columns=Columns(tag=1))]
    file = DocFile("docs", docs)
    how = Arrangement("innermost", 4)
    columns, _, _ = layered_columns(file, "sc", get_scheme("bio"), how)
    print_columns(file, columns, tmp_path / "out", ColumnFormat())
    assert (tmp_path / "out").read_text(encoding="utf8") == text
    by_label = Arrangement("label", lossy=True)
    findings = layered_columns(file, "sc", get_scheme("bio"), by_label).findings
    assert len(findings) == 325  # inside one of the same type, says the data's description


@needs_shared
def test_germeval_with_numbers_and_comments() -> None:
    path = SHARED / "data" / "germeval2014" / "NER-de-dev.tsv.gz"
    tags = TagReading(get_scheme("bio"), layers=(2, 3), labelled=False)
    found = back(path, tags=tags, columns=Columns(token=1, tag=2, comment="#"))
    assert len(found) == 2200
    assert sum(len(made.doc) for made in found) == 41_653
    assert sum(len(made.doc.spans["sc"]) for made in found) == 2674 + 212


@needs_shared
def test_nerel_comes_back(tmp_path: Path) -> None:
    unpacked(SHARED / "data" / "nerel" / "NEREL-v1.1.tar.gz", tmp_path)
    dev = tmp_path / "NEREL-v1.1" / "dev"
    found = back(dev)
    kinds = [finding.kind for made in found for finding in made.findings]
    assert (len(found), kinds.count("discontinuous")) == (94, 7)
    assert sum(len(made.doc.spans["sc"]) for made in found) + kinds.count("misaligned") == 5583
    docs = DocFile("docs", [made.doc for made in found])
    WRITERS["brat"](Mentions(docs, "sc", plain=True), str(tmp_path / "new"), False)
    old, new = (sorted(folder.glob("*.txt")) for folder in (dev, tmp_path / "new"))
    assert [path.read_bytes() for path in old] == [path.read_bytes() for path in new]
    again = back(tmp_path / "new")
    assert held([made.doc for made in again]) == held(docs.docs)
    WRITERS["jsonl"](Mentions(docs, "sc"), str(tmp_path / "new.jsonl"), False)
    assert held([made.doc for made in back(tmp_path / "new.jsonl")]) == held(docs.docs)
