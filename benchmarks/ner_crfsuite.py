"""python-crfsuite as people use it: the usual features as strings, L-BFGS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

from spacy_iobes import convert_many

from .ner_corpora import Document, Parts, apart
from .ner_systems import Crfsuite

AFFIXES = (1, 2, 3, 4)
Features = list[list[str]]


@cache
def own(word: str) -> tuple[str, ...]:
    """The features of a word in its own place."""
    affixes = [
        f"{name}{n}={part}"
        for n in AFFIXES
        for name, part in (("prefix", word[:n]), ("suffix", word[-n:]))
    ]
    flags = {"title": word.istitle(), "upper": word.isupper(), "digit": word.isdigit()}
    held = [name for name, holds in flags.items() if holds]
    return ("bias", f"word={word}", *beside(word, 0), *affixes, *held)


@cache
def beside(word: str, offset: int) -> tuple[str, ...]:
    """The features of a word in the place of a neighbour."""
    return f"{offset}:lower={word.lower()}", f"{offset}:shape={shape(word)}"


@cache
def shape(word: str) -> str:
    """`X`, `x` and `d` for letters and digits; anything else as it is."""
    return "".join(
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word
    )


def features(words: Sequence[str]) -> Features:
    """The features of every token: its own, those of two neighbours on each side, and bigrams."""
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    lower = [word.lower() for word in padded]
    return [
        [
            *own(padded[i]),
            *beside(padded[i - 2], -2),
            *beside(padded[i - 1], -1),
            *beside(padded[i + 1], 1),
            *beside(padded[i + 2], 2),
            f"-1:pair={lower[i - 1]} {lower[i]}",
            f"1:pair={lower[i]} {lower[i + 1]}",
        ]
        for i in range(2, len(padded) - 2)
    ]


def new_trainer(system: Crfsuite) -> Any:
    """A trainer by L-BFGS that has no data yet."""
    trainer = import_module("pycrfsuite").Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params(
        {
            "c1": system.c1,
            "c2": system.c2,
            "max_iterations": system.iterations,
            "feature.possible_transitions": True,
        }
    )
    return trainer


def train(system: Crfsuite, parts: Parts, folder: Path) -> tuple[Tagger, dict[str, Any]]:
    """Train from scratch; returns a tagger, and the CPU seconds of features and of L-BFGS."""
    sentences = [sentence for document in parts.train for sentence in document]
    begin = process_time()
    tags = convert_many([tags for _, tags in sentences], "bio", system.scheme)
    trainer = new_trainer(system)
    for (words, _), target in zip(sentences, tags):
        trainer.append(features(words), target)
    prepared = process_time()
    path = folder / "model.crfsuite"
    trainer.train(str(path))
    done = process_time()
    for cached in (own, beside, shape):
        cached.cache_clear()
    found = {
        "training s": done - begin,
        "features s": prepared - begin,
        "L-BFGS s": done - prepared,
    }
    return Tagger(path, system.scheme), found


class Tagger:
    """A trained model; features are made anew, and those of words seen before come from a cache."""

    def __init__(self, path: Path, scheme: str):
        self.path = path
        self.scheme = scheme
        self.model = import_module("pycrfsuite").Tagger()
        self.model.open(str(path))

    def units(self, documents: list[Document]) -> list[Document]:
        """What is tagged at once."""
        return apart(documents)

    def ready(self, documents: list[Document]) -> list[list[str]]:
        """The words of each sentence."""
        return [words for ((words, _),) in self.units(documents)]

    def tag(self, sentences: list[list[str]]) -> list[list[str]]:
        """Tags in the scheme of the model."""
        return [self.model.tag(features(words)) for words in sentences]

    def tag_texts(self, texts: list[str]) -> None:
        """From text: words are what is between spaces."""
        self.tag([text.split() for text in texts])

    def bio(self, tagged: list[list[str]]) -> list[list[str]]:
        """Tags as BIO; illegal ones are read as the policy `begin` says."""
        return convert_many(tagged, self.scheme, "bio", policy="begin")
