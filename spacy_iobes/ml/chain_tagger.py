"""The architecture `spacy-iobes.ChainTagger.v1`: any encoder of tokens, and a chain on top."""

from collections.abc import Iterator
from typing import Any

from spacy.tokens import Doc
from spacy.util import replace_model_node
from thinc.api import Linear, Model, chain, with_array, zero_init
from thinc.layers.resizable import resize_linear_weighted
from thinc.types import Floats2d

from ..arrays import Ints
from .chain_scores import ChainScores
from .steps import Steps, resized
from .summed import Sum

Encoder = Model[list[Doc], list[Floats2d]]
ChainModel = Model[list[Doc], ChainScores]


def build_chain_tagger(
    tok2vec: Encoder,
    nO: int | None = None,  # noqa: N803
    learned_steps: bool = True,
    features: Encoder | None = None,
) -> ChainModel:
    """Score every state of every token by a linear layer, and the steps between them.

    `nO` is the number of states; the component sets it. In be, the layer scores what begins and
    what ends at a token, and a state is the sum of the two. An encoder whose `attrs` have
    `set_states` scores the states itself, and there is no linear layer; another such encoder may be
    given as `features`, whose scores are added. With `learned_steps = false` only the scheme says
    what may follow what, which is enough for `objective = "softmax"`.
    """
    steps = Steps(nO, learned=learned_steps)
    output: Model[Any, Any] = tok2vec
    scores = tok2vec
    if "set_states" not in tok2vec.attrs:
        output = Linear(nO, tok2vec.maybe_get_dim("nO"), init_W=zero_init)
        scores = chain(tok2vec, with_array(output))
    if features is not None:
        if "set_states" not in features.attrs:
            raise ValueError(
                f"The encoder {features.name!r} does not score states, so it cannot be 'features'; "
                "spacy-iobes.HashedFeatures.v1 can."
            )
        scores = Sum(scores, features)
    model: ChainModel = chain(scores, steps)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("features", features)
    model.set_ref("output_layer", output)
    model.set_ref("steps", steps)
    model.attrs["set_states"] = set_states
    return model


def set_states(model: ChainModel, label_of: Ints, states: int | None = None) -> None:
    """Say which outputs there are, and the label of each (-1: none), at any time.

    There is one for each state of the chain, unless it has another number of `states`. A layer that
    has weights already gives way to a larger one, which starts with them: an optimizer remembers
    the shapes of the layers it knows.
    """
    outputs = len(label_of)
    states = outputs if states is None else states
    output, steps = model.get_ref("output_layer"), model.get_ref("steps")
    if output.maybe_get_dim("nO") == outputs:
        return
    if steps.has_param("step"):
        replace_model_node(model, steps, resized(steps, states))
    if output.has_param("W"):
        replace_model_node(model, output, resize_linear_weighted(output, outputs))
    for layer in model.walk():
        if "set_states" in layer.attrs and layer is not model:
            layer.attrs["set_states"](layer, label_of)
    chains = (model, model.get_ref("steps"))
    for layer in scoring(model):
        if layer.has_dim("nO") is not False:
            width = states if any(layer is one for one in chains) else outputs
            layer.set_dim("nO", width, force=True)


def scoring(model: ChainModel) -> Iterator[Model[Any, Any]]:
    """The layers that score: all but those of an encoder that gives vectors."""
    encoder = model.get_ref("tok2vec")
    below = {id(layer) for layer in encoder.walk() if "set_states" not in encoder.attrs}
    return (layer for layer in model.walk() if id(layer) not in below)
