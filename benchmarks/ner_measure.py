"""Measure one system on one corpus with one seed, in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from spacy_iobes import score

from . import ner_crfsuite, ner_pipelines
from .ner_corpora import CORPORA, Document, Parts, apart, joined, load
from .ner_systems import Crfsuite, System, settings
from .ner_training import use_numpy
from .timing import collector_off

MEGABYTE = 1e6
ROUNDS = 3
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Figures = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """What to measure; `share` of the training data, `limit` sentences of every part if not 0."""

    corpus: str
    name: str
    system: System
    seed: int = 0
    share: float = 1.0
    limit: int = 0

    def key(self) -> dict[str, Any]:
        """All that the figures depend on, but for the code and the machine."""
        rest = {name: getattr(self, name) for name in ("corpus", "seed", "share", "limit")}
        mine = {"settings": settings(self.system), "version": version(self.system.package)}
        return rest | {"system": self.name} | mine

    def __str__(self) -> str:
        part = "" if self.share == 1.0 else f", {self.share:.0%}"
        return f"{self.corpus}{part}, {self.name}, seed {self.seed}"

    def parts(self) -> Parts:
        """The data."""
        return load(self.corpus, self.share, self.seed, self.limit)


def in_own_process(task: Task) -> Figures:
    """Measure in a new process with one thread, so that nothing is warm and memory is its own."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    context: Any = get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measure, task, task.parts()).result()


def measure(task: Task, parts: Parts) -> Figures:
    """Train, then tag test and dev data."""
    use_numpy()
    with TemporaryDirectory() as folder:
        tagger, figures = trained(task, parts, Path(folder))
        figures["model MB"] = size(tagger.path) / MEGABYTE
        figures["memory MB"] = memory()
        figures |= tagged(tagger, parts.test)
        figures["test F1"] = f1(tagger, parts.test)
        figures["dev F1"] = f1(tagger, parts.dev)
    tags = {tag for document in parts.train for _, tags in document for tag in tags if tag != "O"}
    figures["labels"] = len({tag[2:] for tag in tags})
    figures["training words"] = words_in(parts.train)
    return figures


def trained(task: Task, parts: Parts, folder: Path) -> tuple[Any, Figures]:
    """A tagger, and what its training took."""
    if isinstance(task.system, Crfsuite):
        return ner_crfsuite.train(task.system, parts, folder)
    language = CORPORA[task.corpus].language
    return ner_pipelines.train(task.system, language, parts, task.seed, folder)


def tagged(tagger: Any, documents: list[Document]) -> Figures:
    """Words a second: of words never seen, of words seen before, and from text."""
    count = words_in(documents)
    texts = [" ".join(words) for ((words, _),) in apart(documents)]
    tagger.tag(tagger.ready([[(["warm", "up"], ["O", "O"])]]))

    def speed(run: Callable[[Any], Any], given: Callable[[], Any], rounds: int) -> float:
        return count / median(seconds(run, given()) for _ in range(rounds))

    def ready() -> Any:
        return tagger.ready(documents)

    with collector_off():
        return {
            "first words/s": speed(tagger.tag, ready, 1),
            "cached words/s": speed(tagger.tag, ready, ROUNDS),
            "text words/s": speed(tagger.tag_texts, lambda: texts, ROUNDS),
        }


def seconds(run: Callable[[Any], Any], given: Any) -> float:
    """The CPU time of one call."""
    begin = process_time()
    run(given)
    return process_time() - begin


def f1(tagger: Any, documents: list[Document]) -> float:
    """F1 of entities in percent, by this package's own score."""
    predicted = tagger.bio(tagger.tag(tagger.ready(documents)))
    gold = [tags for _, tags in map(joined, tagger.units(documents))]
    return 100 * (score(gold, predicted, scheme="bio", policy="raise").value or 0.0)


def words_in(documents: list[Document]) -> int:
    """How many words there are."""
    return sum(len(words) for document in documents for words, _ in document)


def size(path: Path) -> int:
    """The bytes of a file, or of all files below a directory."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def memory() -> float | None:
    """The largest memory that this process had until now, in MB, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
