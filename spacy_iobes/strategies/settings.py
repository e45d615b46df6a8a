"""What a study of tagging strategies compares, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..corpus.formats.options import ADVANCED, option

if TYPE_CHECKING:
    from .plan import Plan

STRATEGIES = ("io", "iob1", "bio", "bia", "bie", "be")
"""Those of Siefkes (2006)."""
Significance = Literal["t", "corrected", "wilcoxon"]


def _plan() -> Plan:
    from .plan import Plan  # here: who only asks for the defaults needs no learner

    return Plan(STRATEGIES, ("crf", "softmax", "winnow"))


@dataclass(frozen=True)
class Settings:
    """How a study is done: the plan, and the splits and tests of it.

    `splits` random ones, a `share` of the documents to learn from, unless the corpus has a split of
    its own. Strategies are compared with the `baseline` by a test of `significance`, at a `level`.
    """

    plan: Plan = field(default_factory=_plan)
    splits: int = option(5, "Random splits of each corpus.")
    share: float = option(0.5, "How much of the documents is learned from.", ADVANCED)
    seed: int = 0
    baseline: str = option("bio", "The strategy that others are compared with.", ADVANCED)
    significance: str = option(
        "t", "What the marks go by; corrected is a t-test as well.", ADVANCED, Significance
    )
    level: float = option(0.05, "A difference of a p value below this is marked.", ADVANCED)
