"""Span groups as a DocBin stores them, and the attributes that keep layers and missing tokens."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from srsly.msgpack._unpacker import unpackb

from ..arrays import Flags, Offsets, Values
from ..errors import AlignmentError

LAYERS, COUNT = "layers", "layer_count"
"""Attributes of a span group: the layer of each of its spans, and how many layers there are."""
MISSING_IN, BLOCKED_IN = "layer_missing", "layer_blocked"
"""Attributes of a span group that list tokens as [layer, index]."""
OURS = (LAYERS, COUNT, MISSING_IN, BLOCKED_IN)
MOST = 1000  # layers of a group
ROW = struct.Struct(">QQQllll")
COLUMNS = np.dtype(
    [(name, ">u8") for name in ("id", "kb_id", "label")]
    + [(name, ">i4") for name in ("start", "end", "first", "last")]
)
"""A span: three hashes, its tokens and its characters."""
EMPTY = b"\x90"  # no groups


def unpack(data: bytes, use_list: bool = True) -> Any:
    """Return what msgpack holds, with lists, or with tuples as keys of a dict have to be.

    The function of srsly itself scans the entry points at each call.
    """
    return unpackb(data, raw=False, use_list=use_list)


def members(data: bytes) -> dict[str, bytes]:
    """Return the span groups of a Doc by their keys, each packed.

    Early versions of spaCy have written a list of groups, which are called by their names.
    """
    found = unpack(data) if data and data != EMPTY else {}
    if isinstance(found, dict):
        return {key: packed for packed, keys in found.items() for key in keys}
    return {unpack(packed)["name"]: packed for packed in found}


def unpacked(data: bytes) -> dict[str, dict[str, Any]]:
    """Return the span groups of a Doc by their keys: the name, attributes and spans of each."""
    if not data or data == EMPTY:
        return {}
    return {key: unpack(group) for key, group in members(data).items()}


def packed(groups: Mapping[str, bytes]) -> Any:
    """Return what is packed for the span groups of a Doc: each with the keys that it has."""
    found = dict[bytes, list[str]]()
    for key, group in groups.items():
        found.setdefault(group, []).append(key)
    return found or []


def packed_groups(doc: Doc, pack: Callable[[Any], bytes]) -> Any:
    """Return what is packed for the span groups of a Doc."""
    found = dict[str, bytes]()
    for key, group in doc.spans.items():
        rows = ((s.id, s.kb_id, s.label, s.start, s.end, s.start_char, s.end_char) for s in group)
        found[key] = pack_group(group.name, group.attrs, rows, pack)
    return packed(found)


def pack_group(
    name: str, attrs: Mapping[str, Any], rows: Iterable[Sequence[int]], pack: Callable[..., bytes]
) -> bytes:
    """Return one span group as spaCy packs it."""
    return pack({"name": name, "attrs": dict(attrs), "spans": [ROW.pack(*row) for row in rows]})


class GroupAttrs(NamedTuple):
    """What the attributes of a group say: the layer of each span, and tokens [layer, index]."""

    layers: list[int] | None
    depth: int
    missing: list[tuple[int, int]]
    blocked: list[tuple[int, int]]

    @classmethod
    def of(cls, attrs: Mapping[str, Any], spans: int, tokens: int) -> GroupAttrs:
        """Read the attributes of a group with so many spans, in a Doc of so many tokens."""
        if not attrs:
            return cls(None, 1, [], [])
        try:
            layers = [index(number) for number in attrs[LAYERS]] if LAYERS in attrs else None
            numbers = [0] * spans if layers is None else layers
            count = max([index(attrs.get(COUNT, 1)), 1, *(number + 1 for number in numbers)])
            missing, blocked = (
                [(index(layer), index(token)) for layer, token in attrs.get(name, ())]
                for name in (MISSING_IN, BLOCKED_IN)
            )
        except (TypeError, ValueError) as error:
            raise _misfit(attrs) from error
        deepest = count if layers is not None else max(count, spans)
        in_range = all(
            0 <= layer < deepest and 0 <= token < tokens for layer, token in missing + blocked
        )
        if len(numbers) != spans or min(numbers, default=0) < 0 or count > MOST or not in_range:
            raise _misfit(attrs)
        return cls(layers, count, missing, blocked)


def _misfit(attrs: Mapping[str, Any]) -> AlignmentError:
    shown = {name: attrs[name] for name in OURS if name in attrs}
    return AlignmentError(
        f"the attributes do not fit the group: {shown!s:.200}. {LAYERS!r} has one number from 0 "
        "for each span, as convert writes it. Remove them to read the spans without layers."
    )


@dataclass(frozen=True, eq=False)
class StoredGroup:
    """One span group of many Docs: a row for each span, Doc by Doc.

    `there` says which Docs have the group. Docs and tokens are those of the file, counted from 0,
    and labels are hashes. If it is `layered`, `layer` is that of each span, one of `count`.
    `missing` and `blocked` have two rows: layers, and the tokens that are absent in them.
    """

    key: str
    there: Flags
    doc: Offsets
    begin: Offsets
    end: Offsets
    label: Values
    layered: bool
    layer: Offsets
    count: int
    missing: Offsets
    blocked: Offsets

    @classmethod
    def read(
        cls,
        groups: Sequence[Mapping[str, dict[str, Any]]],
        key: str,
        bounds: Offsets,
        place: Callable[[int], str],
    ) -> StoredGroup:
        """Read a group of Docs, whose tokens are `bounds[d]:bounds[d + 1]`."""
        found = [(number, some[key]) for number, some in enumerate(groups) if key in some]
        numbers = np.array([number for number, _ in found], dtype=np.int64)
        doc, rows = span_rows(found, bounds)
        said, sizes = list[GroupAttrs](), [len(group["spans"]) for _, group in found]
        for (number, group), size in zip(found, sizes):
            try:
                tokens = int(bounds[number + 1] - bounds[number])
                said.append(GroupAttrs.of(group["attrs"], size, tokens))
            except AlignmentError as error:
                raise AlignmentError(f"{place(number)}, spans[{key!r}]: {error}") from error
        layered = any(each.layers is not None for each in said) and all(
            each.layers is not None or not size for each, size in zip(said, sizes)
        )
        layers = [n for each, size in zip(said, sizes) for n in each.layers or [0] * size]
        return cls(
            key,
            np.isin(np.arange(len(groups)), numbers),
            doc,
            bounds[doc] + rows["start"],
            bounds[doc] + rows["end"],
            rows["label"].astype(np.uint64),
            layered,
            np.array(layers, dtype=np.int64),
            max((each.depth for each in said), default=1),
            _absent(bounds[numbers], [each.missing for each in said]),
            _absent(bounds[numbers], [each.blocked for each in said]),
        )

    def rows(self, first: int, last: int) -> Offsets:
        """Return the numbers of the spans of neighbouring Docs."""
        return np.arange(*np.searchsorted(self.doc, [first, last]), dtype=np.int64)


def span_rows(
    groups: Sequence[tuple[int, Mapping[str, Any]]], bounds: Offsets
) -> tuple[Offsets, NDArray[Any]]:
    """Return the Doc and the row of each span of groups, which are given with their Docs."""
    sizes = [len(group["spans"]) for _, group in groups]
    doc = np.repeat(np.array([number for number, _ in groups], dtype=np.int64), sizes)
    data = b"".join([span for _, group in groups for span in group["spans"]])
    rows = np.frombuffer(data, dtype=COLUMNS)
    beyond = (rows["start"] < 0) | (rows["end"] < rows["start"])
    if len(rows) != len(doc) or (beyond | (rows["end"] > np.diff(bounds)[doc])).any():
        raise ValueError("a span is beyond its Doc")
    return doc, rows


def _absent(begins: Offsets, listed: Sequence[Sequence[tuple[int, int]]]) -> Offsets:
    """Return layers and tokens as two rows, of Docs whose first tokens are `begins`."""
    pairs = [
        (layer, begin + token)
        for begin, some in zip(begins.tolist(), listed)
        for layer, token in some
    ]
    rows: Offsets = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return rows
