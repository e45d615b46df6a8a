"""Features that can be read: what they look at in a Doc, and their weights for every state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model

from ..errors import ModelError
from ..kernels.names_numpy import BEGIN, END, INSIDE, OTHER_CASE, SINGLE
from .extractor import OF_TOKENS, Extractor
from .feature_table import FeatureTable
from .hashed_features import NAME, parts_of
from .lexemes import hashed
from .surroundings import CASINGS
from .templates import PART

BEFORE, AFTER = "(start)", "(end)"
NAMED = {
    "place": dict(enumerate(("first", "second", "later", "only", "second and last", "last"), 1)),
    "capitals": {1: "no", 2: "yes"},
    "seen": {
        code + 1: "+".join(c for bit, c in enumerate(CASINGS) if code >> bit & 1) or "elsewhere"
        for code in range(8)
    },
}
"""What the numbers of surroundings stand for."""
PLACES = {
    code + case: name + (", other capitals" if case else "")
    for case in (0, OTHER_CASE)
    for code, name in ((SINGLE, "whole"), (BEGIN, "begin"), (INSIDE, "inside"), (END, "end"))
}
"""Where in a name of a list a token is."""


class Feature(NamedTuple):
    """A feature of a token, such as `lower[-1]='mr.'`, and its weight for every state.

    Of a feature that was not seen in training all weights are 0. Two features may share a row of
    the table, and then they share their weights.
    """

    name: str
    weights: NDArray[np.float64]
    seen: bool


def token_features(model: Model[Any, Any], doc: Doc) -> list[list[Feature]]:
    """The features of every token under the hashed features of a model.

    For each token their weights add up to what the encoder gives for it.
    """
    extractor, table = hashed_features(model)
    ids = extractor([doc], np.array([0, len(doc)], dtype=np.int64))
    names = readable_names(extractor, doc)
    weights = table.average[: table.count].astype(np.float64)
    nothing = np.zeros(weights.shape[1])
    found: list[list[Feature]] = []
    for numbers, texts in zip(ids.tolist(), names):
        rows = [(text, int(table.places[n])) for text, n in zip(texts, numbers) if n >= 0]
        found.append([Feature(t, weights[r] if r >= 0 else nothing, r >= 0) for t, r in rows])
    return found


def hashed_features(model: Model[Any, Any]) -> tuple[Extractor, FeatureTable]:
    """What finds the features of a model, and what holds their weights."""
    for node in model.walk():
        if node.name == NAME:
            table, extractor = parts_of(node)
            return extractor, table
    encoder = model.get_ref("tok2vec").name if model.has_ref("tok2vec") else model.name
    raise ModelError(
        f"The encoder of the model is {encoder}, which has no features that can be read. Only "
        "spacy-iobes.HashedFeatures.v1 has (configs/ner_fast.cfg)."
    )


def readable_names(extractor: Extractor, doc: Doc) -> Iterator[list[str]]:
    """What every template looks at, token by token."""
    values = readable_values(extractor, doc)
    every = [[_part(text) for text in name.split()] for name in extractor.templates.names]
    bounds = extractor.sentences([doc], np.array([0, len(doc)], dtype=np.int64)).tolist()
    for start, end in pairwise(bounds):
        for token in range(start, end):
            yield [
                " ".join(_shown(part, values, token, start, end) for part in parts)
                for parts in every
            ]


def readable_values(extractor: Extractor, doc: Doc) -> dict[str, list[str]]:
    """Every attribute that templates ask for, of every token."""
    found = {
        name: [repr(extractor.words[name](token.text)) for token in doc]
        for name in extractor.of_words
    }
    words = {hashed(token.text.lower()): token.text.lower() for token in doc}
    for name, values in extractor.own(doc).items():
        if name in OF_TOKENS:
            found[name] = [repr(doc.vocab.strings[value]) for value in values]
        elif name in NAMED:
            found[name] = [NAMED[name].get(value, str(value)) for value in values]
        else:
            found[name] = [repr(words[v]) if v in words else PLACES.get(v, str(v)) for v in values]
    return found


def _part(text: str) -> tuple[str, str, int]:
    """A part of a template: as it is written, its attribute, and the distance."""
    found = PART.fullmatch(text)
    return (text, found[1], int(found[2] or 0)) if found else (text, text, 0)


def _shown(
    part: tuple[str, str, int], values: dict[str, list[str]], token: int, start: int, end: int
) -> str:
    text, attribute, distance = part
    if attribute not in values:  # the bias
        return text
    at = token + distance
    if not start <= at < end:
        return f"{text}={BEFORE if at < start else AFTER}"
    return f"{text}={values[attribute][at]}"
