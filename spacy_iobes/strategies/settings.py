"""What a study of tagging strategies compares, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan

STRATEGIES = ("io", "iob1", "bio", "bia", "bie", "be")
"""Those of Siefkes (2006)."""


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
    splits: int = 5
    share: float = 0.5
    seed: int = 0
    baseline: str = "bio"
    significance: str = "t"
    level: float = 0.05
