"""What can be asked of the scores of a nested recogniser, whatever it represents mentions by."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

from ..arrays import Flags, Floats
from ..codes.span_columns import SpanColumns
from .gap_scores import GapScores
from .units import Units

Self = TypeVar("Self", bound="Asked")


class Chains(NamedTuple):
    """The n best annotations of every label in every unit, each for itself.

    `spans[i]` are those of the i-th best, as spans of units; `log_probability[n, U, L]` is minus
    infinity where there are no more.
    """

    spans: list[SpanColumns]
    log_probability: Floats


class Asked(Protocol):
    """The scores of some Docs, as one chain for each label in each unit.

    Spans are columns whose labels are those of the recogniser, in its order; those that go in and
    come out are spans of Docs, if nothing else is said.
    """

    @property
    def units(self) -> Units:
        """What the chains go over."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What there is a chain for."""

    def apart(self: Self, blank: Flags) -> Self:
        """The same, but no mention begins or ends with one of these tokens, `[N]`."""

    def biased(self: Self, bias: float) -> Self:
        """The same with `bias` added to the score of every start of a mention."""

    def best(self) -> SpanColumns:
        """The mentions of the best annotation."""

    def nbest(self, n: int) -> Chains:
        """The n best annotations of every chain, without regard to the others."""

    def loss(self, gold: SpanColumns, missing: Flags) -> tuple[float, GapScores]:
        """The negative log-likelihood of mentions, and its gradient.

        Of `missing` tokens, `[N]`, nothing is known but the mentions that are there.
        """

    def mentions(self, spans: SpanColumns) -> Floats:
        """The logarithm of the probability of each span, `[R]`."""

    def expected(self) -> Floats:
        """The expected number of mentions of every label in every unit, `[U, L]`."""
