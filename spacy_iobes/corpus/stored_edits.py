"""Other entities, or another span group, in the arrays of a DocBin; all else stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE
from spacy.strings import StringStore
from srsly import msgpack

from ..errors import AlignmentError
from .doc_layers import DocGroup, DocLayer
from .stored_docs import StoredDocs
from .stored_groups import (
    COUNT,
    MISSING_IN,
    OURS,
    ROW,
    GroupAttrs,
    members,
    pack_group,
    packed,
    unpack,
)

INSIDE, OUTSIDE, BEGIN = 1, 2, 3  # as spaCy numbers them; 0 is missing, BEGIN without label blocked


def with_entities(stored: StoredDocs, layer: DocLayer) -> StoredDocs:
    """Return Docs with other entities, whose tokens are counted over all of them.

    An entity has the ids of the one that had its tokens before, or of one with the same label that
    had its first token.
    """
    strings = StringStore()
    keys = np.array([strings.add(label) for label in layer.labels], dtype=np.uint64)
    iob = np.full(len(stored.table), OUTSIDE, dtype=np.uint64)
    kind = np.zeros(len(iob), dtype=np.uint64)
    iob[layer.missing], iob[layer.blocked] = 0, BEGIN
    sizes = layer.end - layer.begin
    covered = np.arange(sizes.sum()) + np.repeat(layer.begin - np.cumsum(sizes) + sizes, sizes)
    labels = keys[layer.label] if len(keys) else np.zeros(0, dtype=np.uint64)
    iob[covered], kind[covered] = INSIDE, np.repeat(labels, sizes)
    iob[layer.begin] = BEGIN
    old = {attr: stored.column(attr) for attr in (ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID)}
    changed = (iob != old[ENT_IOB]) | (kind != old[ENT_TYPE])
    there = old[ENT_IOB] % 2 == 1
    ends = np.append(old[ENT_IOB][1:] != INSIDE, True)  # the last tokens of entities
    whole = (old[ENT_IOB][layer.begin] == BEGIN) & ends[layer.end - 1]
    inner = np.append(0, np.cumsum(ends))
    whole &= inner[layer.end - 1] == inner[layer.begin]
    same = there[layer.begin] & (whole | (old[ENT_TYPE][layer.begin] == labels))
    columns = {ENT_IOB: iob, ENT_TYPE: kind}
    for attr in (attr for attr in (ENT_KB_ID, ENT_ID) if attr in stored.attrs):
        first = np.where(same, old[attr][layer.begin], np.uint64(0))
        new = np.zeros(len(iob), dtype=np.uint64)
        new[covered] = np.repeat(first, sizes)
        columns[attr] = np.where(changed, new, old[attr])
    used = np.unique(layer.label).tolist()
    return stored.with_columns(columns, [layer.labels[number] for number in used])


def with_group(stored: StoredDocs, key: str, groups: Iterable[DocGroup | None]) -> StoredDocs:
    """Return Docs with another span group of this name: one for each Doc, None for no group.

    Spans that were there before keep their ids, and a group that says the same as before stays.
    """
    strings, pack = StringStore(), msgpack.Packer(use_bin_type=True).pack
    packs, labels = list(stored.groups), set[str]()
    places = _Places(*(places.tolist() for places in stored.characters))
    bounds = stored.bounds.tolist()
    for number, group in enumerate(groups):
        begin, end = bounds[number : number + 2]
        if begin == end:
            continue
        others = members(stored.groups[number])
        if group is None:
            if others.pop(key, None) is None:
                continue
        elif key in others or not _silent(group, end - begin):
            found: dict[str, Any] = {"name": key, "attrs": {}, "spans": []}
            found = unpack(others[key]) if key in others else found
            rows = [ROW.unpack(row) for row in found["spans"]]
            keys = [strings.add(span.label) for span in group.spans]
            spans = [(span.start, span.end, label) for span, label in zip(group.spans, keys)]
            before = _said([(row[3], row[4], row[2]) for row in rows], found["attrs"], end - begin)
            if key in others and before == _said(spans, group.attrs, end - begin):
                continue
            ids = {(row[3], row[4], row[2]): row[:2] for row in reversed(rows)}
            tokens = {(row[3], row[4]): row[:2] for row in reversed(rows)}
            attrs = {name: x for name, x in found["attrs"].items() if name not in OURS}
            made = [
                (*ids.get(x, tokens.get(x[:2], (0, 0))), x[2], *x[:2], *places.of(begin, x))
                for x in spans
            ]
            others[key] = pack_group(found["name"], {**attrs, **group.attrs}, made, pack)
            labels.update(span.label for span in group.spans)
        else:
            continue
        packs[number] = pack(packed(others))
    return stored.with_groups(packs, labels)


class _Places:
    """Where the tokens of a file begin and end in their texts."""

    def __init__(self, begin: list[int], end: list[int]):
        self.begin = begin
        self.end = end

    def of(self, first: int, span: tuple[int, int, int]) -> tuple[int, int]:
        """Return the characters of a span of the Doc whose first token this is."""
        return self.begin[first + span[0]], self.end[first + span[1] - 1]


def _silent(group: DocGroup, tokens: int) -> bool:
    """Return whether a group says nothing of a Doc that has so many tokens."""
    absent = len(group.attrs.get(MISSING_IN, ()))
    return not group.spans and absent == tokens * group.attrs.get(COUNT, 1)


def _said(
    spans: list[tuple[int, int, int]], attrs: Mapping[str, Any], tokens: int
) -> tuple[object, ...]:
    """Return what a group says of a Doc, whatever the order of its spans."""
    try:
        layers, count, missing, blocked = GroupAttrs.of(attrs, len(spans), tokens)
    except AlignmentError:  # nothing that can be compared
        return ()
    numbers = layers or [0] * len(spans)
    count = 0 if layers is None else count
    return sorted(set(zip(spans, numbers))), count, sorted(missing), sorted(blocked)
