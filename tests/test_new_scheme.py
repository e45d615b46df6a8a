"""A scheme that the package has never seen, added by one row of data, goes wherever others go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spacy_iobes import (
    POLICIES,
    SCHEMES,
    Scheme,
    add_scheme,
    check,
    convert,
    convert_many,
    mask,
    parse,
    parse_many,
    repair_many,
    transitions,
    validate_many,
    write_many,
)
from spacy_iobes.cli import app
from spacy_iobes.codes import ROWS
from spacy_iobes.codes.classes import classes
from spacy_iobes.codes.scheme import pairs
from spacy_iobes.errors import SchemeError, UnknownNameError
from spacy_iobes.learners import Options
from spacy_iobes.strategies import ALL, Plan, Row, Settings, study

from . import by_hand
from .recognizers import entities, examples, learn, make, ner
from .test_strategies_parts import documents

LABELS = ("X", "Y")
BIS = Scheme(
    "bis",
    "B begins a span of several tokens, S is one of a single token",
    join=pairs("BI II"),
    split=pairs("IB IS SB SS"),
    meet=pairs("OO OB OS IO SO IB IS SB SS"),
    aliases=("isb",),
)
LEFT_RIGHT = SCHEMES["be"].renamed("lr", {"B": "L", "E": "R", "BE": "LR"}, "be in other letters")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a test adds is gone after it."""
    before = dict(ROWS)
    yield
    ROWS.clear()
    ROWS.update(before)


@pytest.fixture
def added(_as_before: None) -> None:
    """Both schemes, for one test."""
    add_scheme(BIS)
    add_scheme(LEFT_RIGHT)


def encode(spans: by_hand.Spans, length: int, scheme: str) -> tuple[str, ...]:
    """The tags of spans, from the summaries of both."""
    tags = ["O"] * length
    for start, end, label in spans:
        inside = "I" if scheme == "bis" else "O"
        prefixes = [inside] * (end - start)
        prefixes[0] = "B" if scheme == "bis" else "L"
        if scheme == "lr":
            prefixes[-1] = "R"
        if end - start == 1:
            prefixes = ["S" if scheme == "bis" else "LR"]
        tags[start:end] = [p if p == "O" else f"{p}-{label}" for p in prefixes]
    return tuple(tags)


def written(scheme: str) -> dict[tuple[str, ...], by_hand.Spans]:
    """Every legal sequence up to five tokens, with its spans."""
    sets = [(n, spans) for n in range(6) for spans in by_hand.span_sets(n, LABELS)]
    found = {encode(spans, n, scheme): spans for n, spans in sets}
    assert len(found) == len(sets)
    return found


both = pytest.mark.parametrize("scheme", ["bis", "lr"])


@both
def test_parse_write_and_validate(added: None, scheme: str) -> None:
    legal = written(scheme)
    assert list(parse_many(legal, scheme)) == [list(spans) for spans in legal.values()]
    tags = write_many(legal.values(), [len(tags) for tags in legal], scheme)
    assert tags == [list(tags) for tags in legal]
    prefixes = ("B", "I", "S") if scheme == "bis" else ("L", "R", "LR")
    names = ("O", *(f"{p}-{label}" for label in LABELS for p in prefixes))
    every = list(product(names, repeat=4))
    wrong = set(validate_many(every, scheme).sentence.tolist())
    assert {tags for i, tags in enumerate(every) if i not in wrong} == {
        tags for tags in legal if len(tags) == 4
    }
    assert parse(["O"] * 2, " ISB ") == []
    assert list(parse_many([["B-X", "I-X"]], BIS)[0]) == [(0, 2, "X")]


@both
@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "raise"])
def test_repair(added: None, scheme: str, policy: str) -> None:
    legal = written(scheme)
    prefixes = ("B", "I", "S") if scheme == "bis" else ("L", "R", "LR")
    names = ("O", *(f"{p}-{label}" for label in LABELS for p in prefixes))
    every = list(product(names, repeat=4))
    tags, spans, _ = repair_many(every, scheme, policy)
    for before, after, found in zip(every, tags, spans):
        assert legal[tuple(after)] == tuple(found)
        assert before not in legal or tuple(after) == before


@both
def test_convert_and_check(added: None, scheme: str) -> None:
    legal = written(scheme)
    for other in ("bio", "iobes", "be", "bia"):
        expected = [list(by_hand.encode(s, len(tags), other)) for tags, s in legal.items()]
        assert convert_many(legal, scheme, other) == expected
        assert convert_many(expected, other, scheme) == [list(tags) for tags in legal]
    sample = ["B-X", "I-X", "S-Y"] if scheme == "bis" else ["L-X", "O", "R-X", "LR-Y"]
    assert check(sample).legal == [scheme]


