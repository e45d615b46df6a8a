"""The published examples, frozen: what each tool gives for them (no reference data needed).

`begin` is what conlleval, iobes, seqeval and ten others do, `raise` is seqscore's `none`, `discard`
is seqscore's `discard` and seqeval's strict mode, `ncrfpp` and `stanza` are the tools of that name.
Where the table says None, the tool refuses.
"""

from __future__ import annotations

import re

import pytest

from spacy_iobes import Span, convert, parse, repair
from spacy_iobes.errors import MalformedTagsError

POLICIES = ("raise", "begin", "discard", "ncrfpp", "stanza")
READINGS = [
    # BIO
    (
        "bio",
        "O I-ORG I-ORG I-ORG O O B-MISC I-ORG",
        None,
        "ORG[1,4) MISC[6,7) ORG[7,8)",
        "MISC[6,7)",
        "MISC[6,7)",
        "ORG[1,4) ORG[6,8)",
    ),
    (
        "bio",
        "O B-ORG I-ORG I-LOC O",
        None,
        "ORG[1,3) LOC[3,4)",
        "ORG[1,3)",
        "ORG[1,3)",
        "LOC[1,4)",
    ),
    (
        "bio",
        "O B-LOC I-ORG I-ORG O",
        None,
        "LOC[1,2) ORG[2,4)",
        "LOC[1,2)",
        "LOC[1,2)",
        "ORG[1,4)",
    ),
    ("bio", "I-PER I-PER O", None, "PER[0,2)", "", "", "PER[0,2)"),
    # IOBES
    (
        "iobes",
        "O B-ORG I-MISC E-ORG",
        None,
        "ORG[1,2) MISC[2,3) ORG[3,4)",
        "",
        "ORG[1,4)",
        "ORG[1,4)",
    ),
    ("iobes", "B-ORG I-ORG E-LOC", None, "ORG[0,2) LOC[2,3)", "", "ORG[0,3)", "LOC[0,3)"),
    (
        "iobes",
        "I-PER B-PER O E-PER",
        None,
        "PER[0,1) PER[1,2) PER[3,4)",
        "",
        "PER[1,4)",
        "PER[0,1) PER[1,2) PER[3,4)",
    ),
    ("iobes", "B-X E-X B-X E-X", *["X[0,2) X[2,4)"] * 5),
    ("iobes", "S-X S-X", *["X[0,1) X[1,2)"] * 5),
    ("iobes", "B-X I-X", None, "X[0,2)", "", "X[0,1)", "X[0,2)"),
    ("iobes", "S-X I-X E-X", None, "X[0,1) X[1,3)", "X[0,1)", "X[0,1)", "X[0,1) X[1,3)"),
]
IOB1 = [  # scheme, tags, raise, begin; the other policies are claimed by no tool for IOB1
    ("iob1", "I-MISC B-MISC I-MISC", "MISC[0,1) MISC[1,3)", "MISC[0,1) MISC[1,3)"),
    ("iob1", "B-ORG I-ORG O", None, "ORG[0,2)"),
    ("iob1", "I-ORG B-LOC I-LOC", None, "ORG[0,1) LOC[1,3)"),
]
CONVERSIONS = [  # source, target, tags, policy, what iobes, seqscore, mead, Stanza, AllenNLP write
    ("iob1", "iobes", "I-MISC B-MISC I-MISC", "raise", "S-MISC B-MISC E-MISC"),
    ("iob1", "iobes", "B-ORG I-ORG I-LOC", "raise", None),
    ("iob1", "iobes", "B-ORG I-ORG I-LOC", "begin", "B-ORG E-ORG S-LOC"),
    ("iob1", "iobes", "I-ORG I-LOC", "raise", "S-ORG S-LOC"),
    (
        "iob1",
        "iobes",
        "I-creative-work I-creative-work",
        "raise",
        "B-creative-work E-creative-work",
    ),
    ("bio", "iobes", "I-MISC B-MISC I-MISC", "raise", None),
    ("bio", "iobes", "I-MISC B-MISC I-MISC", "begin", "S-MISC B-MISC E-MISC"),
    ("bio", "bilou", "I-ORG I-LOC", "raise", None),
    ("bio", "bilou", "I-ORG I-LOC", "begin", "U-ORG U-LOC"),
    ("iob1", "bilou", "I-MISC B-MISC I-MISC", "begin", "U-MISC B-MISC L-MISC"),
    ("iob1", "bilou", "B-ORG I-ORG I-LOC", "begin", "B-ORG L-ORG U-LOC"),
]


def read(text: str) -> list[Span]:
    """Read `ORG[1,4) MISC[6,7)`."""
    found = re.findall(r"(\S+)\[(\d+),(\d+)\)", text)
    return [Span(int(start), int(end), label) for label, start, end in found]


@pytest.mark.parametrize(
    ("scheme", "tags", "policy", "expected"),
    [
        (scheme, tags, policy, text)
        for scheme, tags, *texts in READINGS + IOB1
        for policy, text in zip(POLICIES, texts)
    ],
)
def test_parse(scheme: str, tags: str, policy: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(MalformedTagsError):
            parse(tags.split(), scheme, policy)
    else:
        assert parse(tags.split(), scheme, policy) == read(expected)


@pytest.mark.parametrize(("source", "target", "tags", "policy", "expected"), CONVERSIONS)
def test_convert(source: str, target: str, tags: str, policy: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(MalformedTagsError):
            convert(tags.split(), source, target, policy)
    else:
        assert convert(tags.split(), source, target, policy) == expected.split()


def test_the_table_is_read() -> None:
    assert read("") == []
    assert read("creative-work[0,2) X[2,13)") == [Span(0, 2, "creative-work"), Span(2, 13, "X")]


def test_stanza_is_its_code_and_not_table_1_of_the_seqscore_paper() -> None:
    tags = ["O", "I-ORG", "I-ORG", "I-ORG", "O", "O", "B-MISC", "I-ORG"]
    code = ["O", "B-ORG", "I-ORG", "I-ORG", "O", "O", "B-ORG", "I-ORG"]  # of Stanza 1.15
    table = ["O", "O", "O", "O", "O", "O", "B-ORG", "I-ORG"]  # the row "Stanza Repair"
    assert repair(tags, "bio", "stanza").tags == code != table
