"""When enough was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..errors import SettingError
from ..names import known_name
from .coverage import Estimate

Measure = Callable[[Estimate], float | None]


class Rule(NamedTuple):
    """A rule: its name, what it is, and the coverage it goes by, if it stops at all."""

    name: str
    summary: str
    measure: Measure

    def met(self, history: Sequence[Estimate], target: float, patience: int = 1) -> bool:
        """Whether the latest estimates, as many as `patience` says, all reach the target.

        Nobody stops before a mention was found.
        """
        if not 0 < target <= 1 or patience < 1:
            raise SettingError(
                f"A target lies above 0 and up to 1, and patience is at least 1: not {target} and "
                f"{patience}."
            )
        last = [self.measure(known) for known in history[-patience:] if known.mentions]
        return len(last) == patience and all(v is not None and v >= target for v in last)


RULES = {
    row.name: row
    for row in (
        Rule("estimate", "the model's estimate reaches the target", lambda known: known.coverage),
        Rule("corrected", "the corrected estimate reaches it", lambda known: known.corrected),
        Rule("audit", "even the low end of the audit's interval does", lambda known: known.low),
        Rule("never", "all sentences are read", lambda known: None),
    )
}


def get_rule(name: str) -> Rule:
    """Return the rule of a name."""
    return RULES[known_name("stopping rule", name, RULES)]
