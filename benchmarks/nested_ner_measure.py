"""Measure one recogniser of nested mentions on one corpus, in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_iobes.pipeline import NestedScorer, tune

from .ner_keep import Figures
from .ner_measure import MEGABYTE, THREADS
from .ner_training import use_numpy
from .nested_ner_corpora import CORPORA, GERMEVAL, Document, load
from .nested_ner_levels import level_figures
from .nested_ner_systems import KEY, THRESHOLD, System
from .nested_ner_training import examples, train
from .timing import collector_off

ROUNDS, ENOUGH = 3, 5.0
BATCH_WORDS = 4000
LOW = 0.05
THRESHOLDS = tuple(np.arange(LOW, 0.96, 0.05).round(2).tolist())


@dataclass(frozen=True)
class Task:
    """What to measure; `limit` sentences of every part if not 0."""

    corpus: str
    name: str
    system: System
    budget: float
    limit: int = 0
    seed: int = 0

    def key(self) -> dict[str, Any]:
        """All that the figures depend on, but for the code and the machine."""
        names = ("corpus", "limit", "seed")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found |= {"system": self.name, "settings": self.system.settings()}
        budget = None if self.system.hashed else self.budget
        versions = [version(name) for name in ("spacy-iobes", "spacy")]
        return found | {"budget": budget, "versions": versions}

    def __str__(self) -> str:
        return f"{self.corpus}, {self.name}"


def in_own_process(task: Task) -> Figures:
    """Measure in a new process with one thread, so that nothing is warm."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, task).result()


def measure(task: Task) -> Figures:
    """Train, tune on dev data, then tag test data without and with what was tuned."""
    use_numpy()
    parts = load(task.corpus, task.limit)
    language = CORPORA[task.corpus].language
    done = train(task.system, language, parts.train, task.seed, task.budget)
    figures: Figures = {
        "training s": done.seconds,
        "training words/s": done.words / done.seconds,
        "epochs": done.words / count(parts.train),
        "training words": count(parts.train),
    }
    with done.nlp.use_params(done.optimizer.averages):
        return figures | evaluated(task, done.nlp, parts.dev, parts.test)


def evaluated(task: Task, nlp: Language, dev: list[Document], test: list[Document]) -> Figures:
    """All that is known of a trained pipeline."""
    system = task.system
    sizes = [len(pipe.to_bytes(exclude=["vocab"])) for _, pipe in nlp.pipeline]  # type: ignore[attr-defined]
    figures: Figures = {"model MB": sum(sizes) / MEGABYTE}
    tuned, figures["dev F1"] = tuned_on(system, nlp, dev)
    set_bias(system, nlp, None)
    plain, speed = tagged(system, nlp, test)
    figures["tagging words/s"] = speed
    figures["untuned F1"] = 100 * (scores(plain)["iobes_nested_f"] or 0.0)
    set_bias(system, nlp, tuned)
    figures["tuned"] = tuned
    found, _ = tagged(system, nlp, test, rounds=1)
    if task.corpus == GERMEVAL:
        figures |= level_figures(test, [example.predicted for example in found])
    return figures | shown(scores(found))


def set_bias(system: System, nlp: Language, value: float | None) -> None:
    """The bias of ours, or the threshold of a span categorizer; None is what it begins with."""
    pipe: Any = nlp.get_pipe(system.component)
    if system.ours:
        pipe.entity_bias = value or 0.0
    else:
        pipe.cfg["threshold"] = THRESHOLD if value is None else value


def tuned_on(system: System, nlp: Language, dev: list[Document]) -> tuple[float, float]:
    """The bias or the threshold that serves best on dev data, and the F1 that it has there."""
    if system.ours:
        tune(nlp, system.component, examples(nlp, dev))
        pipe: Any = nlp.get_pipe(system.component)
        found, _ = tagged(system, nlp, dev, rounds=1)
        return pipe.entity_bias, 100 * (scores(found)["iobes_nested_f"] or 0.0)
    set_bias(system, nlp, LOW)
    found, _ = tagged(system, nlp, dev, rounds=1)
    return best_threshold(found)


def best_threshold(found: Sequence[Example]) -> tuple[float, float]:
    """The threshold with the best F1, given predictions with a low one."""
    right, score = [], []
    gold = 0
    for example in found:
        known = {(s.start, s.end, s.label_) for s in example.reference.spans[KEY]}
        group = example.predicted.spans[KEY]
        right += [(s.start, s.end, s.label_) in known for s in group]
        score += list(group.attrs.get("scores", ()))  # none where nothing was suggested
        gold += len(known)
    correct, value = np.array(right, dtype=bool), np.array(score, dtype=float)

    def f1(threshold: float) -> float:
        chosen = value >= threshold
        return 200 * float((correct & chosen).sum()) / max(int(chosen.sum()) + gold, 1)

    best = max(THRESHOLDS, key=lambda t: (f1(t), -abs(t - THRESHOLD)))
    return best, f1(best)


def tagged(
    system: System, nlp: Language, documents: list[Document], rounds: int = ROUNDS
) -> tuple[list[Example], float]:
    """Examples with predictions, and how many words a second were tagged."""
    words, times = count(documents), list[float]()
    batch = max(1, BATCH_WORDS * len(documents) // words)
    while not times or (len(times) < rounds and sum(times) < ENOUGH):
        found = examples(nlp, documents)
        docs = [example.predicted for example in found]
        with collector_off():
            begin = process_time()
            docs = list(nlp.pipe(docs, batch_size=batch))
            times.append(process_time() - begin)
    for example, doc in zip(found, docs):
        example.predicted = nested(system, doc)
    return found, words / median(times)


def nested(system: System, doc: Doc) -> Doc:
    """The same Doc; the entities of a flat recogniser are its mentions."""
    if system.kind == "flat":
        doc.spans[KEY] = list(doc.ents)
    return doc


def scores(found: Sequence[Example]) -> dict[str, Any]:
    """The figures of this package's scorer."""
    return NestedScorer(KEY)(found)


def shown(found: dict[str, Any]) -> Figures:
    """Those that go into the tables, in percent."""
    recall = found["iobes_nested_recall"]
    values = {
        "test P": found["iobes_nested_p"],
        "test R": found["iobes_nested_r"],
        "test F1": found["iobes_nested_f"],
        "nested R": recall["nested"]["r"],
        "same-label R": recall["nested_same_label"]["r"],
        "F1 overlap": found["iobes_nested_overlapping"]["f"],
        "F1 others": found["iobes_nested_others"]["f"],
    }
    return {name: 100 * (value or 0.0) for name, value in values.items()}


def count(documents: list[Document]) -> int:
    """How many words there are."""
    return sum(len(words) for document in documents for words, _ in document)
