"""Score lists: of tags in a scheme, or of spans as such."""

from __future__ import annotations

from typing import Any

from ..codes.policy import Policy, get_policy, get_tag_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.tag_columns import CodedTags
from ..errors import AlignmentError, TagError
from .counts import Counts, count
from .matching import Kept, match, nested_columns
from .nested import NestedCounts
from .report import Report
from .sides import Side, code_alike, in_parts, match_sides
from .signature import Signature


def score(
    gold: Any,
    pred: Any,
    *,
    scheme: str | Scheme | None = None,
    policy: str | Policy = "raise",
    gold_policy: str | Policy = "raise",
    metric: str = "f1",
    average: str = "micro",
    match: str = "exact",
) -> Report:
    """Score predictions against gold: lists of tags in a scheme, or (without one) lists of spans.

    `policy` is for malformed predictions, `gold_policy` for malformed gold tags. Spans are
    (start, end, label); they may overlap and nest, and know no policies.
    """
    if scheme is None:
        for named in map(get_policy, (policy, gold_policy)):
            if not named.refuses:
                raise TypeError(
                    f"There is nothing to repair in spans ({named.name}): leave the policy out, "
                    "or name the scheme if these are tags."
                )
        return score_spans(gold, pred, Signature(metric, average, match))
    names = (get_tag_policy(each).name for each in (policy, gold_policy))
    return score_tags(
        gold, pred, Signature(metric, average, match, get_scheme(scheme).name, *names)
    )


def score_spans(gold: Any, pred: Any, signature: Signature) -> Report:
    """Score lists of spans."""
    matched = match(*(nested_columns(side) for side in (gold, pred)))
    counts = count(matched, right_tokens=None, tagged=None)
    return Report(signature, counts, (Kept.of(matched),), NestedCounts.of(matched))


def score_tags(gold: Any, pred: Any, signature: Signature) -> Report:
    """Score lists of tags under the policies of a signature."""
    scheme = get_scheme(signature.scheme)
    policies = get_policy(signature.gold_policy), get_policy(signature.policy)

    def scored(part: tuple[Any, Any]) -> tuple[Kept, Counts]:
        a, b = code_alike(*part)
        matched, counts = match_sides(
            Side(a, policies[0], scheme, "gold", "gold_policy="),
            Side(b, policies[1], scheme, "predictions", "policy="),
        )
        return Kept.of(matched), counts

    whole = [side if isinstance(side, (list, CodedTags)) else list(side) for side in (gold, pred)]
    try:
        parts = [scored(part) for part in in_parts(*whole)]
    except (TagError, AlignmentError):
        scored((whole[0], whole[1]))  # the same error with everything in it, counted from the start
        raise
    counts = sum((more for _, more in parts), Counts.none())
    counts.require_annotation()
    return Report(signature, counts, tuple(kept for kept, _ in parts))
