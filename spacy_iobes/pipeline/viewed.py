"""What there is to see in a Doc: its raw tags, what is wrong with them, and their repairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from spacy.tokens import Doc

from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..codes.violation import Violation
from ..corpus.sources import Source
from ..corpus.tagged import TaggedDocs, Unit, sentence_starts
from ..errors import MalformedTagsError, UnreadableTagError
from ..span import Span
from .marks import TagChange


@dataclass(frozen=True)
class Repair:
    """What one policy makes of a Doc: spans and changed tags, or why it refuses."""

    policy: Policy
    spans: Sequence[Span] = ()
    changes: Mapping[int, TagChange] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True)
class Viewed:
    """A Doc with its tags as they were read; `cuts` are the tokens that begin another sentence."""

    doc: Doc
    tags: Sequence[str]
    violations: Sequence[Violation]
    repairs: Sequence[Repair]
    cuts: frozenset[int]

    @classmethod
    def read(
        cls, doc: Doc, source: Source, scheme: Scheme, unit: Unit, policies: Sequence[Policy]
    ) -> Viewed:
        """Read a Doc without changing it."""
        tagged = TaggedDocs.read([doc], source, scheme, unit)
        starts = sentence_starts([doc], tagged.whole.offsets) if unit == "sentence" else ()
        return cls(
            doc,
            tagged.whole.lists()[0],
            tagged.violations()[0],
            [repaired(tagged, policy) for policy in policies],
            frozenset(np.flatnonzero(starts).tolist()) - {0},
        )


def repaired(tagged: TaggedDocs, policy: Policy) -> Repair:
    """What a policy makes of the tags of one Doc."""
    try:
        found = tagged.piece_spans(policy)
    except UnreadableTagError as error:
        return Repair(policy, refused=error.reason)
    except MalformedTagsError:
        return Repair(policy, refused="These tags are not legal, and this policy repairs nothing.")
    new = tagged.pieces.write(found, tagged.scheme)
    changes = [TagChange(*change) for _, *change in tagged.pieces.changes(new)]  # type: ignore[arg-type]
    spans = tagged.pieces.in_whole(found)[0]
    return Repair(policy, spans, {change.index: change for change in changes})
