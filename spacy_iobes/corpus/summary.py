"""The size of annotated sentences, and what they hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Flags
from ..codes.known import Known
from ..codes.scheme import get_scheme
from ..names import counted
from .findings import Finding
from .sentences import Sentences


@dataclass
class Summary:
    """The size of annotated sentences, and how often each label occurs.

    `nested` spans lie inside another one or have the same boundaries, `overlapping` ones share a
    token with another one.
    """

    labels: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    missing: int = 0
    blocked: int = 0
    repaired: int = 0
    nested: int = 0
    overlapping: int = 0
    findings: list[Finding] = field(default_factory=list)
    own_scheme: str = ""

    def scheme(self, name: str) -> str:
        """Return the scheme of the source: its own, or the one that somebody names."""
        return get_scheme(self.own_scheme or name or "bio").name

    @property
    def size(self) -> dict[str, int]:
        """How many documents, sentences and tokens there are."""
        return {name: getattr(self, name) for name in ("documents", "sentences", "tokens")}

    @property
    def counts(self) -> dict[str, int]:
        """How often each label occurs, in the order of their names."""
        return dict(sorted(self.labels.items()))

    def __str__(self) -> str:
        if not self.sentences:
            return "0 sentences: the file holds no tokens"
        words = ", ".join(counted(count, word[:-1]) for word, count in self.size.items())
        return f"{words} ({self.missing:,} not annotated)" if self.missing else words

    def measure(self, part: Sentences) -> None:
        """Add the size of one more part."""
        self.documents += len(part.opens)
        self.sentences += len(part)
        self.tokens += part.tokens
        self.missing += _number(part.missing)
        self.blocked += _number(part.blocked)
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
        if not spans.disjoint:
            nested, overlapping = spans.sharing()
            self.nested += int(nested.sum())
            self.overlapping += int(overlapping.sum())


def _number(flags: Flags | None) -> int:
    return 0 if flags is None else int(flags.sum())
