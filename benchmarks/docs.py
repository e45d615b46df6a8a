"""What the components cost in `nlp.pipe`, beside a default spaCy tagger in the same run.

The tagger multiplies matrices with BLIS, as spaCy does by default, or with numpy, which is faster
on many machines; a share is given of both. Docs are made before they are timed, and used once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np
import spacy
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import NumpyOps

from .corpora import SHARED, Sentences, column, data, generated
from .outcome import nanoseconds
from .table import Cell, Table
from .targets import at_most
from .timing import Alternative, Timing, race

LENGTHS = (20, 195)  # tokens in a Doc, about
DIRTY = 0.05  # the share of Docs with a violation, where there are any
SHARE = 2.0  # percent of the tagger's time that the repairer may cost where nothing needs repair
EMPTY, BLIS, NUMPY = "no component", "tagger, blis", "tagger, numpy"
LEGEND = [
    "ns/token: process CPU time, the median of all rounds; spread: its interquartile range.",
    "% of a tagger: the median of the ratios of every round. The tagger is spaCy's default one",
    "(HashEmbedCNN, width 96, depth 4) with random weights. All times include that of `nlp.pipe`,",
    "which a pipeline without components shows.",
]


@dataclass(frozen=True)
class Job:
    """A component with its settings; the `name` is that of its row."""

    name: str
    factory: str
    config: dict[str, str]


BEGIN = {"scheme": "bio", "policy": "begin"}
JOBS = (
    Job("repairer, user_data to ents", "iobes_repairer", BEGIN),
    Job("repairer, tag to ents", "iobes_repairer", BEGIN | {"source": "tag"}),
    Job("repairer, ents to ents", "iobes_repairer", BEGIN | {"source": "ents"}),
    Job("validator, user_data", "iobes_validator", {"scheme": "bio", "on_error": "ignore"}),
    Job(
        "validator, ents",
        "iobes_validator",
        {"scheme": "bio", "on_error": "ignore", "source": "ents"},
    ),
    Job("converter, ents to iobes", "iobes_converter", {"scheme": "iobes", "policy": "begin"}),
    Job(
        "converter, iobes to ents",
        "iobes_converter",
        {"scheme": "iobes", "policy": "begin", "source": "user_data:iobes", "target": "ents"},
    ),
)


@dataclass(frozen=True)
class Plan:
    """How much to measure."""

    rounds: int
    sentences: int | None


FULL = Plan(rounds=15, sentences=None)
QUICK = Plan(rounds=3, sentences=200)


def sentences(limit: int | None) -> tuple[str, Sentences, Sentences]:
    """The name, words and BIO tags of WNUT-17, or of generated sentences."""
    file = data() / "wnut17" / "emerging.test.annotated"
    if file.is_file():
        words, tags = (column(file, at)[:limit] for at in (0, -1))
        return "WNUT-17 test", words, tags
    tags = generated(Random(0), limit or 1287)
    words = [[f"word{number}" for number in range(len(row))] for row in tags]
    return f"generated, seed 0 (no WNUT-17: set {SHARED} to the folder above data)", words, tags


def joined(rows: Sentences, length: int) -> Sentences:
    """Sentences in a row put together to so many tokens, about."""
    every: Sentences = [[]]
    for row in rows:
        if len(every[-1]) + len(row) / 2 > length:
            every.append([])
        every[-1].extend(row)
    return every


def dirtied(tags: Sentences) -> Sentences:
    """The same tags with one violation in a share of the Docs."""
    random = Random(0)
    rows = [list(row) for row in tags]
    for row in random.sample(rows, round(DIRTY * len(rows))):
        row[0] = "I-location"
    return rows


def make_doc(vocab: Vocab, words: list[str], tags: list[str]) -> Doc:
    """A Doc with the tags in every place, malformed or not."""
    from spacy_iobes import convert

    doc = Doc(vocab, words=words)
    for token, tag in zip(doc, tags):
        token.tag_ = tag
    rows = [("OIB".index(tag[0]), vocab.strings.add(tag[2:])) for tag in tags]
    columns: Any = np.array([((2, 1, 3)[iob], key) for iob, key in rows], dtype=np.uint64)
    doc.from_array([ENT_IOB, ENT_TYPE], columns)
    doc.user_data["iobes_tags"] = tags
    doc.user_data["iobes"] = convert(tags, "bio", "iobes", "begin")
    return doc


def tagger(use_blis: bool) -> Language:
    """A pipeline with an untrained tagger."""
    nlp = spacy.blank("en")
    component: Any = nlp.add_pipe("tagger")
    tiny = Example(
        Doc(nlp.vocab, words=["a", "b"]), Doc(nlp.vocab, words=["a", "b"], tags=["A", "B"])
    )
    nlp.initialize(lambda: [tiny])
    for layer in component.model.walk():
        layer.ops = NumpyOps(use_blis=use_blis)
    return nlp


def pipeline(job: Job) -> Language:
    """A pipeline with one of our components."""
    nlp = spacy.blank("en")
    nlp.add_pipe(job.factory, config=job.config)
    return nlp


def consume(nlp: Language, docs: Sequence[Doc]) -> None:
    """Run a pipeline over Docs."""
    deque(nlp.pipe(docs), maxlen=0)


def copies(docs: Sequence[Doc]) -> list[Doc]:
    """Docs that nobody has annotated yet."""
    return [doc.copy() for doc in docs]


def measure(clean: Sequence[Doc], dirty: Sequence[Doc], rounds: int) -> dict[str, Timing]:
    """Time everything; what ran on dirty Docs has a name that says so."""
    pipelines = {EMPTY: spacy.blank("en"), BLIS: tagger(True), NUMPY: tagger(False)}
    pipelines |= {job.name: pipeline(job) for job in JOBS}
    entrants = [(name, nlp, clean) for name, nlp in pipelines.items()]
    entrants += [(f"{job.name}, dirty", pipelines[job.name], dirty) for job in JOBS]
    alternatives = [
        Alternative(name, partial(consume, nlp), partial(copies, docs), fresh=True)
        for name, nlp, docs in entrants
    ]
    return race(alternatives, rounds)


def share(timings: dict[str, Timing], name: str, whole: str) -> float:
    """The time of one in percent of another's."""
    return 100 / timings[name].times_faster_than(timings[whole])


