"""From tags to spans, and what is illegal about the tags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import kernels
from ..arrays import Ints
from ..errors import SHOWN, MalformedTagsError
from ..kernels import bits
from ..span import Span
from .annotated_runs import annotated_runs
from .policy import POLICIES, Policy, get_tag_policy
from .scheme import Scheme, get_scheme
from .silent import filled
from .span_columns import SpanColumns
from .tables import Packed, gap_table, pack_states, pack_tags, silent_symbols
from .tag_columns import CodedTags, Tags, ViolationColumns, code_tags
from .violation import Violation


def parse(tags: Sequence[str], scheme: str | Scheme, policy: str | Policy = "raise") -> list[Span]:
    """Read the spans of one sentence; malformed tags become what `policy` makes of them."""
    return parse_many([tags], scheme, policy).spans()


def parse_many(
    sequences: Tags, scheme: str | Scheme, policy: str | Policy = "raise"
) -> SpanColumns:
    """Read the spans of many sentences into columns."""
    return read_spans(code_tags(sequences), get_scheme(scheme), get_tag_policy(policy))


def validate(tags: Sequence[str], scheme: str | Scheme) -> list[Violation]:
    """List every violation in one sentence, in order."""
    return validate_many([tags], scheme)[0]


def validate_many(sequences: Tags, scheme: str | Scheme) -> ViolationColumns:
    """List every violation in many sentences."""
    scheme = get_scheme(scheme)
    coded = code_tags(sequences)
    runs = annotated_runs(coded)
    codes, tags = filled(runs.tags, pack_tags(coded.tags, scheme), scheme)
    table = gap_table(scheme, POLICIES["raise"])
    sentence, index = kernels.violations(codes, runs.tags.offsets, tags, table)
    if runs.tags is not coded:
        sentence, shift = runs.shifts(sentence)
        index = index + shift
    return ViolationColumns(sentence, index, coded, scheme)


def read_spans(coded: CodedTags, scheme: Scheme, policy: Policy) -> SpanColumns:
    """The spans that the policy finds; raises for unreadable tags and for what it refuses.

    No span covers a token that is marked as missing (`-`) or blocked (`!`).
    """
    policy = get_tag_policy(policy)
    packed = coded.packed(scheme)
    runs = annotated_runs(coded)
    codes, tags = filled(runs.tags, packed, scheme, policy.across)
    if policy.searches:
        codes, tags = nearest(runs.tags, packed, scheme)
    table = gap_table(scheme, policy)
    columns, illegal = kernels.decode(codes, runs.tags.offsets, tags, table, policy.first_label)
    if policy.refuses and illegal:
        rows = list(validate_many(coded, scheme).rows())
        numbers = [sentence for sentence, _ in rows] if len(coded) > 1 else ()
        raise refusal(scheme, [violation for _, violation in rows], numbers)
    return runs.in_whole(SpanColumns.trusted(columns, packed.labels, len(runs.tags)))


def refusal(
    scheme: Scheme,
    violations: Sequence[Violation],
    sentences: Sequence[int] = (),
    side: str = "",
    option: str = "",
    advice: str = "",
) -> MalformedTagsError:
    """The error of the policy `raise`, with all the violations in it.

    Where there are two sides, `side` is the one at fault and `option` what names its policy. Where
    no policy can be named, `advice` says what to do instead.
    """
    places = [f"sentence {sentence}, " for sentence in sentences] or [""] * SHOWN
    shown = "; ".join(f"{place}{v}" for place, v in zip(places, violations[:SHOWN]))
    more = f"; and {len(violations) - SHOWN} more" if len(violations) > SHOWN else ""
    return MalformedTagsError(
        f"Not legal {scheme.name}{f' in the {side}' if side else ''}: {shown}{more}. "
        f"{advice or choices(violations, option)}",
        violations,
    )


def choices(violations: Sequence[Violation], option: str = "") -> str:
    """What can be done about malformed tags where a policy can be named, by an option if any."""
    if all(violation.kind == "unreadable" for violation in violations):
        return "Is it another scheme? No policy repairs tags that cannot be read."
    known = ", ".join(name for name, policy in POLICIES.items() if not policy.refuses)
    named = f" ({option})" if option else ""
    return f"Is it another scheme? If not, name a policy to repair it{named}: {known}."


def nearest(coded: CodedTags, packed: Packed, scheme: Scheme) -> tuple[Ints, Ints]:
    """The same sentences with the illegal ones replaced by their nearest legal sequences.

    These come as codes, and what every code is, packed.

    Of several legal sequences with equally few changed tags, those count in which the fewest tokens
    change their label (outside of spans a token has none). Of these it is the one that comes first
    when compared token by token from the left, where every token prefers its own tag, then its own
    label with another prefix (in the order of the scheme's table), then `O`, then the other labels
    in the order in which the sentence has them. A silent tag counts as the `O` that is written.
    """
    bad = np.zeros(len(coded), dtype=bool)
    bad[validate_many(coded, scheme).sentence] = True
    lengths = np.diff(coded.offsets)
    chosen = np.repeat(bad, lengths)
    bounds = np.concatenate([[0], np.cumsum(lengths[bad])])
    legal = (gap_table(scheme, POLICIES["raise"]) & bits.ILLEGAL == 0).astype(np.uint8)
    width = len(scheme.prefixes)
    codes, every = filled(coded, packed, scheme)
    tokens = every[codes]
    tokens[chosen] = kernels.nearest(
        packed.tags[coded.codes[chosen]],
        bounds,
        legal,
        width,
        len(scheme.inside),
        silent_symbols(scheme),
    )
    numbers = np.where(tokens < 0, 0, 1 + (tokens >> 3) * width + (tokens & 7) - bits.FIRST)
    return numbers.astype(np.int32), pack_states(len(packed.labels), scheme)
