"""What is in a DocBin file: sizes, entities, span groups and violations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from spacy.tokens import Doc

from ..codes.parse import read_spans
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from ..codes.violation import Violation
from ..span import Span
from .docbin import doc_violations
from .sources import Entities, group_spans
from .tagged import TaggedDocs, sentence_starts


@dataclass
class GroupSurvey:
    """The spans under one key: how many Docs have the group, how often each label occurs.

    `nested` spans lie inside another one or have the same borders, `overlapping` spans share a
    token with another one.
    """

    docs: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    nested: int = 0
    overlapping: int = 0

    def add(self, spans: Sequence[Span]) -> None:
        """Count the group of one Doc."""
        self.docs += 1
        for _, _, label in spans:
            self.labels[label] = self.labels.get(label, 0) + 1
        places = sorted((span.start, -span.end) for span in spans)
        start, end = np.array(places, dtype=np.int64).reshape(-1, 2).T * [[1], [-1]]
        before = np.maximum.accumulate(end)[:-1]
        inside, shares = np.zeros((2, len(places)), dtype=bool)
        inside[1:] |= before >= end[1:]
        inside[:-1] |= (start[1:] == start[:-1]) & (end[1:] == end[:-1])
        shares[1:] |= before > start[1:]
        shares[:-1] |= start[1:] < end[:-1]
        self.nested += int(inside.sum())
        self.overlapping += int(shares.sum())


@dataclass
class DocSurvey:
    """The Docs of a file. Entities are counted as the policy `begin` reads them.

    `crossing` is how many of the entities reach over a sentence border.
    """

    docs: int
    sentences: int
    tokens: int
    labels: dict[str, int]
    missing: int
    blocked: int
    crossing: int
    groups: dict[str, GroupSurvey]
    violations: list[Violation]


def survey_docs(docs: Sequence[Doc], name: str) -> DocSurvey:
    """Count what Docs hold; `name` is that of their file."""
    tagged = TaggedDocs.read(docs, Entities(), get_scheme("bio"))
    spans = _readable(tagged)
    starts = sentence_starts(docs, tagged.whole.offsets)
    starts[tagged.whole.offsets[:-1][np.diff(tagged.whole.offsets) > 0]] = True
    before = np.cumsum(starts)
    first = tagged.whole.offsets[spans.sentence]
    crossing = before[first + spans.start] != before[first + spans.end - 1]
    absent = [tagged.pieces.absent(number) for number in range(len(docs))]
    return DocSurvey(
        docs=len(docs),
        sentences=int(starts.sum()),
        tokens=len(starts),
        labels=dict(Counter(span.label for span in spans.spans())),
        missing=sum(len(missing) for missing, _ in absent),
        blocked=sum(len(blocked) for _, blocked in absent),
        crossing=int(crossing.sum()),
        groups=_groups(docs),
        violations=doc_violations(tagged, name),
    )


def _readable(tagged: TaggedDocs) -> SpanColumns:
    """The entities, where a token without a label is in none."""
    tags = tagged.pieces.tags
    names = tuple("O" if tag == "I-" else tag for tag in tags.tags)
    pieces = CodedTags.trusted(tags.codes, tags.offsets, names)
    return tagged.pieces.in_whole(read_spans(pieces, tagged.scheme, get_policy("begin")))


def _groups(docs: Sequence[Doc]) -> dict[str, GroupSurvey]:
    groups: dict[str, GroupSurvey] = {}
    for doc in docs:
        for key in doc.spans:
            groups.setdefault(str(key), GroupSurvey()).add(group_spans(doc, key))
    return dict(sorted(groups.items()))
