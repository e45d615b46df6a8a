"""Scores against what other scorers gave for the same tags: every pair of the oracle data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from spacy_iobes import Report, score
from spacy_iobes.scoring import as_conlleval

from .shared import Row, needs_shared, oracle

pytestmark = needs_shared
PAIRS = 200


def pairs(*schemes: str) -> Iterator[tuple[Row, dict[str, Any]]]:
    for row in oracle("scores"):
        if row["scheme"] in schemes:
            yield row, row["scores"]


def scored(row: Row, policy: str) -> Report:
    return score(row["gold"], row["pred"], scheme=row["scheme"], policy=policy)


def close(ours: float | None, theirs: float) -> bool:
    """Equal, a figure that we call undefined being 0 for those who have no word for that."""
    return abs((ours or 0.0) - theirs) < 1e-9


def printed(theirs: dict[str, Any]) -> str:
    """What the script printed, put together again from the numbers as it printed them."""
    head = f"processed {theirs['tokens']} tokens with {theirs['phrases']} phrases; "
    head += f"found: {theirs['found']} phrases; correct: {theirs['correct']}.\n"
    rows = [("accuracy: {accuracy:>6}%; ", "", theirs)]
    rows += [(f"{label:>17}: ", "  {found}", row) for label, row in sorted(theirs["types"].items())]
    form = "precision: {precision:>6}%; recall: {recall:>6}%; FB1: {fb1:>6}"
    return head + "".join((a + form + b + "\n").format(**row) for a, b, row in rows)


def test_the_data_is_complete() -> None:
    assert len(oracle("scores")) == PAIRS


def test_conlleval() -> None:
    """Not on IOBES, where the script merges spans that touch."""
    for row, scores in pairs("BIO", "IOB1"):
        theirs, ours = scores["conlleval.pl"], scored(row, "begin")
        correct, found, phrases = ours.counts.totals
        assert (theirs["phrases"], theirs["found"], theirs["correct"]) == (phrases, found, correct)
        assert theirs["tokens"] == ours.counts.tokens
        assert as_conlleval(ours) == printed(theirs)


@pytest.mark.parametrize("tool", ["spyysalo", "sighsmile"])
def test_conlleval_in_python(tool: str) -> None:
    for row, scores in pairs("BIO", "IOB1", "IOBES"):
        theirs, ours = scores[f"conlleval.py-{tool}"], scored(row, "begin")
        rows = zip(ours.counts.labels, ours.counts.exact.tolist())
        assert dict(rows) == theirs["types"]


@pytest.mark.parametrize(
    ("mode", "policy", "schemes"),
    [
        ("default", "begin", ["BIO", "IOB1", "IOBES"]),
        ("strict", "discard", ["BIO", "IOBES"]),  # strict IOB1 invents spans
    ],
)
def test_seqeval(mode: str, policy: str, schemes: list[str]) -> None:
    names = ("precision", "recall", "f1-score")
    for row, scores in pairs(*schemes):
        theirs, ours = scores[f"seqeval__{mode}"], scored(row, policy)
        averages = {f"{name} avg": getattr(ours, name) for name in ("micro", "macro", "weighted")}
        for name, figures in {**ours.per_label, **averages}.items():
            if name in theirs:
                assert all(close(f, theirs[name][key]) for f, key in zip(figures, names)), row["id"]
        assert set(theirs) - set(averages) == set(ours.per_label)
        assert close(ours.accuracy, scores["seqeval__accuracy"])


@pytest.mark.parametrize(
    ("method", "policy"), [("conlleval", "begin"), ("discard", "discard"), ("none", "raise")]
)
def test_seqscore(method: str, policy: str) -> None:
    checked = 0
    for row, scores in pairs("BIO", "IOB1", "IOBES"):
        theirs = scores[f"seqscore__{method}"]
        if "err" in theirs:
            continue
        ours = scored(row, policy)
        types = {
            label: [correct, predicted - correct, gold - correct]
            for label, (correct, predicted, gold) in zip(
                ours.counts.labels, ours.counts.exact.tolist()
            )
        }
        assert types == theirs["types"]
        assert all(close(f, theirs[key]) for f, key in zip(ours.micro, "prf"))
        assert close(ours.accuracy, theirs["accuracy"])
        checked += 1
    assert checked > 20


def test_stanza() -> None:
    for row, scores in pairs("BIO", "IOBES"):
        theirs, ours = scores["stanza__entity"], scored(row, "stanza")
        assert all(close(figure, theirs[key]) for figure, key in zip(ours.micro, "prf"))
        for label, f1 in theirs["type_f1"].items():
            assert close(ours.per_label[label].f1 if label in ours.per_label else None, f1)


def test_stanza_tokens() -> None:
    """Its second scorer looks at tags one by one and leaves out those that are `O`."""
    for row, scores in pairs("BIO", "IOB1", "IOBES"):
        theirs, ours = scores["stanza__token"], scored(row, "begin")
        assert all(close(figure, theirs[key]) for figure, key in zip(ours.tagged, "prf"))


def test_nervaluate() -> None:
    """Its four matches over all labels; its figures per label do not add up, ours do."""
    kinds = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
    outcomes = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")
    checked = 0
    for row, scores in pairs("BIO", "IOB1"):
        ours = scored(row, "begin")
        for theirs, kind in kinds.items():
            wanted, found = scores["nervaluate"]["overall"][theirs], ours.muc[kind]._asdict()
            assert all(found[key] == wanted[key] for key in outcomes), (row["id"], kind)
            assert all(close(found[key], wanted[key]) for key in ("precision", "recall", "f1"))
            checked += 1
    assert checked == 600


def test_ncrfpp() -> None:
    for row, scores in pairs("BIO"):
        theirs, ours = scores["ncrfpp"], scored(row, "ncrfpp")
        for figure, key in zip(ours.micro, "prf"):
            if theirs[key] >= 0:  # -1 is its word for undefined
                assert close(figure, theirs[key])
