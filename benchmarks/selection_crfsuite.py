"""The same round with python-crfsuite: it retrains from nothing, then marginals of all the rest."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from spacy_iobes import write
from spacy_iobes.selection import Pool

from .ner_crfsuite import shape

C2 = 0.25  # with it the published figures are reproduced
Features = list[list[str]]


def features(words: Sequence[str]) -> Features:
    """Those of the paper, without parts of speech."""
    padded = ["<s>", *words, "</s>"]
    return [
        [
            f"w={padded[i]}",
            f"-1:w={padded[i - 1]}",
            f"1:w={padded[i + 1]}",
            *(f"prefix={padded[i][:n]}" for n in (1, 2, 3)),
            *(f"suffix={padded[i][-n:]}" for n in (1, 2, 3)),
            f"norm={''.join('#' if c.isdigit() else c for c in padded[i].lower())}",
            f"shape={shape(padded[i])}",
        ]
        for i in range(1, len(padded) - 1)
    ]


class Rounds:
    """Rounds of a pool; features are made once, and their time is not counted."""

    def __init__(self, pool: Pool):
        self.pool = pool
        self.features = [features(pool.words(sentence)[0]) for sentence in range(len(pool))]

    def seconds(self, read: Sequence[int]) -> float:
        """CPU seconds of training on the sentences read, and of asking about all others."""
        pycrfsuite, pool = import_module("pycrfsuite"), self.pool
        tags = [write(pool.gold(s), int(pool.lengths[s]), "bio") for s in read]
        known = set(read)
        begin = f"B-{pool.labels[0]}"
        started = process_time()
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.set_params({"c1": 0.0, "c2": C2})
        for sentence, target in zip(read, tags):
            trainer.append(self.features[sentence], target)
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "model.crfsuite")
            trainer.train(path)
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            for sentence, rows in enumerate(self.features):
                if sentence not in known:
                    tagger.set(rows)
                    sum(tagger.marginal(begin, at) for at in range(len(rows)))
        return process_time() - started
