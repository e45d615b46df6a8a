"""The compiled kernels against their readable numpy twins: the same arrays from the same input."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes import POLICIES, SCHEMES
from spacy_iobes.arrays import Ints, Offsets
from spacy_iobes.codes import gap_table, pack_tags, prefix_table, silent_symbols, symbols_of
from spacy_iobes.kernels import bits, tags_numpy

from . import by_hand, strategies
from .twins import agree, compiled, same


class Coded(NamedTuple):
    """A corpus as the kernels read it."""

    codes: Ints
    offsets: Offsets
    packed: Ints


def coded(corpus: list[list[str]], scheme: str) -> Coded:
    numbers: dict[str, int] = {}
    for tag in (tag for tags in corpus for tag in tags):
        numbers.setdefault(tag, len(numbers))
    codes = np.array([numbers[tag] for tags in corpus for tag in tags], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, corpus)], dtype=np.int64)
    return Coded(codes, offsets, pack_tags(numbers, SCHEMES[scheme]).tags)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[str]], str]:
    """A corpus and its scheme."""
    scheme = draw(strategies.schemes)
    return draw(strategies.corpora(scheme)), scheme


def test_same_sees_the_difference() -> None:
    one = np.array([1], dtype=np.int32)
    assert same((one, 1), (one.copy(), 1))
    assert not same(one, one.astype(np.int64))
    assert not same(one, one + 1)
    assert not same(one, np.array([1, 1], dtype=np.int32))
    assert not same((one, 1), (one, np.int32(1)))
    assert not same((one,), (one, one))
    assert not same([["O"]], (["O"],))


def test_the_twins_are_two() -> None:
    for name in ("encode", "lists", "violations", "decode", "write", "nearest", "align"):
        assert getattr(compiled, name) is not getattr(tags_numpy, name)


@given(corpora(), st.lists(st.sampled_from(["", "-", "Q-X", "O-X", "B-"]), max_size=4))
def test_violations(drawn: tuple[list[list[str]], str], strange: list[str]) -> None:
    corpus, scheme = drawn
    table = gap_table(SCHEMES[scheme], POLICIES["raise"])
    agree("violations", *coded(corpus, scheme), table)
    mixed = [[tag for pair in zip(tags, strange) for tag in pair] for tags in corpus]
    agree("violations", *coded([*mixed, strange], scheme), table)


@given(corpora(), st.sampled_from(sorted(POLICIES)))
def test_decode(drawn: tuple[list[list[str]], str], policy: str) -> None:
    corpus, scheme = drawn
    table = gap_table(SCHEMES[scheme], POLICIES[policy])
    for first in (True, False):
        agree("decode", *coded(corpus, scheme), table, first)


@given(strategies.schemes, st.lists(strategies.spans(), max_size=5))
def test_write(scheme: str, drawn: list[tuple[list[Any], int]]) -> None:
    labels = {label: number for number, label in enumerate(strategies.LABELS)}
    rows = [(s, a, b, labels[label]) for s, (row, _) in enumerate(drawn) for a, b, label in row]
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows)] or [
        np.array([], "i4")
    ] * 4
    offsets = np.cumsum([0, *(length for _, length in drawn)], dtype=np.int64)
    kind = SCHEMES[scheme]
    after = symbols_of(kind)[kind.after] if kind.after else 0
    arguments: Any = (*columns, offsets, prefix_table(kind), after, len(kind.prefixes))
    fast, bad = compiled.write(*arguments)
    slow, also_bad = tags_numpy.write(*arguments)
    assert same(bad, also_bad)
    expressible = [by_hand.expressible(row, scheme) for row, _ in drawn]
    assert (bad == -1) == all(expressible)
    if bad == -1:  # else the codes mean nothing
        assert same(fast, slow)


@given(corpora())
def test_nearest(drawn: tuple[list[list[str]], str]) -> None:
    corpus, scheme = drawn
    kind = SCHEMES[scheme]
    legal = (gap_table(kind, POLICIES["raise"]) & bits.ILLEGAL == 0).astype(np.uint8)
    codes, offsets, packed = coded(corpus, scheme)
    tokens = packed[codes]
    before = tokens.copy()
    silent = silent_symbols(kind)
    agree("nearest", tokens, offsets, legal, len(kind.prefixes), len(kind.inside), silent)
    assert same(tokens, before), "the input is changed"


@given(corpora(), st.binary(min_size=128, max_size=128), st.integers(0, 0b1111))
def test_nearest_under_any_rules(
    drawn: tuple[list[list[str]], str], rules: bytes, silent: int
) -> None:
    """Also for schemes that nobody has thought of: all that is sure is that O may follow O."""
    corpus, scheme = drawn
    legal = (np.frombuffer(rules, dtype=np.uint8) & 1).reshape(2, bits.SYMBOLS, bits.SYMBOLS)
    legal[:, : bits.FIRST, : bits.FIRST] = 1
    codes, offsets, packed = coded(corpus, scheme)
    width = len(SCHEMES[scheme].prefixes)
    agree("nearest", packed[codes], offsets, legal, width, 1, silent << bits.FIRST)


@pytest.mark.parametrize("scheme", by_hand.PREFIXES)
def test_nearest_for_every_short_sequence(scheme: str) -> None:
    """Random input seldom meets the ties that only the order of the labels decides."""
    kind = SCHEMES[scheme]
    length = 4 if len(kind.prefixes) < 4 else 3
    legal = (gap_table(kind, POLICIES["raise"]) & bits.ILLEGAL == 0).astype(np.uint8)
    corpus = [list(tags) for tags in product(by_hand.all_tags(scheme), repeat=length)]
    codes, offsets, packed = coded(corpus, scheme)
    rest = len(kind.prefixes), len(kind.inside), silent_symbols(kind)
    agree("nearest", packed[codes], offsets, legal, *rest)


Row = tuple[int, int, int, int]


def aligned_by_hand(gold: list[Row], predicted: list[Row], by_label: bool) -> list[int]:
    """The contract of `align`, word for word, in as many steps as it takes."""
    left = [span for span in gold if span not in predicted]
    found = {span: span for span in predicted if span in gold}
    for span in predicted:
        sentence, start, end, label = span
        near = [g for g in left if g[0] == sentence and g[1] < end and start < g[2]]
        if span in found or not near:
            continue
        fitting = [g for g in near if g[1:3] == (start, end)]
        if by_label:
            fitting = [g for g in near if g[3] == label]
            fitting.sort(key=lambda g: abs(g[1] - start) + abs(g[2] - end))
        found[span] = (fitting or near)[0]
        left.remove(found[span])
    return [gold.index(found[span]) if span in found else -1 for span in predicted]


rows = st.sets(
    st.builds(
        lambda s, a, n, label: (s, a, a + n, label),
        st.integers(0, 1),
        st.integers(0, 9),
        st.integers(1, 9),
        st.integers(0, 2),
    ),
    max_size=9,
).map(sorted)


@given(rows, rows, st.booleans())
def test_align(gold: list[Row], predicted: list[Row], by_label: bool) -> None:
    """Spans that overlap, nest and repeat."""
    sides = (
        tuple(np.ascontiguousarray(c) for c in np.array(side, "i4").reshape(-1, 4).T)
        for side in (gold, predicted)
    )
    partner, equal = agree("align", *sides, by_label)
    assert partner.tolist() == aligned_by_hand(gold, predicted, by_label)
    assert equal == len(set(gold) & set(predicted))


@pytest.mark.parametrize("corpus", [[], [[]], [[], [], []]])
@pytest.mark.parametrize("scheme", by_hand.PREFIXES)
def test_nothing(corpus: list[list[str]], scheme: str) -> None:
    kind = SCHEMES[scheme]
    numbers = coded(corpus, scheme)
    agree("lists", numbers.codes, numbers.offsets, ())
    for policy in POLICIES.values():
        table = gap_table(kind, policy)
        assert agree("violations", *numbers, table)[0].size == 0
        assert agree("decode", *numbers, table, True)[1] == 0
    agree("nearest", numbers.codes, numbers.offsets, np.ones((2, 8, 8), dtype=np.uint8), 1, 1)
    codes, offsets = agree("encode", corpus, {})
    assert (codes.tolist(), offsets.tolist()) == ([], [0] * (len(corpus) + 1))


@pytest.mark.parametrize(("asked", "used"), [("numpy", "numpy"), ("", "compiled")])
def test_the_switch(asked: str, used: str, tmp_path: Path) -> None:
    code = "from spacy_iobes import kernels; print(kernels.IN_USE)"
    environment = {**os.environ, "SPACY_IOBES_KERNELS": asked}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == (f"{used}\n", "")
