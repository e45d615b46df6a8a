"""From Docs to features: templates over words, tokens, their surroundings and knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import srsly
from spacy.attrs import IDS, SENT_START
from spacy.tokens import Doc
from thinc.api import Shim

from .. import kernels
from ..arrays import Ints, Offsets, Values
from ..errors import ModelError
from . import clusters as brown
from .clusters import Clusters
from .gazetteers import Gazetteers
from .lexemes import ATTRIBUTES, Lexemes
from .surroundings import CASING_VALUES, SURROUNDINGS
from .templates import DOCUMENT, GAPS, GAPS_DOCUMENT, TEMPLATES, both_sides, read_templates

OF_TOKENS = tuple(name for name in ("TAG", "POS", "LEMMA", "NORM", "DEP", "MORPH") if name in IDS)
"""What spaCy knows of tokens that a template may ask for; there is no feature where it is unset."""


class Extractor(Shim):
    """Finds the features of tokens under some templates, as numbers below `2 ** bits`.

    With `gaps` it finds those of the gaps before and behind tokens, in place of the tokens'.
    With `document`, features do not look across the ends of sentences, where Docs have any, but at
    other places of the same Doc. Clusters and gazetteers are stored with the model.
    """

    def __init__(
        self,
        templates: Sequence[str] | None,
        bits: int,
        document: bool = False,
        clusters: Clusters | None = None,
        gazetteers: Gazetteers | None = None,
        gaps: bool = False,
    ):
        super().__init__(None)
        self.asked, self.bits, self.document, self.gaps = templates, bits, document, gaps
        self.clusters, self.gazetteers = clusters, gazetteers
        self.words = dict(ATTRIBUTES)
        of_document = list(GAPS_DOCUMENT if gaps else DOCUMENT) if document else []
        more: list[str] = []
        if clusters is not None:
            self.words |= clusters.attributes
            more += brown.TEMPLATES
        lists = [] if gazetteers is None else gazetteers.names
        if gazetteers is not None:
            more += gazetteers.templates
        if templates is None:
            templates = GAPS if gaps else TEMPLATES
        templates = [*templates, *of_document, *(both_sides(more) if gaps else more)]
        known = [*self.words, *OF_TOKENS, *SURROUNDINGS, *lists]
        self.templates = read_templates(templates, known)
        # words come first, tokens behind them: so the columns of values are
        asked = self.templates.attributes
        self.of_words = [name for name in asked if name in self.words]
        self.of_tokens = [IDS[name] for name in asked if name in OF_TOKENS]
        self.surroundings = [SURROUNDINGS.index(name) for name in asked if name in SURROUNDINGS]
        self.lists = [lists.index(name) for name in asked if name in lists]
        self.forget()

    def forget(self) -> None:
        """Work out every word anew."""
        functions = {name: self.words[name] for name in self.of_words}
        if self.surroundings or self.lists:
            functions |= {name: ATTRIBUTES[name] for name in ("lower", "casing")}
        bulk = {} if self.clusters is None else self.clusters.bulk
        self.lexemes = Lexemes(functions, {name: bulk[name] for name in functions if name in bulk})

    def load(self) -> None:
        """Read the clusters and gazetteers that the config names."""
        for knowledge in (self.clusters, self.gazetteers):
            if knowledge is not None:
                knowledge.load()
        self.forget()

    def looking(self, gaps: bool) -> Extractor:
        """One that looks at gaps, or at tokens, with the same settings."""
        knowledge = self.clusters, self.gazetteers
        return Extractor(self.asked, self.bits, self.document, *knowledge, gaps)

    def __call__(  # type: ignore[override]
        self, docs: Sequence[Doc], offsets: Offsets, units: Offsets | None = None
    ) -> Ints:
        """The features `[N, F]` of all tokens, -1 where there is none.

        `units` are the offsets of what features do not look out of, in place of sentences.
        """
        numbers = self.lexemes.numbers(docs)
        sentences = self.sentences(docs, offsets)
        own = self._own(docs, numbers, offsets, sentences)
        values = self.lexemes.values[:, : len(self.of_words)]
        _, _, seeds, parts, bounds = self.templates
        within = sentences if units is None else units
        return kernels.mix(values, numbers, own, within, seeds, parts, bounds, self.bits, self.gaps)

    def sentences(self, docs: Sequence[Doc], offsets: Offsets) -> Offsets:
        """The offsets of what features do not look out of."""
        return sentences_of(docs, offsets) if self.document else offsets

    def own(self, doc: Doc) -> dict[str, list[int]]:
        """What belongs to the tokens of a Doc, not to its words, by the name of the attribute."""
        offsets = np.array([0, len(doc)], dtype=np.int64)
        sentences = self.sentences([doc], offsets)
        values = self._own([doc], self.lexemes.numbers([doc]), offsets, sentences)
        names = self.templates.attributes[len(self.of_words) :]
        return {name: values[:, column].tolist() for column, name in enumerate(names)}

    def _own(
        self, docs: Sequence[Doc], numbers: Ints, offsets: Offsets, sentences: Offsets
    ) -> Values:
        """What belongs to tokens, not to words, `[N, B]`."""
        columns = [np.zeros((len(numbers), 0), dtype=np.uint64)]
        if self.of_tokens:
            asked = len(self.of_tokens)
            known = [doc.to_array(self.of_tokens).reshape(len(doc), asked) for doc in docs]
            columns.append(np.concatenate([np.zeros((0, asked), dtype=np.uint64), *known]))
        if self.surroundings:
            lower, casing = (self.lexemes.column(name)[numbers] for name in ("lower", "casing"))
            here = kernels.surround(lower, casing, CASING_VALUES, offsets, sentences)
            columns.append(here[:, self.surroundings])
        if self.gazetteers is not None and self.lists:
            lower = self.lexemes.column("lower")[numbers]
            columns.append(self.gazetteers.values(docs, lower, sentences)[:, self.lists])
        return np.ascontiguousarray(np.hstack(columns))

    # what thinc asks of a shim

    def finish_update(self, optimizer: Any) -> None:
        """Nothing is learned here."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Everything stays where it is."""

    def to_bytes(self) -> bytes:
        """The templates, and what is known."""
        stored: dict[str, Any] = {"templates": list(self.templates.names)}
        for name, knowledge in (("clusters", self.clusters), ("gazetteers", self.gazetteers)):
            if knowledge is not None:
                stored[name] = knowledge.stored()
        data: bytes = srsly.msgpack_dumps(stored)
        return data

    def from_bytes(self, data: bytes) -> Extractor:
        """Load what `to_bytes` stored; weights are of no use to other features."""
        stored = srsly.msgpack_loads(data)
        if stored["templates"] != list(self.templates.names):
            other = sorted(set(stored["templates"]) ^ set(self.templates.names))
            which = ", ".join(map(repr, other[:3])) or "their order"
            raise ModelError(
                f"The model was trained with other feature templates than the config has ({which}"
                "): load it with the config it was trained with."
            )
        for name, knowledge in (("clusters", self.clusters), ("gazetteers", self.gazetteers)):
            if knowledge is not None:
                knowledge.restore(stored[name])
        self.forget()
        return self


def sentences_of(docs: Sequence[Doc], offsets: Offsets) -> Offsets:
    """Where the sentences of Docs begin and end; a Doc that knows of none is one."""
    first = offsets[:-1][np.diff(offsets) > 0]
    if not len(first):
        return np.zeros(1, dtype=np.int64)
    starts = np.concatenate([doc.to_array(SENT_START) for doc in docs]) == 1
    starts[first] = True
    return np.append(np.flatnonzero(starts), offsets[-1])
