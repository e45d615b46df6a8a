"""Learners by name: they know features and classes, and nothing of Docs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, Protocol

from ..arrays import Ints, Offsets, Singles
from ..chain import Chain
from ..codes.classes import Classes, classes
from ..codes.scheme import Scheme, get_scheme
from ..errors import UnknownNameError
from ..ml.tag_chain import TagChain
from .gradients import Crf, Softmax
from .options import Options
from .winnow import Winnow


class Learner(Protocol):
    """What learns to tell classes from features."""

    def learn(self, features: Ints, offsets: Offsets, path: Ints) -> None:
        """Learn from units of tokens, unit `u` being `offsets[u]:offsets[u + 1]`.

        `features[N, F]`: numbers of features, -1 for none. `path[N]`: the true states. Another call
        goes on with new examples from what is known.
        """

    def class_scores(self, features: Ints) -> Singles:
        """The scores of all classes `[N, C]`; the sum over the classes of a state is the state's.

        They are logarithms of probabilities within each choice where the learner looks at tokens
        one by one; a CRF has no such probabilities, and gives what a class adds to a sequence.
        """

    @property
    def chain(self) -> Chain:
        """What may follow what, with the scores of steps where the learner knows any."""


Maker = Callable[[TagChain, Classes, Options], Learner]


class Row(NamedTuple):
    """A learner: what it is called, what it is, and what makes it.

    `structured`: it looks at whole sequences, so its scores are no probabilities of classes.
    """

    name: str
    summary: str
    make: Maker
    structured: bool = False


LEARNERS: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            "crf",
            "linear-chain CRF: whole sequences among the legal ones, learned steps",
            Crf,
            structured=True,
        ),
        Row("softmax", "maximum entropy: every token for itself", Softmax),
        Row("winnow", "balanced Winnow, several passes over shuffled examples", Winnow),
        Row(
            "winnow-incremental",
            "balanced Winnow, one pass over the examples in their order",
            partial(Winnow, once=True),
        ),
    )
}


def get_learner(name: str) -> Row:
    """The learner of a name."""
    if name not in LEARNERS:
        listed = ", ".join(LEARNERS)
        raise UnknownNameError(f"Unknown learner {name!r}. Known: {listed}.", name, LEARNERS)
    return LEARNERS[name]


def make_learner(
    name: str, scheme: str | Scheme, labels: Iterable[str], options: Options | None = None
) -> Learner:
    """A learner that has learned nothing yet, for the labels in a scheme."""
    row, scheme, labels = get_learner(name), get_scheme(scheme), tuple(labels)
    return row.make(TagChain(scheme, labels), classes(labels, scheme), options or Options())
