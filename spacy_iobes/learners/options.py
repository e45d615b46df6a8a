"""The settings of learners."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import SettingError


def setting(default: float, about: str) -> Any:
    """Return a field with what its setting says in the help of commands."""
    metadata = {"about": about, "panel": "Advanced", "choices": None, "option": ""}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Options:
    """What learners can be told; each takes what concerns it.

    Examples come in an order drawn with `seed`; features are numbers below `2 ** bits`. The others
    are settings of `strategies`.
    """

    seed: int = 0
    bits: int = 20
    epochs: int = setting(5, "How often crf and softmax go through what is learned from.")
    rate: float = setting(0.1, "The step size of crf and softmax.")
    damping: float = setting(
        0.0,
        "Above 0, crf and softmax learn less of rare features: 1000 with rate=0.5, for example, "
        "where rare words say little.",
    )
    dropout: float = setting(0.3, "How likely crf and softmax leave out each feature in a step.")
    words: int = setting(200, "Crf and softmax take a step for about so many words.")
    passes: int = setting(10, "How often winnow goes through what is learned from, at most.")
    alpha: float = setting(1.23, "What winnow multiplies weights by that are too low.")
    beta: float = setting(0.83, "What winnow multiplies weights by that are too high.")
    threshold: float = setting(
        0.05,
        "By how much a right class must lead in winnow: a share of the weight that features begin "
        "with.",
    )
    most: float = setting(5.0, "No weight of winnow is above this, or below its inverse.")

    def __post_init__(self) -> None:
        for name, right, wanted in (
            ("epochs", self.epochs >= 1, "at least 1"),
            ("passes", self.passes >= 1, "at least 1"),
            ("bits", 1 <= self.bits <= 30, "from 1 to 30"),
            ("rate", self.rate > 0, "above 0"),
            ("damping", self.damping >= 0, "at least 0"),
            ("dropout", 0 <= self.dropout < 1, "a probability below 1"),
            ("words", self.words >= 1, "at least 1"),
            ("alpha", self.alpha > 1, "above 1"),
            ("beta", 0 < self.beta < 1, "between 0 and 1"),
            ("threshold", self.threshold >= 0, "at least 0"),
            ("most", self.most > 1, "above 1"),
        ):
            if not right:
                raise SettingError(f"{name} is {wanted}, not {getattr(self, name)}.")
