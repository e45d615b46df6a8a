"""The settings of Tsuruoka, Tsujii and Ananiadou (2008): a corpus, a label, and their figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import spacy
from spacy.tokens import Doc

from spacy_iobes.corpus import conll_corpus
from spacy_iobes.selection import Pool

from .corpora import data

FILES = {
    "CoNLL-2003": ("conll2003-eng/eng.train", "iob1"),
    "JNLPBA": ("jnlpba2004/Genia4ERtask2.iob2.gz", "bio"),
}


class Published(NamedTuple):
    """Sentences read when the estimate reached 99 %, and the true coverage then, in percent."""

    read: int
    coverage: float


@dataclass(frozen=True)
class Setting:
    """A label of a corpus, and what was published of it."""

    corpus: str
    label: str
    published: Published

    def at_hand(self) -> bool:
        """Whether the corpus is there."""
        return (data() / FILES[self.corpus][0]).is_file()

    def pool(self, enrich: bool = False, sentences: int = 0) -> Pool:
        """The training data; with `enrich`, mentions of the other labels are known."""
        pool = Pool.of(docs(self.corpus, sentences), [self.label])
        return pool if enrich else pool.without_known()


@cache
def docs(corpus: str, sentences: int = 0) -> list[Doc]:
    """The documents of a corpus, or about so many sentences of them."""
    path, scheme = FILES[corpus]
    reader = conll_corpus(data() / path, scheme=scheme, policy="begin", unit="document")
    found, count = list[Doc](), 0
    for doc in reader.docs(spacy.blank("en")):
        found.append(doc)
        count += sum(1 for _ in doc.sents)
        if sentences and count >= sentences:
            break
    return found


SETTINGS = {
    "LOC": Setting("CoNLL-2003", "LOC", Published(7600, 99.1)),
    "MISC": Setting("CoNLL-2003", "MISC", Published(5400, 96.9)),
    "ORG": Setting("CoNLL-2003", "ORG", Published(8900, 99.7)),
    "PER": Setting("CoNLL-2003", "PER", Published(6200, 98.0)),
    "DNA": Setting("JNLPBA", "DNA", Published(11900, 99.8)),
    "RNA": Setting("JNLPBA", "RNA", Published(2500, 99.2)),
    "cell_line": Setting("JNLPBA", "cell_line", Published(9400, 99.6)),
    "cell_type": Setting("JNLPBA", "cell_type", Published(8600, 99.3)),
}
"""Every setting by its label, with its row of Table 4 of the paper."""
AVERAGE = 46.9  # percent of the sentences read, over the eight rows of Table 4
PRINTED_AVERAGE = 52.4  # what the last row of Table 4 gives as their average
SUGGESTED = {
    1: (85.0, 86.0, 2.64),
    5: (89.0, 96.0, 1.50),
    10: (36.0, 99.0, 1.54),
    20: (0.0, 100.0, 1.00),
}
"""Table 6, RNA, by iteration: sentences with a mention, answer among ten (percent), mean rank."""
