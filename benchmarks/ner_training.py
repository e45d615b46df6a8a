"""Train a recogniser on CoNLL-2003 for a number of steps, and look at what it does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, NumpyOps, fix_random_seed, set_current_ops

from spacy_iobes import Report, score
from spacy_iobes.corpus import conll_corpus

from .corpora import data
from .ner_corpora import entity_tags, words

PARTS = {"train": "eng.train", "dev": "eng.testa", "test": "eng.testb"}
TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 96,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [5000, 1000, 2500, 2500],
        "include_static_vectors": False,
    },
    "encode": {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": 96,
        "depth": 4,
        "window_size": 1,
        "maxout_pieces": 3,
    },
}
SPACY = {
    "model": {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": TOK2VEC,
    }
}
OURS = {"model": {"@architectures": "spacy-iobes.ChainTagger.v1", "tok2vec": TOK2VEC}}
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "spaCy ner": ("ner", SPACY),
    "iobes_ner, crf": ("iobes_ner", OURS),
    "iobes_ner, softmax": ("iobes_ner", {**OURS, "objective": "softmax"}),
}


def at_hand() -> bool:
    """Whether the corpus is there."""
    return all((data() / "conll2003-eng" / name).is_file() for name in PARTS.values())


def use_numpy() -> None:
    """Multiply matrices with numpy, for all systems alike."""
    set_current_ops(NumpyOps(use_blis=False))


@dataclass
class Run:
    """A trained pipeline, and the CPU time that its training took."""

    nlp: Language
    seconds: float
    words: int

    @property
    def pipe(self) -> Any:
        """The recogniser."""
        return self.nlp.get_pipe(self.nlp.pipe_names[-1])


@cache
def examples(part: str, limit: int = 0) -> list[tuple[list[str], list[str]]]:
    """The words and entity tags of the sentences of a part."""
    path: Path = data() / "conll2003-eng" / PARTS[part]
    corpus = conll_corpus(path, scheme="iob1", policy="begin", limit=limit)
    return [(words(doc), entity_tags(doc)) for doc in corpus.docs(spacy.blank("en"))]


def made(nlp: Language, rows: Iterable[tuple[list[str], list[str]]]) -> list[Example]:
    """Examples of a pipeline's vocabulary; an empty tag is missing."""
    return [
        Example(Doc(nlp.vocab, words=tokens), Doc(nlp.vocab, words=tokens, ents=tags))
        for tokens, tags in rows
    ]


def batches(rows: list[Example], seed: int) -> Iterator[list[Example]]:
    """Batches of 100 words at first, 1,000 later, epoch after epoch, each in another order."""
    shuffle = random.Random(seed)
    batch: list[Example] = []
    count, size = 0, 100.0
    while True:
        shuffle.shuffle(rows)
        for example in rows:
            batch.append(example)
            count += len(example.predicted)
            if count >= size:
                yield batch
                batch, count, size = [], 0, min(1.001 * size, 1000.0)


def train(system: str, rows: Iterable[tuple[list[str], list[str]]], steps: int, seed: int) -> Run:
    """Train from scratch, dropout 0.1, Adam at 0.001."""
    fix_random_seed(seed)
    nlp = spacy.blank("en")
    factory, config = SYSTEMS[system]
    nlp.add_pipe(factory, config=config)
    data_set = made(nlp, rows)
    nlp.initialize(lambda: data_set[:2000] if factory != "ner" else data_set)
    optimizer = Adam(0.001, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=False)
    begin, seen = process_time(), 0
    for batch in islice(batches(data_set, seed), steps):
        nlp.update(batch, drop=0.1, sgd=optimizer)
        seen += sum(len(example.predicted) for example in batch)
    return Run(nlp, process_time() - begin, seen)


def tagged(run: Run, part: str, limit: int) -> tuple[Report, float]:
    """The score on a part, and how many words a second were tagged."""
    rows = examples(part, limit)
    docs = [Doc(run.nlp.vocab, words=tokens) for tokens, _ in rows]
    begin = process_time()
    docs = list(run.nlp.pipe(docs, batch_size=256))
    seconds = process_time() - begin
    predicted = [entity_tags(doc) for doc in docs]
    report = score([tags for _, tags in rows], predicted, scheme="bio", policy="raise")
    return report, sum(map(len, docs)) / seconds
