"""Where the spans or the tags of a Doc go to, each place under a name that a config can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from spacy.tokens import Doc, Token
from spacy.tokens import Span as DocSpan

from ..errors import AlignmentError, UnknownNameError
from ..span import Span
from .sources import SOURCES, TAGS


class SpanTarget(Protocol):
    """Writes the spans of a Doc, and which of its tokens are missing and blocked."""

    holds_spans: ClassVar[Literal[True]]

    def write(
        self, doc: Doc, spans: Sequence[Span], missing: Sequence[int], blocked: Sequence[int]
    ) -> None:
        """Replace what the Doc has there."""


class TagTarget(Protocol):
    """Writes the tags of a Doc, one for each token."""

    holds_spans: ClassVar[Literal[False]]

    def write(self, doc: Doc, tags: Sequence[str]) -> None:
        """Replace what the Doc has there."""


@dataclass(frozen=True)
class ToEntities:
    """`doc.ents`; an entity that was there before keeps its ids."""

    holds_spans: ClassVar[Literal[True]] = True

    def write(
        self, doc: Doc, spans: Sequence[Span], missing: Sequence[int], blocked: Sequence[int]
    ) -> None:
        """Set the entities, the tokens that are missing, and those that are blocked."""
        entities = []
        for start, end, label in spans:
            token = doc[start]
            keeps = token.ent_type_ == label
            kb_id, span_id = (token.ent_kb_id, token.ent_id) if keeps else (0, 0)
            entities.append(DocSpan(doc, start, end, label, kb_id=kb_id, span_id=span_id))
        unknown, never = ([doc[i : i + 1] for i in rows] for rows in (missing, blocked))
        doc.set_ents(entities, missing=unknown, blocked=never, default="outside")


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
        """Set the tag of each token."""
        for token, tag in zip(doc, tags):
            token.tag_ = tag


@dataclass(frozen=True)
class ToTokenExtension:
    """An extension attribute of each token."""

    holds_spans: ClassVar[Literal[False]] = False
    name: str

    def write(self, doc: Doc, tags: Sequence[str]) -> None:
        """Set the attribute of each token."""
        if not Token.has_extension(self.name):
            raise AlignmentError(
                f"Tokens have no extension {self.name!r}: "
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


def get_span_target(name: str) -> SpanTarget:
    """The same, for a place that holds spans."""
    target = get_target(name)
    if not target.holds_spans:
        known = ", ".join(SPAN_TARGETS)
        raise UnknownNameError(f"{name!r} holds no spans. Known: {known}.", name, SPAN_TARGETS)
    return target
