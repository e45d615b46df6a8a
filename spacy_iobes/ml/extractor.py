"""From Docs to features: templates over words and over what a pipeline knows of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.attrs import IDS
from spacy.tokens import Doc

from .. import kernels
from ..kernels.features_numpy import Ints, Offsets, Values
from .lexemes import ATTRIBUTES, Lexemes
from .templates import read_templates

OF_TOKENS = tuple(name for name in ("TAG", "POS", "LEMMA", "NORM", "DEP", "MORPH") if name in IDS)
"""What spaCy knows of tokens that a template may ask for; there is no feature where it is unset."""


class Extractor:
    """Finds the features of tokens under some templates, as numbers below `2 ** bits`."""

    def __init__(self, templates: Sequence[str], bits: int):
        self.templates = read_templates(templates, [*ATTRIBUTES, *OF_TOKENS])
        self.bits = bits
        # words come first, tokens behind them: so the columns of `values` are
        asked = self.templates.attributes
        self.lexemes = Lexemes([name for name in asked if name in ATTRIBUTES])
        self.of_tokens = [IDS[name] for name in asked if name in OF_TOKENS]

    def __call__(self, docs: Sequence[Doc], offsets: Offsets) -> Ints:
        """The features `[N, F]` of all tokens, -1 where there is none."""
        values, rows = self._values(docs)
        _, _, seeds, parts, bounds = self.templates
        return kernels.mix(values, rows, offsets, seeds, parts, bounds, self.bits)

    def _values(self, docs: Sequence[Doc]) -> tuple[Values, Ints]:
        """What the templates look at, and which row of it is that of each token."""
        numbers = self.lexemes.numbers(docs)
        if not self.of_tokens:
            return self.lexemes.values, numbers
        known = [doc.to_array(self.of_tokens).reshape(len(doc), -1) for doc in docs]
        values = np.hstack([self.lexemes.values[numbers], np.concatenate(known).astype(np.uint64)])
        return values, np.arange(len(numbers), dtype=np.int32)
