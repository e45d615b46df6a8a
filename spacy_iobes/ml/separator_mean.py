"""The architecture `spacy-iobes.SeparatorMean.v1`: several models of gaps, and their mean."""

from collections.abc import Callable
from functools import reduce
from operator import add
from textwrap import shorten
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model

from ..arrays import Ints
from .gap_scores import GapScores
from .separator_tagger import SeparatorModel
from .units import Look

FIRST = ("tok2vec", "output_layer", "steps")
"""What others ask a model for; all members have such a layer, and those of the first speak."""


def build_separator_mean(*members: SeparatorModel) -> SeparatorModel:
    """Let every member learn as if there was no other; the mean of their scores decides.

    Members are models of `spacy-iobes.SeparatorTagger.v1`, alike or not: where they err in
    different ways, their mean errs less. It costs as much time and space as all of them.
    """
    if not members:
        raise ValueError("spacy-iobes.SeparatorMean.v1 takes at least one model, and got none.")
    for number, member in enumerate(members, 1):
        if "set_outputs" not in member.attrs:
            raise ValueError(
                f"Member {number} of {len(members)} of spacy-iobes.SeparatorMean.v1 does not score "
                "separators, as models of spacy-iobes.SeparatorTagger.v1 do: it is "
                f"{shorten(member.name.replace('>>', ' > '), 60, placeholder=' …')!r}."
            )
    model: SeparatorModel = Model(
        "separator_mean",
        forward,
        init=init,
        layers=members,
        attrs={"set_look": set_look, "set_outputs": set_outputs},
    )
    refer(model)
    return model


def forward(
    model: SeparatorModel, docs: list[Doc], is_train: bool
) -> tuple[GapScores, Callable[[GapScores], list[Doc]]]:
    """The mean of what the members say; its parts are what each of them says."""
    found = [member(docs, is_train) for member in model.layers]
    parts = tuple(scores for scores, _ in found)

    def backprop(d_scores: GapScores) -> list[Doc]:
        for (_, back), gradient in zip(found, d_scores.parts):
            back(gradient)
        return []

    return mean(parts), backprop


def mean(parts: tuple[GapScores, ...]) -> GapScores:
    """The mean of several scores of the same gaps."""
    scores: Any = reduce(add, (part.scores for part in parts)) / len(parts)
    steps: Any = reduce(add, (part.steps for part in parts)) / len(parts)
    return GapScores(scores, parts[0].units, steps, parts)


def init(model: SeparatorModel, X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """Every member for itself: what they begin with differs by chance."""
    for member in model.layers:
        member.initialize(X=X, Y=Y)


def set_look(model: SeparatorModel, look: Look) -> None:
    """Say what is scored: gaps or tokens, of sentences or of Docs."""
    for member in model.layers:
        member.attrs["set_look"](member, look)


def set_outputs(
    model: SeparatorModel, label_of: Ints, bits: Ints, steps: tuple[int, ...] | None
) -> None:
    """Say which columns of scores there are, to every member."""
    for member in model.layers:
        member.attrs["set_outputs"](member, label_of, bits, steps)
    refer(model)


def refer(model: SeparatorModel) -> None:
    """Point to layers of the first member, which may have given way to larger ones."""
    for name in FIRST:
        model.set_ref(name, model.layers[0].get_ref(name))
