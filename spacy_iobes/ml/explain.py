"""Features that can be read: what they look at in a Doc, and their weights for every state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.tokens import Doc
from thinc.api import Model

from ..errors import ModelError
from .extractor import OF_TOKENS, Extractor
from .feature_table import FeatureTable
from .lexemes import ATTRIBUTES
from .templates import PART

BEFORE, AFTER, UNKNOWN = "(start)", "(end)", "?"


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
    weights = table.average.astype(np.float64)
    nothing = np.zeros(table.states)
    found: list[list[Feature]] = []
    for numbers, texts in zip(ids.tolist(), names):
        rows = [(text, int(table.places[n])) for text, n in zip(texts, numbers) if n >= 0]
        found.append([Feature(t, weights[r] if r >= 0 else nothing, r >= 0) for t, r in rows])
    return found


def hashed_features(model: Model[Any, Any]) -> tuple[Extractor, FeatureTable]:
    """What finds the features of a model, and what holds their weights."""
    for node in model.walk():
        extractor, tables = node.attrs.get("extractor"), node.shims
        if isinstance(extractor, Extractor) and isinstance(tables[0], FeatureTable):
            return extractor, tables[0]
    encoder = model.get_ref("tok2vec").name if model.has_ref("tok2vec") else model.name
    raise ModelError(
        f"The encoder of the model is {encoder}, which has no features that can be read. Only "
        "spacy-iobes.HashedFeatures.v1 has (configs/ner_fast.cfg)."
    )


def readable_names(extractor: Extractor, doc: Doc) -> Iterator[list[str]]:
    """What every template looks at, token by token."""
    values = {name: _strings(doc, name) for name in extractor.templates.attributes}
    every = [[_part(text) for text in name.split()] for name in extractor.templates.names]
    for token in range(len(doc)):
        yield [" ".join(_shown(p, values, token) for p in parts) for parts in every]


def _part(text: str) -> tuple[str, str, int]:
    """A part of a template: as it is written, its attribute, and the distance."""
    found = PART.fullmatch(text)
    return (text, found[1], int(found[2] or 0)) if found else (text, text, 0)


def _shown(part: tuple[str, str, int], values: dict[str, list[str]], token: int) -> str:
    text, attribute, distance = part
    if attribute not in values:  # the bias
        return text
    at = token + distance
    if not 0 <= at < len(values[attribute]):
        return f"{text}={BEFORE if at < 0 else AFTER}"
    return f"{text}={values[attribute][at]}"


def _strings(doc: Doc, attribute: str) -> list[str]:
    """An attribute of every token, as templates see it."""
    if attribute in ATTRIBUTES:
        return [repr(ATTRIBUTES[attribute](token.text)) for token in doc]
    if attribute in OF_TOKENS:
        return [repr(doc.vocab.strings[key]) for key in doc.to_array(IDS[attribute]).tolist()]
    return [UNKNOWN] * len(doc)
