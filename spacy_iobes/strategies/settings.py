"""What a study of tagging strategies compares, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..codes.scheme import get_scheme
from ..corpus.formats.options import ADVANCED, option
from ..errors import OptionError
from ..names import known_name

if TYPE_CHECKING:
    from ..learners.options import Options
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


@dataclass(frozen=True)
class Compared:
    """What is compared with what."""

    strategies: str = option(",".join(STRATEGIES), "Schemes to compare, with commas between them.")
    learners: str = option(
        "crf,softmax,winnow", "Of crf, softmax, winnow and winnow-incremental, with commas."
    )
    decodings: str = option(
        "greedy,constrained,ensemble",
        "Of greedy, constrained and ensemble (the strategies vote), with commas.",
        ADVANCED,
    )
    workers: int = option(0, "How many processes (default: as many as there are cores).", ADVANCED)

    def plan(self, options: Options, by_unit: bool) -> Plan:
        """Return the plan of a study of the schemes, learners and decodings that are named."""
        from ..learners.known import LEARNERS  # here: who only asks for the defaults needs none
        from .decoding import DECODINGS
        from .ensemble import NAME
        from .plan import Plan

        strategies = [get_scheme(name).name for name in _listed("--strategies", self.strategies)]
        learners = _known("--learners", self.learners, tuple(LEARNERS))
        ways = _known("--decodings", self.decodings, (*DECODINGS, NAME))
        decodings = tuple(name for name in ways if name != NAME)
        if NAME in ways and "constrained" not in ways:
            message = "the strategies vote where sequences are constrained: add constrained"
            raise OptionError(message, "--set decodings")
        return Plan(tuple(strategies), learners, decodings, NAME in ways, by_unit, options)


def _listed(option: str, text: str) -> list[str]:
    """Return the names in a list with commas, each once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise OptionError("name at least one", option)
    return names


def _known(option: str, text: str, every: tuple[str, ...]) -> tuple[str, ...]:
    """Return the learners or decodings that an option names."""
    return tuple(known_name(option[2:-1], x.lower(), every) for x in _listed(option, text))
