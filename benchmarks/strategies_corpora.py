"""The corpora that tagging strategies are compared on."""

from __future__ import annotations

from dataclasses import dataclass

import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from spacy_iobes.corpus import Markup, TextReading, conll_corpus, tokens_by
from spacy_iobes.strategies import inline_docs

from . import ner_corpora
from .corpora import data

STRUCTURE = ("sentence", "paragraph")


@dataclass(frozen=True)
class Source:
    """A corpus: inline-tagged documents for random splits, or columns with a split of their own."""

    title: str
    splits: int = 1
    archive: str = ""
    columns: str = ""

    def at_hand(self) -> bool:
        """Whether the corpus is there."""
        if self.columns:
            return ner_corpora.CORPORA[self.columns].at_hand()
        return (data() / self.archive).is_file()

    def load(self, quick: bool = False) -> tuple[list[Doc], list[Doc]]:
        """The Docs to learn from and those to score on; the latter only where they are set apart.

        A `quick` run takes some of them.
        """
        if self.columns:
            source = ner_corpora.CORPORA[self.columns]
            parts = [columns(source, name) for name in (source.train, source.test)]
        else:
            nlp = english()
            reading = TextReading(
                tokens_by(nlp.tokenizer),
                misaligned="expand",
                encoding="latin-1",
                markup=Markup(ignore=STRUCTURE),
            )
            parts = [inline_docs(data() / self.archive, nlp, reading).docs, []]
        train, test = ([doc for doc in part if len(doc)] for part in parts)
        return (train[:80], test[:40]) if quick else (train, test)


def english() -> Language:
    """English tokens, but times such as 3pm-5:00 are three."""
    nlp = spacy.blank("en")
    infixes = [*(nlp.Defaults.infixes or []), r"(?<=\w)-(?=[0-9])"]
    assert isinstance(nlp.tokenizer, Tokenizer)
    nlp.tokenizer.infix_finditer = spacy.util.compile_infix_regex(infixes).finditer
    return nlp


def columns(source: ner_corpora.Source, name: str) -> list[Doc]:
    """The Docs of a column file: documents if it marks them, else sentences."""
    unit = "document" if source.documents else "sentence"
    corpus = conll_corpus(
        data() / source.folder / name,
        scheme=source.scheme,
        policy="begin",
        tag=source.tag,
        unit=unit,
    )
    return list(corpus.docs(spacy.blank("en")))


CORPORA = {
    "seminars": Source("Seminar Announcements", 5, "ie-corpora/sa.tar.gz"),
    "acquisitions": Source("Corporate Acquisitions", 10, "ie-corpora/acq.tar.gz"),
    "conll2003": Source("CoNLL-2003", columns="conll2003"),
    "wnut17": Source("WNUT-17", columns="wnut17"),
}
"""Every corpus by the name that the command line knows."""
