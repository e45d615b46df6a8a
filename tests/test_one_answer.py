"""One gold, one prediction, one answer: the same annotation in every format has the same score."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan
from spacy.training import Example

from spacy_iobes import score

from .commands import fine, run

TEXTS = [
    "Ada Lovelace met Charles Babbage in London .",
    "The University of Kisumu , Kenya , was quiet",
    "Nothing here",
    "Æsop of Phrygia 🦊 and Åsa",
    "Bo",
]
Mention = tuple[int, int, str]
GOLD: list[list[Mention]] = [
    [(0, 2, "PER"), (3, 5, "PER"), (6, 7, "LOC")],
    [(1, 4, "ORG"), (5, 6, "LOC")],
    [],
    [(0, 1, "PER"), (2, 3, "LOC"), (5, 6, "PER")],
    [(0, 1, "PER")],
]
PREDICTED: list[list[Mention]] = [
    [(0, 2, "PER"), (3, 4, "PER"), (6, 7, "ORG")],
    [(1, 4, "ORG"), (8, 9, "MISC")],
    [(0, 1, "MISC")],
    [(0, 1, "PER"), (2, 3, "LOC"), (4, 6, "PER")],
    [(0, 1, "PER")],
]
INNER: list[list[Mention]] = [[], [(3, 4, "LOC")], [], [], []]
"""Mentions inside of those above."""
UNKNOWN = 1  # the document of which gold says nothing, where something is to be missing
NLP = spacy.blank("en")
Spans = Sequence[Sequence[Mention]]


def tokens(text: str) -> list[str]:
    return text.split()


def places(text: str) -> list[tuple[int, int]]:
    found, at = list[tuple[int, int]](), 0
    for token in tokens(text):
        begin = text.index(token, at)
        at = begin + len(token)
        found.append((begin, at))
    return found


def characters(number: int, spans: Sequence[Mention]) -> list[tuple[int, int, str]]:
    where = places(TEXTS[number])
    return [(where[start][0], where[end - 1][1], label) for start, end, label in spans]


LETTERS = {"bio": "BIIB", "iobes": "BIES", "bilou": "BILU", "io": "IIII"}
"""What a scheme calls the first, an inner, the last and the only token of a span."""


def tags(size: int, spans: Sequence[Mention], scheme: str) -> list[str]:
    found = ["O"] * size
    first, inner, last, only = list(LETTERS[scheme])
    for start, end, label in spans:
        for i in range(start, end):
            letter = first if i == start else last if i == end - 1 else inner
            found[i] = f"{only if end - start == 1 else letter}-{label}"
    return found


Write = Callable[[Path, Spans, int], list[str]]


def columns(scheme: str) -> Write:
    def write(path: Path, spans: Spans, missing: int) -> list[str]:
        lines = list[str]()
        for number, (text, some) in enumerate(zip(TEXTS, spans)):
            words = tokens(text)
            row = ["-"] * len(words) if number == missing else tags(len(words), some, scheme)
            lines += [f"{word}\t{tag}\n" for word, tag in zip(words, row)] + ["\n"]
        path.write_text("".join(lines), encoding="utf8")
        return ["-s", scheme]

    return write


def layers(path: Path, spans: Spans, missing: int) -> list[str]:
    """The PER mentions in one column, all others in another one."""
    lines = list[str]()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        words = tokens(text)
        parts = [[s for s in some if (s[2] == "PER") == wanted] for wanted in (True, False)]
        rows = [tags(len(words), part, "bio") for part in parts]
        rows = [["-"] * len(words)] * 2 if number == missing else rows
        lines += ["\t".join(row) + "\n" for row in zip(words, *rows)] + ["\n"]
    path.write_text("".join(lines), encoding="utf8")
    return ["-s", "bio", "--layer", "1", "--layer", "2"]


def docs(spans: Spans, missing: int, group: bool) -> list[Doc]:
    made = list[Doc]()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        doc = Doc(NLP.vocab, words=tokens(text))
        found = [DocSpan(doc, *span) for span in some]
        if number != missing and group:
            doc.spans["sc"] = found
        elif number != missing:
            doc.set_ents(found, default="outside")
        made.append(doc)
    return made


def docbin(group: bool) -> Write:
    def write(path: Path, spans: Spans, missing: int) -> list[str]:
        DocBin(docs=docs(spans, missing, group), store_user_data=True).to_disk(path)
        return []

    return write


def lines_of(one: Callable[[int, Sequence[Mention], bool], dict[str, Any]]) -> Write:
    def write(path: Path, spans: Spans, missing: int) -> list[str]:
        rows = [one(number, some, number == missing) for number, some in enumerate(spans)]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text(text, encoding="utf8")
        return []

    return write


def by_characters(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    found = [{"start": a, "end": b, "label": c} for a, b, c in characters(number, spans)]
    return {"text": TEXTS[number], "spans": None if missing else found}


def by_tokens(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    found = [{"start": a, "end": b, "label": c} for a, b, c in spans]
    return {"tokens": tokens(TEXTS[number]), "spans": None if missing else found}


def prodigy(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    cut = [
        {"text": word, "start": a, "end": b, "id": i}
        for i, (word, (a, b)) in enumerate(zip(tokens(TEXTS[number]), places(TEXTS[number])))
    ]
    found = [
        {"start": a, "end": b, "token_start": start, "token_end": end - 1, "label": label}
        for (start, end, label), (a, b, _) in zip(spans, characters(number, spans))
    ]
    answer = "ignore" if missing else "accept"
    return {"text": TEXTS[number], "tokens": cut, "spans": found, "answer": answer}


def doccano(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    assert not missing
    return {
        "id": number,
        "text": TEXTS[number],
        "label": list(map(list, characters(number, spans))),
    }


def hugging_face(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    words = tokens(TEXTS[number])
    row = ["-"] * len(words) if missing else tags(len(words), spans, "bio")
    return {"id": str(number), "tokens": words, "ner_tags": row}


def hugging_face_lines(path: Path, spans: Spans, missing: int) -> list[str]:
    lines_of(hugging_face)(path, spans, missing)
    return ["-s", "bio"]


def brat(path: Path, spans: Spans, missing: int) -> list[str]:
    assert missing < 0
    path.mkdir()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        (path / f"{number}.txt").write_text(text, encoding="utf8")
        rows = (
            f"T{i}\t{label} {a} {b}\t{text[a:b]}\n"
            for i, (a, b, label) in enumerate(characters(number, some), 1)
        )
        (path / f"{number}.ann").write_text("".join(rows), encoding="utf8")
    return []


FORMATS: dict[str, tuple[str, Write]] = {
    "bio": ("bio", columns("bio")),
    "iobes": ("tsv", columns("iobes")),
    "bilou": ("conll", columns("bilou")),
    "layers": ("layers", layers),
    "entities": ("spacy", docbin(False)),
    "group": ("spacy", docbin(True)),
    "characters": ("jsonl", lines_of(by_characters)),
    "tokens": ("jsonl", lines_of(by_tokens)),
    "prodigy": ("jsonl", lines_of(prodigy)),
    "doccano": ("jsonl", lines_of(doccano)),
    "hugging_face": ("json", hugging_face_lines),
    "brat": ("brat", brat),
}
COMPLETE = ("doccano", "brat")
"""Formats in which nobody can say that a document is not annotated."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, bool], Any]:
    """Gold and predictions in every format, gold also with a document that is not annotated."""
    folder, found = tmp_path_factory.mktemp("formats"), {}
    for name, (ending, write) in FORMATS.items():
        for side, spans in (("gold", GOLD), ("predicted", PREDICTED)):
            for partial in (False, True) if name not in COMPLETE else (False,):
                path = folder / f"{name}.{side}.{partial}.{ending}"
                missing = UNKNOWN if partial and side == "gold" else -1
                found[name, side, partial] = path, write(path, spans, missing)
    return found