@both
def test_masks_and_transitions(added: None, scheme: str) -> None:
    spoken = {"bis": written("bis"), "lr": by_hand.legal_sequences(5, "bie", LABELS)}[scheme]
    letters = {"B": "L", "E": "R", "BE": "LR"} if scheme == "lr" else {}

    def renamed(tag: str) -> str:
        prefix, _, label = tag.partition("-")
        return by_hand.tag(letters.get(prefix, prefix), label)

    seen = {pair for tags in spoken if tags for pair in pairwise(("^", *map(renamed, tags), "$"))}
    rows = transitions(LABELS, scheme, start="^", end="$")
    assert {(a, b) for a, b, ok in rows if ok} == seen | {("^", "$")}
    tags = [target for source, target, _ in rows if source == "^" and target != "$"]
    found = mask(tags, scheme)
    assert found.step.tolist() == [[(a, b) in seen for b in tags] for a in tags]
    assert len(classes(LABELS, scheme).names) == (7 if scheme == "bis" else 6)


@both
@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_training(added: None, scheme: str, objective: str, tmp_path: Path) -> None:
    nlp = learn(make(scheme=scheme, objective=objective), examples())
    gold = [[(e.start, e.end, e.label_) for e in pair.reference.ents] for pair in examples()]
    assert entities(nlp.pipe([pair.predicted for pair in examples()])) == gold
    assert ner(nlp).scheme is SCHEMES[scheme]
    nlp.to_disk(tmp_path)
    other = make(scheme=scheme, objective=objective).from_disk(tmp_path)
    assert entities(other.pipe([pair.predicted for pair in examples()])) == gold


@both
def test_commands(added: None, scheme: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.bio", tmp_path / "out.tags"
    source.write_text("a B-X\nb I-X\nc I-X\nd B-Y\n\n", encoding="utf8")
    run = CliRunner().invoke(
        app, ["convert", str(source), str(target), "--scheme", "bio", "--to-scheme", scheme]
    )
    assert run.exit_code == 0, run.output
    tags = [line.split()[1] for line in target.read_text(encoding="utf8").split("\n") if line]
    assert tuple(tags) == encode(by_hand.begin(["B-X", "I-X", "I-X", "B-Y"]), 4, scheme)
    assert CliRunner().invoke(app, ["validate", str(target), "-s", scheme]).exit_code == 0


def test_the_table_is_read_only_and_rows_leave_it(added: None) -> None:
    assert SCHEMES["bis"] is BIS
    with pytest.raises(TypeError):
        SCHEMES["other"] = BIS  # type: ignore[index]


def test_a_scheme_is_not_known_before() -> None:
    with pytest.raises(UnknownNameError, match="bis"):
        convert(["O"], "bis", "bio")


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_every_row_of_the_table_would_pass(name: str) -> None:
    new = add_scheme(replace(SCHEMES[name], name="another", aliases=()))
    assert SCHEMES["another"] is new


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("bio", {"name": "bio"}, "called 'bio' already"),
    ("bio", {"aliases": ("biluo",)}, "called 'biluo' already"),
    ("bio", {"name": "New"}, "lower case"),
    ("bio", {"name": ""}, "lower case"),
    ("bio", {"join": pairs("BI II BX")}, "no tag of any sentence has the prefix 'X'"),
    ("iobes", {"join": pairs("BI BE II IE BB")}, "ambiguous"),
    ("bio", {"join": pairs("OI II")}, "'O' cannot be a prefix"),
    ("bio", {"join": (("B-", "I"),)}, "cannot be a prefix"),
    ("io", {"join": (), "meet": pairs("OO")}, "0 prefixes"),
    ("bio", {"meet": pairs("OO OB BO IO BB IB OX")}, "'X' may meet others"),
    ("bio", {"meet": pairs("OO OB OI BO IO BB IB")}, "ambiguous|too much"),
    ("bia", {"meet": pairs("OO OB AO AB BB IB B$ I$ BO IO")}, "too much"),
    ("bio", {"meet": pairs("OO OB BO BB IB")}, "not legal"),
    ("iobes", {"split": pairs("EB SB")}, "has no prefix for a token"),
    ("bio", {"meet": pairs("OO OB BO IO BB")}, "not legal"),
    ("bio", {"choices": ("B",)}, "not legal|too much|reads"),
    ("bie", {"choices": ("B", "Z")}, "the letter 'Z'"),
    ("iobes", {"choices": ("B", "E")}, "same letters"),
    ("bia", {"choices": ("B", "I", "A")}, "no prefix that follows"),
]


@pytest.mark.parametrize(("row", "change", "message"), WRONG)
def test_rows_that_make_no_scheme(row: str, change: dict[str, Any], message: str) -> None:
    new = replace(SCHEMES[row], **({"name": "new", "aliases": ()} | change))
    before = list(SCHEMES)
    with pytest.raises(SchemeError, match=message):
        add_scheme(new)
    assert list(SCHEMES) == before


def test_what_is_no_row() -> None:
    with pytest.raises(TypeError, match="A scheme is a Scheme"):
        add_scheme("bio")  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_laboratory(added: None, workers: int) -> None:
    plan = Plan(("bis", "bio"), ("crf", "winnow"), options=Options(epochs=2, passes=2))
    found = study("people", documents(10), Settings(plan, splits=2), workers=workers)
    exact, _ = found.comparisons
    assert exact.classes == {"bis": 7, "bio": 5}
    rows = {row.strategy for row in exact.scores}
    assert rows == {"bis", "bio", "ensemble"}
    assert exact.scores[Row("crf", "constrained", "bis")][ALL].mean > 0.8
