"""Mention separators against every set of mentions of a few tokens."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import Span, SpanColumns
from spacy_iobes.codes import (
    READINGS,
    Separator,
    SeparatorColumns,
    decode,
    decode_many,
    decode_spans,
    encode,
    encode_many,
    encode_spans,
    get_reading,
    illegal_gap,
    is_ambiguous,
    may_follow,
)
from spacy_iobes.codes.roundtrip import roundtrip
from spacy_iobes.errors import (
    DuplicateSpanError,
    SeparatorError,
    SpanRangeError,
    UnknownNameError,
)

from .mention_sets import (
    LEGAL_PATHS,
    NAMES,
    Mention,
    cross,
    is_nested,
    nested_sets,
    places,
    realised,
    separators,
)

TOKENS = 5  # in sets of mentions: 32,768 of them
NESTED = ["nearest_start", "nearest_end", "lifo"]
every_reading = pytest.mark.parametrize("reading", READINGS)
every_nested_reading = pytest.mark.parametrize("reading", NESTED)


def named(*names: str) -> list[Separator]:
    return [Separator[name] for name in names]


def labelled(mentions: list[Mention] | frozenset[Mention], label: str = "X") -> list[Span]:
    return sorted(Span(start, end, label) for start, end in mentions)


def test_the_separators_are_bits_and_names() -> None:
    assert [separator.name for separator in Separator] == list(NAMES)
    for separator in Separator:
        letters = (separator & 1, "S"), (separator & 2, "E"), (separator & 4, "C")
        assert {letter for bit, letter in letters if bit} == set(separator.name) - {"X"}


def test_the_forty_legal_neighbours() -> None:
    legal = {(a.name, b.name) for a, b in product(Separator, repeat=2) if may_follow(a, b)}
    inside = {"ES", "C", "CS", "EC", "ECS"}
    outside = set(product(["X", "E"], ["X", "S"]))
    assert legal == outside | set(product({"S"} | inside, {"E"} | inside))
    assert len(legal) == 40


@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_every_set_is_written_by_the_definition(length: int) -> None:
    for gaps, sets in realised(length).items():
        for mentions in sets:
            assert encode(mentions, length) == named(*gaps)


def test_every_set_of_six_tokens() -> None:
    """All 2,097,152 of them: by the definition once more, but gap by gap for many sets at once."""
    length, seen = 6, set[int]()
    every = np.array(places(length))
    start, end = every[:, :1], every[:, 1:]
    gap = np.arange(length + 1)
    said = np.stack([start == gap, end == gap, (start < gap) & (gap < end)])  # [3, places, gaps]
    for chunk in np.split(np.arange(1 << len(every)), 16):
        chosen = (chunk[:, None] >> np.arange(len(every)) & 1).astype(np.int32)  # [sets, places]
        number, place = np.nonzero(chosen)
        rows = (number, every[place, 0], every[place, 1], np.zeros(len(place), dtype=int))
        columns = (row.astype(np.int32) for row in rows)
        spans = SpanColumns.trusted(columns, ("X",), len(chunk))
        found = encode_many(spans, [length] * len(chunk)).gaps.reshape(len(chunk), -1)
        expected = sum((chosen @ bits.astype(np.int32) > 0) << n for n, bits in enumerate(said))
        assert (found == expected).all()
        seen.update(np.unique(found @ 8**gap).tolist())
    assert len(seen) == LEGAL_PATHS[length]


@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_legal_are_the_sequences_that_some_mentions_are_written_as(length: int) -> None:
    every = product(Separator, repeat=length + 1)
    legal = {tuple(s.name for s in gaps) for gaps in every if illegal_gap(gaps) is None}
    assert legal == set(realised(length))


@pytest.mark.parametrize(("length", "paths"), LEGAL_PATHS.items())
def test_the_number_of_legal_sequences(length: int, paths: int) -> None:
    step = np.array([[may_follow(a, b) for b in Separator] for a in Separator], dtype=int)
    start = np.array(
        [illegal_gap([s, Separator.E if s & 1 else Separator.X]) is None for s in Separator]
    )
    stop = np.array([s in (Separator.X, Separator.E) for s in Separator])
    assert start @ np.linalg.matrix_power(step, length) @ stop == paths
    if length <= TOKENS:
        assert len(realised(length)) == paths


@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_ambiguous_are_the_sequences_of_several_sets(length: int) -> None:
    for gaps, sets in realised(length).items():
        assert is_ambiguous(named(*gaps)) == (len(sets) > 1)


def test_the_published_counts() -> None:
    """As published: 1,088 sequences of 5 tokens, 704 of them not ambiguous; 2,880 nested sets."""
    found = realised(5)
    assert len(found) == 1088
    assert sum(len(sets) == 1 for sets in found.values()) == 704
    nested = [m for sets in found.values() for m in sets if is_nested(m)]
    assert len(nested) == 2880
    for reading in NESTED:
        assert sum(set(decode(encode(m, 5), reading)) == m for m in nested) == 1088


@every_reading
@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_what_is_read_has_the_same_separators(length: int, reading: str) -> None:
    for gaps, sets in realised(length).items():
        found = decode(named(*gaps), reading)
        assert frozenset(found) in sets
        assert found == sorted(set(found))


@every_nested_reading
@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_nested_readings_find_nothing_that_crosses(length: int, reading: str) -> None:
    assert READINGS[reading].nested
    for gaps in realised(length):
        assert not any(cross(a, b) for a, b in combinations(decode(named(*gaps), reading), 2))


@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_all_is_the_largest_set(length: int) -> None:
    for gaps, sets in realised(length).items():
        assert frozenset(decode(named(*gaps), "all")) == max(sets, key=len)


@pytest.mark.parametrize("length", range(TOKENS + 1))
def test_crossing_overlaps_where_it_can(length: int) -> None:
    for gaps in realised(length):
        if is_ambiguous(named(*gaps)):
            found = decode(named(*gaps), "crossing")
            assert any(cross(a, b) for a, b in combinations(found, 2))


@pytest.mark.parametrize(("length", "sets"), [(5, 716), (6, 3180)])
def test_two_levels_come_back(length: int, sets: int) -> None:
    """Counted elsewhere: 716 sets of 5 tokens, 3,180 of 6, come back under nested readings."""
    found = list(nested_sets(length, deepest=2))
    assert len(set(found)) == len(found) == sets
    for mentions in found:
        gaps = encode(mentions, length)
        assert [set(decode(gaps, reading)) for reading in NESTED] == [mentions] * len(NESTED)


@pytest.mark.parametrize(
    ("gaps", "reading", "mentions"),
    [
        # A start before an end, between a and b: nested, all of them, or crossing.
        ("S CS EC E", "nearest_start", [(0, 3), (1, 2)]),
        ("S CS EC E", "nearest_end", [(0, 3), (1, 2)]),
        ("S CS EC E", "lifo", [(0, 3), (1, 2)]),
        ("S CS EC E", "all", [(0, 2), (0, 3), (1, 2), (1, 3)]),
        ("S CS EC E", "crossing", [(0, 2), (1, 3)]),
        # One start, two ends: the nearest start takes both, the nearest end leaves one.
        ("S CS EC EC E", "nearest_start", [(0, 4), (1, 2), (1, 3)]),
        ("S CS EC EC E", "nearest_end", [(0, 3), (0, 4), (1, 2)]),
        ("S CS EC EC E", "lifo", [(0, 3), (0, 4), (1, 2)]),
        # Two starts, one end.
        ("S CS CS EC E", "nearest_start", [(0, 4), (1, 4), (2, 3)]),
        ("S CS CS EC E", "nearest_end", [(0, 4), (1, 3), (2, 3)]),
        ("S CS CS EC E", "lifo", [(0, 4), (1, 4), (2, 3)]),
        # Not ambiguous: an end before a start.
        ("S EC CS E", "crossing", [(0, 1), (0, 3), (2, 3)]),
        ("S ECS E", "all", [(0, 1), (0, 2), (1, 2)]),
        # Neighbours are segments of their own.
        ("S ES E", "nearest_start", [(0, 1), (1, 2)]),
        ("X X", "nearest_start", []),
        ("X", "nearest_start", []),
    ],
)
def test_readings(gaps: str, reading: str, mentions: list[Mention]) -> None:
    assert decode(named(*gaps.split()), reading) == mentions


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("nearest-start", "nearest_start"),
        ("AUTHORS", "nearest_end"),
        (" Lifo\n", "lifo"),
        ("all-pairs", "all"),
        ("FIFO", "crossing"),
    ],
)
def test_readings_by_name(alias: str, name: str) -> None:
    assert list(READINGS) == ["nearest_start", "nearest_end", "lifo", "all", "crossing"]
    assert get_reading(alias) is READINGS[name]
    with pytest.raises(UnknownNameError, match="Known: nearest_start, nearest_end"):
        decode([0], "x")


@pytest.mark.parametrize(
    ("mentions", "error"),
    [
        ([(0, 4)], SpanRangeError),
        ([(-1, 1)], SpanRangeError),
        ([(1, 1)], SpanRangeError),
        ([(2, 1)], SpanRangeError),
        ([(0, 1), (0, 1)], DuplicateSpanError),
    ],
)
def test_bad_mentions(mentions: list[Mention], error: type[Exception]) -> None:
    with pytest.raises(error):
        encode(mentions, 3)
    spans = [Span(*mention, "X") for mention in mentions]
    with pytest.raises(error):
        encode_spans(spans, 3)
    with pytest.raises(error, match=r"Sentence 1: \(.*'X'\)"):
        encode_many([[], spans], [3, 3])


@pytest.mark.parametrize(
    ("gaps", "gap", "message"),
    [
        ("E X", 0, "cannot begin with E, only with X or S"),
        ("X C X", 1, "C cannot follow X"),
        ("S X", 1, "X cannot follow S"),
        ("X S", 1, "cannot end with S, only with X or E"),
        ("S ES", 1, "cannot end with ES"),
        ("S", 0, "cannot end with S"),
    ],
)
def test_illegal_separators(gaps: str, gap: int, message: str) -> None:
    wrong = named(*gaps.split())
    for refuse in (decode, is_ambiguous):
        with pytest.raises(SeparatorError, match=f"gap {gap}: .*{message}"):
            refuse(wrong)
    array = np.array([[0, 0], *([0, separator] for separator in wrong)])
    with pytest.raises(SeparatorError, match="Sentence 1, label 'B', gap") as error:
        decode_many(SeparatorColumns(array, np.array([0, 1, len(array)]), ("A", "B")))
    assert (error.value.sentence, error.value.label, error.value.gap) == (1, "B", gap)


def test_no_separators_at_all() -> None:
    with pytest.raises(SeparatorError, match="at least one"):
        decode([])


def test_several_labels() -> None:
    spans = [Span(0, 2, "A"), Span(0, 2, "B"), Span(1, 2, "B")]
    found = encode_spans(spans, 2)
    assert found == {"A": named("S", "C", "E"), "B": named("S", "CS", "E")}
    assert decode_spans(found) == spans
    assert encode_spans([], 2) == {}


def sentences_of(length: int) -> list[list[Span]]:
    """One sentence for each legal sequence: the first set of mentions that has it."""
    return [labelled(sets[0], "AB"[i % 2]) for i, sets in enumerate(realised(length).values())]


@every_reading
def test_many_at_once(reading: str) -> None:
    spans = [s for length in range(TOKENS) for s in sentences_of(length)]
    lengths = [length for length in range(TOKENS) for _ in realised(length)]
    columns = encode_many(spans, lengths, labels=["B", "unused", "A"])
    assert columns.lengths.tolist() == lengths
    for found, members, length in zip(columns, spans, lengths):
        assert list(found) == ["B", "unused", "A"]
        assert found["unused"] == named(*["X"] * (length + 1))
        assert {k: v for k, v in found.items() if any(v)} == encode_spans(members, length)
    expected = [decode_spans(found, reading) for found in columns]
    assert list(decode_many(columns, reading)) == expected
    ambiguous = [[is_ambiguous(gaps) for gaps in found.values()] for found in columns]
    assert columns.ambiguous().tolist() == ambiguous


def test_nothing_at_once() -> None:
    empty = encode_many([], [])
    assert (len(empty), list(empty), list(decode_many(empty))) == (0, [], [])
    blank = encode_many([[], []], [0, 2])
    assert list(blank) == [{}, {}]
    assert list(decode_many(blank)) == [[], []]
    result = roundtrip([[], []], [0, 2])
    assert (len(result.sentence), result.f1) == (0, 1.0)


def test_a_label_that_is_not_asked_for_is_refused() -> None:
    with pytest.raises(ValueError, match="'X' is not among the labels: A, B"):
        encode_many([[Span(0, 1, "X")]], [1], ["A", "B"])


@pytest.mark.parametrize(
    ("gaps", "offsets", "message"),
    [
        ([[8]], [0, 1], "0 to 7"),
        ([[0.5]], [0, 1], "0 to 7"),
        ([0], [0, 1], "gaps are"),
        ([[0]], [0, 2], "Offsets rise"),
        ([[0]], [0, 0, 1], "at least one"),
    ],
)
def test_bad_columns(gaps: list[list[int]], offsets: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SeparatorColumns(np.array(gaps), np.array(offsets), ("X",))


def test_roundtrip_tells_what_is_lost() -> None:
    kept = [Span(0, 3, "A"), Span(1, 2, "A")]
    deep = [Span(0, 4, "A"), Span(1, 4, "A"), Span(1, 2, "A")]  # read as (0, 4) and (1, 2)
    result = roundtrip([kept, [], [*deep, Span(0, 1, "B")]], [3, 1, 4])
    assert result.sentence.tolist() == [0, 2, 2]
    assert [result.before.labels[label] for label in result.label] == ["A", "A", "B"]
    assert result.mentions.tolist() == [2, 3, 1]
    assert result.found.tolist() == [2, 2, 1]
    assert result.kept.tolist() == [2, 2, 1]
    assert result.ambiguous.tolist() == [True, True, False]
    assert result.lost.tolist() == [False, True, False]
    assert result.members(1) == (sorted(deep), [Span(0, 4, "A"), Span(1, 2, "A")])
    assert result.f1 == 2 * 5 / (6 + 5)


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[Span], int]:
    """Mentions of two labels, overlapping in any way, and the number of tokens."""
    length = draw(st.integers(0, 40))
    ends = st.integers(0, length)
    drawn = draw(st.lists(st.tuples(ends, ends, st.sampled_from("AB")), max_size=15))
    spans = {Span(min(a, b), max(a, b), label) for a, b, label in drawn if a != b}
    return sorted(spans), length


@given(st.lists(documents(), max_size=4), st.sampled_from(list(READINGS)))
def test_longer_sentences(docs: list[tuple[list[Span], int]], reading: str) -> None:
    spans, lengths = [s for s, _ in docs], [n for _, n in docs]
    columns = encode_many(spans, lengths, ["A", "B"])
    for found, members, length in zip(columns, spans, lengths):
        for label, gaps in found.items():
            mine = frozenset((a, b) for a, b, name in members if name == label)
            assert tuple(gap.name for gap in gaps) == separators(mine, length)
    read = decode_many(columns, reading)
    assert list(read) == [decode_spans(found, reading) for found in columns]
    again = encode_many(read, lengths, ["A", "B"])
    assert (again.gaps == columns.gaps).all()
    if READINGS[reading].nested:
        for members in read:
            pairs = combinations(members, 2)
            assert not any(cross(a[:2], b[:2]) for a, b in pairs if a.label == b.label)


@given(documents())
def test_a_set_that_comes_back_is_the_one_that_is_read(doc: tuple[list[Span], int]) -> None:
    spans, length = doc
    result = roundtrip([spans], [length])
    for row, lost in enumerate(result.lost.tolist()):
        before, after = result.members(row)
        assert (before == after) == (not lost)
        assert len(set(before) & set(after)) == result.kept[row]
        assert not lost or result.ambiguous[row]


def test_a_long_sentence_with_starts_and_ends_everywhere() -> None:
    """Time must grow with the number of gaps, not with its square."""
    length = 50_000
    nested = [Span(k, length - k, "A") for k in range(length // 2)]
    columns = encode_many([nested], [length], [f"L{i}" for i in range(20)] + ["A"])
    for reading in ("nearest_start", "nearest_end", "lifo", "crossing"):
        read = decode_many(columns, reading)
        assert (encode_many(read, [length], columns.labels).gaps == columns.gaps).all()


@pytest.mark.parametrize(
    ("reading", "mentions"),
    [
        ("nearest_start", [(0, 3), (1, 2)]),
        ("nearest_end", [(0, 3), (1, 2)]),
        ("lifo", [(0, 3), (1, 2)]),
        ("crossing", [(0, 2), (1, 3)]),
    ],
)
def test_a_pair_that_crosses_is_lost_but_for_the_reading_of_that_name(
    reading: str, mentions: list[Mention]
) -> None:
    assert encode([(0, 2), (1, 3)], 3) == encode([(0, 3), (1, 2)], 3)
    assert decode(encode([(0, 2), (1, 3)], 3), reading) == mentions
    result = roundtrip([[Span(0, 2, "A"), Span(1, 3, "A")]], lengths=[3], reading=reading)
    assert result.lost.tolist() == [reading != "crossing"]


def test_readings_name_whose_hypergraphs_they_read() -> None:
    summary = get_reading("authors").summary
    assert summary.endswith("(Lu and Roth 2015, Muis and Lu 2017)")