def rows(timings: dict[str, Timing], tokens: int) -> list[dict[str, Cell]]:
    """One row for each."""
    return [
        {
            "what": name,
            **{key: nanoseconds(timing, tokens)[key] for key in ("ns/token", "spread")},
            f"% of {BLIS}": share(timings, name, BLIS),
            f"% of {NUMPY}": share(timings, name, NUMPY),
        }
        for name, timing in timings.items()
    ]


def targets(measured: dict[int, dict[str, Timing]]) -> Table:
    """The target, for each source of the repairer and length of Docs."""
    found: list[dict[str, Cell]] = []
    for job in JOBS:
        if job.factory == "iobes_repairer":
            for length, timings in measured.items():
                for whole, wanted in ((BLIS, f"<= {SHARE:g}"), (NUMPY, "")):
                    value = share(timings, job.name, whole)
                    found.append(
                        {
                            "target": f"{job.name}, {length} tokens: % of {whole}",
                            "wanted": wanted,
                            "value": value,
                            "verdict": at_most(value, SHARE) if wanted else "",
                        }
                    )
    note = "The target is about spaCy's default tagger; numpy's BLAS is faster on some machines."
    return Table("targets, where nothing needs repair", found, [note])


def run(quick: bool) -> Iterator[Table]:
    """Measure both lengths of Docs."""
    plan = QUICK if quick else FULL
    name, words, tags = sentences(plan.sentences)
    vocab = Vocab()
    measured: dict[int, dict[str, Timing]] = {}
    for length in LENGTHS:
        size = 0 if length == LENGTHS[0] else length
        texts, bio = (joined(part, size) if size else part for part in (words, tags))
        clean, dirty = (
            [make_doc(vocab, *pair) for pair in zip(texts, each)] for each in (bio, dirtied(bio))
        )
        tokens = sum(map(len, clean))
        measured[length] = measure(clean, dirty, plan.rounds)
        title = f"{name}: {len(clean):,} Docs, {tokens / len(clean):.0f} tokens each"
        notes = [*LEGEND, f"dirty: {DIRTY:.0%} of the Docs have a violation."]
        yield Table(title, rows(measured[length], tokens), notes)
    yield targets(measured)
