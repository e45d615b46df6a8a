"""The architecture `spacy-iobes.SeparatorTagger.v1`: any encoder of tokens, and scores of gaps."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.util import replace_model_node
from thinc.api import Linear, Maxout, Model, chain, zero_init
from thinc.layers.resizable import resize_linear_weighted
from thinc.types import Floats2d

from ..arrays import Ints
from .gap_scores import GapScores
from .gap_steps import GapSteps, resized
from .pairs import Pairs
from .units import Look, Units

Encoder = Model[list[Doc], list[Floats2d]]
SeparatorModel = Model[list[Doc], GapScores]


def build_separator_tagger(
    tok2vec: Encoder,
    features: Encoder | None = None,
    width: int = 128,
    pieces: int = 2,
    dropout: float | None = None,
) -> SeparatorModel:
    """Score the separators of every gap by the vectors of the tokens on both sides.

    A hidden layer of a `width`, with so many `pieces`, sees the two vectors; a linear layer scores
    what it makes of them. An encoder whose `attrs` have `set_states` scores separators itself, and
    there is no such layer; another such encoder may be given as `features`, whose scores are added.
    The component says what is scored, and how many separators there are.
    """
    steps = GapSteps()
    layers: list[Model[Any, Any]] = [steps, tok2vec]
    output: Model[Any, Any] = tok2vec
    pairs: Model[Any, Any] | None = None
    head: Model[Any, Any] | None = None
    if "set_states" not in tok2vec.attrs:
        pairs, output = Pairs(tok2vec.maybe_get_dim("nO")), Linear(init_W=zero_init)
        hidden: Model[Any, Any] = Maxout(width, nP=pieces, normalize=True, dropout=dropout)
        head = chain(hidden, output)
        layers += [pairs, head]
    if features is not None:
        if "set_states" not in features.attrs:
            raise ValueError(
                f"The encoder {features.name!r} does not score separators, so it cannot be "
                "'features'; spacy-iobes.HashedFeatures.v1 can."
            )
        layers.append(features)
    model: SeparatorModel = Model(
        "separator_tagger",
        forward,
        init=init,
        layers=layers,
        refs={
            "tok2vec": tok2vec,
            "pairs": pairs,
            "head": head,
            "features": features,
            "output_layer": output,
            "steps": steps,
        },
        attrs={"look": Look(gaps=True), "set_look": set_look, "set_outputs": set_outputs},
    )
    return model


def forward(
    model: SeparatorModel, docs: list[Doc], is_train: bool
) -> tuple[GapScores, Callable[[GapScores], list[Doc]]]:
    """The scores of all units of the Docs."""
    look: Look = model.attrs["look"]
    units = Units.of(docs, look.bound)
    tok2vec = model.get_ref("tok2vec")
    vectors, back_vectors = tok2vec(docs, is_train)
    flat: Any = model.ops.flatten(vectors)
    if model.has_ref("head"):
        paired, back_pairs = model.get_ref("pairs")((flat, units), is_train)
        flat, back_head = model.get_ref("head")(paired, is_train)
    if model.has_ref("features"):
        more, back_more = model.get_ref("features")(docs, is_train)
        flat = flat + model.ops.flatten(more)

    def backprop(d_scores: GapScores) -> list[Doc]:
        gradient: Any = model.ops.asarray2f(d_scores.scores)
        if model.has_ref("features"):
            back_more([gradient])
        if model.has_ref("head"):
            rows = back_pairs(back_head(gradient))
            lengths = model.ops.asarray1i(np.diff(units.docs).tolist())
            back_vectors(list(model.ops.unflatten(rows, lengths)))
        else:
            back_vectors([gradient])
        back_steps(d_scores.steps)
        return []

    steps, back_steps = model.get_ref("steps")(None, is_train)
    return GapScores(flat, units, steps), backprop


def init(model: SeparatorModel, X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """Fit every layer to the ones before it."""
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X)
    if model.has_ref("head"):
        pairs, head = model.get_ref("pairs"), model.get_ref("head")
        pairs.set_dim("nI", tok2vec.get_dim("nO"), force=True)
        pairs.initialize()
        width = (2 if model.attrs["look"].gaps else 1) * tok2vec.get_dim("nO")
        columns = model.get_ref("output_layer").get_dim("nO")
        head.initialize(X=model.ops.alloc2f(1, width), Y=model.ops.alloc2f(1, columns))
    if model.has_ref("features"):
        model.get_ref("features").initialize(X=X)


def set_look(model: SeparatorModel, look: Look) -> None:
    """Say what is scored: gaps or tokens, of sentences or of Docs."""
    model.attrs["look"] = look
    if model.has_ref("pairs"):
        model.get_ref("pairs").attrs["gaps"] = look.gaps
    for layer in model.layers:
        if "set_look" in layer.attrs:
            layer.attrs["set_look"](layer, look)


def set_outputs(
    model: SeparatorModel, label_of: Ints, bits: Ints, steps: tuple[int, ...] | None
) -> None:
    """Say which columns of scores there are, the label and the bits of each, at any time.

    `steps` is the shape of learned steps, if there are any. What is there already keeps its scores.
    A layer that has weights gives way to a larger one: an optimizer remembers the shapes it knows.
    """
    there = model.get_ref("steps")
    if there.get_param("steps").shape != (steps or (0,)):
        replace_model_node(model, there, resized(there, steps))
    output, width = model.get_ref("output_layer"), len(label_of)
    if output.has_param("W") and output.get_dim("nO") != width:
        replace_model_node(model, output, resize_linear_weighted(output, width))
    for layer in model.layers:
        if "set_states" in layer.attrs:
            layer.attrs["set_states"](layer, label_of, bits)
    model.get_ref("output_layer").set_dim("nO", width, force=True)
    if model.has_ref("head"):
        model.get_ref("head").set_dim("nO", width, force=True)
