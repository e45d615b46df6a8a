"""python-crfsuite on the same features and strategies: how long one row of the table takes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from spacy_iobes import convert_many, score
from spacy_iobes.scoring import figures
from spacy_iobes.strategies import Codec, Material

from .ner_crfsuite import new_trainer
from .ner_systems import Crfsuite

Attributes = list[list[list[str]]]


class Timed(NamedTuple):
    """CPU seconds of learning and tagging, without those of making features, and F1."""

    seconds: float
    f1: float


def attributes(material: Material) -> Attributes:
    """The hashed features of all tokens as the strings that crfsuite takes."""
    names = [[str(n) for n in row if n >= 0] for row in material.features.tolist()]
    return [names[a:b] for a, b in pairwise(material.offsets.tolist())]


def tags(codec: Codec, material: Material) -> list[list[str]]:
    """The gold spans in the strategy."""
    path = codec.path(material.gold, material.lengths).tolist()
    written = [codec.tags.states.tags[state] for state in path]
    return [written[a:b] for a, b in pairwise(material.offsets.tolist())]


def measure(codec: Codec, train: Material, test: Material, parts: Sequence[Attributes]) -> Timed:
    """Train by L-BFGS as elsewhere in these benchmarks, and tag the test part."""
    trainer = new_trainer(Crfsuite())
    begin = process_time()
    for rows, target in zip(parts[0], tags(codec, train)):
        trainer.append(rows, target)
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        trainer.train(path)
        tagger = import_module("pycrfsuite").Tagger()
        tagger.open(path)
        found = [tagger.tag(rows) for rows in parts[1]]
    seconds = process_time() - begin
    predicted = convert_many(found, codec.scheme, "bio", policy="begin")
    expected = convert_many(tags(codec, test), codec.scheme, "bio")
    report = score(expected, predicted, scheme="bio", policy="begin")
    return Timed(seconds, figures(*report.counts.totals).f1 or 0.0)