def expected(partial: bool) -> dict[str, Any]:
    """The score of the spans as lists, without what gold cannot judge."""
    gold, predicted = list(map(list, GOLD)), list(map(list, PREDICTED))
    if partial:
        gold[UNKNOWN], predicted[UNKNOWN] = [], []
    return score(gold, predicted).as_dict()


def options(first: list[str], second: list[str]) -> list[str] | None:
    """The options that serve both files; None if one command line cannot name them all."""
    both = [some for some in (first, second) if some]
    return None if len(both) == 2 and both[0] != both[1] else (both or [[]])[0]


NAMES = [*product(FORMATS, FORMATS)]


@pytest.mark.parametrize("partial", [False, True])
def test_every_pair_of_formats_has_the_same_score(
    files: dict[tuple[str, str, bool], Any], partial: bool
) -> None:
    wanted, tried = expected(partial), 0
    for first, second in NAMES:
        if partial and first in COMPLETE:
            continue
        gold, some = files[first, "gold", partial]
        predicted, others = files[second, "predicted", False]
        more = options(some, others)
        if more is None:
            continue
        found = json.loads(fine("score", gold, predicted, *more, "--layout", "json").stdout)
        for figure in ("micro", "macro", "weighted", "labels", "muc", "confusion", "gold"):
            assert found[figure] == wanted[figure], (first, second, figure)
        assert found["missing"]["gold"] == (9 if partial else 0), (first, second)
        tried += 1
    assert tried > 80


def test_the_mistakes_are_the_same(files: dict[tuple[str, str, bool], Any]) -> None:
    said = set[str]()
    for name in FORMATS:
        gold, some = files[name, "gold", False]
        predicted, _ = files[name, "predicted", False]
        (report,) = json.loads(fine("errors", gold, predicted, *some, "--json").stdout)
        rows = [
            {key: row[key] for key in ("kind", "sentence", "gold", "predicted")}
            for row in report["mistakes"]
        ]
        said.add(json.dumps(rows, sort_keys=True))
    assert len(said) == 1


