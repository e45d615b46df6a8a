"""The Docs of a DocBin as the arrays that lie in the file: no Doc is made to read or edit them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.attrs import (
    DEP,
    ENT_ID,
    ENT_IOB,
    ENT_KB_ID,
    ENT_TYPE,
    HEAD,
    IDS,
    LEMMA,
    MORPH,
    NORM,
    ORTH,
    SENT_START,
    SPACY,
    TAG,
)
from spacy.strings import StringStore
from spacy.symbols import NAMES as SYMBOLS
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from srsly import msgpack

from ..arrays import Flags, Ints, Offsets, Values
from .stored_groups import packed_groups, unpack
from .words import Words

VERSION = "0.1"
STRINGS = (ORTH, TAG, DEP, LEMMA, NORM, MORPH, ENT_TYPE, ENT_KB_ID, ENT_ID)
"""What tokens have by the number of a string."""
NO_MORPH = "_"  # is in every vocabulary of spaCy, and in no DocBin
UNKNOWN_SPACES = "has_unknown_spaces"


class StringNumbers:
    """The strings of a file, and the numbers that they have in it.

    spaCy stores hashes, or small numbers for the words that it has itself. Those are spread well,
    so that their last bits find nearly every string in a table.
    """

    def __init__(self, strings: Iterable[str]):
        store = StringStore()
        own = [*SYMBOLS, NO_MORPH, *strings]
        keys = [*range(len(SYMBOLS)), *map(store.add, own[len(SYMBOLS) :])]
        self.names: list[str] = own
        self.place = dict(zip(keys, range(len(keys))))
        self.keys = np.array(keys, dtype=np.uint64)
        size = 1 << (8 * len(keys)).bit_length()
        self.mask = np.uint64(size - 1)
        self.home = np.zeros(size, dtype=np.int32)
        self.home[(self.keys & self.mask).astype(np.intp)] = np.arange(len(keys), dtype=np.int32)

    def of(self, keys: Values) -> Ints:
        """Return the number of the string behind each key; KeyError if the file lacks it."""
        keys = np.ascontiguousarray(keys)
        found: Ints = self.home[(keys & self.mask).astype(np.intp)]
        other = np.flatnonzero(self.keys[found] != keys)
        if len(other):
            some, inverse = np.unique(keys[other], return_inverse=True)
            places = [self.place[key] for key in some.tolist()]
            found[other] = np.array(places, dtype=np.int32)[inverse]
        return found

    def name(self, key: int) -> str:
        """Return the string behind a key; KeyError if the file lacks it."""
        return self.names[self.place[int(key)]]

    @cached_property
    def encoded(self) -> list[bytes]:
        """The strings as UTF-8."""
        return [name.encode("utf8") for name in self.names]

    @cached_property
    def sizes(self) -> Offsets:
        """How many bytes of UTF-8 each string has."""
        return np.fromiter(map(len, self.encoded), np.int64, len(self.encoded))

    @cached_property
    def buffer(self) -> tuple[bytes, Offsets]:
        """All strings end to end as UTF-8, and where each of them begins."""
        return b"".join(self.encoded), np.cumsum(self.sizes) - self.sizes

    @cached_property
    def characters(self) -> Offsets:
        """How many characters each string has."""
        return np.fromiter(map(len, self.names), np.int64, len(self.names))


@dataclass(frozen=True, eq=False)
class StoredDocs:
    """What a DocBin holds: `message` as it lies in the file, and its arrays.

    Doc `d` has the tokens `bounds[d]:bounds[d + 1]`, one row of `table` each, with a column for
    each of `attrs`.
    """

    message: dict[str, Any]
    attrs: list[int]
    table: Values
    bounds: Offsets
    spaces: Flags
    strings: StringNumbers

    @classmethod
    def of(cls, data: bytes) -> StoredDocs:
        """Return the Docs of a DocBin; damage is an error of any kind.

        What another version of spaCy has written is read by the one that is installed.
        """
        message = unpack(zlib.decompress(data))
        attrs = message["attrs"]
        parsed = HEAD in attrs and DEP in attrs and SENT_START not in attrs
        if message.get("version") != VERSION or parsed or not {*attrs} <= {*IDS.values()}:
            box = DocBin().from_bytes(data)
            return cls.of_docs(list(box.get_docs(Vocab())), user_data=True)
        return cls.of_message(message)

    @classmethod
    def of_message(cls, message: dict[str, Any]) -> StoredDocs:
        """Return the arrays of a message that was taken from a file, and check them."""
        attrs: list[int] = message["attrs"]
        lengths = np.frombuffer(message["lengths"], dtype=np.int32).astype(np.int64)
        table = np.frombuffer(message["tokens"], dtype=np.uint64).reshape(-1, len(attrs))
        spaces = np.frombuffer(message["spaces"], dtype=np.bool_)
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        per_doc = [
            message[x] for x in ("cats", "flags", "span_groups", "user_data") if x in message
        ]
        sizes = {len(table), len(spaces), int(bounds[-1])}
        if len(sizes) > 1 or (lengths < 0).any() or any(len(x) != len(lengths) for x in per_doc):
            raise ValueError("its arrays do not fit each other")
        stored = cls(message, attrs, table, bounds, spaces, StringNumbers(message["strings"]))
        for column in map(stored.column, STRINGS):
            if column.any():  # most files have no more than a few of them
                stored.strings.of(column)
        if not stored.column(ORTH).all() or (stored.column(ENT_IOB) > 3).any():
            raise ValueError("a token is empty, or in no state that an entity has")
        return stored

    @classmethod
    def of_docs(cls, docs: Sequence[Doc], user_data: bool = False) -> StoredDocs:
        """Return Docs of one vocabulary as a DocBin stores them, with their user data if asked."""
        attrs: list[Any] = DocBin().attrs
        width = len(attrs)
        tables = [doc.to_array(attrs).reshape(-1, width) for doc in docs]
        table = np.concatenate([np.zeros((0, width), dtype=np.uint64), *tables])
        spaces = np.concatenate([np.zeros(0, dtype=np.uint64), *(x.to_array(SPACY) for x in docs)])
        pack = msgpack.Packer(use_bin_type=True).pack
        strings = {""} if len(table) else set()
        store = docs[0].vocab.strings if docs else StringStore()
        for attr in STRINGS:
            some = [store[key] for key in np.unique(table[:, attrs.index(attr)]).tolist()]
            strings.update("" if attr == MORPH and x == NO_MORPH else x for x in some)
        for span in (span for doc in docs for group in doc.spans.values() for span in group):
            keys = (key for key in (span.kb_id, span.id) if key in store)
            strings.update([span.label_, *(store[key] for key in keys)])
        message = {
            "version": VERSION,
            "attrs": attrs,
            "tokens": table.tobytes(),
            "spaces": spaces.astype(bool).tobytes(),
            "lengths": np.array([len(doc) for doc in docs], dtype=np.int32).tobytes(),
            "strings": sorted(strings),
            "cats": [doc.cats for doc in docs],
            "flags": [{UNKNOWN_SPACES: doc.has_unknown_spaces} for doc in docs],
            "span_groups": [pack(packed_groups(doc, pack)) for doc in docs],
        }
        if user_data:
            message["user_data"] = [pack(doc.user_data) for doc in docs]
        return cls.of_message(message)

    @classmethod
    def joined(cls, several: Sequence[StoredDocs]) -> StoredDocs:
        """Return the Docs of several files, which keep all that they have."""
        if len(several) == 1:
            return several[0]
        attrs = list(dict.fromkeys(attr for stored in several for attr in stored.attrs))
        tables = [np.stack([stored.column(attr) for attr in attrs], axis=1) for stored in several]
        lengths = np.concatenate([np.diff(stored.bounds) for stored in several])
        message = {
            "version": VERSION,
            "attrs": attrs,
            "tokens": np.concatenate(tables).tobytes(),
            "spaces": np.concatenate([stored.spaces for stored in several]).tobytes(),
            "lengths": lengths.astype(np.int32).tobytes(),
            "strings": sorted({name for stored in several for name in stored.message["strings"]}),
        }
        pack = msgpack.Packer(use_bin_type=True).pack
        empty = {"cats": {}, "flags": {}, "span_groups": b"", "user_data": pack({})}
        for name, value in empty.items():
            if any(name in stored.message for stored in several):
                message[name] = [
                    each
                    for stored in several
                    for each in stored.message.get(name, [value] * len(stored))
                ]
        return cls.of_message(message)

    def docs(self, vocab: Vocab, first: int, last: int) -> Iterator[Doc]:
        """Return neighbouring Docs, as spaCy reads them."""
        box: Any = DocBin()
        rows = list(pairwise(self.bounds[first : last + 1].tolist()))
        if not any(known is vocab for known in self._vocabularies):
            self._vocabularies.append(vocab)
            box.strings = set(self.message["strings"])
        box.attrs = self.attrs
        box.tokens = [self.table[begin:end] for begin, end in rows]
        box.spaces = [self.spaces[begin:end].reshape(-1, 1) for begin, end in rows]
        box.cats = [dict(cats) for cats in self.message.get("cats", [{}] * len(self))[first:last]]
        box.flags = (self.message.get("flags") or [{}] * len(self))[first:last]
        box.span_groups, box.user_data = self.groups[first:last], self.user_data[first:last]
        found: Iterator[Doc] = box.get_docs(vocab)
        return found

    def to_bytes(self) -> bytes:
        """Return the DocBin."""
        return zlib.compress(msgpack.packb(self.message, use_bin_type=True))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def column(self, attr: int) -> Values:
        """Return an attribute of all tokens; zeros if the file has none."""
        if attr in self.attrs:
            return self.table[:, self.attrs.index(attr)]
        return np.zeros(len(self.table), dtype=np.uint64)

    @cached_property
    def _vocabularies(self) -> list[Vocab]:
        """The vocabularies that have the strings of the file already."""
        return []

    @cached_property
    def unknown_spaces(self) -> Flags:
        """The Docs of which nobody knows where their tokens have spaces between them."""
        flags = self.message.get("flags") or [{}] * len(self)
        return np.array([bool(each.get(UNKNOWN_SPACES)) for each in flags], dtype=bool)

    @property
    def groups(self) -> list[bytes]:
        """The span groups of each Doc, packed."""
        found: list[bytes] = self.message.get("span_groups") or [b""] * len(self)
        return found

    @property
    def user_data(self) -> list[bytes | None]:
        """The user data of each Doc, packed."""
        found: list[bytes | None] = self.message.get("user_data") or [None] * len(self)
        return found

    def parts(self, size: int) -> list[tuple[int, int]]:
        """Return neighbouring Docs, as (first, last), that have about so many tokens together.

        The spaces are known of all Docs of a part that have tokens, or of none of them.
        """
        filled = np.flatnonzero(np.diff(self.bounds))
        turns = np.flatnonzero(np.diff(self.unknown_spaces[filled])) + 1
        stops = [*filled[turns].tolist(), len(self)]
        found, first = list[tuple[int, int]](), 0
        while first < len(self):
            if first == stops[0]:
                del stops[0]
            enough = int(np.searchsorted(self.bounds, self.bounds[first] + size))
            last = max(min(enough, stops[0]), first + 1)
            found.append((first, last))
            first = last
        return found

    def words(self, first: int, last: int) -> Words:
        """Return the words of neighbouring Docs; verbatim if their spaces are known."""
        begin, end = self.bounds[[first, last]].tolist()
        numbers = self.strings.of(self.column(ORTH)[begin:end])
        sizes, spaces = self.strings.sizes[numbers], self.spaces[begin:end]
        before = np.concatenate([[0], np.cumsum(sizes + spaces)])
        doc = np.repeat(np.arange(last - first), np.diff(self.bounds[first : last + 1]))
        breaks = np.diff(doc, prepend=0, append=last - first)  # one behind each Doc
        gaps = [b" " * (n % 2) + b"\n" * (n // 2) for n in range(2 * int(breaks.max()) + 2)]
        pieces = [b"\n" * int(breaks[0])] * (2 * len(numbers) + 1)
        pieces[1::2] = map(self.strings.encoded.__getitem__, numbers.tolist())
        pieces[2::2] = map(gaps.__getitem__, (spaces + 2 * breaks[1:]).tolist())
        starts = before[:-1] + doc
        where = (starts.astype(np.int32), (starts + sizes).astype(np.int32))
        if self.unknown_spaces[first:last][np.diff(self.bounds[first : last + 1]) > 0].any():
            return Words(b"".join(pieces), *where)
        texts = before[self.bounds[first : last + 1] - begin] + np.arange(last - first + 1)
        return Words(b"".join(pieces), *where, True, texts)

    def spellings(self, first: int, last: int) -> Words:
        """Return the words of neighbouring Docs without the text between them."""
        begin, end = self.bounds[[first, last]].tolist()
        numbers = self.strings.of(self.column(ORTH)[begin:end])
        buffer, places = self.strings.buffer
        starts = places[numbers]
        ends = starts + self.strings.sizes[numbers]
        return Words(buffer, starts.astype(np.int32), ends.astype(np.int32))

    @cached_property
    def characters(self) -> tuple[Offsets, Offsets]:
        """Where each token begins and ends in the text of its Doc, in characters."""
        sizes = self.strings.characters[self.strings.of(self.column(ORTH))]
        unknown = np.repeat(self.unknown_spaces, np.diff(self.bounds))
        before = np.concatenate([[0], np.cumsum(sizes + (self.spaces | unknown))])
        begin = before[:-1] - np.repeat(before[self.bounds[:-1]], np.diff(self.bounds))
        return begin, begin + sizes

    def some(self, docs: Flags) -> StoredDocs:
        """Return some of the Docs, in their order, with all strings."""
        if docs.all():
            return self
        lengths = np.diff(self.bounds)
        tokens = np.repeat(docs, lengths)
        chosen = np.flatnonzero(docs).tolist()
        message = {
            **self.message,
            "tokens": self.table[tokens].tobytes(),
            "spaces": self.spaces[tokens].tobytes(),
            "lengths": lengths[docs].astype(np.int32).tobytes(),
        }
        for name in ("cats", "flags", "span_groups", "user_data"):
            if name in message:
                message[name] = [message[name][number] for number in chosen]
        return self.of_message(message)

    def with_columns(self, columns: dict[int, Values], strings: Iterable[str]) -> StoredDocs:
        """Return the Docs with other attributes of all tokens, and more strings."""
        attrs = [*self.attrs, *(attr for attr in columns if attr not in self.attrs)]
        every = [columns.get(attr, self.column(attr)) for attr in attrs]
        message = self._with_strings(strings)
        table = np.stack(every, axis=1).astype(np.uint64)
        return self.of_message({**message, "attrs": attrs, "tokens": table.tobytes()})

    def with_groups(self, groups: Sequence[bytes], strings: Iterable[str]) -> StoredDocs:
        """Return the Docs with other span groups, which are packed, and more strings."""
        return replace(self, message={**self._with_strings(strings), "span_groups": [*groups]})

    def _with_strings(self, strings: Iterable[str]) -> dict[str, Any]:
        new = {*strings} - {*self.message["strings"]}
        known = self.message["strings"]
        return {**self.message, "strings": sorted([*known, *new]) if new else known}
