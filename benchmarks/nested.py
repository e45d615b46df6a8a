"""Nested mentions as separators: what becomes of published corpora on the way there and back.

A set is the mentions of one label in one sentence (of NEREL: in one text). Nothing is timed there;
recognisers are in nested_ner.py.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy_iobes.codes import READINGS, Known
from spacy_iobes.corpus import (
    Sentences,
    SeparatorSurvey,
    accepted,
    read,
    survey_separators,
)

from . import nested_ner
from .corpora import data, not_at_hand
from .table import Cell, Table

Results = list[tuple["Nested", dict[str, SeparatorSurvey]]]


@dataclass(frozen=True)
class Nested:
    """A corpus, how many columns of tags it has (0: a brat archive), and what others counted.

    `lost` and `f1` have one number for each reading, in the order of READINGS; None is not known.
    """

    name: str
    path: str
    layers: int
    counts: tuple[int, int, int]  # mentions, sets, ambiguous sets
    lost: tuple[int, int, int, int, int]
    f1: tuple[float | None, ...]

    def parts(self) -> list[tuple[Sentences, Known]]:
        """Return all of its sentences, and what is known of them."""
        path = data() / self.path
        if not self.layers:
            return _brat(path)
        return list(accepted(read(path, layers=range(1, self.layers + 1)), "bio"))


GENIA = "genia-nested/genia.{}.nested.iob2.gz"
CORPORA = (
    Nested(
        "GENIA train",
        GENIA.format("train"),
        4,
        (46146, 22414, 339),
        (9, 10, 9, 339, 339),
        (0.9999, None, None, 0.9917, 0.9844),
    ),
    Nested(
        "GENIA dev",
        GENIA.format("dev"),
        4,
        (4371, 2420, 32),
        (0, 0, 0, 32, 32),
        (1.0, None, None, None, None),
    ),
    Nested(
        "GENIA test",
        GENIA.format("test"),
        4,
        (5511, 2755, 50),
        (0, 0, 0, 50, 50),
        (1.0, None, None, None, None),
    ),
    Nested(
        "GermEval 2014 train",
        "germeval2014/germ.train.iob2.gz",
        2,
        (31545, 23190, 16),
        (0, 0, 0, 16, 16),
        (None,) * 5,
    ),
    Nested(
        "NEREL 1.1",
        "nerel/NEREL-v1.1.tar.gz",
        0,
        (56123, 11250, 280),
        (178, 188, 184, 275, 277),
        (0.9976, 0.9967, 0.9974, 0.9948, None),
    ),
)
"""The corpora, with figures that others counted."""


def _brat(path: Path) -> list[tuple[Sentences, Known]]:
    """The texts of an archive of brat files."""
    with TemporaryDirectory() as folder, tarfile.open(path) as archive:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4, 3.10.12
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)
        return list(accepted(read(folder)))


def surveys(corpus: Nested) -> dict[str, SeparatorSurvey]:
    """What every reading makes of a corpus."""
    parts = corpus.parts()
    return {name: survey_separators(corpus.name, parts, name) for name in READINGS}


def row(corpus: Nested, found: dict[str, SeparatorSurvey]) -> dict[str, Cell]:
    """The counts of one corpus."""
    one = next(iter(found.values()))
    total, kinds = one.total, one.kinds
    return {
        "corpus": corpus.name,
        "mentions": total.mentions,
        "sets": total.sets,
        "ambiguous": total.ambiguous,
        **{name: survey.total.lost for name, survey in found.items()},
        "not spans": kinds["discontinuous"] + kinds["misaligned"],
    }


def differences(corpus: Nested, found: dict[str, SeparatorSurvey]) -> Iterator[str]:
    """Every figure that is not the known one."""
    one = next(iter(found.values())).total
    counts = (one.mentions, one.sets, one.ambiguous)
    for what, known, counted in zip(("mentions", "sets", "ambiguous"), corpus.counts, counts):
        if known != counted:
            yield f"{corpus.name}, {what}: {counted:,}, known {known:,}"
    for (name, survey), lost, f1 in zip(found.items(), corpus.lost, corpus.f1):
        if survey.total.lost != lost:
            yield f"{corpus.name}, lost with {name}: {survey.total.lost:,}, known {lost:,}"
        if f1 is not None and round(survey.total.f1, 4) != f1:
            yield f"{corpus.name}, F1 of {name}: {survey.total.f1:.4f}, known {f1:.4f}"


def lost(results: Results, missing: Sequence[str]) -> Table:
    """How many sets do not come back under each reading."""
    notes = [
        "A set is the mentions of one label in one sentence (NEREL: in one text). Under the names",
        "of readings: the sets that do not come back. Not spans: discontinuous mentions, and those",
        "that begin or end within a token; they are left out of all other columns.",
    ]
    wrong = [line for corpus, found in results for line in differences(corpus, found)]
    known = [f"All figures of {len(results)} corpora are those that others counted."]
    notes += [f"Not as known: {line}." for line in wrong] or known * bool(results)
    notes += not_at_hand(missing)
    rows = [row(corpus, found) for corpus, found in results]
    return Table("round trip: sets of mentions that are lost", rows if results else [], notes)


def best(results: Results) -> Table:
    """The F1 of a model that predicts every separator right."""
    rows: list[dict[str, Cell]] = [
        {"corpus": corpus.name} | {name: 100 * survey.total.f1 for name, survey in found.items()}
        for corpus, found in results
    ]
    formats = dict.fromkeys(READINGS, ".2f")
    return Table("round trip: the best F1 that separators allow", rows, [], formats)


def run(quick: bool, **options: Any) -> Iterator[Table]:
    """The round trip, unless the options name a part of the recognisers; then these."""
    if not {"only", "systems"} & options.keys():
        yield from round_trip(quick)
    yield from nested_ner.run(quick, **options)


def round_trip(quick: bool) -> Iterator[Table]:
    """The round trip of every corpus under every reading."""
    there = [corpus for corpus in CORPORA if (data() / corpus.path).is_file()]
    missing = [corpus.name for corpus in CORPORA if corpus not in there]
    small = ("GENIA dev", "GENIA test")
    chosen = [corpus for corpus in there if not quick or corpus.name in small]
    results = [(corpus, surveys(corpus)) for corpus in chosen]
    yield lost(results, missing)
    yield best(results)