def test_spacy_s_scorer_agrees() -> None:
    examples = [
        Example(predicted, gold)
        for predicted, gold in zip(docs(PREDICTED, -1, False), docs(GOLD, -1, False))
    ]
    found = Scorer.score_spans(examples, "ents")
    wanted = expected(False)
    assert found["ents_f"] == pytest.approx(wanted["micro"]["f1"])
    assert found["ents_p"] == pytest.approx(wanted["micro"]["precision"])
    for label, row in found["ents_per_type"].items():
        assert row["f"] == pytest.approx(wanted["labels"][label]["f1"] or 0.0)


def test_overlapping_mentions_have_the_same_score(tmp_path: Path) -> None:
    """In a group, in JSON lines and in brat; entities and one column cannot hold them."""
    gold = [[*outer, *inner] for outer, inner in zip(GOLD, INNER)]
    wanted, said = score(gold, PREDICTED).as_dict(), list[dict[str, Any]]()
    names = ("group", "characters", "tokens", "prodigy", "doccano", "brat")
    paths = dict[tuple[str, str], Path]()
    for name in names:
        ending, write = FORMATS[name]
        for side, spans in (("gold", gold), ("predicted", PREDICTED)):
            paths[name, side] = tmp_path / f"{name}.{side}.{ending}"
            write(paths[name, side], spans, -1)
    for first, second in product(names, names):
        files = paths[first, "gold"], paths[second, "predicted"]
        said.append(json.loads(fine("score", *files, "--layout", "json").stdout))
    for found in said:
        for figure in ("micro", "labels", "nested", "confusion"):
            assert found[figure] == wanted[figure]
    refused = run("convert", paths["group", "gold"], tmp_path / "out.bio", "--to-scheme", "bio",
                  "--layers", 1)  # fmt: skip
    assert refused.exit_code == 1
    assert "no column left" in refused.stderr or "deep" in refused.stderr


TAGGED = ("bio", "iobes", "bilou", "layers", "entities", "hugging_face")
"""Formats with tags, of which some may be illegal; all others have spans."""
COLUMNS = ("bio", "iobes", "bilou", "layers")


@pytest.mark.parametrize("name", FORMATS)
def test_every_verb_takes_every_format(
    files: dict[tuple[str, str, bool], Any], name: str, tmp_path: Path
) -> None:
    """Refused are only tags of a format that has spans."""
    path, some = files[name, "gold", False]
    (summary,) = json.loads(fine("summarize", path, *some, "--json").stdout)["files"]
    assert (summary["tokens"], summary["labels"]) == (26, {"LOC": 3, "ORG": 1, "PER": 5})
    counted = json.loads(fine("count", path, *some, "--json").stdout)
    assert {"count": 1, "label": "LOC", "text": "Phrygia"} in counted
    assert [line.split() for line in fine("text", path, *some[2:]).stdout.splitlines()] == [
        tokens(text) for text in TEXTS
    ]
    for verb in ("validate", "check"):
        result = run(verb, path, *(some if verb == "validate" else some[2:]))
        refused = result.exit_code == 2 and "hold no tags that could be illegal" in result.stderr
        assert refused == (name not in TAGGED), result.output
        assert refused or result.exit_code == 0, result.output
    repaired = tmp_path / f"repaired{path.suffix}"
    fine("repair", path, repaired, *some, "-p", "begin", *(["-t", "brat"] * (name == "brat")))
    assert "score 100.00" in fine("score", path, repaired, *some).stdout


@pytest.mark.parametrize("target", [name for name in FORMATS if name not in ("tokens", "layers")])
def test_every_format_becomes_every_other(
    files: dict[tuple[str, str, bool], Any], target: str, tmp_path: Path
) -> None:
    """What is converted has the same score as its source."""
    ending, _ = FORMATS[target]
    for source in FORMATS:
        path, some = files[source, "gold", False]
        out = tmp_path / f"{source}.{ending}"
        more = list[str]()
        if target in LETTERS:
            more = ["-t", "columns", "--to-scheme", target]
            more += ["--layers", "1", "--order", "outermost"] if source == "layers" else []
        elif target in ("prodigy", "doccano", "hugging_face", "brat"):
            more = ["-t", target, *(["--to-scheme", "bio"] if target == "hugging_face" else [])]
        elif target == "group":
            more = ["--output-spans-key", "sc"]
        fine("convert", path, out, *some, *more)
        gold, scheme = files["entities", "gold", False][0], [*LETTERS.keys()]
        own = ["-s", target] if target in scheme else ["-s", "bio"] * (target == "hugging_face")
        said = fine("score", gold, out, *own).stdout
        assert "score 100.00" in said, (source, target, said)
