"""Annotated files: read as often as somebody asks, part by part, and written in any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..codes.known import Known
from ..codes.parse import refusal
from ..codes.policy import Policy, get_tag_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.violation import Violation
from .files import Progress, shown
from .findings import Finding
from .formats import Format, format_of
from .formats.options import ReadOptions, SaveOptions
from .sentences import Sentences, whole_documents


@dataclass(frozen=True)
class Corpus:
    """A file of annotated sentences. Iterating reads it, part by part; it can be read again."""

    path: str
    options: ReadOptions = field(default_factory=ReadOptions)
    progress: Progress | None = None

    @property
    def name(self) -> str:
        """How messages name the file."""
        return shown(self.path)

    @property
    def format(self) -> Format:
        """The format of the file."""
        return format_of(self.path, self.options.format, self.options)

    def __iter__(self) -> Iterator[Sentences]:
        return self.format.read(self.path, self.options, self.progress)

    def documents(self) -> Iterator[Sentences]:
        """Yield whole documents, some at a time: parts of one document are joined."""
        return whole_documents(self)


def read(path: str | Path, progress: Progress | None = None, **options: object) -> Corpus:
    """Return the sentences of an annotated file; `ReadOptions` lists the options."""
    return Corpus(str(path), ReadOptions(**options), progress)  # type: ignore[arg-type]


def accepted(
    source: Iterable[Sentences], scheme: str | Scheme = "", policy: str | Policy = "raise"
) -> Iterator[tuple[Sentences, Known]]:
    """Yield the parts of a source that the policy accepts, with what is known of them.

    A policy that refuses does so at the end, with every violation of the source in the error; from
    the first violation on there are no more parts.
    """
    rule, found = get_tag_policy(policy), list[Violation]()
    for part in source:
        if rule.refuses and part.tags:
            found += part.violations(scheme)
        if not found:
            yield part, part.known(scheme, rule)
    if found:
        named = get_scheme(scheme or "bio")
        raise refusal(named, sorted(found, key=lambda wrong: wrong.line or 0))


@dataclass
class Saved:
    """What went into a file."""

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    blocked: int = 0
    repaired: int = 0
    findings: list[Finding] = field(default_factory=list)

    def tally(self, parts: Iterable[tuple[Sentences, Known]]) -> Iterator[tuple[Sentences, Known]]:
        """Count parts that pass by."""
        for part, known in parts:
            self.documents += len(part.opens)
            self.sentences += len(part)
            self.tokens += part.tokens
            numbers = np.bincount(known.spans.label, minlength=len(known.spans.labels)).tolist()
            self.labels.update({x: n for x, n in zip(known.spans.labels, numbers) if n})
            self.missing += 0 if known.missing is None else int(known.missing.sum())
            self.blocked += 0 if known.blocked is None else int(known.blocked.sum())
            self.repaired += known.violations
            self.findings += part.findings
            yield part, known


def save(
    source: Iterable[Sentences],
    path: str | Path,
    *,
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
    **options: object,
) -> Saved:
    """Write annotated sentences to a file; `SaveOptions` lists the options.

    Tags of the source are read in a scheme, which it may name itself, under a policy.
    """
    how, done = SaveOptions(**options), Saved()  # type: ignore[arg-type]
    row = format_of(path, how.to)
    left_out = row.save(done.tally(accepted(source, scheme, policy)), path, how)
    done.findings += left_out
    return done
