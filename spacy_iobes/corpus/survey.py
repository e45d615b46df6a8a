"""What is in a column file: its violations, the schemes it fits, its mentions and its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..codes.check import Check
from ..codes.parse import parse_many, validate_many
from ..codes.policy import Policy, get_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.violation import Violation
from .batch import batches, readable_batches
from .conll import ColumnReader


def file_violations(reader: ColumnReader, scheme: str | Scheme) -> Iterator[Violation]:
    """Every violation of a file, with its line and token, while the file is read."""
    for batch in batches(reader):
        yield from batch.located(validate_many(batch.tags, scheme))


def file_check(reader: ColumnReader, check: Check | None = None) -> Check:
    """Under which schemes a file is legal; several files add up in one check."""
    check = check or Check()
    for batch in batches(reader):
        check.add(batch.tags, batch.located)
    return check


@dataclass
class Mentions:
    """The mentions of some files: how often each label and each text of a label occurs."""

    texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    repaired: int = 0


def file_mentions(
    reader: ColumnReader, scheme: str | Scheme, policy: str | Policy = "raise"
) -> Mentions:
    """Count the mentions of a file."""
    scheme, policy = get_scheme(scheme), get_policy(policy)
    found = Mentions()
    for batch in readable_batches(reader, scheme, policy):
        tags = batch.tags
        with batch.locating():
            spans = parse_many(tags, scheme, policy)
        if not policy.refuses:
            found.repaired += validate_many(tags, scheme).total
        for block, members in zip(batch.blocks, spans):
            for start, end, label in members:
                found.texts[label, " ".join(block.tokens[start:end])] += 1
                found.labels[label] += 1
    found.documents, found.sentences, found.tokens = (
        reader.documents,
        reader.sentences,
        reader.tokens,
    )
    return found


def file_text(reader: ColumnReader) -> Iterator[str]:
    """The sentences of a file as text, their tokens joined by spaces."""
    return (" ".join(block.tokens) for block in reader if block.rows)
