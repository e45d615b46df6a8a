"""Column files as DocBins and back: byte for byte, or an error that says where and what next."""

from __future__ import annotations

import gzip
import json
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.tokens import Span as DocSpan
from spacy.training import Corpus
from spacy.training.converters.conll_ner_to_docs import conll_ner_to_docs
from spacy.vocab import Vocab
from typer.testing import CliRunner, Result

from spacy_iobes import SCHEMES, Span
from spacy_iobes.cli import app
from spacy_iobes.corpus import Unit, assigned, read, read_docbin, save, save_docbin
from spacy_iobes.errors import FileError

from . import by_hand, strategies
from .shared import SHARED, needs_shared

MARKER = "-DOCSTART-\tO\n\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def there(folder: Path, text: str, *options: object, code: int = 0) -> Result:
    """Write a text as a DocBin."""
    (folder / "in").write_bytes(text.encode())
    result = run("convert", folder / "in", folder / "docs.spacy", *options)
    assert result.exit_code == code, result.output
    return result


def back(folder: Path, *options: object) -> str:
    """Return the DocBin that `there` has written as columns, without the last blank line."""
    options = tuple("--to-scheme" if option == "-s" else option for option in options)
    result = run("convert", folder / "docs.spacy", folder / "out", *options)
    assert result.exit_code == 0, result.output
    return without_end((folder / "out").read_bytes())


def without_end(data: bytes) -> str:
    """Return a column file without the blank line that it ends with."""
    assert not data or data.endswith(b"\n\n")
    return data.decode()[:-1]


def docs_in(folder: Path) -> list[Doc]:
    return list(DocBin().from_disk(folder / "docs.spacy").get_docs(Vocab()))


def stored(folder: Path, *docs: Doc) -> Path:
    DocBin(docs=docs).to_disk(folder / "docs.spacy")
    return folder / "docs.spacy"


def made(words: str, **settings: Any) -> Doc:
    return Doc(Vocab(), words=words.split(" "), **settings)


def malformed(words: str, *tags: str) -> Doc:
    """A Doc whose entities are stored as these tags say, which spaCy would refuse or change."""
    doc = made(words)
    codes = {"": 0, "I": 1, "O": 2, "B": 3, "!": 3}
    parts = [tag.partition("-") for tag in tags]
    rows = [[codes[prefix], doc.vocab.strings.add(label)] for prefix, _, label in parts]
    array: Any = np.array(rows, dtype=np.uint64)
    return doc.from_array([ENT_IOB, ENT_TYPE], array)


# ---------------------------------------------------------------- round trips

letters = st.characters(codec="utf8", exclude_characters="\t\n\r\0")
tokens = st.text(letters, min_size=1, max_size=5).filter(
    lambda text: text.strip(" \v\f") and not text.startswith(("-DOCSTART-", "###MEDLINE:"))
)


@st.composite
def tagged(draw: st.DrawFn, scheme: str, nameless: bool = False) -> list[str]:
    """The tags of a sentence, in pieces between tokens that are missing or blocked."""
    tags: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        spans, length = draw(strategies.spans(scheme))
        if not nameless:
            spans = [span for span in spans if span.label]
        tags += [draw(st.sampled_from("-!"))] * bool(tags or draw(st.booleans()))
        tags += by_hand.encode(spans, length, scheme)
    return tags or ["O"]


def text_of(draw: st.DrawFn, sentences: list[list[tuple[str, ...]]]) -> str:
    """A column file; a first token that looks like a byte order mark has a real one before it."""
    blocks = [
        "".join("\t".join((draw(tokens), *tags)) + "\n" for tags in sentence)
        for sentence in sentences
    ]
    text = "\n".join(blocks)
    return "\ufeff" * text.startswith("\ufeff") + text


@st.composite
def flat_files(draw: st.DrawFn) -> tuple[str, str]:
    scheme = draw(strategies.schemes)
    sentences = draw(st.lists(tagged(scheme), min_size=1, max_size=4))
    return scheme, text_of(draw, [[(tag,) for tag in tags] for tags in sentences])


