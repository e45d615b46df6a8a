"""JSON in every dialect: read as it is meant, written so that nothing is lost without a word."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_iobes import Span, SpanColumns
from spacy_iobes.codes import Known
from spacy_iobes.corpus import Sentences, Words, read, save
from spacy_iobes.errors import (
    FileError,
    InexpressibleError,
    UnknownNameError,
    UnreadableTagError,
)

from .commands import run
from .made_texts import TOKEN

CASES = Path(__file__).parent / "cases" / "files"
NAMED = ("prodigy", "doccano", "label_studio")
Row = dict[str, Any]


def written(path: Path, *rows: Any) -> Path:
    """Write a line of JSON for each row; a string stands for itself."""
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    return path


def sentences(path: Path, **options: Any) -> Sentences:
    """Read a file as one value."""
    parts = list(read(path, **options))
    return Sentences.joined(parts) if parts else parts_of_nothing(path)


def parts_of_nothing(path: Path) -> Sentences:
    none = np.zeros(0, dtype=np.int64)
    empty = SpanColumns.of([], [])
    nothing = np.zeros(1, dtype=np.int64)
    return Sentences(str(path), nothing, none, lambda: Words.of([]), given=Known(empty))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.jsonl"


def one(path: Path, *rows: Any, **options: Any) -> Sentences:
    """Write rows and read them."""
    return sentences(written(path, *rows), **options)


def spans(part: Sentences, scheme: str = "bio") -> list[list[Span]]:
    return [sorted(some) for some in part.known(scheme).spans]


def words(part: Sentences) -> list[list[str]]:
    tokens, bounds = part.words.strings(), part.offsets.tolist()
    return [tokens[a:b] for a, b in pairwise(bounds)]


def flags(given: Any) -> list[int]:
    return [] if given is None else np.flatnonzero(given).tolist()


def kinds(part: Sentences) -> list[str]:
    return [found.kind for found in part.findings]


# one line, many spellings

TEXT = "Ada of IBM UK"
WANTED = [(0, 1, "PER"), (2, 3, "ORG"), (2, 4, "ORG")]
OFFSETS = [(0, 3, "PER"), (7, 13, "ORG"), (7, 10, "ORG")]
TOKENS = [(0, 1, "PER"), (2, 4, "ORG"), (2, 3, "ORG")]
OBJECTS: dict[str, list[Any]] = {
    "spans": [{"start": s, "end": e, "label": x} for s, e, x in OFFSETS],
    "entities": [list(row) for row in OFFSETS],
    "label": [list(row) for row in OFFSETS],
    "labels": [{"start_offset": s, "end_offset": e, "label": x, "id": 1} for s, e, x in OFFSETS],
    "mentions": [{"begin": s, "end": e, "type": x} for s, e, x in OFFSETS],
    "ents": [{"start_char": s, "end_char": e, "labels": [x]} for s, e, x in OFFSETS],
    "ner": [{"start": s, "stop": e, "entity_type": x} for s, e, x in OFFSETS],
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("text", ["text", "data"])
def test_spellings(file: Path, name: str, text: str) -> None:
    part = one(file, {"id": 3, text: TEXT, name: OBJECTS[name], "meta": {"a": [1]}})
    assert spans(part) == [WANTED]
    assert words(part) == [TEXT.split()]
    assert part.info == ({"id": 3, "meta": {"a": [1]}},)
    assert not part.findings


def test_tokens(file: Path) -> None:
    """Offsets count tokens if there is no text; with one, or if so named, they are as named."""
    tokens = TEXT.split()
    by_tokens = [{"start": s, "end": e, "label": x} for s, e, x in TOKENS]
    for name in ("tokens", "words"):
        part = one(file, {name: tokens, "spans": by_tokens})
        assert (spans(part), words(part), part.words.verbatim) == ([WANTED], [tokens], False)
    both = {"text": TEXT, "tokens": [{"text": word} for word in tokens]}
    assert spans(one(file, {**both, "spans": OBJECTS["spans"]})) == [WANTED]
    assert spans(one(file, {**both, "spans": by_tokens}, offsets="tokens")) == [WANTED]
    row = {"tokens": tokens, "spans": OBJECTS["spans"]}
    part = one(file, row, offsets="characters")
    assert (spans(part), part.words.document(0)) == ([WANTED], TEXT)
    dotted = {"text": "U.S.A.  x", "tokens": ["U.S.A.", "x"], "spans": [[0, 6, "L"]]}
    part = one(file, dotted)
    assert (spans(part), words(part)) == ([[(0, 1, "L")]], [["U.S.A.", "x"]])
    assert part.words.document(0) == "U.S.A.  x"
    assert spans(one(file, {"text": TEXT, "spans": by_tokens}, offsets="tokens")) == [WANTED]


def test_a_text_comes_back_to_the_last_character(file: Path) -> None:
    texts = [" a  b\t\n", "é 😀 x", "\n", "z"]
    part = one(file, *({"text": text, "spans": []} for text in texts))
    assert [part.words.document(n) for n in range(4)] == texts
    assert words(part) == [["a", "b"], ["é", "😀", "x"], [], ["z"]]
    assert part.line is not None
    assert part.line.tolist() == [1, 1, 2, 2, 2, 4]
    assert part.opens.tolist() == [0, 1, 2, 3]


def test_null_is_no_annotation(file: Path) -> None:
    rows = [{"text": "a b", "spans": None}, {"text": "c", "spans": []}, {"text": "d", "spans": {}}]
    assert flags(one(file, *rows).known().missing) == [0, 1]
    part = one(file, {"text": "a b", "id": 1}, {"text": "c", "label": "positive"})
    assert flags(part.known().missing) == [0, 1, 2]
    assert part.info == ({"id": 1}, {"label": "positive"})


def test_mentions_under_a_name_that_others_have_too(file: Path) -> None:
    """An empty list does not hide what is under another name; the class of a text is no mention."""
    part = one(file, {"text": "a b", "spans": [], "label": [[0, 1, "X"]]})
    assert spans(part) == [[(0, 1, "X")]]
    row = {"text": "a b", "spans": [[0, 1, "X"]], "label": "news", "labels": ["a", "b"]}
    part = one(file, row)
    assert spans(part) == [[(0, 1, "X")]]
    assert part.info == ({"label": "news", "labels": ["a", "b"]},)


def test_what_is_no_span_is_found(file: Path) -> None:
    rows = [[0, 3, "P"], [0, 3, "P"], [0, 3, "Q"], [1, 3, "P"], [4, 4, "P"]]
    part = one(file, {"text": "x", "spans": []}, {"text": TEXT, "spans": rows})
    assert spans(part)[1] == [(0, 1, "P"), (0, 1, "Q")]
    assert kinds(part) == ["repeated", "misaligned", "empty"]
    assert [found.gone[0][2] for found in part.findings] == ["Ada", "da", ""]
    assert [found.parts for found in part.findings] == [(), ((1, 3),), ((4, 4),)]
    assert {(found.place, found.sentence) for found in part.findings} == {(f"{file}:2", 1)}
    part = one(file, {"tokens": ["a", "b"], "spans": [[0, 2, "P"], [0, 2, "P"], [1, 1, "P"]]})
    assert (spans(part), kinds(part)) == ([[(0, 2, "P")]], ["repeated", "empty"])
    part = one(file, {"text": "", "spans": [[0, 0, "P"]]}, {"text": "a", "spans": []})
    assert (len(part), kinds(part), part.findings[0].sentence) == (2, ["empty"], 0)
    part = one(file, {"text": "  ", "spans": [[0, 2, "P"]]})
    assert (len(part), part.tokens, kinds(part)) == (1, 0, ["misaligned"])


@pytest.mark.parametrize(
    ("way", "row", "wanted", "kind"),
    [
        ("count", [1, 6, "X"], [], ["misaligned"]),
        ("expand", [1, 6, "X"], [(0, 2, "X")], ["moved"]),
        ("expand", [3, 4, "X"], [], ["misaligned"]),
        ("contract", [1, 6, "X"], [], ["misaligned"]),
        ("contract", [1, 7, "X"], [(1, 2, "X")], ["moved"]),
        ("split", [1, 6, "X"], [(1, 3, "X")], []),
    ],
)
def test_misaligned(file: Path, way: str, row: Any, wanted: list[Any], kind: list[str]) -> None:
    others = [{"text": "x y", "spans": [[0, 1, "Y"]]}] * 2
    rows = [others[0], {"text": "abc def", "spans": [row]}, others[1]]
    part = one(file, *rows, misaligned=way)
    assert (spans(part)[1], kinds(part)) == (wanted, kind)
    assert spans(part)[0] == spans(part)[2] == [(0, 1, "Y")]
    if way == "split":
        assert words(part)[1] == ["a", "bc", "de", "f"]


def test_misaligned_mentions_can_be_refused(file: Path) -> None:
    rows = [{"text": "a", "spans": []}, {"text": "abc def", "spans": [[1, 7, "X"]]}]
    with pytest.raises(FileError, match=r"in\.jsonl:2: 'bc def' \(X\) begins or ends within"):
        one(file, *rows, misaligned="raise")


def test_tokens_of_a_language(file: Path) -> None:
    text = "I can't  go, Mr. Müller"
    row = {"text": text, "spans": [[2, 4, "X"], [4, 7, "X"], [5, 6, "X"], [17, 23, "Y"]]}
    part = one(file, row, {"text": "Go!", "spans": []}, lang="en")
    docs = [*spacy.blank("en").pipe([text, "Go!"])]
    assert words(part) == [[token.text for token in doc] for doc in docs]
    assert kinds(part) == ["misaligned"]
    assert len(spans(part)[0]) == 3


# sentences


def test_lines_are_sentences(file: Path) -> None:
    text = "\nOne two.\n \n three four\n"
    rows = [[1, 4, "A"], [13, 18, "C"]]
    part = one(file, {"text": text, "spans": rows}, {"text": "x", "spans": []}, sentences="lines")
    assert words(part) == [["One", "two", "."], ["three", "four"], ["x"]]
    assert part.opens.tolist() == [0, 2]
    assert spans(part) == [[(0, 1, "A")], [(0, 1, "C")], []]
    part = one(file, {"text": text, "spans": [*rows, [5, 18, "B"]]}, sentences="lines")
    assert (len(part), kinds(part)) == (1, ["crossing"])
    assert part.findings[0].gone[0][2] == "two. three"
    part = one(file, {"text": "a\nb", "spans": [], "sents": [[0, 3]]}, sentences="lines")
    assert len(part) == 2
    spacy_tokens = one(file, {"text": "a  \n\n b", "spans": []}, sentences="lines", lang="en")
    assert len(spacy_tokens) == 2


def test_rules_tell_sentences(file: Path) -> None:
    text = "One two. Three four! Five"
    part = one(file, {"text": text, "spans": []}, {"text": "A. B", "spans": []}, sentences="rules")
    assert words(part) == [
        ["One", "two", "."],
        ["Three", "four", "!"],
        ["Five"],
        ["A", "."],
        ["B"],
    ]
    assert part.opens.tolist() == [0, 3]
    part = one(file, {"tokens": ["a", ".", "b"], "spans": [[1, 3, "X"]]}, sentences="rules")
    assert (len(part), kinds(part)) == (1, ["crossing"])


def test_sentences_of_a_source(file: Path) -> None:
    row = {"text": "a b. c", "spans": [[5, 6, "X"]], "sents": [{"start": 0, "end": 4}, [5, 6]]}
    part = one(file, row, {"text": "d", "spans": []})
    assert words(part) == [["a", "b", "."], ["c"], ["d"]]
    assert (part.opens.tolist(), spans(part)) == ([0, 2], [[], [(0, 1, "X")], []])
    assert part.info == ({}, {})
    part = one(file, {**row, "spans": [[2, 6, "X"]]})
    assert (len(part), kinds(part)) == (1, ["crossing"])
    by_tokens = {"tokens": ["a", "b", "c"], "spans": [], "sents": [[0, 2], [2, 3]]}
    assert words(one(file, by_tokens)) == [["a", "b"], ["c"]]
    part = one(file, {"text": "a b", "spans": [], "sents": 2})
    assert (len(part), part.info) == (1, ({"sents": 2},))


# what is known in part


def test_tokens_without_annotation(file: Path) -> None:
    row = {
        "text": "aa b c d e f",
        "spans": [[0, 2, "X"]],
        "missing": [{"start": 3, "end": 6}, {"start": 9, "end": 10, "label": "Y"}],
        "blocked": [[7, 8]],
        "wrong": [{"start": 11, "end": 12, "label": "Z"}],
        "id": 1,
    }
    known = one(file, row).known()
    assert flags(known.missing) == [1, 2]
    assert {label: flags(some) for label, some in known.missing_for.items()} == {"Y": [4]}
    assert flags(known.blocked) == [3]
    assert known.wrong is not None
    assert known.wrong.spans() == [(5, 6, "Z")]
    by_tokens = {**row, "tokens": row["text"].split(), "missing": [[1, 3]], "blocked": [[3, 4]]}  # type: ignore[attr-defined]
    by_tokens |= {"spans": [[0, 1, "X"]], "wrong": [[5, 6, "Z"]]}
    del by_tokens["text"]
    known = one(file, by_tokens).known()
    assert (flags(known.missing), flags(known.blocked)) == ([1, 2], [3])
    part = one(file, {"text": "a", "spans": [], "missing": "no", "blocked": True, "wrong": 3})
    assert part.info == ({"missing": "no", "blocked": True, "wrong": 3},)


# files


def test_lists_gzip_marks_and_blank_lines(tmp_path: Path) -> None:
    rows = [{"text": "a", "spans": []}, {"text": "b", "spans": [[0, 1, "X"]]}]
    for number, text in enumerate(
        (
            json.dumps(rows),
            json.dumps(rows, indent=1),
            "\n".join(map(json.dumps, rows)),
            "\n\r\n".join(["", *map(json.dumps, rows), " "]),
        )
    ):
        for data in (text.encode(), b"\xef\xbb\xbf" + text.encode()):
            path = tmp_path / f"{number}.json"
            path.write_bytes(data)
            assert spans(sentences(path)) == [[], [(0, 1, "X")]]
            packed = tmp_path / f"{number}.jsonl.gz"
            packed.write_bytes(gzip.compress(data))
            assert spans(sentences(packed)) == [[], [(0, 1, "X")]]
    path = tmp_path / "one.json"
    path.write_text(json.dumps(rows[1], indent=2))
    assert spans(sentences(path)) == [[(0, 1, "X")]]
    path.write_text("")
    assert list(read(path)) == []
    path.write_text("[]")
    assert [len(part) for part in read(path)] in ([], [0])


def test_other_encodings(file: Path) -> None:
    file.write_bytes('{"text": "é", "spans": [[0, 1, "X"]]}\n'.encode("latin-1"))
    with pytest.raises(FileError, match=r"line 1: cannot be read as utf-8"):
        sentences(file)
    assert words(sentences(file, encoding="latin-1")) == [["é"]]
    file.write_text('{"text": "é", "spans": [[0, 1, "X"]]}\n', encoding="utf-16")
    assert words(sentences(file, encoding="utf-16")) == [["é"]]


@pytest.mark.parametrize("to", ["jsonl", "prodigy", "doccano", "label_studio", "hugging_face"])
def test_json_is_written_as_utf_8(to: str, file: Path, tmp_path: Path) -> None:
    """RFC 8259, 8.1, whatever encoding is named."""
    file.write_bytes('{"text": "é", "spans": [[0, 1, "X"]]}\n'.encode("latin-1"))
    out = tmp_path / "out.json"
    save(read(file, encoding="latin-1"), out, to=to, to_scheme="bio", encoding="latin-1")
    assert words(sentences(out)) == [["é"]]


MIXED = {
    "jsonl": ['{"text": "a b", "spans": [[0, 1, "X"]], "id": 1}', '{"text": "c", "id": 2}'],
    "several names": [
        '{"text": "a b", "spans": [[0, 1, "X"]], "entities": [[0, 9, "Y"]], "id": 1}',
        '{"text": "c", "spans": "?", "id": 2}',
    ],
    "pairs": ['["a b", {"entities": [[0, 9, "X"]], "id": 1}]', '["c", {"id": 2}]'],
    "doccano": ['{"text": "a b", "label": [[0, 1, "X"]], "id": 1}', '{"text": "c", "id": 2}'],
    "prodigy": [
        '{"text": "a b", "spans": [{}], "answer": "accept", "id": 1}',
        '{"text": "c", "spans": 1, "answer": "reject", "id": 2}',
    ],
    "mixture": [
        '{"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}], "id": 1}',
        '{"text": "c", "answer": "accept", "id": 2}',
    ],
}


@pytest.mark.parametrize("lines", MIXED.values(), ids=[*MIXED])
@pytest.mark.parametrize("turn", [1, -1])
def test_without_annotation_no_spans_are_needed(lines: list[str], turn: int, file: Path) -> None:
    file.write_text("\n".join(lines[::turn]) + "\n")
    found = sentences(file, annotated=False)
    assert words(found) == [["a", "b"], ["c"]][::turn]
    assert spans(found) == [[], []]
    assert [dict(info) for info in found.info] == [{"id": 1}, {"id": 2}][::turn]


def test_parts_come_as_they_are_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is far down in a file is not read before somebody asks for it."""
    monkeypatch.setattr("spacy_iobes.corpus.text_batch.ENOUGH", 4)
    good = [{"text": f"a{n} b", "spans": [[0, 2, "X"]], "id": n} for n in range(9)]
    parts = iter(read(written(file, *good, "{")))
    first, second = next(parts), next(parts)
    assert (len(first), first.before, second.before) == (1, (0, 0), (1, 1))
    assert [each["id"] for each in (*first.info, *second.info)] == [0, 1]
    with pytest.raises(FileError, match=r"in\.jsonl, line 10: no JSON"):
        list(parts)
    rows = [{"tokens": ["a"], "spans": []}, {"text": "a", "spans": []}] * 2
    parts = iter(read(written(file, *rows)))
    assert [part.words.verbatim for part in parts] == [False, True, False, True]


