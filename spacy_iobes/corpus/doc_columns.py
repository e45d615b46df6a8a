"""The entities or a span group of Docs as columns of tags, one for each layer of spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc

from ..codes.policy import POLICIES, Policy
from ..codes.scheme import Scheme, get_scheme
from ..errors import (
    AlignmentError,
    InexpressibleError,
    SpanError,
    UnknownNameError,
    UnreadableTagError,
)
from .docbin import HERE, doc_violations, malformed_docs
from .layers import group_columns
from .sources import Entities, offsets_of
from .tagged import TaggedDocs, Unit, sentence_starts

TagColumns = list[list[str]]
"""One or more tags for each token of a Doc, column by column."""


@dataclass(frozen=True)
class DocFile:
    """Docs and the name of the file that they are from, for messages; spans are bound by `unit`."""

    name: str
    docs: Sequence[Doc]
    unit: Unit = "sentence"

    def bounds(self) -> Iterator[list[int]]:
        """Where the sentences of each Doc begin, and the last one ends."""
        for doc in self.docs:
            starts = np.zeros(len(doc), dtype=bool)
            if self.unit == "sentence":
                starts = sentence_starts([doc], offsets_of([doc]))
            starts[:1] = True
            yield [*np.flatnonzero(starts).tolist(), len(doc)]

    def require_group(self, key: str) -> None:
        """Raise if no Doc has a span group of that name."""
        keys = sorted({str(key) for doc in self.docs for key in doc.spans})
        if key not in keys and any(len(doc) for doc in self.docs):
            known = ", ".join(map(repr, keys)) or "no groups at all"
            raise UnknownNameError(
                f"{self.name}: no Doc has a span group {key!r}. There are: {known}.", key, keys
            )

    def entity_columns(self, scheme: Scheme, policy: Policy) -> tuple[list[TagColumns], int]:
        """The entities of each Doc as tags, and how many violations the policy has repaired."""
        tagged = TaggedDocs.read(self.docs, Entities(), get_scheme("bio"), self.unit)
        if tagged.pieces.missing.all() and any(doc.spans for doc in self.docs):
            groups = ", ".join(sorted({repr(str(key)) for doc in self.docs for key in doc.spans}))
            raise UnknownNameError(
                f"{self.name}: no token has an entity annotation, but there are span groups: "
                f"{groups}. Name one (--spans-key).",
                "ents",
            )
        violations = doc_violations(tagged, self.name)
        if policy.refuses and violations:
            raise malformed_docs(violations, HERE)
        try:
            new = tagged.pieces.write(tagged.pieces.spans(policy), scheme)
        except UnreadableTagError as error:
            place = f"{self.name}, Doc {error.sentence}, token {error.index}"
            raise UnreadableTagError(f"{place}: {error.reason}", error.tag) from error
        except InexpressibleError as error:
            message = f"{self.name}, Doc {error.sentence}: {error.reason}"
            raise InexpressibleError(message, error.spans) from error
        return [[tags] for tags in tagged.pieces.restored(new).lists()], len(violations)

    def group_columns(self, key: str, scheme: Scheme, count: int | None = None) -> list[TagColumns]:
        """The spans of a group of each Doc as tags, in as many columns as the deepest Doc needs."""
        self.require_group(key)
        found = []
        for number, (doc, bounds) in enumerate(zip(self.docs, self.bounds())):
            place = f"{self.name}, Doc {number}, spans[{key!r}]: "
            try:
                found.append(group_columns(doc, key, scheme, bounds, count))
            except SpanError as error:
                raise type(error)(place + str(error), error.spans) from error
            except AlignmentError as error:
                raise AlignmentError(place + str(error)) from error
        widest = max(map(len, found), default=count or 1)
        for doc, columns in zip(self.docs, found):
            columns += [["O"] * len(doc) for _ in range(widest - len(columns))]
        return found


def columns_of(
    file: DocFile,
    scheme: Scheme,
    policy: Policy = POLICIES["raise"],
    key: str = "",
    count: int | None = None,
) -> tuple[list[TagColumns], int]:
    """The tags of each Doc, from its entities or a span group, and the violations repaired."""
    if key:
        return file.group_columns(key, scheme, count), 0
    return file.entity_columns(scheme, policy)
