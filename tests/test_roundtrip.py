"""What mention separators make of files: the command roundtrip, and published corpora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan
from typer.testing import CliRunner, Result

from spacy_iobes import Span, SpanColumns
from spacy_iobes.cli import app
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Sentences, SeparatorSurvey, accepted, read, survey_separators
from spacy_iobes.errors import FileError

from .shared import SHARED, unpacked

DATA = SHARED / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"no corpora at {DATA}: set SPACY_IOBES_SHARED to the folder with data/",
)

# (0, 4), (1, 4) and (1, 2) of A come back as (0, 4) and (1, 2); (0, 2) and (1, 2) of B come back
DEEP = "one\tB-A\tO\tO\ntwo\tI-A\tB-A\tB-A\nthree\tI-A\tI-A\tO\nfour\tI-A\tI-A\tO\n"
FLAT = "x\tO\tO\tO\n\n"
AMBIGUOUS = "a\tB-B\tO\tO\nb\tI-B\tB-B\tO\nc\tI-B\tO\tO\n"
LAYERS = ("-s", "bio", "--layer", 1, "--layer", 2, "--layer", 3)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["validate", "--fits", "separators", *map(str, arguments)])


def as_json(*arguments: object, code: int = 1) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    (found,) = json.loads(result.stdout)["files"]
    return dict(found)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "nested.bio"
    path.write_text(f"{FLAT}{DEEP}\n{AMBIGUOUS}")
    return path


def test_columns(file: Path) -> None:
    result = run(file, *LAYERS)
    assert result.exit_code == 1
    first, *_, last = result.stdout.strip().splitlines()
    assert first == f"{file}:4: A: lost 'two three four'"
    assert last == (
        f"{file}: 1 of 2 sets of mentions lost (nearest_start), 2 ambiguous, best F1 88.89; "
        "3 sentences, 8 tokens"
    )


def test_ambiguous_mentions_are_listed_on_demand(file: Path) -> None:
    lines = run(file, *LAYERS, "--set", "ambiguous").stdout.splitlines()
    told = "other mentions have the same separators, but these come back: 'a b c', 'b'"
    assert lines[1] == f"{file}:8: B: {told}"


def test_json(file: Path) -> None:
    found = as_json(file, *LAYERS)
    counts = {"sets": 1, "ambiguous": 1, "lost": 1, "mentions": 3, "found": 2, "kept": 2}
    assert found["labels"]["A"] == counts
    assert found["labels"]["B"] == counts | {"lost": 0, "mentions": 2}
    assert found["total"]["f1"] == 2 * 4 / (5 + 4)
    assert (found["sentences"], found["tokens"]) == (3, 8)
    lost, ambiguous = found["findings"]
    assert lost == {
        "kind": "lost",
        "place": f"{file}:4",
        "sentence": 1,
        "label": "A",
        "gone": [[1, 4, "two three four"]],
        "new": [],
        "parts": [],
    }
    assert (ambiguous["kind"], ambiguous["sentence"]) == ("ambiguous", 2)


@pytest.mark.parametrize("reading", ["nearest_end", "AUTHORS", "lifo", "all", "crossing"])
def test_readings(file: Path, reading: str) -> None:
    """With `all`, two mentions of A and two of B are new; with `crossing` nothing is nested."""
    found = as_json(file, *LAYERS, "--set", f"reading={reading}")
    lost = {"all": 2, "crossing": 2}.get(reading, 1)
    assert found["total"]["lost"] == lost
    assert found["kinds"]["lost"] == lost


def test_the_order_of_layers_does_not_matter(file: Path) -> None:
    turned = ("-s", "bio", "--layer", 3, "--layer", 1, "--layer", 2)
    assert as_json(file, *LAYERS) == as_json(file, *turned)


def test_flat_mentions_come_back(file: Path) -> None:
    assert as_json(file, "-s", "bio", "--tag", 1, code=0)["total"]["lost"] == 0


def test_columns_that_nobody_named_are_told(file: Path) -> None:
    said = "has 4 columns, of which the last was read: name each that holds tags (--layer 1"
    assert said in run(file, "-s", "bio").stderr
    assert said not in run(file, "-s", "bio", "--tag", 1).stderr
    assert said not in run(file, *LAYERS).stderr


def test_malformed_tags_are_refused_or_repaired(tmp_path: Path) -> None:
    path = tmp_path / "malformed"
    path.write_text("a\tO\tI-A\nb\tI-A\tI-A\n")
    options = ("-s", "bio", "--layer", 1, "--layer", 2)
    assert run(path, *options).exit_code == 1
    result = run(path, *options, "-p", "begin")
    assert result.exit_code == 0
    assert "2 violations repaired" in result.stderr


def test_a_mention_in_two_layers_is_told(tmp_path: Path) -> None:
    path = tmp_path / "twice"
    path.write_text("a\tB-A\tB-A\n")
    found = as_json(path, "-s", "bio", "--layer", 1, "--layer", 2)
    assert found["kinds"]["repeated"] == 1
    assert found["total"]["mentions"] == 1
    assert found["findings"][0]["place"] == f"{path}:1"


def stored(path: Path, *docs: Doc) -> Path:
    DocBin(docs=docs).to_disk(path / "docs.spacy")
    return path / "docs.spacy"


def doc_of(words: str, starts: list[int], *spans: tuple[int, int, str]) -> Doc:
    tokens = words.split()
    marks: list[bool | int | None] = [index in starts for index in range(len(tokens))]
    doc = Doc(spacy.blank("en").vocab, words=tokens, sent_starts=marks)
    doc.spans["sc"] = [DocSpan(doc, start, end, label) for start, end, label in spans]
    return doc


def test_span_groups(tmp_path: Path) -> None:
    deep = [(2, 6, "A"), (3, 6, "A"), (3, 4, "A")]
    path = stored(
        tmp_path,
        doc_of("a b", [0], (0, 1, "A")),
        doc_of("x y one two three four", [0, 2, 4], *deep, (1, 3, "B")),
    )
    found = as_json(path)
    assert (found["sentences"], found["tokens"]) == (2, 8)
    assert found["kinds"] | {"lost": 1, "crossing": 3} == found["kinds"]
    places = {finding["kind"]: finding["place"] for finding in found["findings"]}
    assert places["lost"] == f"{path}, Doc 1, token 3"
    assert places["crossing"] == f"{path}, Doc 1, token 1"
    whole = as_json(path, "--sentences", "whole")
    assert (whole["sentences"], whole["kinds"]["crossing"]) == (2, 0)
    assert whole["labels"]["B"]["mentions"] == 1


def test_a_span_without_tokens_is_refused(tmp_path: Path) -> None:
    result = run(stored(tmp_path, doc_of("a b", [0], (1, 1, "B"))))
    assert result.exit_code == 1
    assert "Doc 0: the span 1:1 ('') in spans['sc'] has no tokens" in result.stderr


def test_empty_docs(tmp_path: Path) -> None:
    assert as_json(stored(tmp_path, doc_of("", [])), code=0)["tokens"] == 0


def test_a_group_that_is_not_there(tmp_path: Path) -> None:
    result = run(stored(tmp_path, doc_of("a", [0], (0, 1, "A"))), "--spans-key", "other")
    assert result.exit_code == 2
    assert "There are: 'sc'" in result.output


def brat(folder: Path, name: str, text: str, *lines: str) -> None:
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes("".join(f"{line}\n" for line in lines).encode())


def test_brat(tmp_path: Path) -> None:
    brat(
        tmp_path,
        "1",
        "Ödön's cat,\r\nthe cats.\n",
        "T1\tPER 0 4\tÖdön",
        "T2\tANIMAL 0 10\tÖdön's cat",
        "R1\tOwns Arg1:T1 Arg2:T2",
        "T3\tANIMAL 7 10;13 16\tcat the",
        "T4\tANIMAL 17 20\tcat",
        "T5\tANIMAL 13 16;16 21\tthe cats",
        "T6\tPER 0 4\tÖdön",
        "#1\tAnnotatorNotes T1\ta note",
    )
    (part,) = read(tmp_path)
    assert part.words.strings() == "Ödön ' s cat , the cats .".split()  # noqa: SIM905
    assert part.known().spans[0] == [(0, 1, "PER"), (0, 4, "ANIMAL"), (5, 7, "ANIMAL")]
    found = as_json(tmp_path)
    assert (found["sentences"], found["tokens"]) == (1, 8)
    places = {finding["kind"]: finding["place"] for finding in found["findings"]}
    assert places == {
        "discontinuous": f"{tmp_path / '1.ann'}:4",
        "misaligned": f"{tmp_path / '1.ann'}:5",
        "repeated": f"{tmp_path / '1.ann'}:7",
    }
    assert found["total"]["mentions"] == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tPER 0\tx", "cannot be read"),
        ("T1\tPER 0 9\tx", "0 9 is no part of 2 characters"),
        ("T1\tPER 1 1\tx", "1 1 is no part"),
    ],
)
def test_bad_brat(tmp_path: Path, line: str, message: str) -> None:
    brat(tmp_path, "1", "ab", line)
    with pytest.raises(FileError, match=f"1.ann, line 1: .*{message}"):
        list(read(tmp_path))
    assert run(tmp_path).exit_code == 2


def test_brat_without_a_text(tmp_path: Path) -> None:
    assert "a folder without files" in run(tmp_path).output
    (tmp_path / "1.ann").write_text("")
    assert "1.txt: cannot be read" in " ".join(run(tmp_path).output.split())
    (tmp_path / "1.txt").write_bytes(b"\xff")
    assert "utf-8" in run(tmp_path).output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-s", "bio", "--set", "reading=nope"], "Unknown reading"),
        (["-s", "bio", "--layer", "1", "--layer", "1"], "one layer"),
        (["-s", "bio", "--layer", "7"], "column"),
    ],
)
def test_bad_options(file: Path, options: list[str], message: str) -> None:
    result = run(file, *options)
    assert result.exit_code == 2
    assert message in result.output


def survey_of(name: str, layers: int, reading: str) -> SeparatorSurvey:
    corpus = read(DATA / name, layers=range(1, layers + 1))
    return survey_separators(name, accepted(corpus, "bio"), reading)


@needs_data
@pytest.mark.parametrize(
    ("name", "layers", "counts", "lost"),
    [  # counted elsewhere: mentions, sets, ambiguous; lost under each reading
        ("genia-nested/genia.train.nested.iob2.gz", 4, (46146, 22414, 339), (9, 10, 9, 339, 339)),
        ("genia-nested/genia.dev.nested.iob2.gz", 4, (4371, 2420, 32), (0, 0, 0, 32, 32)),
        ("genia-nested/genia.test.nested.iob2.gz", 4, (5511, 2755, 50), (0, 0, 0, 50, 50)),
        ("germeval2014/germ.train.iob2.gz", 2, (31545, 23190, 16), (0, 0, 0, 16, 16)),
    ],
)
def test_published_figures(
    name: str, layers: int, counts: tuple[int, ...], lost: tuple[int, ...]
) -> None:
    readings = ("nearest_start", "nearest_end", "lifo", "all", "crossing")
    for reading, expected in zip(readings, lost):
        total = survey_of(name, layers, reading).total
        assert (total.mentions, total.sets, total.ambiguous) == counts
        assert total.lost == expected


@needs_data
def test_published_figures_by_label() -> None:
    """GENIA train, counted elsewhere: sets, ambiguous, lost; and F1 of two other readings."""
    survey = survey_of("genia-nested/genia.train.nested.iob2.gz", 4, "nearest_start")
    found = {k: (c.sets, c.ambiguous, c.lost) for k, c in survey.labels.items()}
    assert found == {
        "protein": (11158, 293, 7),
        "DNA": (4111, 34, 2),
        "cell_type": (4286, 5, 0),
        "cell_line": (2273, 7, 0),
        "RNA": (586, 0, 0),
    }
    assert survey.total.mentions - survey.total.kept == 9
    for reading, f1 in (("nearest_start", 0.9999), ("all", 0.9917), ("crossing", 0.9844)):
        name = "genia-nested/genia.train.nested.iob2.gz"
        assert round(survey_of(name, 4, reading).total.f1, 4) == f1


@needs_data
def test_published_figures_of_a_brat_corpus(tmp_path: Path) -> None:
    """NEREL, counted elsewhere; its 151 discontinuous mentions are in the data's README."""
    unpacked(DATA / "nerel" / "NEREL-v1.1.tar.gz", tmp_path)
    lost = {"nearest_start": 178, "nearest_end": 188, "lifo": 184, "all": 275, "crossing": 277}
    best = {"nearest_start": 0.9976, "nearest_end": 0.9967, "lifo": 0.9974, "all": 0.9948}
    parts = list(accepted(read(tmp_path)))
    for reading, expected in lost.items():
        survey = survey_separators("NEREL", parts, reading)
        total = survey.total
        assert (total.mentions, total.sets, total.ambiguous) == (56123, 11250, 280)
        assert total.lost == expected
        assert reading not in best or round(total.f1, 4) == best[reading]
        assert survey.kinds["discontinuous"] == 151


def test_many_labels_and_a_long_text() -> None:
    """Time must grow with the mentions, not with mentions times labels."""
    tokens, labels = 50_000, 200
    spans = [Span(at, at + 1 + at % 30, f"L{at % labels}") for at in range(tokens - 30)]
    columns = SpanColumns.of([spans], [tokens])
    part = Sentences("long", np.array([0, tokens]), np.array([0]))
    survey = survey_separators("long", [(part, Known(columns))])
    assert len(survey.labels) == labels
    assert (survey.total.mentions, survey.total.lost) == (len(spans), 0)
