"""The encoder `spacy-iobes.HashedFeatures.v1`: a score for every state from sparse features."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..arrays import Ints
from .clusters import Clusters
from .extractor import Extractor
from .feature_table import FeatureTable, Stored
from .gazetteers import Gazetteers
from .tag_chain import to_numpy
from .units import Look, Units

NAME = "hashed_features"
Emitter = Model[list[Doc], list[Floats2d]]


def build_hashed_features(
    templates: Sequence[str] | None = None,
    rows: int = 2**20,
    rate: float = 0.1,
    l2: float = 0.0,
    dropout: float = 0.3,
    store: Stored = "float32",
    document: bool = False,
    clusters: str | None = None,
    gazetteers: dict[str, str] | None = None,
    least: float = 0.0,
    damping: float = 0.0,
) -> Emitter:
    """Give every feature of a token a weight for every state, and add them up.

    `templates` say what the features are (by default `TEMPLATES`); they are hashed to `rows`, a
    power of two. The weights learn by AdaGrad at a `rate` of their own, with weight decay `l2`. It
    lets rare features learn as much as others, unless there is `damping`, what their squared
    gradients begin with. In training every feature is left out with the probability `dropout`.
    `store` says how exactly the weights are stored; features whose weights are all smaller than
    `least` are not.

    Each of these adds templates of its own. `document`: Docs are documents, so features look at
    other places of a word, and not across the ends of sentences, where those are known.
    `clusters`: Brown clusters of this language, from spacy-lookups-data. `gazetteers`: text files
    with a name on each line, by the name of the list. The last two are read by `initialize`, and
    stored with the model.
    """
    bits = rows.bit_length() - 1
    if not 2 <= rows <= 2**30 or rows != 1 << bits:
        raise ValueError(f"rows is a power of two from 2 to 2 ** 30, not {rows}.")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout is a probability below 1, not {dropout}.")
    if not 0 < rate < float("inf"):
        raise ValueError(f"rate is the size of steps, above 0, not {rate}.")
    for name, value in (("l2", l2), ("damping", damping), ("least", least)):
        if not 0 <= value < float("inf"):
            raise ValueError(f"{name} is 0 or more, not {value}.")
    if isinstance(templates, str):
        raise ValueError(f"templates are a list of them, such as ['lower'], not {templates!r}.")
    table = FeatureTable(
        bits, rate=rate, l2=l2, dropout=dropout, store=store, least=least, damping=damping
    )
    extractor = Extractor(
        templates,
        bits,
        document,
        None if clusters is None else Clusters(clusters),
        None if gazetteers is None or gazetteers == {} else Gazetteers(gazetteers),
    )
    return Model(
        NAME,
        forward,
        init=init,
        dims={"nO": None},
        attrs={"set_states": set_states, "look": Look(), "set_look": set_look},
        shims=[table, extractor],
    )


def forward(
    model: Emitter, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """Find the features of all tokens, or of all gaps, and add up their weights."""
    table, extractor = parts_of(model)
    look: Look = model.attrs["look"]
    if look.gaps:
        units = Units.of(docs, look.bound)
        features = extractor(docs, units.docs, units.tokens)
        offsets = np.cumsum([0, *units.gaps_by_doc()])
    else:
        offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
        features = extractor(docs, offsets)
    if is_train:
        scores, learn = table.begin_update(features)
    else:
        scores = table.predict(features)

    def backprop(d_scores: list[Floats2d]) -> list[Doc]:
        learn(to_numpy(model.ops.flatten(d_scores)))
        return []

    rows = model.ops.asarray2f(scores)
    return [rows[start:end] for start, end in pairwise(offsets.tolist())], backprop


def init(model: Emitter, X: Any = None, Y: Any = None) -> None:  # noqa: N803
    """No feature is known yet; what the config names is read."""
    table, extractor = parts_of(model)
    table.reset()
    extractor.load()


def parts_of(model: Emitter) -> tuple[FeatureTable, Extractor]:
    """The weights, and what finds features."""
    table, extractor = model.shims
    assert isinstance(table, FeatureTable)
    assert isinstance(extractor, Extractor)
    return table, extractor


def set_states(model: Emitter, label_of: Ints, bits: Ints | None = None) -> None:
    """Fit the columns of the weights to the states; those that are there keep their weights."""
    table, _ = parts_of(model)
    model.set_dim("nO", len(label_of), force=True)
    table.set_states(label_of, bits)


def set_look(model: Emitter, look: Look) -> None:
    """Look at gaps, or at tokens; the features of the one are none of the other."""
    _, extractor = parts_of(model)
    if look.gaps != extractor.gaps:
        model.shims[1] = extractor.looking(look.gaps)
    model.attrs["look"] = look
