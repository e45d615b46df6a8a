"""What is in a column file: its violations, the schemes it fits, its mentions and its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..codes.check import Check
from ..codes.parse import read_spans, refusal, validate_many
from ..codes.policy import Policy, get_tag_policy
from ..codes.scheme import SCHEMES, Scheme, get_scheme
from ..codes.tag import read_tag
from ..codes.violation import Violation
from .conll import ColumnReader, Columns, Part
from .inputs import is_stream


def file_violations(reader: ColumnReader, scheme: str | Scheme) -> Iterator[Violation]:
    """Every violation of a file, with its line and token, while the file is read."""
    for part in reader:
        yield from part.located(validate_many(part.tags, scheme))


def accepted(reader: ColumnReader, scheme: Scheme, policy: Policy) -> Iterator[Part]:
    """The parts of a file that the policy accepts.

    A policy that refuses does so at the end of the file, with every violation of the file in the
    error; from the first violation on there are no more parts.
    """
    found: list[Violation] = []
    for part in reader:
        if policy.refuses:
            found += part.located(validate_many(part.tags, scheme))
        if not found:
            yield part
    if found:
        error = refusal(scheme, found)
        error.schemes = likely_schemes(reader.path, [reader.columns], scheme)
        raise error


def file_check(reader: ColumnReader) -> Check:
    """Under which schemes a file is legal."""
    check = Check()
    for part in reader:
        check.add(part.tags, part.located)
    return check


def likely_schemes(path: str | Path, columns: Iterable[Columns], scheme: Scheme) -> tuple[str, ...]:
    """The schemes that a malformed file seems to be written in, in place of the one named.

    It is legal under them, in each of the `columns`; or they have all of its tags and a tenth of
    the violations at most. A pipe is not read again.
    """
    if is_stream(str(path)):
        return ()
    found = [_likely(ColumnReader(path, each), scheme) for each in columns]
    return common(found, scheme)


def common(found: Sequence[Collection[str]], scheme: Scheme) -> tuple[str, ...]:
    """The schemes that are in each of some lists, but for the one named."""
    every = found and set.intersection(*map(set, found)) - {scheme.name}
    return tuple(name for name in SCHEMES if name in every)


def _likely(reader: ColumnReader, scheme: Scheme) -> list[str]:
    check = file_check(reader)
    if check.legal:
        return check.legal
    tags = reader.tag_names()
    few = check.schemes[scheme.name].violations // 10
    rows = [
        row
        for name, row in check.schemes.items()
        if row.violations <= few and all(read_tag(tag, SCHEMES[name]) for tag in tags)
    ]
    fewest = min((row.violations for row in rows), default=0)
    return [row.scheme for row in rows if row.violations == fewest]


@dataclass
class Mentions:
    """The mentions of a file: how often each label and each text of a label occurs."""

    texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    missing: int = 0
    repaired: int = 0


def file_mentions(
    reader: ColumnReader, scheme: str | Scheme, policy: str | Policy = "raise"
) -> Mentions:
    """Count the mentions of a file."""
    scheme, policy = get_scheme(scheme), get_tag_policy(policy)
    found = Mentions()
    for part in accepted(reader, scheme, policy):
        with part.locating():
            spans = read_spans(part.tags, scheme, policy)
        if not policy.refuses:
            found.repaired += validate_many(part.tags, scheme).total
        for sentence, (start, end, label) in zip(spans.sentence.tolist(), spans.spans()):
            found.texts[label, part.text(sentence, start, end)] += 1
            found.labels[label] += 1
    found.documents, found.sentences = reader.documents, reader.sentences
    found.tokens, found.missing = reader.tokens, reader.missing
    return found


def file_text(reader: ColumnReader) -> Iterator[str]:
    """The sentences of a file as text, their tokens joined by spaces."""
    return (part.text(sentence) for part in reader for sentence in range(len(part.tags)))
