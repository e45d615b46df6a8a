"""From spans to tags: writing, converting and repairing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from ..errors import InexpressibleError, OverlapError, SpanError, SpanRangeError
from ..kernels.tags_numpy import Offsets
from ..span import Span
from .columns import CodedTags, SpanColumns, Tags, ViolationColumns, code_tags
from .parse import read_spans, validate_many
from .policy import Policy, get_policy
from .scheme import Scheme, get_scheme
from .tables import prefix_table, symbols_of
from .tag import tag_names
from .violation import Violation


def write(spans: Iterable[Span], length: int, scheme: str | Scheme) -> list[str]:
    """Tag one sentence of `length` tokens with disjoint spans, given in any order."""
    return write_many([spans], [length], scheme)[0]


def write_many(
    spans: SpanColumns | Iterable[Iterable[Span]], lengths: ArrayLike, scheme: str | Scheme
) -> list[list[str]]:
    """Tag many sentences, given their lengths."""
    sizes = np.asarray(lengths, dtype=np.int64)
    columns = spans if isinstance(spans, SpanColumns) else span_columns(spans)
    if len(columns) != len(sizes):
        raise ValueError(f"Got spans for {len(columns)} sentences but {len(sizes)} lengths.")
    if len(sizes) and sizes.min() < 0:
        raise ValueError(f"A sentence cannot have {sizes.min()} tokens.")
    require_disjoint(columns, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return write_spans(columns, offsets, get_scheme(scheme)).lists()


class Repaired(NamedTuple):
    """One sentence after repair: legal tags, their spans, and what was wrong before."""

    tags: list[str]
    spans: list[Span]
    violations: list[Violation]


class RepairedMany(NamedTuple):
    """Many sentences after repair; each field has one entry for each sentence."""

    tags: list[list[str]] | CodedTags
    spans: SpanColumns
    violations: ViolationColumns


def repair(tags: Sequence[str], scheme: str | Scheme, policy: str | Policy) -> Repaired:
    """Make one sentence legal under a named policy; legal tags stay as they are."""
    repaired, spans, violations = repair_many([tags], scheme, policy)
    return Repaired(next(iter(repaired)), spans[0], violations[0])


def repair_many(sequences: Tags, scheme: str | Scheme, policy: str | Policy) -> RepairedMany:
    """Make many sentences legal under a named policy."""
    scheme, policy = get_scheme(scheme), get_policy(policy)
    coded = code_tags(sequences)
    spans = read_spans(coded, scheme, policy)
    tags = write_spans(spans, coded.offsets, scheme)
    violations = validate_many(coded, scheme)
    return RepairedMany(tags if coded is sequences else tags.lists(), spans, violations)


def convert(
    tags: Sequence[str],
    source: str | Scheme,
    target: str | Scheme,
    policy: str | Policy = "raise",
) -> list[str]:
    """Rewrite one sentence in another scheme, refusing malformed tags unless a policy is named."""
    return convert_many([tags], source, target, policy)[0]


@overload
def convert_many(  # type: ignore[overload-overlap]
    sequences: CodedTags,
    source: str | Scheme,
    target: str | Scheme,
    policy: str | Policy = "raise",
) -> CodedTags: ...


@overload
def convert_many(
    sequences: Iterable[Sequence[str]],
    source: str | Scheme,
    target: str | Scheme,
    policy: str | Policy = "raise",
) -> list[list[str]]: ...


def convert_many(
    sequences: Tags,
    source: str | Scheme,
    target: str | Scheme,
    policy: str | Policy = "raise",
) -> list[list[str]] | CodedTags:
    """Rewrite many sentences in another scheme: lists for lists, codes for codes."""
    coded = code_tags(sequences)
    spans = read_spans(coded, get_scheme(source), get_policy(policy))
    tags = write_spans(spans, coded.offsets, get_scheme(target))
    return tags if coded is sequences else tags.lists()


def write_spans(spans: SpanColumns, offsets: Offsets, scheme: Scheme) -> CodedTags:
    """Tag codes for spans that are known to be sorted and disjoint."""
    symbols = symbols_of(scheme)
    codes, bad = kernels.write(
        spans.sentence,
        spans.start,
        spans.end,
        spans.label,
        offsets,
        prefix_table(scheme),
        symbols[scheme.after] if scheme.after else 0,
        len(scheme.prefixes),
    )
    if bad >= 0:
        a, b = spans.row(bad), spans.row(bad + 1)
        raise _error(
            InexpressibleError,
            spans,
            int(spans.sentence[bad]),
            f"{scheme.name} cannot tell apart {tuple(a)} and {tuple(b)}: they touch and have one "
            "label. Choose a scheme that marks where spans begin or end.",
            a,
            b,
        )
    return CodedTags.trusted(codes, offsets, tag_names(spans.labels, scheme))


def span_columns(spans: Iterable[Iterable[Span]]) -> SpanColumns:
    """Columns of the spans of many sentences, sorted by start within each."""
    labels: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    sentences = 0
    for sentence, members in enumerate(spans):
        for start, end, label in sorted(members):
            if not isinstance(label, str):
                raise TypeError(f"A label is a str, not {label!r}.")
            rows.append((sentence, start, end, labels.setdefault(label, len(labels))))
        sentences = sentence + 1
    columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    a, b, c, d = (np.ascontiguousarray(column) for column in columns)
    return SpanColumns(a, b, c, d, tuple(labels), sentences)


def require_disjoint(spans: SpanColumns, lengths: Offsets) -> None:
    """Raise for the first span that is out of range or shares a token with the one before it."""
    start, end, sentence = spans.start, spans.end, spans.sentence
    wrong = np.flatnonzero((start < 0) | (end <= start) | (end > lengths[sentence]))
    if len(wrong):
        number = int(sentence[wrong[0]])
        span, length = spans.row(wrong[0]), lengths[number]
        reason = f"{tuple(span)} is no span of {length} tokens: 0 <= start < end <= {length}."
        raise _error(SpanRangeError, spans, number, reason, span)
    overlap = np.flatnonzero((sentence[1:] == sentence[:-1]) & (start[1:] < end[:-1]))
    if len(overlap):
        number = int(sentence[overlap[0]])
        a, b = spans.row(overlap[0]), spans.row(overlap[0] + 1)
        reason = f"{tuple(a)} and {tuple(b)} overlap. Tags can only say disjoint spans: keep one."
        raise _error(OverlapError, spans, number, reason, a, b)


def _error(
    kind: type[SpanError], spans: SpanColumns, sentence: int, reason: str, *wrong: Span
) -> SpanError:
    place = f"Sentence {sentence}: " if len(spans) > 1 else ""
    return kind(place + reason, wrong, sentence, reason)