characters = st.sampled_from("ab1.,- \n\té😀_中")
texts = st.text(characters, max_size=12) | st.text(max_size=6)


@st.composite
def mentions(draw: st.DrawFn, size: int) -> list[list[Any]]:
    places = st.integers(0, size)
    ends = st.lists(st.tuples(places, places, st.sampled_from(["X", "Y", "é b"])), max_size=5)
    return [[*sorted(row[:2]), row[2]] for row in draw(ends)]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text() | texts, min_size=1, max_size=4))
@example(["aé_1२ x\u200d٣²½ǅ\U0001d7d8 \x1c\x85\u2028٠‿a", "a", "_"])
def test_tokens_are_those_of_a_pattern(several: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.jsonl"
        path.write_text("\n".join(json.dumps({"text": text, "spans": []}) for text in several))
        part = sentences(path)
    wanted = [TOKEN.findall(text) for text in several]
    assert words(part) == wanted


# spaCy


def test_training_data_of_spacy_2(tmp_path: Path) -> None:
    pairs = [[TEXT, {"entities": OFFSETS, "cats": {"A": 1}}], ["b", {"entities": []}]]
    path = tmp_path / "in.json"
    path.write_text(json.dumps(pairs))
    part = sentences(path)
    assert spans(part) == [WANTED, []]
    assert part.info == ({"cats": {"A": 1}}, {})
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    assert spans(sentences(path)) == [WANTED, []]
    path.write_text(json.dumps({"classes": ["PER"], "annotations": [pairs[0], None]}))
    assert spans(sentences(path)) == [WANTED]


def test_docs_of_spacy(file: Path) -> None:
    """Tokens and sentences are those of the Doc, and of what it does not say nothing is known."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("I can't go.  Ask Ada Lovelace!")
    ada, lovelace = doc.text.index("Ada"), doc.text.index("!")
    doc.ents = [span for span in [doc.char_span(ada, lovelace, "PER")] if span]
    first = doc.char_span(ada, ada + 3, "FIRST")
    doc.spans["sc"] = [span for span in [first, *doc.ents] if span]
    bare = nlp("Who?")
    part = one(file, doc.to_json(), bare.to_json())
    assert words(part) == [
        ["I", "ca", "n't", "go", "."],
        [" ", "Ask", "Ada", "Lovelace", "!"],
        ["Who", "?"],
    ] or words(part) == [
        ["I", "ca", "n't", "go", ".", " "],
        ["Ask", "Ada", "Lovelace", "!"],
        ["Who", "?"],
    ]
    assert [span for some in spans(part) for span in some] == [
        (start, end, "PER") for start, end, _ in spans(part)[1]
    ]
    start, end, _ = spans(part)[1][0]
    assert part.text(1, start, end) == "Ada Lovelace"
    assert flags(part.known().missing) == [10, 11]
    part = one(file, doc.to_json(), spans_key="sc")
    assert {span.label for some in spans(part) for span in some} == {"FIRST", "PER"}
    row = {"text": "a b", "spans": {"one": [[0, 1, "X"]]}}
    assert spans(one(file, row)) == [[(0, 1, "X")]]
    row["features"] = {"are": "kept"}
    assert one(file, row).info == ({"features": {"are": "kept"}},)
    row["spans"]["two"] = []  # type: ignore[index]
    with pytest.raises(FileError, match=r"several groups of spans: name one .* one, two"):
        one(file, row)
    assert spans(one(file, row, spans_key="two")) == [[]]
    assert flags(one(file, row, spans_key="three").known().missing) == [0, 1]


# Hugging Face

NER = {"id": "7", "tokens": ["Ada", "met", "IBM"], "pos_tags": [1, 2, 1], "ner_tags": [1, 0, 3]}
NAMES = ("O", "B-PER", "I-PER", "B-ORG")


def test_tags_of_hugging_face(file: Path) -> None:
    part = one(file, {**NER, "ner_tags": ["B-PER", "O", "B-ORG"]}, {**NER, "ner_tags": ["O"] * 3})
    assert [[*row] for row in part.tags[0]] == [["B-PER", "O", "B-ORG"], ["O", "O", "O"]]
    assert (part.scheme, part.given, len(part.tags)) == ("", None, 1)
    assert spans(part) == [[(0, 1, "PER"), (2, 3, "ORG")], []]
    assert words(part) == [["Ada", "met", "IBM"]] * 2
    assert part.info[0] == {"id": "7", "pos_tags": [1, 2, 1]}
    with pytest.raises(FileError, match="name the scheme"):
        part.known()


def test_numbers_of_tags_have_names(file: Path) -> None:
    for names in (NAMES, ["O B-PER I-PER B-ORG"], ["O B-PER", "I-PER", "B-ORG"]):
        part = one(file, {**NER, "ner_tags": [1, 2, -100]}, tag_names=names)
        assert [[*row] for row in part.tags[0]] == [["B-PER", "I-PER", "-"]]
    feature = {"feature": {"names": [*NAMES], "_type": "ClassLabel"}, "_type": "Sequence"}
    numbered = {"feature": {"names": {str(n): x for n, x in enumerate(NAMES)}}, "_type": "List"}
    for kind in (feature, numbered, [{"names": [*NAMES]}]):
        part = one(file, {"features": {"ner_tags": kind, "tokens": 1}}, NER)
        assert spans(part) == [[(0, 1, "PER"), (2, 3, "ORG")]]
    viewer = {
        "features": [{"name": "ner_tags", "type": feature}, {"name": "id", "type": {}}],
        "rows": [{"row_idx": 0, "row": NER}, {"row_idx": 1, "row": {**NER, "ner_tags": None}}],
    }
    part = one(file, viewer)
    assert spans(part) == [[(0, 1, "PER"), (2, 3, "ORG")], []]
    assert flags(part.known("bio").missing) == [3, 4, 5]
    with pytest.raises(FileError, match=r"line 1: tags \(ner_tags\) are numbers: name the tags"):
        one(file, NER)
    with pytest.raises(FileError, match=r"3 is no number of a tag \(ner_tags\): there are 2 names"):
        one(file, NER, tag_names=["O B-PER"])


def test_layers_are_named_by_their_keys(file: Path) -> None:
    row = {"tokens": ["a", "b"], "outer": ["B-X", "I-X"], "inner": ["O", "B"], "tags": ["O", "O"]}
    part = one(file, row, layers=["outer", "inner=Y"])
    assert spans(part) == [[(0, 2, "X"), (1, 2, "Y")]]
    assert part.info == ({"tags": ["O", "O"]},)
    assert spans(one(file, row)) == [[]]
    with pytest.raises(FileError, match=r"tags under several keys \(tags, ner\): name one"):
        one(file, {**row, "ner": ["O", "O"]})
    with pytest.raises(FileError, match="no tags under the key 'third'"):
        one(file, row, layers=["outer", "third"])
    part = one(file, {"words": ["a", "b"], "labels": ["B-X", "O"], "text": "ab"})
    assert (spans(part), part.info) == ([[(0, 1, "X")]], ({"text": "ab"},))
    assert spans(one(file, {"tokens": ["a"], "labels": [[0, 1, "X"]]})) == [[(0, 1, "X")]]


# Prodigy


def task(text: str = "Ada met IBM .", **more: Any) -> Row:
    """A task as Prodigy has them; the last token of a span is in it."""
    tokens, at = [], 0
    for number, word in enumerate(text.split(" ")):
        tokens.append({"text": word, "start": at, "end": at + len(word), "id": number, "ws": True})
        at += len(word) + 1
    span = {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"}
    return {"text": text, "tokens": tokens, "spans": [span], "_input_hash": 1, **more}


def test_answers_of_prodigy(file: Path) -> None:
    rows = [
        task(answer="accept", meta={"score": 0.5}),
        task(answer="reject"),
        task(answer="ignore"),
        task(),
        {key: value for key, value in task(answer="accept").items() if key != "spans"},
        {key: value for key, value in task().items() if key != "spans"},
        task(answer="accept", _view_id="ner"),
    ]
    part = one(file, *rows)
    known = part.known()
    assert [len(some) for some in known.spans] == [1, 0, 0, 1, 0, 0, 1]
    assert known.wrong is not None
    assert [len(some) for some in known.wrong] == [0, 1, 0, 0, 0, 0, 0]
    missing = flags(known.missing)
    assert missing == [*range(4, 12), *range(20, 24), *range(25, 28)]
    assert part.info[0] == {"_input_hash": 1, "meta": {"score": 0.5}}
    assert part.info[2]["answer"] == "ignore"
    for some in (rows, [task(answer="accept")] * 2):
        assert spans(one(file, *some, format="prodigy"))[0] == [(0, 1, "PER")]


def test_an_answer_is_heard_wherever_it_is(file: Path) -> None:
    """Also after objects without one; but what is no answer of Prodigy is left alone."""
    rows = [{"text": "a", "spans": [[0, 1, "X"]]}] * 3
    part = one(file, rows[0], {**rows[1], "answer": "reject"}, {**rows[2], "answer": "42"})
    assert spans(part) == [[(0, 1, "X")], [], [(0, 1, "X")]]
    assert flags(part.known().missing) == [1]
    assert part.info[2] == {"answer": "42"}
    with pytest.raises(FileError, match=r"line 1: unknown answer '42'. Known: accept, reject, ign"):
        one(file, {**rows[0], "answer": "42"}, format="prodigy")


def test_spans_of_prodigy_by_tokens(file: Path) -> None:
    row = task("a bc d", answer="accept")
    row["spans"] = [{"token_start": 1, "token_end": 2, "label": "X"}]
    assert spans(one(file, row)) == [[(1, 3, "X")]]
    row["spans"][0]["token_end"] = 3
    with pytest.raises(FileError, match="the tokens 1 to 3 are not in the task"):
        one(file, row)
    row["spans"], row["relations"] = [], [{"head": 0, "child": 1, "label": "of"}]
    part = one(file, row)
    assert kinds(part) == ["ignored"]
    assert "of: a relation between mentions is kept, and not read: '0 → 1'" in str(part.findings[0])


# doccano


def test_doccano(file: Path) -> None:
    entity = {"id": 5, "label": "PER", "start_offset": 0, "end_offset": 3}
    rows = [
        {"id": 1, "text": "Ada met IBM", "label": [[0, 3, "PER"], [8, 11, "ORG"]], "Comments": []},
        {"id": 2, "text": "Ada", "entities": [entity], "relations": []},
        {"id": 3, "text": "Ada", "labels": [[0, 3, "PER"]]},
        {"id": 4, "text": "Ada", "label": None},
    ]
    for options in ({}, {"format": "doccano"}):
        part = one(file, *rows, **options)
        assert spans(part) == [[(0, 1, "PER"), (2, 3, "ORG")], *[[(0, 1, "PER")]] * 2, []]
        assert flags(part.known().missing) == [5]
        assert [each["id"] for each in part.info] == [1, 2, 3, 4]
    relation = {"id": 9, "from_id": 5, "to_id": 6, "type": "knows"}
    part = one(file, {**rows[1], "relations": [relation]})
    assert kinds(part) == ["ignored"]
    assert part.info == ({"id": 2, "relations": [relation]},)
    old = {"id": 1, "text": "Ada", "annotations": [{**entity, "user": 1}], "meta": {}}
    assert spans(one(file, old)) == [[(0, 1, "PER")]]
    with pytest.raises(FileError, match="is no mention, which has a start, an end and a label"):
        one(file, {**old, "annotations": [{**entity, "label": 2}]})
    assert spans(
        one(file, {"text": "a", "label": [], "spans": [[0, 1, "X"]]}, format="doccano")
    ) == [[]]


# Label Studio


def region(start: int, end: int, *labels: str, text: str | None = None, **more: Any) -> Row:
    value: Row = {"start": start, "end": end, "labels": [*labels]}
    value |= {} if text is None else {"text": text}
    names = {"id": "r1", "from_name": "label", "to_name": "text", "type": "labels"}
    return {**names, "value": value, **more}


def studio(text: str, *annotations: Any, **more: Any) -> Row:
    """A task of Label Studio, with the regions of each annotation."""
    made = [x if isinstance(x, dict) else {"id": n, "result": x} for n, x in enumerate(annotations)]
    return {"id": 1, "data": {"text": text}, "annotations": made, **more}


def test_label_studio(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    rows = [
        studio("Ada met IBM", [region(0, 3, "PER", text="Ada"), region(8, 11, "ORG", "CO")]),
        studio("Ada", []),
        studio("Ada"),
        studio("Ada", {"result": [region(0, 3, "PER")], "was_cancelled": True}),
        {"data": {"text": "Ada"}, "predictions": [{"result": [region(0, 3, "PER")]}]},
        {"data": {"body": "Ada", "n": 3}, "completions": [{"result": [region(0, 3, "PER")]}]},
    ]
    for indent in (None, 1):
        path.write_text(json.dumps(rows, indent=indent))
        part = sentences(path)
        assert spans(part) == [
            [(0, 1, "PER"), (2, 3, "CO"), (2, 3, "ORG")],
            *[[]] * 4,
            [(0, 1, "PER")],
        ]
        assert flags(part.known().missing) == [4, 5, 6]
    assert part.info[5]["n"] == 3
    assert part.info[4]["predictions"] == rows[4]["predictions"]
    assert sentences(path, format="label_studio").tokens == part.tokens
    least = {"id": 1, "text": "Ada", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}
    path.write_text(json.dumps([{**least, "annotator": 1, "lead_time": 2.5}]))
    assert spans(sentences(path)) == [[(0, 1, "PER")]]  # the export JSON_MIN


def test_whose_annotation_is_read(file: Path) -> None:
    first = {"completed_by": {"id": 3, "email": "ada@x"}, "result": [region(0, 3, "PER")]}
    second = {"completed_by": 4, "result": []}
    with pytest.raises(FileError, match=r"line 1: 2 annotations that differ, by ada@x, 4: name"):
        one(file, studio("Ada", first, second))
    row = studio("Ada", first, second, predictions=[{"model_version": "m1", **second}])
    for name, count in (("ada@x", 1), ("3", 1), ("4", 0), ("m1", 0)):
        assert len(spans(one(file, row, annotator=name))[0]) == count
    assert flags(one(file, row, annotator="nobody").known().missing) == [0]
    true = {**second, "ground_truth": True}
    assert spans(one(file, studio("Ada", first, true))) == [[]]
    same = {"completed_by": 5, "result": [region(0, 3, "PER", text="Ada")]}
    assert len(spans(one(file, studio("Ada", first, same)))[0]) == 1
    cancelled = {**second, "was_cancelled": True}
    part = one(file, studio("Ada", cancelled, first))
    assert len(spans(part)[0]) == 1
    assert part.info[0]["label_studio"]["annotations"] == [cancelled]


def test_offsets_of_label_studio(file: Path) -> None:
    """They count characters; in older versions UTF-16 units, and \\r\\n once."""
    text = "😀 Ada\r\nmet 😀 Bo"
    ada, bo = text.index("Ada"), text.index("Bo")
    wanted = [(1, 2, "P"), (4, 5, "P")]
    for wide, joined in ((0, 0), (1, 0), (0, 1), (1, 1)):
        first = ada + wide
        last = bo + 2 * wide - joined
        regions = [
            region(first, first + 3, "P", text="Ada"),
            region(last, last + 2, "P", text="Bo"),
        ]
        part = one(file, studio(text, regions))
        assert (spans(part), words(part)) == ([wanted], [["😀", "Ada", "met", "😀", "Bo"]])
    long = region(ada, bo + 2, "P", text=r"Ada\nmet 😀 Bo")
    assert spans(one(file, studio(text, [long]))) == [[(1, 5, "P")]]
    with pytest.raises(FileError, match=r"line 1: the text at 0 3 is '😀 A', not 'Eve'"):
        one(file, studio(text, [region(0, 3, "P", text="Eve")]))


def test_what_else_is_in_label_studio(file: Path) -> None:
    choice = {"type": "choices", "value": {"choices": ["news"]}, "from_name": "kind"}
    relation = {"type": "relation", "from_id": "r1", "to_id": "r2", "labels": ["of"]}
    regions = [region(0, 3, "PER"), region(4, 7, "ORG", id="r2"), choice, relation]
    row = studio("Ada IBM", {"id": 8, "result": regions}, meta={"a": 1})
    row["data"]["source"] = "x"
    part = one(file, row)
    assert kinds(part) == ["ignored"]
    assert part.info[0]["meta"] == {"a": 1}
    assert part.info[0]["source"] == "x"
    save([part], file.with_name("out.json"), to="label_studio")
    (again,) = json.loads(file.with_name("out.json").read_text())
    assert again["data"] == row["data"]
    assert again["meta"] == {"a": 1}
    (mine,) = again["annotations"]
    assert mine["id"] == 8
    assert [each["type"] for each in mine["result"]] == ["labels", "labels", "choices", "relation"]
    assert [each.get("id") for each in mine["result"][:2]] == ["r1", "r2"]


# telling dialects

SPAN = [{"start": 0, "end": 1, "label": "X"}]


@pytest.mark.parametrize(
    ("row", "formats"),
    [
        ({"text": "a", "label": [[0, 1, "X"]], "answer": "accept"}, ("prodigy", "doccano")),
        ({"text": "a", "label": [[0, 1, "X"]], "_input_hash": 3}, ("prodigy", "doccano")),
        ({"text": "a", "entities": [[0, 1, "X"]], "_task_hash": 3}, ("prodigy", "jsonl")),
        ({"tokens": ["a"], "ner_tags": ["O"], "spans": SPAN}, ("hugging_face", "jsonl")),
        ({"tokens": ["a"], "tags": [0], "entities": [[0, 1, "X"]]}, ("hugging_face", "jsonl")),
        ({"data": {"text": "a"}, "text": "a", "spans": SPAN}, ("label_studio", "jsonl")),
        (
            {"text": "a", "annotations": [{"start_offset": 0}], "spans": SPAN},
            ("doccano", "jsonl"),
        ),
        (
            {"text": "a", "tokens": ["a"], "tags": ["O"], "answer": "accept"},
            ("prodigy", "hugging_face"),
        ),
    ],
)
def test_keys_that_fit_two_dialects(file: Path, row: Row, formats: tuple[str, ...]) -> None:
    with pytest.raises(FileError) as error:
        one(file, row)
    said = str(error.value)
    assert f"fit {formats[0]} and {formats[1]}: name the format" in said
    assert " or ".join(f"--format {name}" for name in formats) in said
    assert f"{file}, line 1: the keys " in said
    if "jsonl" in formats:
        assert one(file, row, format="jsonl").tokens == 1


def test_mentions_under_two_names(file: Path) -> None:
    row = {"text": "a b", "spans": [[0, 1, "A"]], "label": [[2, 3, "B"]]}
    with pytest.raises(FileError, match=r"several names \(spans, label\): keep one, or name the f"):
        one(file, row)
    assert spans(one(file, row, format="doccano")) == [[(1, 2, "B")]]
    assert spans(one(file, {**row, "spans": SPAN}, format="prodigy")) == [[(0, 1, "X")]]


BAD = [
    ("{", "no JSON"),
    ("3", "are an object, not '3'"),
    ('"a"', "are an object, not 'a'"),
    ("null", "are an object, not 'None'"),
    ("{}", "no text (one of text, data) and no tokens"),
    ('{"text": null, "spans": []}', "no text (one of text, data) and no tokens"),
    ('{"text": 3, "spans": []}', "a text is a string, not '3'"),
    ('{"text": "a"}', "no spans (one of spans, entities"),
    ('{"text": "a", "spans": "b"}', "spans are a list"),
    ('{"text": "a", "spans": 7}', "spans are a list"),
    ('{"text": "a", "spans": [7]}', "is no mention"),
    ('{"text": "a", "spans": [null]}', "is no mention"),
    ('{"text": "a", "spans": [[0, 1]]}', "is no mention"),
    ('{"text": "a", "spans": [{"start": 0, "label": "X"}]}', "is no mention"),
    ('{"text": "a", "spans": [[0, 1, 3]]}', "is no mention"),
    ('{"text": "a", "spans": [[0, true, "X"]]}', "is no mention"),
    ('{"text": "a", "spans": [[0.0, 1.0, "X"]]}', "is no mention"),
    ('{"text": "a", "spans": [["0", "1", "X"]]}', "is no mention"),
    ('{"text": "a", "spans": [[0, 1, []]]}', "is no mention"),
    ('{"text": "a", "spans": [[0, 1, ["X", ""]]]}', "is no mention"),
    ('{"text": "a", "spans": [[0, 2, "X"]]}', "X 0 2 is no part of 1 characters"),
    ('{"text": "a", "spans": [[0, 99999999999999999999999, "X"]]}', "is no part of 1 char"),
    ('{"text": "a", "spans": [[-1, 1, "X"]]}', "is no part"),
    ('{"text": "ab", "spans": [[1, 0, "X"]]}', "is no part"),
    ('{"text": "", "spans": [[0, 1, "X"]]}', "is no part of 0 characters"),
    ('{"tokens": ["a"], "spans": [[0, 2, "X"]]}', "is no part of 1 tokens"),
    ('{"tokens": [], "spans": [[0, 1, "X"]]}', "is no part of 0 tokens"),
    ('{"tokens": "a", "spans": []}', "tokens are a list"),
    ('{"tokens": [""], "spans": []}', "a token is a string that is not empty"),
    ('{"tokens": [3], "spans": []}', "a token is a string that is not empty, not '3'"),
    ('{"tokens": [{"text": 3}], "spans": []}', "a token is a string that is not empty, not '3'"),
    ('{"text": "ab", "tokens": ["a", "c"], "spans": []}', "'c' is not what comes next"),
    ('{"text": "ab", "tokens": [{"start": 1, "end": 3}], "spans": []}', "at 1 3 is not what comes"),
    ('{"text": "ab", "tokens": [{"start": 1, "end": 1}], "spans": []}', "at 1 1 is not what comes"),
    (
        '{"text": "ab", "tokens": [{"start": 0, "end": 1, "text": "b"}], "spans": []}',
        "the token 'b' is not what is there in the text: 'a'",
    ),
    ('["a", 3]', "are an object"),
    ('{"text": "a b", "spans": {"sc": 3}}', "no spans (one of"),
    ('{"text": "a b", "spans": [[0, 1, "A"]], "ents": [[2, 3, "B"]]}', "several names"),
    ('{"text": "a b", "spans": [[0, 1, ""]]}', "is no mention"),
    ('{"text": "a", "spans": []} x', "no JSON (Extra data"),
    ('{"text": "a", "spans": []', "no JSON (Expecting ',' delimiter"),
    ('{"text": "\\ud800", "spans": []}', "half of a surrogate pair"),
    ('{"text": "a", "spans": [], "x": ' + "[" * 200 + "]" * 200 + "}", "more than 100 deep"),
    ('{"text": "a", "spans": ' + "[" * 9999 + "]" * 9999 + "}", "more than 100 deep"),
    ("[" * 99999, "more than 100 deep"),
    ('{"text": "a", "spans": [[0, ' + "9" * 5000 + ', "X"]]}', "no JSON (Exceeds the limit"),
]


@pytest.mark.parametrize(("line", "said"), BAD, ids=range(len(BAD)))
def test_bad_lines(file: Path, line: str, said: str) -> None:
    written(file, '{"text": "", "spans": []}', line)
    with pytest.raises(FileError) as error:
        sentences(file)
    told = str(error.value)
    assert f"{file}, line 2: " in told
    assert said in told
    assert len(told.splitlines()) == 1
    assert len(told) < 400


@pytest.mark.parametrize(
    ("rows", "said", "options"),
    [
        ([{"text": "a", "answer": "no"}], "unknown answer 'no'", {"format": "prodigy"}),
        ([{"tokens": ["a"], "answer": "accept"}], "no text: ['tokens', 'answer']", {}),
        ([{"text": "a", "answer": "accept", "spans": 3}], "spans are a list", {}),
        ([{"image": "x.png", "answer": "accept"}], "no text: ['image', 'answer']", {}),
        (["[1]"], "a task is an object, not '1'", {"format": "prodigy"}),
        ([{"data": {"x": 1}}], "no text in data", {}),
        ([{"data": {"a": "b", "c": "d"}}], "several texts in data (a, c)", {}),
        ([{"data": {"text": ["a", "b"]}}], "dialogues and lists of tokens", {}),
        ([{"text": "a"}], "no task of Label Studio", {"format": "label_studio"}),
        ([studio("a", [region(0, 2, "X")])], "X 0 2 is no part of 1 characters", {}),
        ([studio("a", [region(0, 1)])], "is no mention", {}),
        ([studio("a", [{"type": "labels"}])], "is no region", {}),
        ([studio("a", ["x"])], "a result is a list of objects", {}),
        ([studio("a", {"result": None})], "a result is a list of objects", {}),
        ([{"data": {"text": "a"}, "annotations": "x"}], "annotations are a list", {}),
        ([studio("a", [{"type": "hypertextlabels", "value": {}}])], "labels of HTML", {}),
        ([studio("a", [{"type": "paragraphlabels", "value": {}}])], "labels of a dialogue", {}),
        ([{"tokens": ["a"], "ner_tags": ["O", "O"]}], "2 tags (ner_tags) for 1 tokens", {}),
        ([{"tokens": ["a"], "tags": ["O", "O"]}], "2 tags (tags) for 1 tokens", {}),
        ([{"tokens": ["a"], "ner_tags": [1.5]}], "a string or a number, not '1.5'", {}),
        ([{"tokens": ["a"], "ner_tags": ["O"]}, {"ner_tags": []}], "line 2: no tokens", {}),
        ([{"tokens": ["a"], "ner_tags": ["O"]}, {"tokens": []}], "line 2: no tags under the", {}),
        ([{"tokens": ["a"], "x": ["O"]}], "no tags (one of", {"format": "hugging_face"}),
    ],
)
def test_bad_objects(file: Path, rows: Sequence[Any], said: str, options: Row) -> None:
    with pytest.raises(FileError) as error:
        one(file, *rows, **options)
    assert said in str(error.value)
    assert re.search(r"in\.jsonl, (line|item) \d: ", str(error.value))


KEYS = """
    text data tokens words spans entities label labels ner ents start end start_offset end_offset
    token_start token_end answer _view_id _input_hash sents missing blocked wrong relations id
    annotations completions predictions result value type from_name completed_by model_version
    features rows row names feature ner_tags tags ground_truth was_cancelled meta more
""".split()  # noqa: SIM905
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from(
        [2**70, 0.5, "", "a", "a b", "accept", "reject", "ignore", "ner", "labels", "O"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)


TEMPLATES: list[Any] = [
    {"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}], "id": 1},
    {"tokens": ["a", "b"], "spans": [[0, 2, "X"]], "sents": [[0, 1], [1, 2]], "missing": [[0, 1]]},
    {"text": "a b", "tokens": [{"start": 0, "end": 1, "id": 0}], "ents": [], "sents": []},
    ["a b", {"entities": [[0, 1, "X"]]}],
    {"tokens": ["a", "b"], "ner_tags": ["B-X", "O"], "tags": [0, 1]},
    task("a b", answer="accept", relations=[]),
    {"text": "a b", "label": [[0, 1, "X"]], "relations": [{"from_id": 1, "to_id": 2}]},
    studio("a b", [region(0, 1, "X", text="a")], predictions=[], meta={}),
    {"features": {"ner_tags": {"feature": {"names": ["O"]}}}, "rows": [{"row": {"tokens": []}}]},
    {"annotations": [["a", {"entities": []}], None]},
]


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """An object of some tool, with other values in one or two places."""
    row = json.loads(json.dumps(draw(st.sampled_from(TEMPLATES))))
    for _ in range(draw(st.integers(0, 2))):
        inside = row
        while isinstance(inside, (dict, list)) and inside:
            key = draw(st.sampled_from([*inside] if isinstance(inside, dict) else [0]))
            if draw(st.integers(0, 2)) == 0:
                inside[key] = draw(VALUES)
                break
            if isinstance(inside, dict) and draw(st.integers(0, 5)) == 0:
                inside[draw(st.sampled_from(KEYS))] = inside.pop(key)
                break
            inside = inside[key]
    return row


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(spoilt() | VALUES, min_size=1, max_size=2),
    st.sampled_from(["auto", "jsonl", *NAMED, "hugging_face"]),
    st.sampled_from(["auto", "tokens", "characters"]),
)
def test_any_object_is_read_or_refused(rows: list[Any], form: str, offsets: str) -> None:
    """Whatever is there, an error names the line, and sentences can be written and read again."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        try:
            part = sentences(path, format=form, offsets=offsets, tag_names=["O", "B-X"])
            known = part.known("bio", "begin")
        except FileError as error:
            assert re.search(r"in\.jsonl(, (line|item) \d+|:\d+): ", str(error))  # noqa: PT017
            return
        except UnreadableTagError:
            return
        assert len(known.spans) == len(part)
        save([part], path, scheme="bio", policy="begin", unit="document", lossy=True)
        again = sentences(path)
        assert words(again) == words(part)
        assert spans(again) == [sorted(some) for some in known.spans]


def test_items_of_a_list_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    rows = [{"text": "a", "spans": []}, {"text": "b", "spans": [[0, 9, "X"]]}]
    for indent in (None, 1):
        path.write_text(json.dumps(rows, indent=indent))
        with pytest.raises(FileError, match=r"in\.json, item 2: X 0 9 is no part of 1 char"):
            sentences(path)
    path.write_text('[{"text": "a"},\n{"text": }]')
    with pytest.raises(FileError, match=r"in\.json, line 2: no JSON"):
        sentences(path)


def test_commands_end_in_one_line(file: Path) -> None:
    for line in ("{", "[" * 99999):
        result = run("score", written(file, '{"text": "a", "spans": []}', line), file)
        assert result.exit_code == 2
        assert "line 2: " in " ".join(result.stderr.split())


# writing


class Document:
    """A document by hand: tokens, what stands before each and at the end, and what is known."""

    def __init__(self, tokens: Sequence[str], gaps: Sequence[str] = (), **more: Any):
        self.tokens = [*tokens]
        self.gaps = [*gaps] or ["", *[" "] * (len(tokens) - 1), ""]
        self.starts: list[int] = more.get("starts", [0])
        self.spans: list[Span] = sorted(Span(*span) for span in more.get("spans", ()))
        self.wrong: list[Span] = sorted(Span(*span) for span in more.get("wrong", ()))
        self.missing: list[int] = more.get("missing", [])
        self.missing_for: dict[str, list[int]] = more.get("missing_for", {})
        self.blocked: list[int] = more.get("blocked", [])
        self.info: Row = more.get("info", {})

    @property
    def text(self) -> str:
        return "".join(gap + token for gap, token in zip(self.gaps, [*self.tokens, ""]))

    @property
    def places(self) -> list[tuple[int, int]]:
        ends = [*accumulate(len(g) + len(t) for g, t in zip(self.gaps, self.tokens))]
        return [(end - len(token), end) for token, end in zip(self.tokens, ends)]

    def at(self, span: Span) -> str:
        return self.text[self.places[span.start][0] : self.places[span.end - 1][1]]

    def view(self, *names: str) -> list[Any]:
        return [getattr(self, name) for name in names]


def source(documents: Sequence[Document], verbatim: bool = True) -> Sentences:
    """Return documents as sentences."""
    sizes = [len(document.tokens) for document in documents]
    bounds = [0, *accumulate(sizes)]
    starts = [b + s for b, document in zip(bounds, documents) for s in document.starts]
    offsets = np.array([*starts, bounds[-1]], dtype=np.int64)
    opens = np.array([0, *accumulate(len(d.starts) for d in documents)][:-1], dtype=np.int64)
    places = np.array(bounds, dtype=np.int64)

    def flat(name: str, some: Sequence[Any]) -> Any:
        found = np.zeros(bounds[-1], dtype=bool)
        for begin, tokens in zip(bounds, some):
            found[[begin + token for token in tokens]] = True
        return found if found.any() else None

    labels = sorted({label for document in documents for label in document.missing_for})
    holes = {x: flat(x, [d.missing_for.get(x, ()) for d in documents]) for x in labels}
    wrong = SpanColumns.of([document.wrong for document in documents], sizes)
    known = Known(
        SpanColumns.of([d.spans for d in documents], sizes).regrouped(places, offsets),
        flat("missing", [document.missing for document in documents]),
        {label: some for label, some in holes.items() if some is not None},
        flat("blocked", [document.blocked for document in documents]),
        wrong.regrouped(places, offsets) if wrong.total else None,
    )
    tokens = [token for document in documents for token in document.tokens]
    texts = [d.text for d in documents], [d.places for d in documents]
    return Sentences(
        "source",
        offsets,
        opens,
        lambda: Words.in_texts(*texts) if verbatim else Words.of(tokens),
        given=known,
        info=tuple(document.info for document in documents),
    )


def documents_in(part: Sentences) -> list[Document]:
    """Return the documents of sentences, as they would be made by hand."""
    known, opens = part.known("bio"), [*part.opens.tolist(), len(part)]
    bounds = part.offsets[opens]
    whole = known.spans.regrouped(part.offsets, bounds)
    wrong = None if known.wrong is None else known.wrong.regrouped(part.offsets, bounds)
    made = []
    for number, (a, b) in enumerate(pairwise(bounds.tolist())):
        pieces = [known.missing, known.blocked]
        missing, blocked = (flags(None if some is None else some[a:b]) for some in pieces)
        starts = part.offsets[opens[number] : opens[number + 1]] - a
        document = Document(
            part.words.strings(a, b),
            spans=whole[number],
            wrong=[] if wrong is None else wrong[number],
            starts=starts.tolist(),
            missing=missing,
            missing_for={x: flags(f[a:b]) for x, f in known.missing_for.items() if f[a:b].any()},
            blocked=blocked,
            info=dict(part.info[number]),
        )
        if part.words.verbatim:
            text, places = part.words.document(number), [0]
            for token in document.tokens:
                places.append(text.index(token, places[-1]) + len(token))
            begins = [place - len(token) for place, token in zip(places[1:], document.tokens)]
            document.gaps = [text[a:b] for a, b in zip(places, [*begins, len(text)])]
        made.append(document)
    return made


SIMPLE = st.sampled_from(["a", "bc", "Ä1", "😀", "中", ".", "x_1", "−"])
ANY = SIMPLE | st.sampled_from(["U.S.", "don't", "a b", "é\u0301", "👨‍👩‍👧", "'s"])
LABELS = st.sampled_from(["X", "Y", "A b", "ü"])
INFO = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(),
        "meta": st.dictionaries(
            st.text("ab"), st.none() | st.floats(allow_nan=False) | st.text("é")
        ),
        "label": st.just("news"),
        "note": st.text(max_size=3),
        "list": st.lists(st.booleans(), max_size=2),
    },
)