def there_and_back(
    text: str, scheme: str, unit: Unit, key: str = "", layers: tuple[int, ...] = ()
) -> str:
    """Do what the commands do, without their start-up time."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").write_bytes(text.encode())
        docs = folder / "docs.spacy"
        save(read(folder / "in", layers=layers), docs, scheme=scheme, unit=unit, spans_key=key)
        save(read(docs), folder / "out", to="columns", to_scheme=scheme)
        return without_end((folder / "out").read_bytes())


@given(flat_files(), st.sampled_from(["sentence", "document"]))
def test_flat_files_come_back_byte_for_byte(case: tuple[str, str], unit: Unit) -> None:
    scheme, text = case
    assert there_and_back(text, scheme, unit) == text


@st.composite
def nested_files(draw: st.DrawFn) -> tuple[str, int, str]:
    scheme, count = draw(strategies.schemes), draw(st.integers(1, 3))
    sentences = []
    for _ in range(draw(st.integers(1, 3))):
        layers = [draw(tagged(scheme, nameless=True)) for _ in range(count)]
        sentences.append(list(zip_longest(*layers, fillvalue="O")))
    return scheme, count, text_of(draw, sentences)


@settings(max_examples=100)
@given(nested_files(), st.sampled_from(["sentence", "document"]))
def test_layers_come_back_byte_for_byte(case: tuple[str, int, str], unit: Unit) -> None:
    scheme, count, text = case
    if scheme == "bia":  # where a longer layer fills up a shorter one, O would have to be A
        text = text.replace("\tO\n", "\t-\n").replace("\tO\t", "\t-\t").replace("\tO\t", "\t-\t")
    assert there_and_back(text, scheme, unit, "sc", tuple(range(1, count + 1))) == text


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_with_missing_and_blocked(tmp_path: Path, scheme: str) -> None:
    first = by_hand.encode([Span(0, 2, "A|B"), Span(2, 3, "Y"), Span(3, 5, "A|B")], 6, scheme)
    second = by_hand.encode([Span(0, 1, "creative-work")], 3, scheme)
    tags = [*first, "-", "-", "!", *second, "!"]
    text = "".join(f"w{i}\t{tag}\n" for i, tag in enumerate(tags))
    there(tmp_path, text, "-s", scheme)
    assert back(tmp_path, "-s", scheme) == text
    (doc,) = docs_in(tmp_path)
    wanted = [(0, 2, "A|B"), (2, 3, "Y"), (3, 5, "A|B"), (9, 10, "creative-work")]
    assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == wanted
    assert [token.ent_iob for token in doc][6:9] == [0, 0, 3]


def test_another_scheme_on_the_way_back(tmp_path: Path) -> None:
    there(tmp_path, "a\tB-X\nb\tI-X\nc\t-\nd\tB-X\n", "-s", "bio")
    assert back(tmp_path, "-s", "bilou") == "a\tB-X\nb\tL-X\nc\t-\nd\tU-X\n"
    assert back(tmp_path, "-s", "bilou", "--set", "output-delimiter=space").startswith("a B-X\n")


def test_documents_come_back(tmp_path: Path) -> None:
    text = f"{MARKER}a\tB-X\n\nb\tB-X\n\n{MARKER}c\tO\n"
    there(tmp_path, text, "-s", "bio", "--unit", "document")
    assert [len(list(doc.sents)) for doc in docs_in(tmp_path)] == [2, 1]
    assert back(tmp_path, "-s", "bio") == text
    assert back(tmp_path, "-s", "iob1") == text.replace("B-X", "I-X")
    assert back(tmp_path, "-s", "iob1", "--sentences", "whole") == "a\tI-X\nb\tB-X\n\nc\tO\n"
    there(tmp_path, text, "-s", "bio", "--unit", "document", "--documents", "none")
    assert back(tmp_path, "-s", "bio") == text.replace(MARKER, "")
    there(tmp_path, text, "-s", "bio")
    assert back(tmp_path, "-s", "bio") == text.replace(MARKER, "")
    assert back(tmp_path, "-s", "bio", "--set", "document-markers").count("-DOCSTART-") == 3


def test_several_files_into_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name}\tB-X\n\n{name}\tO\n")
    out = tmp_path / "docs.spacy"
    result = run("convert", tmp_path / "b", tmp_path / "a", out, "-s", "bio", "--json")
    assert json.loads(result.stdout)[0]["sentences"] == 4
    assert [doc.text for doc in docs_in(tmp_path)] == ["b ", "b ", "a ", "a "]
    again = ["convert", tmp_path / "b", tmp_path / "a", out, "-s", "bio", "--unit", "document"]
    assert "is there already" in run(*again).stderr
    out.unlink()
    assert run(*again).exit_code == 0
    assert [len(doc) for doc in docs_in(tmp_path)] == [2, 2]


def test_it_says_what_it_wrote(tmp_path: Path) -> None:
    text = "a\tB-X\nb\tI-X\nc\t-\nd\tI-X\n\ne\t!\n"
    result = there(tmp_path, text, "-s", "bio", "-p", "begin")
    said = "2 spans, 1 violation repaired in 1 document, 2 sentences, 5 tokens (1 not annotated)"
    assert result.stdout.splitlines()[-1] == f"{tmp_path / 'docs.spacy'}: {said}"
    there(tmp_path, "", "-s", "bio")
    assert docs_in(tmp_path) == []
    assert back(tmp_path, "-s", "bio") == ""


def test_spacy_trains_on_it(tmp_path: Path) -> None:
    there(tmp_path, "a\tB-X\nb\tE-X\nc\t-\n\nd\tO\n", "-s", "iobes")
    examples = list(Corpus(tmp_path / "docs.spacy")(spacy.blank("en")))
    assert [[token.text for token in e.predicted] for e in examples] == [["a", "b", "c"], ["d"]]
    assert examples[0].get_aligned_ner() == ["B-X", "L-X", None]


def test_standard_input_and_output() -> None:
    text = b"a\tB-X\nb\t-\n\n"
    runner = CliRunner()
    docs = runner.invoke(app, ["convert", "-", "-", "-s", "bio", "--to", "docbin"], input=text)
    said = "-: 1 span in 1 document, 1 sentence, 2 tokens (1 not annotated)\n"
    assert docs.stderr == said
    data, docbin = docs.stdout_bytes, ["--format", "docbin"]
    result = runner.invoke(app, ["convert", "-", "-", "--to-scheme", "bio", *docbin], input=data)
    assert result.stdout_bytes == text
    result = runner.invoke(app, ["validate", "-", "--quiet", *docbin], input=data)
    assert result.stdout.startswith("standard input: no violations of bio in 1 document")


def test_malformed_tags_are_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    there(tmp_path, "a\tO\n", "-s", "bio")
    old = (tmp_path / "docs.spacy").read_bytes()
    result = there(tmp_path, "a\tB-X\nb\t-\nc\tI-X\n", "-s", "bio", code=1)
    assert f"{tmp_path / 'in'}:3: 'c': a token without a tag -> I-X" in result.stderr
    result = there(tmp_path, "a\tO\nb\tB\n", "-s", "bio", code=1)
    assert "line 2, 'b': an entity of a Doc needs a label" in result.stderr
    assert (tmp_path / "docs.spacy").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs.spacy", "in"]


# -------------------------------------------- what `spacy convert` loses or corrupts


def spacy_converts(text: str) -> list[Doc]:
    return list(conll_ner_to_docs(text, no_print=True))  # type: ignore[no-untyped-call]


def labels(docs: list[Doc]) -> list[str]:
    return [f"{ent.text}/{ent.label_}" for doc in docs for ent in doc.ents]


def test_iobes_is_not_split(tmp_path: Path) -> None:
    text = "a\tB-X\nb\tI-X\nc\tE-X\nd\tS-X\n"
    assert labels(spacy_converts(text)) != ["a b c/X", "d/X"]
    there(tmp_path, text, "-s", "iobes")
    assert labels(docs_in(tmp_path)) == ["a b c/X", "d/X"]


def test_a_short_row_is_refused(tmp_path: Path) -> None:
    text = "a N B-NP B-X\nb V O\n"
    assert labels(spacy_converts(text)) == ["a/NP"]
    assert (
        "in, line 2: 3 columns where line 1 has 4"
        in there(tmp_path, text, "-s", "bio", code=2).stderr
    )


def test_document_markers_are_no_tokens(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- -X- O\n\na N B-NP B-X\n"
    assert [doc.text for doc in spacy_converts(text)] == ["-DOCSTART- a "]
    there(tmp_path, text, "-s", "bio")
    assert [doc.text for doc in docs_in(tmp_path)] == ["a "]


def test_comments_are_named_or_refused(tmp_path: Path) -> None:
    text = "# comment\na B-X\n"
    assert labels(spacy_converts(text)) != ["a/X"]
    there(tmp_path, text, "-s", "bio", "--comment", "#")
    assert labels(docs_in(tmp_path)) == ["a/X"]
    result = there(tmp_path, "# comment here\na B-X\n", "-s", "bio", code=2)
    assert "Is it a comment (--comment '#')?" in result.stderr


def test_a_space_inside_of_a_token(tmp_path: Path) -> None:
    text = "New York\tB-X\nis\tO\n"
    assert labels(spacy_converts(text)) != ["New York/X"]
    there(tmp_path, text, "-s", "bio")
    assert labels(docs_in(tmp_path)) == ["New York/X"]
    assert back(tmp_path, "-s", "bio") == text
    assert there(tmp_path, text, "-s", "bio", "--delimiter", "whitespace", code=2)


def test_two_layers_are_both_kept(tmp_path: Path) -> None:
    text = "a\tB-X\tB-Y\nb\tI-X\tO\n"
    assert labels(spacy_converts(text)) == ["a/Y"]
    there(tmp_path, text, "-s", "bio", "--spans-key", "sc", "--layer", 1, "--layer", 2)
    (doc,) = docs_in(tmp_path)
    assert [(s.start, s.end, s.label_) for s in doc.spans["sc"]] == [(0, 2, "X"), (0, 1, "Y")]
    assert doc.spans["sc"].attrs["layers"] == [0, 1]
    assert back(tmp_path, "-s", "bio", "--spans-key", "sc") == text


def test_a_bar_in_a_label(tmp_path: Path) -> None:
    there(tmp_path, "a\tB-A|B\n", "-s", "bio")
    assert labels(docs_in(tmp_path)) == ["a/A|B"]


def test_white_space_between_sentences(tmp_path: Path) -> None:
    text = "a B-X\n \t\nb O\n"
    assert [sent.text for doc in spacy_converts(text) for sent in doc.sents] == ["a b"]
    there(tmp_path, text, "-s", "bio")
    assert [doc.text for doc in docs_in(tmp_path)] == ["a ", "b "]


def test_missing_tags(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="E177"):
        spacy_converts("a B-X\nb -\n")
    there(tmp_path, "a B-X\nb -\n", "-s", "bio")
    assert [token.ent_iob for token in docs_in(tmp_path)[0]] == [3, 0]
    assert (
        "1 column where line 1 has 2" in there(tmp_path, "a B-X\nb\n", "-s", "bio", code=2).stderr
    )
    assert "'' is not a tag" in there(tmp_path, "a\tB-X\nb\t\n", "-s", "bio", code=1).stderr


def test_carriage_returns_and_iob1(tmp_path: Path) -> None:
    there(tmp_path, "a I-X\r\nb B-X\r\n\r\nc O\r\n", "-s", "iob1")
    assert labels(docs_in(tmp_path)) == ["a/X", "b/X"]
    assert back(tmp_path, "-s", "iob1") == "a\tI-X\nb\tB-X\n\nc\tO\n"


# ---------------------------------------------------------------- from Docs


@pytest.mark.parametrize(
    ("word", "options", "said"),
    [
        ("a\tb", [], "holds the delimiter"),
        ("a b", ["--set", "output-delimiter=space"], "holds the delimiter"),
        ("a\tb", ["--set", "output-delimiter=space"], "holds the delimiter"),
        ("a|b", ["--set", "output-delimiter=|"], "holds the delimiter"),
        ("a\nb", [], "holds a line break"),
        ("a\r", [], "holds a line break"),
        ("a\0", [], "NUL"),
        ("-DOCSTART-", [], "document marker"),
        ("###MEDLINE:1", [], "document marker"),
    ],
)
def test_tokens_that_would_corrupt_the_file(
    tmp_path: Path, word: str, options: list[str], said: str
) -> None:
    path = stored(tmp_path, made("fine"), Doc(Vocab(), words=["x", word]))
    result = run("convert", path, tmp_path / "out", "--to-scheme", "bio", *options)
    assert result.exit_code == 2
    assert f"{path}, Doc 1, token 1: the token {word!r} " in result.stderr
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_labels_that_would_corrupt_the_file(tmp_path: Path) -> None:
    path = stored(tmp_path, malformed("a b", "O", "B-X\tY"))
    result = run("convert", path, tmp_path / "out", "--to-scheme", "bio")
    assert result.exit_code == 2
    assert "'B-X\\tY' holds the delimiter" in result.stderr


def test_malformed_entities(tmp_path: Path) -> None:
    path = stored(tmp_path, made("x"), malformed("a b c d", "I-X", "I-Y", "O", "!"))
    result = run("convert", path, tmp_path / "out", "--to-scheme", "iobes")
    assert result.exit_code == 1
    assert f"{path}, Doc 1, token 0: 'a': the sentence start -> I-X" in result.stderr
    assert f"{path}, Doc 1, token 1: 'b': I-X -> I-Y" in result.stderr
    assert back(tmp_path, "-s", "iobes", "-p", "begin") == "x\t-\n\na\tS-X\nb\tS-Y\nc\tO\nd\t!\n"
    path = stored(tmp_path, malformed("a b", "B-X", "I"))
    result = run("convert", path, tmp_path / "out", "--to-scheme", "bio", "-p", "begin")
    assert result.exit_code == 1
    assert f"{path}, Doc 0, token 1, 'b': 'I-' is not a tag of bio" in result.stderr


def test_white_space_is_left_out_of_columns(tmp_path: Path) -> None:
    stored(tmp_path, made("a|\n\n|b|  ".replace(" ", "_").replace("|", " ")))
    doc = Doc(Vocab(), words=["a", "\n\n", "b", "  "], ents=["B-X", "I-X", "I-X", "O"])
    stored(tmp_path, doc, Doc(Vocab(), words=[" "]))
    assert back(tmp_path, "-s", "bio") == "a\tB-X\nb\tI-X\n"


def test_entities_across_sentences(tmp_path: Path) -> None:
    doc = made("a b c", sent_starts=[True, False, True], ents=["O", "B-X", "I-X"])
    path = stored(tmp_path, doc)
    result = run("convert", path, "-", "--to-scheme", "bio")
    assert result.stdout == "a\tO\nb\tB-X\nc\tI-X\n\n"
    crossing = f"1 mention crossing, the first at {path}, Doc 0, token 1"
    assert crossing in result.stderr
    assert back(tmp_path, "-s", "bio", "--sentences", "whole") == result.stdout[:-1]
    assert crossing in run("summarize", path).stderr
    doc.spans["sc"] = [DocSpan(doc, 1, 3, "X")]
    stored(tmp_path, doc)
    result = run("convert", path, "-", "--to-scheme", "bio", "--spans-key", "sc")
    assert result.stdout == "a\tO\nb\tB-X\nc\tI-X\n\n"


def test_what_io_cannot_say(tmp_path: Path) -> None:
    path = stored(tmp_path, made("a b c d", ents=["O", "", "B-X", "B-X"]))
    result = run("convert", path, tmp_path / "out", "--to-scheme", "io")
    assert result.exit_code == 1
    assert "Doc 0, token 2, 'c': io cannot tell apart (2, 3, 'X') and (3, 4, 'X')" in result.stderr


def test_empty_docs_are_left_out(tmp_path: Path) -> None:
    stored(tmp_path, Doc(Vocab()), made("a", ents=["B-X"]), Doc(Vocab()))
    result = run("convert", tmp_path / "docs.spacy", "-", "--to-scheme", "bio")
    assert result.stdout == "a\tB-X\n\n"


# ---------------------------------------------------------------- layers


def grouped(words: str, *spans: tuple[int, int, str], **attrs: Any) -> Doc:
    doc = made(words)
    members = [DocSpan(doc, *span) for span in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=members, attrs=attrs)
    return doc


def test_layers_without_attributes_are_assigned_outermost_first(tmp_path: Path) -> None:
    inner, outer, other = (0, 1, "IN"), (0, 3, "OUT"), (2, 3, "IN")
    doc = grouped("a b c", inner, outer, other)
    stored(tmp_path, doc, made("d"))
    text = "a\tB-OUT\tB-IN\nb\tI-OUT\tO\nc\tI-OUT\tB-IN\n\nd\t-\t-\n"
    assert back(tmp_path, "-s", "bio", "--spans-key", "sc") == text
    three = back(tmp_path, "-s", "bio", "--spans-key", "sc", "--set", "layers=3")
    third = text.replace("-\n", "-\t-\n").replace("\n", "\tO\n").replace("-\tO\n", "-\n")
    assert three == third.replace("\n\tO\n", "\n\n")
    result = run(
        "convert",
        tmp_path / "docs.spacy",
        "-",
        "--to-scheme",
        "bio",
        "--spans-key",
        "sc",
        "--set",
        "layers=1",
    )
    assert result.exit_code == 1
    assert "2 mentions overlap others in all columns, the first at" in result.stderr


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5), st.sampled_from("XY")), max_size=9))
def test_assigned_layers_hold_no_overlap_and_outer_spans_choose_first(
    rows: list[tuple[int, int, str]],
) -> None:
    spans = [Span(start, start + length, label) for start, length, label in rows]
    numbers = assigned(spans)
    for a, m in zip(spans, numbers):
        others = [(b, n) for b, n in zip(spans, numbers) if b is not a]
        blocked = {n for b, n in others if a.start < b.end and b.start < a.end}
        assert m not in blocked
        assert set(range(m)) <= blocked


@pytest.mark.parametrize(
    "attrs",
    [
        {"layers": [0]},
        {"layers": [0, -1]},
        {"layers": "01"},
        {"layers": 3},
        {"layer_count": "x"},
        {"layer_missing": [[0, 9]]},
        {"layer_missing": True},
        {"layer_blocked": [[7, 0]]},
    ],
)
def test_attributes_that_do_not_fit(tmp_path: Path, attrs: dict[str, Any]) -> None:
    path = stored(tmp_path, grouped("a b", (0, 1, "X"), (1, 2, "X"), **attrs))
    result = run("convert", path, "-", "--to-scheme", "bio", "--spans-key", "sc")
    assert result.exit_code == 2
    assert f"{path}, Doc 0, spans['sc']: the attributes do not fit the group" in result.stderr


def test_overlap_in_one_layer_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path, grouped("a b", (0, 2, "X"), (1, 2, "X"), layers=[0, 0]))
    result = run("convert", path, "-", "--to-scheme", "bio", "--spans-key", "sc")
    assert result.exit_code == 1
    assert "Doc 0, spans['sc']: (0, 2, 'X') and (1, 2, 'X') overlap" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["convert", "IN", "-s", "bio"], "IN... OUT"),
        (["convert", "IN", "OUT", "-s", "bio", "--unit", "page"], "sentence, document"),
        (
            ["convert", "IN", "OUT", "-s", "bio", "--layer", "7", "--spans-key", "x"],
            "no column 7",
        ),
        (["convert", "IN", "OUT", "-s", "nope"], "Unknown scheme"),
        (["convert", "IN", "OUT", "-s", "bio", "-p", "best"], "raise, begin"),
        (["convert", "DOCS", "OUT", "--to-scheme", "bio", "-p", "best"], "raise, begin"),
        (["convert", "nothing", "OUT", "-s", "bio"], "no such file"),
        (["convert", "IN", "out.bin", "-s", "bio", "--to", "docbin"], "end in .spacy"),
        (["convert", "IN", "OUT", "-f", "docbin"], "not a DocBin"),
        (["convert", "DOCS", "OUT", "--sentences", "lines"], "--sentences"),
        (["convert", "DOCS", "OUT", "--to-scheme", "bio", "--spans-key", "x"], "There are: 'sc'"),
        (
            ["convert", "DOCS", "OUT", "--to-scheme", "bio", "--set", "output-delimiter=auto"],
            "one delimiter",
        ),
        (["validate", "IN", "-f", "docbin"], "not a DocBin"),
        (["validate", "nothing.spacy"], "no such file"),
    ],
)
def test_bad_usage_is_exit_code_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "in").write_text("a O\n")
    docs = stored(tmp_path, grouped("a b", (0, 1, "X")))
    names = {"IN": tmp_path / "in", "OUT": tmp_path / "new.spacy", "DOCS": docs}
    result = run(*[names.get(argument, argument) for argument in arguments])
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "new.spacy").exists()


# ---------------------------------------------------------------- docs


def test_violations_and_counts(tmp_path: Path) -> None:
    bad = malformed("a b c d e", "O", "I-X", "", "!", "B-Y")
    bad.spans["sc"] = [DocSpan(bad, *place, "N") for place in ((0, 4), (1, 3), (1, 3), (3, 5))]
    good = made("f g", ents=["B-X", "O"], sent_starts=[True, True])
    path = stored(tmp_path, good, bad, Doc(Vocab()))
    result = run("validate", path, "--json")
    assert result.exit_code == 1
    (file,) = json.loads(result.stdout)["files"]
    (violation,) = file["violations"]
    wanted = {"doc": 1, "index": 1, "token": "b", "previous": "O", "current": "I-X"}
    assert wanted.items() <= violation.items()
    lines = run("validate", path).stdout.splitlines()
    assert lines[0].startswith(f"{path}, Doc 1, token 1: 'b': O -> I-X")
    size = "3 documents, 4 sentences, 7 tokens (1 not annotated)"
    assert lines[1] == f"{path}: 1 violation of bio in {size}"
    (file,) = json.loads(run("summarize", path, "-p", "begin", "--json").stdout)["files"]
    sizes = {"documents": 3, "sentences": 4, "tokens": 7, "missing": 1, "blocked": 1}
    more = {"spans": 3, "nested": 0, "overlapping": 0, "labels": {"X": 2, "Y": 1}}
    assert {key: file[key] for key in sizes | more} == sizes | more
    (file,) = json.loads(run("summarize", path, "-g", "sc", "--json").stdout)["files"]
    assert (file["spans"], file["nested"], file["overlapping"]) == (3, 1, 3)


def test_limit_quiet_and_exit_codes(tmp_path: Path) -> None:
    path = stored(tmp_path, *(malformed("a", "I-X") for _ in range(5)))
    lines = run("validate", path, "--limit", 2).stdout.splitlines()
    assert "and 3 more (--limit 0 shows all)" in lines[2]
    size = "5 documents, 5 sentences, 5 tokens"
    assert run("validate", path, "-q").stdout == f"{path}: 5 violations of bio in {size}\n"
    assert run("validate", stored(tmp_path, made("a"))).exit_code == 0
    assert "0 sentences" in run("validate", stored(tmp_path)).stdout
    unlabelled = stored(tmp_path, malformed("a b", "B-X", "I"))
    result = run("validate", unlabelled)
    assert "'I-' is not a tag of bio" in result.stdout


@pytest.mark.parametrize(
    "damage", ["empty", "text", "cut", "flipped", "zlib", "msgpack", "strings"]
)
def test_damaged_files(tmp_path: Path, damage: str) -> None:
    import zlib

    import srsly

    path = stored(tmp_path, made("a b", ents=["B-X", "O"]))
    data = path.read_bytes()
    message = srsly.msgpack_loads(zlib.decompress(data))
    made_of = {
        "empty": b"",
        "text": b"a O\n",
        "cut": data[:-9],
        "flipped": data[:40] + b"\0\0\0" + data[43:],
        "zlib": zlib.compress(b"a O\n"),
        "msgpack": zlib.compress(srsly.msgpack_dumps([1, 2])),
        "strings": zlib.compress(srsly.msgpack_dumps(message | {"strings": []})),
    }
    path.write_bytes(made_of[damage])
    result = run("validate", path)
    assert result.exit_code == 2
    assert f"Error: {path}: not a DocBin, or a damaged one" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    with pytest.raises(FileError):
        read_docbin(path)


def test_a_docbin_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        save_docbin(DocBin(), tmp_path / "no" / "file.spacy")

    class Huge(DocBin):
        def to_bytes(self) -> bytes:
            raise ValueError("too large")

    with pytest.raises(FileError, match="Write several files"):
        save_docbin(Huge(), tmp_path / "file.spacy")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- published corpora


def tag_columns(text: str, *columns: int) -> list[list[str]]:
    rows = (line.split("\t") for line in text.split("\n") if line.strip())
    return [[row[column] for column in columns] for row in rows]


@needs_shared
@pytest.mark.parametrize(
    ("file", "layers", "spans", "nested"),
    [
        ("genia-nested/genia.test.nested.iob2.gz", 4, 5511, 641),
        ("germeval2014/germ.dev.iob2.gz", 2, 2674 + 212, None),
    ],
)
def test_nested_corpora(
    tmp_path: Path, file: str, layers: int, spans: int, nested: int | None
) -> None:
    """The counts are those of the corpora's own documentation."""
    path, docs = SHARED / "data" / file, tmp_path / "docs.spacy"
    options = chain.from_iterable(("--layer", number) for number in range(1, layers + 1))
    result = run("convert", path, docs, "-s", "bio", "--spans-key", "sc", *options)
    assert f"{spans:,} spans" in result.stdout
    text = gzip.decompress(path.read_bytes()).decode()
    assert back(tmp_path, "-s", "bio", "--spans-key", "sc").rstrip("\n") == text.rstrip("\n")
    (found,) = json.loads(run("summarize", docs, "-g", "sc", "--json").stdout)["files"]
    assert found["spans"] == spans
    assert nested in (None, found["nested"])


@needs_shared
@pytest.mark.parametrize("scheme", SCHEMES)
def test_wnut_comes_back_in_every_scheme(tmp_path: Path, scheme: str) -> None:
    """The tag column is that of the file that `convert` writes, byte for byte."""
    path, converted = SHARED / "data" / "wnut17" / "emerging.dev.conll", tmp_path / "in"
    result = run("convert", path, converted, "-s", "bio", "--to-scheme", scheme)
    if scheme == "io":  # WNUT has neighbours that io cannot tell apart
        assert result.exit_code == 1
        return
    there(tmp_path, converted.read_bytes().decode(), "-s", scheme)
    wanted = tag_columns(converted.read_bytes().decode(), 0, 1)
    assert tag_columns(back(tmp_path, "-s", scheme), 0, 1) == wanted
