"""What the published tools really output, row for row: `../shared/oracles`."""

from __future__ import annotations

import pytest

from spacy_iobes import convert, convert_many, parse_many, repair_many
from spacy_iobes.errors import MalformedTagsError

from .shared import needs_shared, outputs

pytestmark = needs_shared

SPANS = [
    ("begin", "conlleval.pl-2004-01-26__begin", "IO IOB1 BIO IOE1 IOE2"),
    ("begin", "conlleval.py-spyysalo-6a21dde__begin", "IOB1 BIO IOE1 IOE2 IOBES"),
    ("begin", "conlleval.py-sighsmile-423ac49__begin", "IOB1 BIO IOBES"),
    ("begin", "iobes-1.5.1__parse", "IOB1 BIO IOBES BILOU BMEWO"),
    ("begin", "seqeval-1.2.2__default", "IO IOB1 BIO IOE1 IOE2 IOBES"),
    ("begin", "mead-baseline-9bfd967__to_chunks", "IOB1 BIO IOBES"),
    ("begin", "stanza-1.15.0__fix_singleton_tags", "IOBES"),
    ("begin", "stanza-1.15.0__to_bio2_to_bioes", "IOB1 BIO"),
    ("begin", "seqscore-0.9.0__begin", "IOB1 BIO"),
    ("begin", "flair-0.15.1__get_spans_from_bio", "IO IOB1 BIO"),
    ("begin", "nervaluate-1.2.1__listloader", "IO IOB1 BIO"),
    ("begin", "transformers-5.22.2__simple", "IO IOB1 BIO"),
    ("begin", "spacy-3.8.18__iob_to_biluo", "IO IOB1 BIO"),
    ("begin", "allennlp-2.10.1__tags_to_spans", "IOB1 BIO"),
    ("discard", "seqscore-0.9.0__discard", "BIO"),
    ("discard", "seqeval-1.2.2__strict", "BIO IOE2 IOBES BILOU"),
    ("discard", "ncrfpp-105a53a__bio-clean", "BIO"),
    ("ncrfpp", "ncrfpp-105a53a__bio-clean", "BIO"),
    ("ncrfpp", "ncrfpp-105a53a__bmes-clean", "IOBES BMES"),
    ("stanza", "stanza-1.15.0__decode_from_bioes", "BIO IOBES"),
]
REPAIRED = [
    ("begin", "seqscore-0.9.0__begin", "IOB1 BIO"),
    ("begin", "stanza-1.15.0__fix_singleton_tags", "IOBES"),
    ("discard", "seqscore-0.9.0__discard", "BIO"),
]
CONVERTED = [  # all under the policy begin: tool, its field, from, to
    ("stanza-1.15.0__to_bio2_to_bioes", "out", "IOB1 BIO", "iobes"),
    ("spacy-3.8.18__iob_to_biluo", "biluo", "IO IOB1 BIO", "bilou"),
    ("allennlp-2.10.1__to_bioul", "out", "IOB1", "bilou"),
]


def each_scheme(table: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [(a, b, scheme) for a, b, schemes in table for scheme in schemes.split()]


@pytest.mark.parametrize(("policy", "tool", "scheme"), each_scheme(SPANS))
def test_spans(policy: str, tool: str, scheme: str) -> None:
    rows = outputs(tool, scheme)
    if tool.startswith("mead"):  # it replaces "B-" anywhere, also in the label `B-side`
        rows = [row for row in rows if not row["set"].startswith("tricky")]
    assert rows
    found = parse_many([row["tags"] for row in rows], scheme, policy)
    ours = [[[label, start, end] for start, end, label in spans] for spans in found]
    assert ours == [row["spans"] for row in rows]


@pytest.mark.parametrize(("policy", "tool", "scheme"), each_scheme(REPAIRED))
def test_repaired_tags(policy: str, tool: str, scheme: str) -> None:
    rows = outputs(tool, scheme)
    ours = repair_many([row["tags"] for row in rows], scheme, policy).tags
    assert ours == [row["repaired"] for row in rows]


@pytest.mark.parametrize(("tool", "field", "schemes", "target"), CONVERTED)
def test_converted_tags(tool: str, field: str, schemes: str, target: str) -> None:
    for scheme in schemes.split():
        rows = outputs(tool, scheme)
        ours = convert_many([row["tags"] for row in rows], scheme, target, "begin")
        assert ours == [row[field] for row in rows]


def test_allennlp_refuses_what_we_refuse() -> None:
    rows = outputs("allennlp-2.10.1__to_bioul", "BIO")
    refused = [row["tags"] for row in rows if row["out"] is None]
    accepted = [row for row in rows if row["out"] is not None]
    assert refused
    assert accepted
    for tags in refused:
        with pytest.raises(MalformedTagsError):
            convert(tags, "bio", "bilou")
    ours = convert_many([row["tags"] for row in accepted], "bio", "bilou")
    assert ours == [row["out"] for row in accepted]
