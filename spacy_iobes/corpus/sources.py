"""Where the tags of a Doc come from, each place under a name that a config can hold.

Reading never touches `doc.ents`, which raises for or silently changes what is malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, ENT_TYPE, TAG
from spacy.tokens import Doc, Token

from ..codes.scheme import Scheme
from ..codes.tag_columns import CodedTags, code_tags
from ..codes.violation import BLOCKED, MISSING
from ..codes.write import write
from ..errors import AlignmentError, SpanError, UnknownNameError
from ..span import Span

TAGS = "iobes_tags"  # the key of `doc.user_data` that holds tags unless another one is named


class Source(Protocol):
    """Reads the tags of some Docs, `-` and `!` among them: one sequence for each Doc."""

    def read(self, docs: Sequence[Doc], scheme: Scheme) -> CodedTags:
        """The tags; a source that holds spans writes them in the scheme."""


def shown(doc: Doc) -> str:
    """A Doc in a message: its first words."""
    text = " ".join(token.text for token in doc[:8])
    return f"the Doc {text + ' …' * (len(doc) > 8)!r}"


@dataclass(frozen=True)
class UserData:
    """A list of tags in `doc.user_data`, one for each token; None and "" are read as `-`."""

    key: str = TAGS

    def read(self, docs: Sequence[Doc], scheme: Scheme) -> CodedTags:
        """The lists of all Docs."""
        return coded_lists(docs, [self._list(doc) for doc in docs])

    def _list(self, doc: Doc) -> Sequence[str]:
        tags = doc.user_data.get(self.key)
        if tags is None and len(doc):
            raise AlignmentError(
                f"{shown(doc)} has no tags: put a list of {len(doc)} into "
                f"doc.user_data[{self.key!r}], or name another source."
            )
        if not isinstance(tags, (list, tuple, type(None))):
            raise TypeError(f"doc.user_data[{self.key!r}] is a list of tags, not {tags!r}.")
        found: Sequence[str] = require_length(doc, tags or (), f"doc.user_data[{self.key!r}]")
        return found


@dataclass(frozen=True)
class TokenTag:
    """The fine-grained tag of each token, which a `tagger` trained on span tags predicts."""

    def read(self, docs: Sequence[Doc], scheme: Scheme) -> CodedTags:
        """`token.tag_` of all Docs; a token without one is `-`."""
        offsets = offsets_of(docs)
        arrays = [doc.to_array(TAG) for doc in docs]
        keys = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.uint64)
        found, codes = np.unique(keys, return_inverse=True)
        names = tuple(string or MISSING for string in strings_of(docs, found))
        return CodedTags.trusted(codes.astype(np.int32), offsets, names)


@dataclass(frozen=True)
class TokenExtension:
    """An extension attribute of each token: convenient, and much slower than a list."""

    name: str

    def read(self, docs: Sequence[Doc], scheme: Scheme) -> CodedTags:
        """`token._.<name>` of all Docs."""
        if not Token.has_extension(self.name):
            raise AlignmentError(
                f"Tokens have no extension {self.name!r}: "
                f"Token.set_extension({self.name!r}, default=None) makes one."
            )
        return coded_lists(docs, [[token._.get(self.name) for token in doc] for doc in docs])


@dataclass(frozen=True)
class Entities:
    """The entities as the Doc stores them, token by token, malformed or not: B, I and O."""

    def read(self, docs: Sequence[Doc], scheme: Scheme) -> CodedTags:
        """The tags of all Docs; what is not annotated is `-`, what is blocked is `!`."""
        require_bio(scheme)
        arrays = [doc.to_array([ENT_IOB, ENT_TYPE]) for doc in docs]
        stored = np.concatenate(arrays) if arrays else np.zeros((0, 2), dtype=np.uint64)
        iob, kind = stored[:, 0].astype(np.int32), stored[:, 1]
        codes = np.array([0, 4, 2, 3], dtype=np.int32)[iob]  # missing, I, O, B
        entity = np.flatnonzero((iob & 1) & (kind != 0))  # B or I, with a label
        labels, numbers = np.unique(kind[entity], return_inverse=True)
        codes[entity] += 2 * (numbers.astype(np.int32) + 1)
        pairs = [f"{prefix}-{label}" for label in strings_of(docs, labels) for prefix in "BI"]
        names = (MISSING, "unused", "O", BLOCKED, "I-", *pairs)
        return CodedTags.trusted(codes, offsets_of(docs), names)


def entity_labels(doc: Doc) -> set[str]:
    """The labels of the entities of a Doc, malformed ones among them."""
    iob, kind = doc.to_array([ENT_IOB, ENT_TYPE]).reshape(-1, 2).T
    return {doc.vocab.strings[key] for key in set(kind[iob % 2 == 1].tolist()) - {0}}


@dataclass(frozen=True)
class SpanGroup:
    """A span group: disjoint spans, written as tags."""

    key: str

    def read(self, docs: Sequence[Doc], scheme: Scheme) -> CodedTags:
        """The tags of all Docs; a group that is not there is an empty one."""
        return code_tags([self._tags(doc, scheme) for doc in docs])

    def _tags(self, doc: Doc, scheme: Scheme) -> list[str]:
        try:
            return write(group_spans(doc, self.key), len(doc), scheme)
        except SpanError as error:
            message = f"{shown(doc)}, doc.spans[{self.key!r}]: {error.reason}"
            raise type(error)(message, error.spans, 0, error.reason) from error


def group_spans(doc: Doc, key: str) -> list[Span]:
    """The spans of a group, or none if the Doc has no such group."""
    group = doc.spans.get(key, ())
    return [Span(span.start, span.end, span.label_) for span in group]


def require_bio(scheme: Scheme) -> None:
    """Refuse to read entities as anything but what they are."""
    if scheme.name != "bio":
        raise UnknownNameError(
            f"Entities of a Doc are stored as bio, not {scheme.name}. Read them with the "
            "scheme bio; iobes_converter writes them in any other.",
            scheme.name,
            ["bio"],
        )


def strings_of(docs: Sequence[Doc], keys: NDArray[np.uint64]) -> list[str]:
    """The strings behind keys of the Docs, which need not share their vocabulary."""
    stores = list({id(doc.vocab): doc.vocab.strings for doc in docs}.values())
    homes = ((next((s for s in stores if key in s), stores[0]), key) for key in keys.tolist())
    return [home[key] for home, key in homes]


def offsets_of(docs: Sequence[Doc]) -> NDArray[np.int64]:
    """Where the tokens of each Doc begin when they are laid end to end."""
    return np.cumsum([0, *map(len, docs)], dtype=np.int64)


def require_length(doc: Doc, tags: Any, place: str) -> Any:
    """The tags, if there is one for each token."""
    if len(tags) != len(doc):
        raise AlignmentError(
            f"{shown(doc)} has {len(doc)} tokens but {len(tags)} tags in {place}: "
            "there must be one tag for each token."
        )
    return tags


def coded_lists(docs: Sequence[Doc], lists: list[Sequence[Any]]) -> CodedTags:
    """Lists of tags as codes, None and "" as `-`."""
    try:
        coded = code_tags(lists)
    except TypeError:  # because of None, or of what is no tag
        coded = code_tags([_strings(doc, tags) for doc, tags in zip(docs, lists)])
    names = tuple(tag or MISSING for tag in coded.tags)
    return CodedTags.trusted(coded.codes, coded.offsets, names)


def _strings(doc: Doc, tags: Sequence[Any]) -> list[str]:
    for number, tag in enumerate(tags):
        if tag is not None and not isinstance(tag, str):
            raise TypeError(f"{shown(doc)}, token {number}: a tag is a str, not {tag!r}.")
    return [MISSING if tag is None else tag for tag in tags]


_PLAIN: dict[str, Callable[[], Source]] = {
    "user_data": UserData,
    "tag": TokenTag,
    "ents": Entities,
}
_KEYED: dict[str, Callable[[str], Source]] = {
    "user_data": UserData,
    "token": TokenExtension,
    "spans": SpanGroup,
}
SOURCES = ("user_data", "user_data:KEY", "ents", "tag", "token:NAME", "spans:KEY")
"""How a config names a place that holds tags or spans."""


def get_source(name: str, scheme: Scheme | None = None) -> Source:
    """The source behind a name such as `user_data`, `ents`, `tag`, `token:NAME` or `spans:KEY`.

    With a scheme: one that can be read in that scheme.
    """
    if name == "ents" and scheme:
        require_bio(scheme)
    kind, colon, key = name.partition(":")
    if key and kind in _KEYED:
        return _KEYED[kind](key)
    if not colon and kind in _PLAIN:
        return _PLAIN[kind]()
    raise UnknownNameError(
        f"Unknown place for tags {name!r}. Known: {', '.join(SOURCES)}.", name, SOURCES
    )
