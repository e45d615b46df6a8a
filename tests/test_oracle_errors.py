"""What the published tools call legal, refuse and accept, row for row: `../shared/oracles`."""

from __future__ import annotations

from itertools import pairwise

import pytest

from spacy_iobes import Violation, convert, convert_many, parse, transitions, validate_many
from spacy_iobes.errors import InexpressibleError, MalformedTagsError

from .shared import Row, needs_shared, oracle, outputs

pytestmark = needs_shared

SEQSCORE = ["IO", "IOB1", "BIO", "IOBES", "BILOU", "BMES", "BMEWO"]
IOBES = ["IOB1", "BIO", "IOBES", "BILOU", "BMEWO"]


@pytest.mark.parametrize("scheme", SEQSCORE)
def test_seqscore_finds_the_same_gaps_illegal(scheme: str) -> None:
    rows = outputs("seqscore-0.9.0__none", scheme)
    ours = validate_many([row["tags"] for row in rows], scheme)
    theirs = [[index for _, index in row["errors"]] for row in rows]
    assert [[violation.index for violation in found] for found in ours] == theirs


@pytest.mark.parametrize("scheme", SEQSCORE)
def test_seqscore_refuses_what_we_refuse(scheme: str) -> None:
    rows = outputs("seqscore-0.9.0__none", scheme)
    assert any(row["spans"] is not None for row in rows)
    assert scheme == "IO" or any(row["spans"] is None for row in rows)
    for row in rows:
        try:
            spans = [[label, start, end] for start, end, label in parse(row["tags"], scheme)]
        except MalformedTagsError:
            assert row["spans"] is None, row["tags"]
        else:
            assert spans == row["spans"], row["tags"]


def iobes_errors(violation: Violation, length: int) -> list[tuple[int, str]]:
    """What the package `iobes` says of one of our violations: there, one fault is often two."""
    index = violation.index
    if violation.kind == "start":
        return [(index, "Illegal Start")]
    if violation.kind == "label":
        return [(index, "Illegal Transition")]
    assert violation.kind == "end"
    if index == length:
        return [(index - 1, "Illegal Final")]
    assert violation.previous is not None
    single = violation.previous.startswith("B-")
    return [(index - 1, "Illegal End")] + [(index - 1, "Illegal Single")] * single


@pytest.mark.parametrize("scheme", IOBES)
def test_iobes_lists_the_same_errors(scheme: str) -> None:
    rows = outputs("iobes-1.5.1__parse", scheme)
    assert any(row["errors"] for row in rows)
    for row, found in zip(rows, validate_many([row["tags"] for row in rows], scheme)):
        length = len(row["tags"])
        ours = sorted(error for violation in found for error in iobes_errors(violation, length))
        assert ours == [tuple(error) for error in row["errors"]], row["tags"]


def touching(row: Row) -> bool:
    """Whether spans of one label touch: in BIO, where B follows anything of its label."""
    bio = row["tags"] if row["scheme"] == "BIO" else row["to"]["BIO"]
    return any(b == f"B-{a[2:]}" for a, b in pairwise(bio) if a != "O")


@pytest.mark.parametrize(
    ("tool", "scheme"),
    [("iobes-1.5.1__convert", scheme) for scheme in IOBES]
    + [("seqscore-0.9.0__convert", scheme) for scheme in SEQSCORE],
)
def test_conversions(tool: str, scheme: str) -> None:
    rows = outputs(tool, scheme)
    targets = set().union(*(row["to"] for row in rows))
    assert len(targets) == (4 if tool.startswith("iobes") else 6)
    for target in targets:
        # seqscore merges spans that touch when it writes IO, we refuse: see the next test
        said = [row for row in rows if target != "IO" or not touching(row)]
        assert said
        ours = convert_many([row["tags"] for row in said], scheme, target)
        assert ours == [row["to"][target] for row in said]


@pytest.mark.parametrize("scheme", [scheme for scheme in SEQSCORE if scheme != "IO"])
def test_io_is_refused_where_seqscore_merges(scheme: str) -> None:
    rows = [row for row in outputs("seqscore-0.9.0__convert", scheme) if touching(row)]
    assert rows
    for row in rows:
        with pytest.raises(InexpressibleError):
            convert(row["tags"], scheme, "io")


def test_transitions() -> None:
    # Left out: AllenNLP's BMES, which has no O at all, and its <GO> -> <EOS>, which it forbids: no
    # empty sentences there. Everybody else agrees with everybody else.
    rows = [
        row
        for row in oracle("transitions")
        if not row["reference"].startswith("allennlp")
        or (row["scheme"] != "BMES" and (row["src"], row["tgt"]) != ("<GO>", "<EOS>"))
    ]
    assert len(rows) == 1501 - 121 - 3
    legal = {
        (scheme, source, target): ok
        for scheme in {row["scheme"] for row in rows}
        for source, target, ok in transitions(["ORG", "LOC"], scheme)
    }
    for row in rows:
        if row["tgt"] == "<GO>" or row["src"] == "<EOS>":  # outside the sentence: we do not list it
            assert not row["valid"]
        else:
            assert legal[row["scheme"], row["src"], row["tgt"]] == row["valid"], row
