"""The architecture `spacy-iobes.ChainTagger.v1`: any encoder of tokens, and a chain on top."""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc
from spacy.util import replace_model_node
from thinc.api import Linear, Model, chain, with_array, zero_init
from thinc.layers.resizable import resize_linear_weighted
from thinc.types import Floats2d

from .chain_scores import ChainScores
from .steps import Steps, resized

Encoder = Model[list[Doc], list[Floats2d]]
ChainModel = Model[list[Doc], ChainScores]


def build_chain_tagger(
    tok2vec: Encoder,
    nO: int | None = None,  # noqa: N803
    learned_steps: bool = True,
) -> ChainModel:
    """Score every state of every token by a linear layer, and the steps between them.

    `nO` is the number of states; the component sets it. An encoder whose `attrs` have `set_states`
    scores the states itself, and there is no linear layer. With `learned_steps = false` only the
    scheme says what may follow what, which is enough for `objective = "softmax"`.
    """
    steps = Steps(nO, learned=learned_steps)
    output: Model[Any, Any]
    model: ChainModel
    if "set_states" in tok2vec.attrs:
        output, model = tok2vec, chain(tok2vec, steps)
    else:
        output = Linear(nO, tok2vec.maybe_get_dim("nO"), init_W=zero_init)
        model = chain(tok2vec, with_array(output), steps)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", output)
    model.set_ref("steps", steps)
    model.attrs["set_states"] = set_states
    return model


def set_states(model: ChainModel, states: int) -> None:
    """Say how many states there are, before or after the model is initialised.

    A layer that has weights already gives way to a larger one, which starts with them: an optimizer
    remembers the shapes of the layers it knows.
    """
    output, steps = model.get_ref("output_layer"), model.get_ref("steps")
    if output.maybe_get_dim("nO") == states:
        return
    if steps.has_param("step"):
        replace_model_node(model, steps, resized(steps, states))
    if "set_states" in output.attrs:
        output.attrs["set_states"](output, states)
    elif output.has_param("W"):
        replace_model_node(model, output, resize_linear_weighted(output, states))
    for layer in (model, *model.layers[1:], *model.layers[1].layers):
        if layer.has_dim("nO") is not False:
            layer.set_dim("nO", states, force=True)
