"""What is in an annotated file: its violations, the schemes it fits, its mentions and its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..codes.check import Check
from ..codes.known import Known
from ..codes.policy import Policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.violation import Violation
from .corpus import accepted
from .findings import Finding
from .sentences import Sentences


@dataclass
class Summary:
    """The size of a file, and how often each label occurs."""

    labels: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    missing: int = 0
    repaired: int = 0
    findings: list[Finding] = field(default_factory=list)
    own_scheme: str = ""

    def scheme(self, name: str) -> str:
        """Return the scheme of the source: its own, or the one that somebody names."""
        return get_scheme(self.own_scheme or name or "bio").name

    def measure(self, part: Sentences) -> None:
        """Add the size of one more part."""
        self.documents += len(part.opens)
        self.sentences += len(part)
        self.tokens += part.tokens
        self.missing += 0 if part.missing is None else int(part.missing.sum())
        self.findings += part.findings
        self.own_scheme = part.scheme or self.own_scheme

    def add(self, part: Sentences, known: Known) -> None:
        """Add one more part, and what is known of it."""
        self.measure(part)
        self.findings += part.every_finding(known)[len(part.findings) :]
        spans = known.spans
        numbers = np.bincount(spans.label, minlength=len(spans.labels)).tolist()
        self.labels.update({label: n for label, n in zip(spans.labels, numbers) if n})
        self.repaired += known.violations


def measured(source: Iterable[Sentences], summary: Summary) -> Iterator[Sentences]:
    """Yield the parts of a source, and add their sizes to a summary."""
    for part in source:
        summary.measure(part)
        yield part


def violations(
    source: Iterable[Sentences], scheme: str | Scheme, summary: Summary
) -> Iterator[Violation]:
    """Yield every violation of a source with its place, while it is read and measured."""
    for part in measured(source, summary):
        yield from part.violations(scheme)


def checked(source: Iterable[Sentences], summary: Summary) -> Check:
    """Return under which schemes the tags of a source are legal."""
    check = Check()
    for part in measured(source, summary):
        for layer in part.tags:
            check.add(layer, part.located)
    return check


def summarized(
    source: Iterable[Sentences], scheme: str | Scheme = "", policy: str | Policy = "raise"
) -> Summary:
    """Return the size of a source, and how often each label occurs."""
    found = Summary()
    for part, known in accepted(source, scheme, policy):
        found.add(part, known)
    return found


def mention_counts(
    source: Iterable[Sentences],
    summary: Summary,
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
) -> Counter[tuple[str, str]]:
    """Return how often each label and text occurs in a source, and add to a summary."""
    texts: Counter[tuple[str, str]] = Counter()
    for part, known in accepted(source, scheme, policy):
        summary.add(part, known)
        spans = known.spans
        first = part.offsets[spans.sentence]
        begin, end = (first + spans.start).tolist(), (first + spans.end).tolist()
        names = map(spans.labels.__getitem__, spans.label.tolist())
        texts.update(zip(names, part.words.texts_of(begin, end)))
    return texts


def sentence_texts(source: Iterable[Sentences]) -> Iterator[str]:
    """Yield the sentences of a source as text, their tokens joined by spaces."""
    for part in source:
        bounds = part.offsets.tolist()
        yield from part.words.texts_of(bounds[:-1], bounds[1:], spaces=True)
