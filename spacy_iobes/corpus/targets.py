"""Where the spans or the tags of a Doc go to, each place under a name that a config can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE
from spacy.tokens import Doc, Token
from spacy.tokens import Span as DocSpan

from ..codes.span_columns import SpanColumns
from ..codes.violation import MISSING
from ..errors import AlignmentError, SpanError, UnknownNameError
from ..span import Span
from .sources import SOURCES, TAGS, offsets_of, shown

COLUMNS = [ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID]
INSIDE, OUTSIDE, BEGIN = 1, 2, 3  # as spaCy numbers them; 0 is missing, BEGIN without label blocked


class Absent(NamedTuple):
    """Which tokens of some Docs, laid end to end, are missing, and which are blocked."""

    missing: NDArray[np.bool_]
    blocked: NDArray[np.bool_]

    @classmethod
    def of(cls, docs: Sequence[Doc], blocked: Sequence[Sequence[int]]) -> Absent:
        """No token is missing, and of each Doc some are blocked."""
        offsets = offsets_of(docs).tolist()
        absent = cls(*(np.zeros(offsets[-1], dtype=bool) for _ in cls._fields))
        for offset, tokens in zip(offsets, blocked) if any(blocked) else ():
            absent.blocked[[offset + token for token in tokens]] = True
        return absent


class SpanTarget(Protocol):
    """Writes the spans of Docs, and which of their tokens are missing and blocked."""

    holds_spans: ClassVar[Literal[True]]

    def write(
        self, doc: Doc, spans: Sequence[Span], missing: Sequence[int], blocked: Sequence[int]
    ) -> None:
        """Replace what one Doc has there."""

    def write_many(
        self, docs: Sequence[Doc], spans: SpanColumns, absent: Absent, some: Iterable[int]
    ) -> None:
        """Replace what some of the Docs have there, given by their numbers; quicker for many."""


class TagTarget(Protocol):
    """Writes the tags of a Doc, one for each token."""

    holds_spans: ClassVar[Literal[False]]

    def write(self, doc: Doc, tags: Sequence[str]) -> None:
        """Replace what the Doc has there."""


@dataclass(frozen=True)
class ToEntities:
    """`doc.ents`; an entity keeps the ids that its first token has as one with the same label."""

    holds_spans: ClassVar[Literal[True]] = True

    def write(
        self, doc: Doc, spans: Sequence[Span], missing: Sequence[int], blocked: Sequence[int]
    ) -> None:
        """Set the entities, the tokens that are missing, and those that are blocked."""
        absent = Absent(*(np.zeros(len(doc), dtype=bool) for _ in Absent._fields))
        absent.missing[list(missing)] = absent.blocked[list(blocked)] = True
        self.write_many([doc], SpanColumns.of([spans], [len(doc)]), absent, [0])

    def write_many(
        self, docs: Sequence[Doc], spans: SpanColumns, absent: Absent, some: Iterable[int]
    ) -> None:
        """The same for some of the Docs."""
        offsets = offsets_of(docs)
        columns: Any = _entity_columns(docs, offsets, spans, absent)
        bounds = offsets.tolist()
        for number in some:
            part = columns[:, bounds[number] : bounds[number + 1]]
            docs[number].from_array(COLUMNS, part.T)


def _entity_columns(
    docs: Sequence[Doc], offsets: NDArray[np.int64], spans: SpanColumns, absent: Absent
) -> NDArray[np.uint64]:
    """The COLUMNS of all tokens of all Docs."""
    columns = np.zeros((len(COLUMNS), offsets[-1]), dtype=np.uint64)
    iob, kind = columns[:2]
    iob.fill(OUTSIDE)
    iob[absent.missing] = 0
    iob[absent.blocked] = BEGIN
    lengths = spans.end - spans.start
    begins = offsets[spans.sentence] + spans.start
    covered = np.arange(lengths.sum()) + np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    labels = _label_keys(docs, spans)[spans.label]
    iob[covered], kind[covered] = INSIDE, np.repeat(labels, lengths)
    iob[begins] = BEGIN
    firsts = zip(spans.sentence.tolist(), spans.start.tolist(), labels.tolist())
    before = [number for number, doc in enumerate(docs) if doc.has_annotation(ENT_TYPE)]
    for span, (number, start, label) in enumerate(firsts if before else ()):
        token = docs[number][start]
        if token.ent_type == label and (token.ent_kb_id or token.ent_id):
            begin, end = begins[span], begins[span] + lengths[span]
            columns[2, begin:end], columns[3, begin:end] = token.ent_kb_id, token.ent_id
    return columns


def _label_keys(docs: Sequence[Doc], spans: SpanColumns) -> NDArray[np.uint64]:
    """The labels as keys of the vocabulary; an entity without one would be no entity."""
    if "" in spans.labels:
        for number in np.flatnonzero(spans.label == spans.labels.index(""))[:1].tolist():
            doc, (start, end, _) = docs[spans.sentence[number]], spans.row(number)
            raise SpanError(
                f"{shown(doc)}, tokens {start} to {end - 1}: a span without a label, and an entity "
                "needs one. Write to spans:KEY, or give the tags labels.",
                [spans.row(number)],
            )
    keys = [0] * len(spans.labels)
    for strings in {id(doc.vocab): doc.vocab.strings for doc in docs}.values():
        keys = [strings.add(label) for label in spans.labels]  # the same in every vocabulary
    return np.array(keys, dtype=np.uint64)


@dataclass(frozen=True)
class ToSpanGroup:
    """`doc.spans[key]`, which knows of no missing or blocked tokens."""

    holds_spans: ClassVar[Literal[True]] = True
    key: str

    def write(
        self, doc: Doc, spans: Sequence[Span], missing: Sequence[int], blocked: Sequence[int]
    ) -> None:
        """Set the group."""
        doc.spans[self.key] = [DocSpan(doc, start, end, label) for start, end, label in spans]

    def write_many(
        self, docs: Sequence[Doc], spans: SpanColumns, absent: Absent, some: Iterable[int]
    ) -> None:
        """The same for some of the Docs."""
        every = list(spans)
        for number in some:
            self.write(docs[number], every[number], (), ())


@dataclass(frozen=True)
class ToUserData:
    """A list in `doc.user_data`."""

    holds_spans: ClassVar[Literal[False]] = False
    key: str = TAGS

    def write(self, doc: Doc, tags: Sequence[str]) -> None:
        """Set the list."""
        doc.user_data[self.key] = list(tags)


@dataclass(frozen=True)
class ToTokenTag:
    """`token.tag_`, from which a `tagger` learns."""

    holds_spans: ClassVar[Literal[False]] = False

    def write(self, doc: Doc, tags: Sequence[str]) -> None:
        """Set the tag of each token; a token that is missing has none."""
        for token, tag in zip(doc, tags):
            token.tag_ = "" if tag == MISSING else tag


@dataclass(frozen=True)
class ToTokenExtension:
    """An extension attribute of each token."""

    holds_spans: ClassVar[Literal[False]] = False
    name: str

    def write(self, doc: Doc, tags: Sequence[str]) -> None:
        """Set the attribute of each token."""
        made = Token.has_extension(self.name) and Token.get_extension(self.name)
        if not made or (made[2] and not made[3]):  # it has a getter, but no setter
            raise AlignmentError(
                f"Tokens have no extension {self.name!r} that can be set: "
                f"Token.set_extension({self.name!r}, default=None) makes one."
            )
        for token, tag in zip(doc, tags):
            token._.set(self.name, tag)


_PLAIN: dict[str, Callable[[], SpanTarget | TagTarget]] = {
    "ents": ToEntities,
    "user_data": ToUserData,
    "tag": ToTokenTag,
}
_KEYED: dict[str, Callable[[str], SpanTarget | TagTarget]] = {
    "spans": ToSpanGroup,
    "user_data": ToUserData,
    "token": ToTokenExtension,
}
SPAN_TARGETS = ("ents", "spans:KEY")


def get_target(name: str) -> SpanTarget | TagTarget:
    """The target behind a name such as `ents`, `spans:KEY`, `user_data`, `tag` or `token:NAME`."""
    kind, colon, key = name.partition(":")
    if key and kind in _KEYED:
        return _KEYED[kind](key)
    if not colon and kind in _PLAIN:
        return _PLAIN[kind]()
    known = ", ".join(SOURCES)
    raise UnknownNameError(f"Unknown place to write to {name!r}. Known: {known}.", name, SOURCES)


def get_tag_target(name: str) -> TagTarget:
    """Return the target behind a name that holds tags, such as `tag` or `user_data`."""
    target = get_target(name)
    if target.holds_spans:
        raise UnknownNameError(f"{name!r} holds no tags.", name, (*_PLAIN, *_KEYED))
    return target


def get_span_target(name: str) -> SpanTarget:
    """The same, for a place that holds spans."""
    target = get_target(name)
    if not target.holds_spans:
        known = ", ".join(SPAN_TARGETS)
        raise UnknownNameError(f"{name!r} holds no spans. Known: {known}.", name, SPAN_TARGETS)
    return target
