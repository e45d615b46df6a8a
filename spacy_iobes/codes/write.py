"""From spans to tags: writing, converting and repairing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import NamedTuple, overload

import numpy as np

from .. import kernels
from ..arrays import Offsets
from ..errors import InexpressibleError, OverlapError
from ..span import Span
from .annotated_runs import keep_absent
from .best import TagScores, weighed
from .parse import read_spans, validate_many
from .policy import POLICIES, Policy, get_policy, get_tag_policy
from .scheme import Scheme, get_scheme
from .silent import hushed
from .span_columns import Given, SpanColumns, checked_span, span_error
from .tables import prefix_table, symbols_of
from .tag import tag_names
from .tag_columns import CodedTags, Tags, ViolationColumns, code_tags
from .violation import Violation


def write(spans: Iterable[Given], length: int, scheme: str | Scheme) -> list[str]:
    """Tag one sentence of `length` tokens with disjoint spans, given in any order."""
    return write_many([spans], [length], scheme)[0]


def write_many(
    spans: SpanColumns | Iterable[Iterable[Given]], lengths: Iterable[int], scheme: str | Scheme
) -> list[list[str]]:
    """Tag many sentences, given their lengths."""
    columns, sizes = sized(spans, lengths)
    require_disjoint(columns, sizes)
    offsets = np.cumsum([0, *sizes.tolist()], dtype=np.int64)
    return write_spans(columns, offsets, get_scheme(scheme)).lists()


def sized(
    spans: SpanColumns | Iterable[Iterable[Given]], lengths: Iterable[int]
) -> tuple[SpanColumns, Offsets]:
    """The spans as columns, and the lengths of their sentences."""
    sizes = [index(length) for length in lengths]
    if min(sizes, default=0) < 0:
        raise ValueError(f"A sentence cannot have {min(sizes)} tokens.")
    given = spans if isinstance(spans, SpanColumns) else list(spans)
    if len(given) != len(sizes):
        raise ValueError(f"Got spans for {len(given)} sentences but {len(sizes)} lengths.")
    columns = given if isinstance(given, SpanColumns) else SpanColumns.of(given, sizes)
    return columns, np.array(sizes, dtype=np.int64)


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


def repair(
    tags: Sequence[str],
    scheme: str | Scheme,
    policy: str | Policy,
    scores: TagScores | None = None,
) -> Repaired:
    """Make one sentence legal under a named policy; legal tags stay as they are.

    The policy `best` needs the `scores` that a model gave to every tag.
    """
    if scores is not None and not isinstance(scores, TagScores):
        raise TypeError(
            f"Scores are TagScores(tags, values), or TagScores.of(dicts), not {scores!r:.60}."
        )
    given = None if scores is None else [scores]
    repaired, spans, violations = repair_many([tags], scheme, policy, given)
    return Repaired(next(iter(repaired)), spans[0], violations[0])


def repair_many(
    sequences: Tags,
    scheme: str | Scheme,
    policy: str | Policy,
    scores: Sequence[TagScores] | None = None,
) -> RepairedMany:
    """Make many sentences legal under a named policy; `best` needs their scores."""
    scheme, policy = get_scheme(scheme), get_policy(policy)
    if (scores is not None) != policy.weighs:
        raise TypeError(
            f"The policy {policy.name!r} "
            + ("needs scores for every tag." if policy.weighs else "takes no scores; 'best' does.")
        )
    coded = code_tags(sequences)
    legal = coded if scores is None else weighed(coded, scheme, scores)
    spans = read_spans(legal, scheme, POLICIES["raise"] if policy.weighs else policy)
    tags = keep_absent(coded, write_spans(spans, coded.offsets, scheme))
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
    spans = read_spans(coded, get_scheme(source), get_tag_policy(policy))
    tags = keep_absent(coded, write_spans(spans, coded.offsets, get_scheme(target)))
    return tags if coded is sequences else tags.lists()


def write_spans(spans: SpanColumns, offsets: Offsets, scheme: Scheme) -> CodedTags:
    """Tag codes for spans that are known to be sorted and disjoint."""
    return hushed(write_states(spans, offsets, scheme), scheme)


def write_states(spans: SpanColumns, offsets: Offsets, scheme: Scheme) -> CodedTags:
    """The same with silent tags: codes of the `tag_names` of the labels."""
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
        raise span_error(
            InexpressibleError,
            len(spans),
            int(spans.sentence[bad]),
            f"{scheme.name} cannot tell apart {tuple(a)} and {tuple(b)}: they touch and have one "
            "label. Choose a scheme that marks where spans begin or end.",
            a,
            b,
        )
    return CodedTags.trusted(codes, offsets, tag_names(spans.labels, scheme))


def require_in_range(spans: SpanColumns, lengths: Offsets) -> None:
    """Raise for the first span that is empty or goes beyond its sentence."""
    start, end, sentence = spans.start, spans.end, spans.sentence
    for wrong in np.flatnonzero((start < 0) | (end <= start) | (end > lengths[sentence]))[:1]:
        checked_span(spans.row(wrong), lengths[sentence[wrong]], int(sentence[wrong]), len(spans))


def require_disjoint(spans: SpanColumns, lengths: Offsets) -> None:
    """Raise for the first span that is out of range or shares a token with the one before it."""
    require_in_range(spans, lengths)
    start, end, sentence = spans.start, spans.end, spans.sentence
    for wrong in np.flatnonzero((sentence[1:] == sentence[:-1]) & (start[1:] < end[:-1]))[:1]:
        a, b = spans.row(wrong), spans.row(wrong + 1)
        reason = f"{tuple(a)} and {tuple(b)} overlap. Tags can only say disjoint spans: keep one."
        raise span_error(OverlapError, len(spans), int(sentence[wrong]), reason, a, b)
