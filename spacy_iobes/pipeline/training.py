"""Training by spaCy itself, into a directory that is written whole or not at all."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
from spacy.training.loop import train as train_nlp
from spacy.util import load_model, resolve_dot_names
from thinc.api import Config

from ..corpus.folders import beside, put
from ..corpus.training_corpus import TrainingCorpus
from ..errors import FileError, IobesError, ModelError
from ..scoring.report import Report
from ..scoring.signature import Signature
from ..scoring.tables import percent
from .ner import EntityRecognizer
from .nested_ner import NestedRecognizer
from .nested_scorer import NestedScorer, nested_scores
from .scorers import SpanScorer, scores_of, span_scorer
from .tuning import Tried, best_of, tune, without_bias

UNFIT = (AttributeError, KeyError, TypeError, ValueError)  # what settings lead to that do not fit
ROW = re.compile(r"\s*\d+\s+\d+\s+\S.*?(\S+)\s*$")
REMARK = re.compile(r"(?:\x1b\[[\d;]*m)*(?:[✔✘ℹ⚠]|\[[+x!i]\])")


def train(
    config: Config,
    output: str | Path,
    dev: TrainingCorpus,
    log: TextIO,
    tell: Callable[[str], None],
    tuning: bool = True,
) -> Report:
    """Train a pipeline, put the best one into a directory, and score it on the dev data.

    With `tuning` it gets the bias for entities that serves best there, unless the config has one.
    The table of the logger goes to `log`. Whatever ends training early, the best checkpoint so far
    is kept, and where it is goes to `tell`: in the directory, unless something is there already.
    """
    work, table = beside(output), Table(log)
    best = work / DIR_MODEL_BEST
    try:
        train_nlp(init_nlp(config), work, stdout=table, stderr=log)
        nlp = load_model(best)
        if tuning and dev.key:
            nlp, best = best_tuned(work, tell)
        elif tuning:
            tune_stored(nlp, best, tell)
        report = dev_report(nlp, dev)
        if table.first_is_best and best.name == DIR_MODEL_BEST and report.value != 1:
            tell(
                "the first look at the dev data was the best: what was learned after it did not "
                "help. Train for longer (--epochs, --max-steps), or look more often"
            )
        store(best, report)
    except BaseException as error:
        rescue(work, output, dev, len(table.scores) < 2, tell)
        if isinstance(error, OSError):
            reason = (error.strerror or str(error)).lower()
            raise FileError(f"{output}: cannot be written: {reason}.", str(output)) from error
        if isinstance(error, UNFIT) and not isinstance(error, IobesError):
            raise ModelError(
                f"Training cannot go on ({type(error).__name__}: {error}). Is it a setting of the "
                "config? 'spacy train' with what --print-config prints shows where it is."
            ) from error
        raise
    put(best, output)
    shutil.rmtree(work, ignore_errors=True)
    return report


class Table(io.StringIO):
    """Passes on what a logger prints, but not what spaCy says about the directory it writes.

    It takes down the score of each row, which is one look at the dev data.
    """

    def __init__(self, stream: TextIO):
        super().__init__()
        self.stream = stream
        self.scores: list[float] = []

    def write(self, text: str) -> int:
        """Write, unless it is a remark."""
        if row := ROW.match(text):
            with suppress(ValueError):
                self.scores.append(float(row[1]))
        return len(text) if REMARK.match(text) else self.stream.write(text)

    def flush(self) -> None:
        """Show what was written."""
        self.stream.flush()

    @property
    def first_is_best(self) -> bool:
        """Whether all that followed was no better than what a model knows after its first step."""
        return len(self.scores) > 1 and self.scores[0] >= max(self.scores[1:])


def best_tuned(work: Path, tell: Callable[[str], None]) -> tuple[Language, Path]:
    """The best checkpoint or, if that is better once both have their bias, the last one.

    A nested recogniser that has not learned for long finds hardly anything without a bias, so that
    the checkpoint that was best without one may be far from the best.
    """
    both = [work / name for name in (DIR_MODEL_BEST, DIR_MODEL_LAST)]
    loaded = [load_model(folder) for folder in both if folder.exists()]
    remarks: list[list[str]] = [[] for _ in loaded]
    tuned = [
        tune_stored(nlp, folder, said.append) for nlp, folder, said in zip(loaded, both, remarks)
    ]
    values = [-1.0 if found is None else found.figures.f1 or 0.0 for found in tuned]
    chosen = values.index(max(values))
    if chosen:
        figures = " and ".join(percent(value) for value in reversed(values))
        tell(f"the last checkpoint is better than the best one, each with its bias: {figures}")
    for remark in remarks[chosen]:
        tell(remark)
    return loaded[chosen], both[chosen]


def tune_stored(nlp: Language, folder: Path, tell: Callable[[str], None]) -> Tried | None:
    """Tune the recogniser of a pipeline on its dev data; its stored config gets the bias."""
    kinds = (EntityRecognizer, NestedRecognizer)
    ours = [name for name, pipe in nlp.pipeline if isinstance(pipe, kinds)]
    if not ours or nlp.get_pipe_config(ours[-1]).get("entity_bias"):
        return None
    tried = tune(nlp, ours[-1], dev_examples(nlp))
    found, before = best_of(tried), without_bias(tried)
    if found.bias:
        nlp.config.to_disk(folder / "config.cfg")
        figures = [percent(one.figures.f1) for one in (found, before)]
        tell(f"entity_bias {found.bias:+.1f}: dev F1 {figures[0]}, without it {figures[1]}")
    return found


def dev_examples(nlp: Language) -> list[Example]:
    """The dev data of a pipeline, as its config reads them."""
    name = nlp.config["training"]["dev_corpus"]
    (corpus,) = resolve_dot_names(nlp.config.interpolate(), [name])
    return list(corpus(nlp))


def dev_scorer(nlp: Language, dev: TrainingCorpus) -> SpanScorer | NestedScorer:
    """A scorer whose recipe says how the dev data were read."""
    scheme: str | None = dev.scheme or None
    policy = dev.options.policy
    if dev.key:
        return NestedScorer(dev.key, Signature(gold_policy=policy))
    if scheme is None:
        ours = [p.scheme.name for _, p in nlp.pipeline if isinstance(p, EntityRecognizer)]
        scheme = ours[-1] if ours else None
    return span_scorer(scheme=scheme, policy=scheme and "raise", gold_policy=policy)


def dev_report(nlp: Language, dev: TrainingCorpus) -> Report:
    """The score of a pipeline on dev data, with its recipe."""
    examples = dev_examples(nlp)
    for example, doc in zip(examples, nlp.pipe(example.predicted for example in examples)):
        example.predicted = doc
    report = dev_scorer(nlp, dev).report(examples)
    return replace(report, counts=replace(report.counts, gold_violations=dev.size.repaired))


def store(folder: Path, report: Report) -> None:
    """Put the score of a stored pipeline into its meta data, with its recipe."""
    path = folder / "meta.json"
    meta = json.loads(path.read_text(encoding="utf8"))
    flat = report.nested is None
    meta["performance"] |= scores_of(report, as_ents=True) if flat else nested_scores(report)
    path.write_text(json.dumps(meta, indent=2, ensure_ascii=False), encoding="utf8")


def sign(folder: Path, nlp: Language, dev: TrainingCorpus) -> None:
    """Let the score of a stored pipeline have the recipe that it has at the end of training."""
    path = folder / "meta.json"
    meta = json.loads(path.read_text(encoding="utf8"))
    name = "iobes_nested_signature" if dev.key else "iobes_signature"
    if name in meta["performance"]:
        signature = dev_scorer(nlp, dev).signature
        meta["performance"][name] = str(signature)
        path.write_text(json.dumps(meta, indent=2, ensure_ascii=False), encoding="utf8")


def rescue(
    work: Path, output: str | Path, dev: TrainingCorpus, early: bool, tell: Callable[[str], None]
) -> None:
    """Keep a checkpoint, if there is one, and say where it is.

    It is the best one, or the last where it is too `early` to tell: spaCy looks at the dev data
    after the first step, and then not for long.
    """
    best, last = work / DIR_MODEL_BEST, work / DIR_MODEL_LAST
    wanted = (last, best) if early else (best, last)
    kept = first_whole(wanted) if best.exists() else None
    if kept is None:
        shutil.rmtree(work, ignore_errors=True)
        tell("Ended early: there is no checkpoint yet, so nothing was written")
        return
    found, nlp = kept
    with suppress(OSError):  # of a full disk, which must not cost the checkpoint
        sign(found, nlp, dev)
    said = "the last checkpoint, which has no score yet"
    if found == best:
        said = f"the best checkpoint so far (F1 {100 * performance(best):.2f} on the dev data)"
    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        tell(f"Ended early: {output} is as it was, and {found} is {said}")
        return
    put(found, output)
    shutil.rmtree(work)
    tell(f"Ended early: {output} holds {said}")


def first_whole(folders: Iterable[Path]) -> tuple[Path, Language] | None:
    """The first directory that holds a whole pipeline, and the pipeline; None if none does."""
    for folder in folders:
        with suppress(Exception):  # of any kind, since any part of it may be missing
            return folder, load_model(folder)
    return None


def performance(folder: Path) -> float:
    """The F1 of a stored pipeline."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf8"))["performance"]
        keys = ("iobes_f", "iobes_nested_f", "ents_f")
        return float(next(filter(None, map(meta.get, keys)), 0.0))
    except (OSError, ValueError, KeyError, AttributeError):
        return 0.0
