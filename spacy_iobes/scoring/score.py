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
    repair: str | Policy | None = None,
    gold_repair: str | Policy = "raise",
    metric: str = "f1",
    average: str = "micro",
    match_by: str = "exact",
) -> Report:
    """Score predictions against gold: lists of tags in a scheme, or (without one) lists of spans.

    With a `scheme` there is no default for `repair`, the policy for malformed predictions. Spans
    are (start, end, label); they may overlap and nest, and know no policies.
    """
    if scheme is None:
        for policy in (repair or "raise", gold_repair):
            if not get_policy(policy).refuses:
                raise TypeError(
                    f"There is nothing to repair in spans ({get_policy(policy).name}): leave the "
                    "policy out, or name the scheme if these are tags."
                )
        return score_spans(gold, pred, Signature(metric, average, match_by))
    if repair is None:
        raise TypeError("Name the policy for malformed predictions: repair='begin', for example.")
    names = get_scheme(scheme).name, get_tag_policy(repair).name, get_tag_policy(gold_repair).name
    return score_tags(gold, pred, Signature(metric, average, match_by, *names))


def score_spans(gold: Any, pred: Any, signature: Signature) -> Report:
    """Score lists of spans."""
    matched = match(*(nested_columns(side) for side in (gold, pred)))
    counts = count(matched, right_tokens=None, tagged=None)
    return Report(signature, counts, (Kept.of(matched),), NestedCounts.of(matched))


def score_tags(gold: Any, pred: Any, signature: Signature) -> Report:
    """Score lists of tags under the policies of a signature."""
    scheme = get_scheme(signature.scheme)
    policies = get_policy(signature.gold), get_policy(signature.repair)

    def scored(part: tuple[Any, Any]) -> tuple[Kept, Counts]:
        a, b = code_alike(*part)
        matched, counts = match_sides(
            Side(a, policies[0], scheme, "gold", "gold_repair="),
            Side(b, policies[1], scheme, "predictions", "repair="),
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