@st.composite
def documents(
    draw: st.DrawFn, tokens: Any = ANY, tight: bool = False, rich: bool = True
) -> Document:
    """Any document; `tight` ones may have nothing between their tokens, `rich` ones all we know."""
    some = draw(st.lists(tokens, max_size=6))
    size = len(some)
    between = st.sampled_from([" ", "  ", "\n", " \t"] + ["", "", ""] * tight)
    gaps = [draw(st.sampled_from(["", " ", "\n "])), *(draw(between) for _ in some[1:])]
    gaps += [draw(st.sampled_from(["", " ", "\n"]))] if some else []
    if not some:
        return Document([], gaps, info=draw(INFO))
    starts = sorted({0, *draw(st.sets(st.integers(0, size - 1), max_size=2))}) if rich else [0]
    bounds = [*starts, size]
    inside = [(a, b) for s, e in pairwise(bounds) for a in range(s, e) for b in range(a + 1, e + 1)]
    choice = st.sets(st.tuples(st.sampled_from(inside), LABELS), max_size=5)
    known = [Span(*place, label) for place, label in draw(choice)]
    numbers = st.sets(st.integers(0, size - 1)).map(sorted)
    unknown = draw(st.integers(0, 3)) == 0
    more: Row = {"starts": starts, "spans": [] if unknown else known, "info": draw(INFO)}
    more["missing"] = [*range(size)] if unknown else draw(numbers) if rich else []
    if rich:
        wrong = [Span(*place, label) for place, label in draw(choice)]
        more |= {"blocked": draw(numbers), "wrong": wrong}
        more["missing_for"] = {x: draw(numbers) for x in draw(st.sets(LABELS, max_size=1))}
        more["missing_for"] = {x: some for x, some in more["missing_for"].items() if some}
    elif unknown and draw(st.booleans()):
        more["wrong"] = known
    return Document(some, gaps, **more)


