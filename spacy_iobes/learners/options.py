"""The settings of learners."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What learners can be told; each takes what concerns it.

    Examples come in an order drawn with `seed`; features are numbers below `2 ** bits`. Learners by
    gradients go through the examples `epochs` times, take a step for about so many `words`, at a
    `rate`, and leave each feature out with the probability `dropout`; with `damping` rare features
    learn less, others as much as before if the rate is higher. Winnow makes so many `passes` at
    most. It multiplies weights by `alpha` or `beta`, but not beyond `most` or `1 / most`; a right
    class must lead by more than `threshold`, a share of the weight that features begin with.
    """

    seed: int = 0
    bits: int = 20
    epochs: int = 5
    rate: float = 0.1
    damping: float = 0.0
    dropout: float = 0.3
    words: int = 200
    passes: int = 10
    alpha: float = 1.23
    beta: float = 0.83
    threshold: float = 0.05
    most: float = 5.0

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
                raise ValueError(f"{name} is {wanted}, not {getattr(self, name)}.")
