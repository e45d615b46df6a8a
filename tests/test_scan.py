"""The compiled scanner and its readable twin say the same of any bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_iobes.kernels import columns_numpy
from spacy_iobes.kernels.columns_numpy import Layout, Scanned

from .twins import same

compiled = pytest.importorskip(
    "spacy_iobes.kernels._columns", reason="the kernels are not compiled: there is one twin only"
)

MARKER = b"-D-"
pieces = st.sampled_from(
    [
        b"a",
        b"b",
        b" ",
        b"\t",
        b"\n",
        b"\n",
        b"\r",
        b"#",
        b"# newdoc",
        MARKER,
        b"B-X",
        b",",
        "é".encode(),
    ]
)
buffers = st.lists(pieces, max_size=30).map(b"".join)
layouts = st.builds(
    Layout,
    delimiter=st.sampled_from([b"", b"\t", b",", b" ", b"b,"]),
    token=st.integers(-3, 3),
    tag=st.integers(-3, 3),
    width=st.integers(0, 3),
    comment=st.sampled_from([b"", b"#"]),
    markers=st.sampled_from([(), (MARKER,), (b"a", MARKER)]),
)


def scans(buffer: bytes, final: bool, layout: Layout) -> tuple[Scanned, dict[bytes, int]]:
    vocabularies: list[dict[bytes, int]] = [{b"B-X": 0}, {b"B-X": 0}]
    fast = compiled.scan(buffer, final, layout, vocabularies[0])
    slow = columns_numpy.scan(buffer, final, layout, vocabularies[1])
    assert same(tuple(fast), tuple(slow)), (fast, slow)
    assert vocabularies[0] == vocabularies[1]
    return slow, vocabularies[1]


@given(buffers, st.booleans(), layouts)
def test_scan(buffer: bytes, final: bool, layout: Layout) -> None:
    found, vocabulary = scans(buffer, final, layout)
    names = list(vocabulary)
    for a, b, code in zip(found.tag_begin, found.tag_end, found.codes):
        assert buffer[a:b] == names[code]
        assert b"\n" not in buffer[a:b]
    assert found.lines == buffer[: found.consumed].count(b"\n")
    assert (np.diff(found.offsets) > 0).all()


@given(buffers, st.integers(0, 60))
def test_two_halves_are_the_whole(buffer: bytes, cut: int) -> None:
    layout = Layout(b"", 0, 0, 0, b"#", (MARKER,))
    whole, _ = scans(buffer, True, layout)
    if whole.wrong is None:
        first, _ = scans(buffer[:cut], False, layout)
        rest, _ = scans(buffer[first.consumed :], True, layout._replace(width=first.width))
        assert len(first.codes) + len(rest.codes) == len(whole.codes)
        assert len(first.offsets) + len(rest.offsets) == len(whole.offsets) + 1
        assert first.documents + rest.documents == whole.documents
        assert first.lines + rest.lines == whole.lines


@given(
    st.binary(max_size=20), st.lists(st.integers(0, 20), max_size=6), st.lists(st.integers(0, 2))
)
def test_splice(buffer: bytes, cuts: list[int], choices: list[int]) -> None:
    places = sorted(min(cut, len(buffer)) for cut in cuts)[: len(cuts) // 2 * 2]
    begin, end = (np.array(places[k::2], dtype=np.int32) for k in (0, 1))
    codes = np.array((choices + [0] * 3)[: len(begin)], dtype=np.int32)
    tags = [b"", b"O", b"B-creative-work"]
    arguments: tuple[Any, ...] = (buffer, begin, end, codes, tags)
    assert compiled.splice(*arguments) == columns_numpy.splice(*arguments)


@given(st.lists(st.sampled_from([b"a", b"b", b"ab", b""]), max_size=5), st.integers(0, 4))
def test_first_difference(tokens: list[bytes], other: int) -> None:
    def laid(words: list[bytes]) -> tuple[bytes, Any, Any]:
        ends = np.cumsum([len(word) + 1 for word in words], dtype=np.int32) - 1
        begins = ends - np.array([len(word) for word in words], dtype=np.int32)
        return b" ".join(words), begins.astype(np.int32), ends.astype(np.int32)

    changed = [word + b"x" * (i == other) for i, word in enumerate(tokens)]
    expected = other if other < len(tokens) else -1
    for twin in (compiled, columns_numpy):
        assert twin.first_difference(*laid(tokens), *laid(changed)) == expected
        assert twin.first_difference(*laid(tokens), *laid(tokens)) == -1
