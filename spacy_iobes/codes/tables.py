"""Schemes, policies and tags turned into the small arrays that the kernels read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from ..arrays import Ints, Table
from ..kernels import bits
from .policy import Policy
from .scheme import EDGE, OUTSIDE, Gap, Scheme
from .tag import read_tag


@cache
def symbols_of(scheme: Scheme) -> dict[str, int]:
    """The number of every prefix, of `O` and of the sentence edge."""
    prefixes = {prefix: bits.FIRST + i for i, prefix in enumerate(scheme.prefixes)}
    return {OUTSIDE: bits.OUTSIDE, EDGE: bits.EDGE, **prefixes}


@cache
def gap_table(scheme: Scheme, policy: Policy) -> Table:
    """What the policy makes of every gap: `uint8[same label, previous symbol, current symbol]`."""
    table = np.zeros((2, bits.SYMBOLS, bits.SYMBOLS), dtype=np.uint8)
    table[:, :, bits.UNREADABLE] = bits.ILLEGAL
    every = symbols_of(scheme).items()
    for same, (previous, p), (current, c) in product((0, 1), every, every):
        illegal = scheme.relation(previous, current, bool(same)) is None
        found = policy.rule(scheme, previous, current, bool(same))
        table[same, p, c] = found | (bits.ILLEGAL if illegal else 0)
    table.setflags(write=False)
    return table


@cache
def prefix_table(scheme: Scheme) -> Table:
    """The symbol of a token between two gaps: `uint8[left gap, right gap]`, 0 if there is none."""
    table = np.zeros((len(Gap), len(Gap)), dtype=np.uint8)
    numbers = symbols_of(scheme)
    for left, right in product(Gap, Gap):
        prefix = scheme.prefix(left, right)
        table[left, right] = numbers[prefix] if prefix else 0
    table.setflags(write=False)
    return table


@cache
def silent_table(scheme: Scheme) -> Table:
    """What an `O` between two tags of one label stands for: `uint8[previous, current]` symbols.

    It is 0 where an `O` is just that, which it always is where a scheme has no silent prefix.
    """
    table = np.zeros((bits.SYMBOLS, bits.SYMBOLS), dtype=np.uint8)
    numbers = symbols_of(scheme)
    for silent, previous, current in product(scheme.silent, scheme.written, scheme.written):
        way = ((previous, silent), (silent, silent), (silent, current))
        if all(pair in scheme.join for pair in way):
            table[numbers[previous], numbers[current]] = numbers[silent]
    table.setflags(write=False)
    return table


def silent_symbols(scheme: Scheme) -> int:
    """The symbols of silent prefixes, a bit for each."""
    return sum(1 << symbols_of(scheme)[prefix] for prefix in scheme.silent)


class Packed(NamedTuple):
    """A tag set as the kernels read it: every tag packed, and the labels they hold."""

    tags: Ints
    labels: tuple[str, ...]
    readable: bool


@lru_cache(maxsize=1 << 16)
def _symbol(tag: str, scheme: Scheme, silent: bool) -> tuple[int, str | None]:
    """The symbol of a tag and its label; None for tags that have none."""
    parts = read_tag(tag, scheme, silent)
    if parts is None:
        return bits.UNREADABLE, None
    prefix, label = parts
    return symbols_of(scheme)[prefix], None if prefix == OUTSIDE else label


def pack_tags(tags: Iterable[str], scheme: Scheme, silent: bool = False) -> Packed:
    """Pack every tag; labels are numbered in order of appearance.

    Tags that are never written cannot be read, unless the `silent` ones are asked for.
    """
    labels: dict[str, int] = {}
    packed = []
    readable = True
    for tag in tags:
        symbol, label = _symbol(tag, scheme, silent)
        if label is not None:
            packed.append(bits.pack(labels.setdefault(label, len(labels)), symbol))
        else:
            packed.append(bits.pack(-1, symbol))
            readable = readable and symbol != bits.UNREADABLE
    return Packed(np.array(packed, dtype=np.int32), tuple(labels), readable)


def pack_states(labels: int, scheme: Scheme) -> Ints:
    """The `tag_names` of so many labels, packed; silent ones are among them."""
    width = range(len(scheme.prefixes))
    rows = [bits.pack(label, bits.FIRST + p) for label in range(labels) for p in width]
    return np.array([bits.pack(-1, bits.OUTSIDE), *rows], dtype=np.int32)