def again(given: Sentences, form: str, **options: Any) -> Sentences:
    """Save sentences and read them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        save([given], path, to=form, unit="document", **options)
        return sentences(path, format=form)


EVERYTHING = ("tokens", "starts", "spans", "wrong", "missing", "missing_for", "blocked", "info")


@settings(max_examples=80, deadline=None)
@given(st.lists(documents(tight=True), min_size=1, max_size=4))
def test_our_own_objects_hold_everything(some: list[Document]) -> None:
    found = documents_in(again(source(some), "jsonl"))
    assert [x.view(*EVERYTHING, "text") for x in found] == [
        x.view(*EVERYTHING, "text") for x in some
    ]
    for verbatim in (True, False):
        part = again(source(some, verbatim), "jsonl", offsets="tokens")
        found = documents_in(part)
        assert not part.words.verbatim
        assert [x.view(*EVERYTHING) for x in found] == [x.view(*EVERYTHING) for x in some]
    found = documents_in(again(source(some, False), "jsonl", offsets="characters"))
    assert [x.view(*EVERYTHING) for x in found] == [x.view(*EVERYTHING) for x in some]


@settings(max_examples=80, deadline=None)
@given(st.lists(documents(tight=True, rich=False), min_size=1, max_size=4))
def test_tasks_of_prodigy_come_back(some: list[Document]) -> None:
    names = ("tokens", "spans", "wrong", "missing", "text")
    found = documents_in(again(source(some), "prodigy"))
    assert [x.view(*names) for x in found] == [x.view(*names) for x in some]
    for one, other in zip(found, some):
        assert {key: x for key, x in one.info.items() if key != "_input_hash"} == other.info


@settings(max_examples=80, deadline=None)
@given(
    st.lists(documents(SIMPLE, rich=False), min_size=1, max_size=4),
    st.sampled_from(["doccano", "label_studio"]),
)
def test_texts_of_tools_come_back(some: list[Document], form: str) -> None:
    for document in some:
        document.wrong = []
        if form == "doccano":  # which has its labels there
            document.info.pop("label", None)
    names = ("tokens", "spans", "missing", "text", "info")
    found = documents_in(again(source(some), form))
    assert [x.view(*names) for x in found] == [x.view(*names) for x in some]


@settings(max_examples=80, deadline=None)
@given(st.lists(documents(rich=False), min_size=1, max_size=4))
def test_tags_of_hugging_face_come_back(some: list[Document]) -> None:
    for document in some:
        document.wrong, kept = [], list[Span]()
        for span in document.spans:
            if not kept or kept[-1].end <= span.start:
                kept.append(span)
        document.spans = kept
    names = ("tokens", "spans", "missing", "info")
    found = documents_in(again(source(some), "hugging_face", to_scheme="bio"))
    assert [x.view(*names) for x in found] == [x.view(*names) for x in some]


def saved(
    path: Path, some: Sequence[Document], form: str, verbatim: bool = True, **how: Any
) -> Any:
    """Save documents; return what JSON says."""
    save([source(some, verbatim)], path, to=form, **how)
    text = path.read_text(encoding="utf8")
    return json.loads(text) if form == "label_studio" else [*map(json.loads, text.splitlines())]


ADA = Document(["Ada", "😀", "met", "Bo", "."], ["", " ", " ", " ", "", ""])
ADA.spans = [Span(0, 2, "PER"), Span(3, 4, "PER")]
ADA.info = {"id": 7}


def test_what_is_written(file: Path) -> None:
    """The forms that the tools document; offsets count characters, which slicing the text shows."""
    places = [("Ada 😀", 0, 5), ("Bo", 10, 12)]
    assert all(ADA.text[start:end] == text for text, start, end in places)
    rows = [{"start": start, "end": end, "label": "PER"} for _, start, end in places]
    assert saved(file, [ADA], "jsonl") == [{"text": ADA.text, "spans": rows, "id": 7}]
    by_tokens = [{"start": 0, "end": 2, "label": "PER"}, {"start": 3, "end": 4, "label": "PER"}]
    wanted = {"tokens": ADA.tokens, "spans": by_tokens, "id": 7}
    assert saved(file, [ADA], "jsonl", verbatim=False) == [wanted]
    assert saved(file, [ADA], "jsonl", offsets="tokens") == [wanted]
    assert saved(file, [ADA], "doccano") == [
        {"text": ADA.text, "label": [[0, 5, "PER"], [10, 12, "PER"]], "id": 7}
    ]
    (made,) = saved(file, [ADA], "prodigy")
    assert isinstance(made.pop("_input_hash"), int)
    assert made == {
        "text": "Ada 😀 met Bo.",
        "tokens": [
            {"text": "Ada", "start": 0, "end": 3, "id": 0, "ws": True},
            {"text": "😀", "start": 4, "end": 5, "id": 1, "ws": True},
            {"text": "met", "start": 6, "end": 9, "id": 2, "ws": True},
            {"text": "Bo", "start": 10, "end": 12, "id": 3, "ws": False},
            {"text": ".", "start": 12, "end": 13, "id": 4, "ws": False},
        ],
        "spans": [
            {"start": 0, "end": 5, "token_start": 0, "token_end": 1, "label": "PER"},
            {"start": 10, "end": 12, "token_start": 3, "token_end": 3, "label": "PER"},
        ],
        "answer": "accept",
        "id": 7,
    }
    common = {"from_name": "label", "to_name": "text", "type": "labels"}
    assert (
        saved(file, [ADA, ADA], "label_studio")
        == [
            {
                "id": 7,
                "data": {"text": ADA.text},
                "annotations": [
                    {
                        "result": [
                            {
                                "id": f"s{number}",
                                **common,
                                "value": {"start": a, "end": b, "text": text, "labels": ["PER"]},
                            }
                            for number, (text, a, b) in enumerate(places)
                        ]
                    }
                ],
            }
        ]
        * 2
    )
    tags = ["B-PER", "I-PER", "O", "B-PER", "O"]
    assert saved(file, [ADA], "hugging_face", to_scheme="bio") == [
        {"tokens": ADA.tokens, "ner_tags": tags, "id": 7}
    ]
    for form in ("jsonl", *NAMED):
        assert saved(file, [], form) == []


def test_bytes_are_those_of_before(tmp_path: Path) -> None:
    """What `from-docbin --to jsonl` of 0.1.0 writes for Docs whose tokens are simple."""
    path = tmp_path / "out.jsonl"
    save([source([ADA, Document(["é"])])], path)
    assert path.read_text(encoding="utf8") == (
        '{"text": "Ada 😀 met Bo.", "spans": [{"start": 0, "end": 5, "label": "PER"}, '
        '{"start": 10, "end": 12, "label": "PER"}], "id": 7}\n{"text": "é", "spans": []}\n'
    )
    for name in ("gold.jsonl", "tokens.jsonl"):
        save(read(CASES / name), path)
        assert path.read_bytes() == (CASES / name).read_bytes()


def test_documents_or_sentences_are_written(file: Path) -> None:
    some = Document(["a", "b", "c"], [" ", " ", "  ", " "], starts=[0, 2], spans=[(2, 3, "X")])
    some.info = {"id": 1}
    rows = saved(file, [some, ADA], "jsonl")
    assert [row["text"] for row in rows] == ["a b", "c", ADA.text]
    assert rows[1] == {"text": "c", "spans": [{"start": 0, "end": 1, "label": "X"}], "id": 1}
    whole = saved(file, [some, ADA], "jsonl", unit="document")
    assert whole[0]["sents"] == [{"start": 1, "end": 4}, {"start": 6, "end": 7}]
    assert [row["text"] for row in whole] == [" a b  c ", ADA.text]
    path = file.with_name("in.bio")
    path.write_text("a B-X\n\nb O\n\n-DOCSTART- O\n\nc O\n")
    save(read(path), file, scheme="bio", unit="document")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["tokens"] for row in rows] == [["a", "b"], ["c"]]
    assert rows[0]["sents"] == [{"start": 0, "end": 1}, {"start": 1, "end": 2}]


PART = Document(["a", "b", "c"], spans=[(0, 1, "X")], missing=[1], blocked=[2])


@pytest.mark.parametrize("form", NAMED)
def test_what_a_format_cannot_hold(file: Path, form: str) -> None:
    PART.missing_for, PART.wrong = {"Y": [0]}, [Span(2, 3, "Z")]
    with pytest.raises(InexpressibleError) as error:
        saved(file, [PART], form)
    said = str(error.value)
    assert "2 tokens unannotated, the first at source, Doc 0, token 1" in said
    assert "1 token blocked, the first at source, Doc 0, token 2" in said
    assert "1 mention wrong, the first at source, Doc 0, token 2" in said
    assert "(--lossy)" in said
    assert not file.exists()
    done = save([source([PART, ADA])], file, to=form, lossy=True)
    assert sorted(found.kind for found in done.findings) == [
        "blocked",
        "unannotated",
        "unannotated",
        "wrong",
    ]
    part = sentences(file, format=form)
    assert spans(part) == [[(0, 1, "X")], ADA.spans]
    assert part.known().missing is None


@pytest.mark.parametrize("form", ["jsonl", *NAMED])
def test_documents_without_annotation(file: Path, form: str) -> None:
    some = Document(["a", "b"], missing=[0, 1], info={"id": 3})
    (row,) = saved(file, [some], form)
    wanted = {"jsonl": "spans", "doccano": "label"}
    if form in wanted:
        assert row[wanted[form]] is None
    elif form == "prodigy":
        assert "spans" not in row
        assert "answer" not in row
    else:
        assert row["annotations"] == []
    part = sentences(file, format=form)
    assert (spans(part), flags(part.known().missing)) == ([[]], [0, 1])


def test_rejected_and_ignored_tasks_stay_so(file: Path) -> None:
    rejected = Document(["a", "b"], missing=[0, 1], wrong=[(0, 1, "X")])
    (row,) = saved(file, [rejected], "prodigy")
    assert row["answer"] == "reject"
    assert [span["label"] for span in row["spans"]] == ["X"]
    for form in ("doccano", "label_studio"):
        with pytest.raises(InexpressibleError, match="1 mention wrong"):
            saved(file, [rejected], form)
    rows = [
        task(answer="ignore"),
        task(answer="reject", spans=[]),
        task(answer="accept", _view_id="ner"),
    ]
    save([one(file, *rows)], file.with_name("out.jsonl"), to="prodigy")
    made = [json.loads(line) for line in file.with_name("out.jsonl").read_text().splitlines()]
    for row, other in zip(rows, made):
        assert {key: other[key] for key in row} == {
            **row,
            "tokens": [*row["tokens"][:-1], {**row["tokens"][-1], "ws": False}],
        }


def test_labels_that_no_reader_takes(file: Path) -> None:
    some = Document(["a"], spans=[(0, 1, "")])
    for form in ("jsonl", *NAMED):
        with pytest.raises(
            InexpressibleError, match="1 mention has a label that cannot be written"
        ):
            saved(file, [some], form)
        done = save([source([some])], file, to=form, lossy=True)
        assert [found.kind for found in done.findings] == ["label"]
        assert spans(sentences(file, format=form)) == [[]]


def test_mentions_that_are_no_spans_are_written_by_characters(file: Path, tmp_path: Path) -> None:
    row = {"text": "abc def", "spans": [[1, 7, "X"], [0, 3, "Y"]]}
    part, out = one(file, row), tmp_path / "out"
    for form in ("jsonl", "doccano", "label_studio"):
        done = save([part], out, to=form)
        assert [found.kind for found in done.findings] == ["misaligned"]
        back = sentences(out, format=form)
        assert (spans(back), kinds(back)) == ([[(0, 1, "Y")]], ["misaligned"])
        assert back.findings[0].parts == ((1, 7),)
    for form, how in (("prodigy", {}), ("jsonl", {"offsets": "tokens"})):
        with pytest.raises(InexpressibleError, match="1 mention misaligned"):
            save([part], out, to=form, **how)
        done = save([part], out, to=form, lossy=True, **how)
        assert [found.kind for found in done.findings] == ["misaligned"]


def test_keys_of_other_tools_do_not_mislead(file: Path, tmp_path: Path) -> None:
    """What would be read as something else in another dialect is put aside, and is not lost."""
    out = tmp_path / "out.jsonl"
    part = one(file, task(answer="accept", _view_id="ner_manual"))
    for form in ("jsonl", "doccano"):
        save([part], out, to=form)
        back = sentences(out)
        assert spans(back) == [[(0, 1, "PER")]]
        assert back.info == ({"more": {"_input_hash": 1, "_view_id": "ner_manual"}},)
    part = one(
        file, {"tokens": ["a"], "ner_tags": ["B-X"], "text": "a!", "tags": [3], "more": {"b": 1}}
    )
    save([part], out, scheme="bio")
    back = sentences(out)
    assert (words(back), spans(back)) == ([["a"]], [[(0, 1, "X")]])
    assert back.info == ({"more": {"b": 1, "text": "a!", "tags": [3]}},)
    save([one(file, {**NER, "ner_tags": ["B-X", "O", "O"]})], out, scheme="bio")
    assert sentences(out).info == ({"id": "7", "pos_tags": [1, 2, 1]},)


def test_keys_that_look_like_those_of_label_studio(file: Path, tmp_path: Path) -> None:
    row = {"text": "a", "spans": SPAN, "meta": 3, "predictions": 4}
    for more in (3, {"names": 3, "ids": [], "annotation": "x", "annotations": {}, "data": 1}):
        save([one(file, {**row, "label_studio": more})], tmp_path / "out", to="label_studio")
        assert spans(sentences(tmp_path / "out", format="label_studio")) == [[(0, 1, "X")]]


def test_predictions_of_a_model(file: Path, tmp_path: Path) -> None:
    """They stand beside what annotators said, and are read if the model is named."""
    human = {"id": 4, "was_cancelled": True, "result": []}
    part, out = one(file, studio("Ada met", human)), tmp_path / "out.json"
    found = SpanColumns.of([[(0, 1, "PER")]], [2])
    save([replace(part, given=Known(found))], out, to="label_studio", model_version="m1")
    (made,) = json.loads(out.read_text())
    assert made["annotations"] == [human]
    (prediction,) = made["predictions"]
    assert (prediction["model_version"], len(prediction["result"])) == ("m1", 1)
    assert flags(sentences(out).known().missing) == [0, 1]
    assert spans(sentences(out, annotator="m1")) == [[(0, 1, "PER")]]


def test_layers_of_hugging_face(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    save(read(CASES / "nested.jsonl"), out, to="hugging_face", to_scheme="bio")
    part = sentences(out)
    assert len(part.tags) == 2
    assert spans(part) == spans(sentences(CASES / "nested.jsonl", misaligned="split"))


def test_halves_of_characters_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for form in ("jsonl", *NAMED):
        with pytest.raises(FileError, match=r"source, Doc 0, token 0: \\ud83d, half of a surrog"):
            save([source([Document(["a\ud83d"])])], path, to=form)
        assert not path.exists()
    with pytest.raises(UnknownNameError, match="Unknown value of offsets 'bytes'"):
        save([source([ADA])], path, offsets="bytes")


def test_names_of_label_studio_come_back(file: Path, tmp_path: Path) -> None:
    row = {
        "id": 3,
        "created_at": "2024",
        "data": {"body": "Ada met", "id": "doc-1", "source": "x"},
        "annotations": [
            {"id": 4, "lead_time": 2.5, "result": [region(0, 3, "P", text="Ada", from_name="ner")]}
        ],
        "predictions": [],
    }
    out = tmp_path / "out.json"
    save([one(file, row)], out, to="label_studio")
    (made,) = json.loads(out.read_text())
    made["annotations"][0]["result"][0]["id"] = "r1"
    assert made == row
    save([one(file, row)], out, to="jsonl")
    assert sentences(out).info == one(file, row).info
