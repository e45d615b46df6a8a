"""Every set of spans and every tag sequence up to a length, against what `by_hand` says of them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from spacy_iobes import (
    POLICIES,
    SCHEMES,
    CodedTags,
    convert_many,
    parse_many,
    repair_many,
    validate_many,
    write,
    write_many,
)
from spacy_iobes.errors import InexpressibleError

from . import by_hand

LABELS = ("X", "Y")
TOKENS = 6  # in sets of spans: 2,911 of them
TAGS = dict.fromkeys(by_hand.PREFIXES, 5)  # in tag sequences: 66,430 of them for iobes

every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)
every_policy = pytest.mark.parametrize("policy", POLICIES)
every_repair = pytest.mark.parametrize("policy", [name for name in POLICIES if name != "raise"])


@cache
def sets_of_spans() -> list[tuple[int, by_hand.Spans]]:
    """Every length up to TOKENS with every set of disjoint spans."""
    return [(n, spans) for n in range(TOKENS + 1) for spans in by_hand.span_sets(n, LABELS)]


@cache
def sequences(scheme: str) -> list[by_hand.Tags]:
    """Every tag sequence up to the length in TAGS."""
    tags = by_hand.all_tags(scheme, LABELS)
    return [found for n in range(TAGS[scheme] + 1) for found in product(tags, repeat=n)]


@cache
def legal(scheme: str) -> dict[by_hand.Tags, by_hand.Spans]:
    """Every legal sequence up to that length, with its spans."""
    return {
        tags: spans
        for n in range(TAGS[scheme] + 1)
        for tags, spans in by_hand.legal_sequences(n, scheme, LABELS).items()
    }


@cache
def coded(scheme: str) -> CodedTags:
    """The same as `sequences`, as integers."""
    tags = by_hand.all_tags(scheme, LABELS)
    codes = [
        c
        for n in range(TAGS[scheme] + 1)
        for row in product(range(len(tags)), repeat=n)
        for c in row
    ]
    lengths = [n for n in range(TAGS[scheme] + 1) for _ in range(len(tags) ** n)]
    return CodedTags.from_lengths(codes, lengths, tags)


def test_no_scheme_is_left_out() -> None:
    assert set(SCHEMES) == set(by_hand.PREFIXES)


@every_scheme
def test_prefixes_stand_in_the_order_of_the_table(scheme: str) -> None:
    assert SCHEMES[scheme].written == by_hand.PREFIXES[scheme]
    assert ("O", *SCHEMES[scheme].prefixes) == by_hand.all_states(scheme, [""])


def test_sets_of_spans_are_all_there() -> None:
    for n, labels in product(range(TOKENS + 1), (1, 2)):
        found = list(by_hand.span_sets(n, LABELS[:labels]))
        assert len(set(found)) == len(found) == by_hand.count_span_sets(n, labels)
    assert [by_hand.count_span_sets(n, 1) for n in range(6)] == [1, 2, 5, 13, 34, 89]  # Fibonacci


@every_scheme
def test_write_and_read_back(scheme: str) -> None:
    said = [(n, spans) for n, spans in sets_of_spans() if by_hand.expressible(spans, scheme)]
    lengths = [n for n, _ in said]
    tags = [list(by_hand.encode(spans, n, scheme)) for n, spans in said]
    assert write_many([spans for _, spans in said], lengths, scheme) == tags
    assert list(parse_many(tags, scheme)) == [list(spans) for _, spans in said]


def test_io_refuses_spans_of_one_label_that_touch() -> None:
    refused = [(n, spans) for n, spans in sets_of_spans() if not by_hand.expressible(spans, "io")]
    assert len(refused) == len(sets_of_spans()) - sum(3**n for n in range(TOKENS + 1))
    for n, spans in refused:
        touching = next((a, b) for a, b in pairwise(spans) if (a[1], a[2]) == (b[0], b[2]))
        with pytest.raises(InexpressibleError) as error:
            write(spans, n, "io")
        assert error.value.spans == touching


@every_scheme
def test_legal_are_the_sequences_that_some_spans_are_written_as(scheme: str) -> None:
    found = np.ones(len(sequences(scheme)), dtype=bool)
    found[validate_many(sequences(scheme), scheme).sentence] = False
    assert {sequences(scheme)[i] for i in np.flatnonzero(found)} == set(legal(scheme))
    counts = [sum(len(tags) == n for tags in legal(scheme)) for n in range(TAGS[scheme] + 1)]
    if scheme == "io":
        assert counts == [3**n for n in range(TAGS[scheme] + 1)]
    else:
        assert counts == [by_hand.count_span_sets(n, 2) for n in range(TAGS[scheme] + 1)]


@every_scheme
def test_every_illegal_gap_is_found(scheme: str) -> None:
    neighbours = by_hand.legal_neighbours(scheme)
    found = validate_many(sequences(scheme), scheme)
    expected = [
        (s, i)
        for s, tags in enumerate(sequences(scheme))
        for i, pair in enumerate(pairwise(("^", *by_hand.spoken(tags, scheme), "$")))
        if tags and pair not in neighbours
    ]
    assert list(zip(found.sentence.tolist(), found.index.tolist())) == expected


@every_scheme
def test_begin(scheme: str) -> None:
    expected = [list(by_hand.begin(tags, scheme)) for tags in sequences(scheme)]
    assert list(parse_many(sequences(scheme), scheme, "begin")) == expected
    rewritten = {
        tags
        for tags, spans in zip(sequences(scheme), expected)
        if by_hand.encode(spans, len(tags), scheme) == tags
    }
    assert rewritten == set(legal(scheme))


@every_scheme
@every_policy
def test_every_policy_reads_legal_tags_alike(scheme: str, policy: str) -> None:
    found = parse_many(legal(scheme), scheme, policy)
    assert list(found) == [list(spans) for spans in legal(scheme).values()]


@every_scheme
@every_repair
def test_repaired_tags_are_legal_and_say_the_spans(scheme: str, policy: str) -> None:
    tags, spans, violations = repair_many(coded(scheme), scheme, policy)
    assert list(coded(scheme)) == [list(found) for found in sequences(scheme)]
    assert violations.total == validate_many(coded(scheme), scheme).total
    for found, repaired, original in zip(spans, tags, sequences(scheme)):
        assert legal(scheme)[tuple(repaired)] == tuple(found), original
        if original in legal(scheme):
            assert tuple(repaired) == original


@every_scheme
def test_conversion_is_reading_and_writing(scheme: str) -> None:
    for target in by_hand.PREFIXES:
        said = [(t, s) for t, s in legal(scheme).items() if by_hand.expressible(s, target)]
        expected = [list(by_hand.encode(spans, len(tags), target)) for tags, spans in said]
        assert convert_many([tags for tags, _ in said], scheme, target) == expected
