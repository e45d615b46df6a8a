"""The sentences to measure on: CoNLL-2003 where it is at hand, else generated ones like it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from sys import intern

from spacy_iobes import convert_many

from . import ROOT

Sentences = list[list[str]]

SHARED = "SPACY_IOBES_SHARED"  # names the directory that holds data/
PLACE = f"{SHARED} names the directory that holds data/; unless it is set, that is ../shared."
LABELS = ("LOC", "PER", "ORG", "MISC")


@dataclass(frozen=True)
class Corpus:
    """Sentences of BIO tags, their words, and where they came from."""

    name: str
    bio: Sentences
    words: Sentences

    @property
    def tokens(self) -> int:
        """How many tags there are."""
        return sum(map(len, self.bio))

    def tags(self, scheme: str) -> Sentences:
        """The tags in a scheme; equal tags are one object, as readers make them."""
        if scheme == "bio":
            return self.bio
        return interned(convert_many(self.bio, "bio", scheme))


def data() -> Path:
    """Where corpora and system outputs lie, if they are at hand."""
    return Path(os.environ.get(SHARED) or ROOT.parent / "shared") / "data"


def not_at_hand(missing: Sequence[str]) -> list[str]:
    """A note on the corpora that are missing, and where they were looked for; none without any."""
    return [f"Not at hand: {', '.join(missing)}. {PLACE}"] if missing else []


def load() -> Corpus:
    """CoNLL-2003 testb, or generated sentences."""
    file = data() / "conll2003-eng" / "eng.testb"
    if file.is_file():
        words, tags = (column(file, at) for at in (0, -1))
        bio = convert_many(tags, "iob1", "bio")
        return Corpus("CoNLL-2003 English testb", interned(bio), words)
    bio = generated(Random(0))
    words = [[f"word{number}" for number in range(len(sentence))] for sentence in bio]
    return Corpus("generated, seed 0 (CoNLL-2003 is not at hand)", bio, words)


def column(file: Path, at: int) -> Sentences:
    """One column of a column file, sentence by sentence, without its document markers."""
    blocks = file.read_text(encoding="utf8").split("\n\n")
    lines = [[line for line in block.splitlines() if line.strip()] for block in blocks]
    return [
        [line.split()[at] for line in block]
        for block in lines
        if block and not block[0].startswith("-DOCSTART-")
    ]


def generated(random: Random, sentences: int = 3453) -> Sentences:
    """About 13 tokens in a sentence, one in six inside a span, most spans of one or two tokens."""
    return interned([generated_sentence(random) for _ in range(sentences)])


def generated_sentence(random: Random) -> list[str]:
    """One sentence of BIO tags."""
    length = 1 + min(int(random.expovariate(1 / 12.5)), 120)
    tags: list[str] = []
    while len(tags) < length:
        if random.random() < 0.13:
            label = random.choice(LABELS)
            tags += [f"B-{label}"] + [f"I-{label}"] * random.choice((0, 0, 0, 0, 0, 1, 1, 1, 2))
        else:
            tags.append("O")
    return tags[:length]


def interned(sentences: Sentences) -> Sentences:
    """The same tags, equal ones as one object."""
    return [list(map(intern, sentence)) for sentence in sentences]


def unshared(sentences: Sentences) -> Sentences:
    """The same tags, each an object of its own (but for `O`: Python has only one of those)."""
    return [["".join(list(tag)) for tag in sentence] for sentence in sentences]


def repeated(sentences: Sentences, times: int) -> Sentences:
    """The sentences many times over, each a list of its own, as a corpus of that size has them."""
    return [list(sentence) for _ in range(times) for sentence in sentences]


def perturbed(sentences: Sentences, share: float = 0.05, seed: int = 0) -> Sentences:
    """The same sentences with a share of the tags replaced by another tag of the corpus."""
    random = Random(seed)
    every = sorted({tag for sentence in sentences for tag in sentence})

    def change(tag: str) -> str:
        return random.choice([other for other in every if other != tag])

    return [
        [change(tag) if random.random() < share else tag for tag in sentence]
        for sentence in sentences
    ]
