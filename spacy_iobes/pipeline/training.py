"""Training by spaCy itself, with a config that fits the data, into a directory that is whole."""

from __future__ import annotations

import io
import json
import math
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training.initialize import init_nlp
from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
from spacy.training.loop import train as train_nlp
from spacy.util import load_model, load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from ..codes.scheme import get_scheme
from ..corpus.folders import beside, put
from ..corpus.training_data import TrainingData
from ..errors import FileError, IobesError, ModelError, UnknownNameError
from ..scoring.report import Report
from .configs import explained, overridden, read_config
from .ner import EntityRecognizer
from .scorers import scores_of, span_scorer

DEFAULT = "ner_fast"
EPOCHS, SMALL, MORE = 5, 1000, 20  # passes over the data, or where 1000 steps allow it up to 20
LOOKS, PATIENCE = 5, 3  # how often dev data are looked at, at least, and how often in vain
UNFIT = (AttributeError, KeyError, TypeError, ValueError)  # what settings lead to that do not fit
ROW = re.compile(r"\s*\d+\s+\d+\s+\S")
REMARK = re.compile(r"(?:\x1b\[[\d;]*m)*(?:[✔✘ℹ⚠]|\[[+x!i]\])")


@dataclass(frozen=True)
class Settings:
    """What a command may say beside the data; None and "" leave it to the config."""

    config: str = DEFAULT
    lang: str = ""
    scheme: str = ""
    seed: int | None = None
    max_steps: int | None = None
    epochs: int | None = None


# the config


def training_config(
    train: TrainingData,
    dev: TrainingData,
    settings: Settings | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Config:
    """The complete config of a training, as `spacy train` takes it."""
    settings, overrides = settings or Settings(), dict(overrides or {})
    config = read_config(settings.config)
    for section in ("paths", "corpora", "training", "components", "nlp", "system"):
        config.setdefault(section, {})
    for name, data in (("train", train), ("dev", dev)):
        config["paths"][name] = data.path
        config["corpora"][name] = reader_of(data, config["corpora"].get(name), name)
        config["training"][f"{name}_corpus"] = f"corpora.{name}"
    if settings.lang:
        config["nlp"]["lang"] = settings.lang
    if settings.scheme:
        set_scheme(config, settings.scheme)
    if settings.seed is not None:
        config["system"]["seed"] = config["training"]["seed"] = settings.seed
    config = complete(overridden(complete(config), overrides))
    own = settings.config == DEFAULT
    for name, value in schedule(config, train, dev, settings, own).items():
        if f"training.{name}" not in overrides:
            config["training"][name] = value
    return config


def reader_of(data: TrainingData, there: Any, name: str) -> dict[str, Any]:
    """The block that reads the data; that of the config, if it is of the same kind."""
    same = isinstance(there, dict) and there.get("@readers") == data.reader["@readers"]
    block = there if same and "scheme" not in data.reader else data.reader
    return {**block, "path": f"${{paths.{name}}}"}


def set_scheme(config: Config, scheme: str) -> None:
    """Let the recognisers of a config use a scheme."""
    ours = [c for c in config["components"].values() if c.get("factory") == "iobes_ner"]
    if not ours:
        known = ", ".join(config["components"]) or "none"
        message = f"The config has no iobes_ner to set a scheme for. Its components: {known}."
        raise UnknownNameError(message, "iobes_ner", config["components"])
    for component in ours:
        component["scheme"] = get_scheme(scheme).name


def complete(config: Config) -> Config:
    """The config with everything that spaCy fills in; raises if it finds no entities."""
    with explained("the config"):
        try:
            nlp = load_model_from_config(config, auto_fill=True)
            registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)
        except ImportError as error:
            lang = config["nlp"].get("lang")
            raise FileError(f"The language {lang!r} cannot be loaded: {error}") from error
    found = [name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns]
    if not found:
        known = ", ".join(nlp.pipe_names) or "none"
        raise FileError(f"The config has no component that finds entities. It has: {known}.")
    return nlp.config


def schedule(
    config: Config, train: TrainingData, dev: TrainingData, settings: Settings, own: bool
) -> dict[str, int]:
    """How long to train, and how often to look at the dev data: about once an epoch.

    Dev data that are larger than the training data are looked at less often. In a config that is
    not our `own` only that is set which was asked for.
    """
    wanted: dict[str, int] = {}
    if settings.max_steps is not None:
        wanted["max_steps"] = settings.max_steps
    if not own and settings.epochs is None:
        return wanted
    block = config.interpolate()["training"]["batcher"]
    batcher = registry.resolve({"batcher": block})["batcher"]
    epoch = max(sum(1 for _ in batcher([range(length) for length in train.lengths])), 1)
    if settings.epochs is not None:
        wanted = {"max_steps": settings.epochs * epoch, "patience": 0}
    if not own:
        return wanted
    last = wanted.get("max_steps") or max(EPOCHS * epoch, min(SMALL, MORE * epoch))
    often = min(epoch * max(dev.tokens / train.tokens, 1), last / LOOKS)
    if settings.epochs is not None:
        often = epoch
    every = max(last // math.ceil(last / max(often, 1)), 1)
    return {"max_steps": last, "eval_frequency": every, "patience": PATIENCE * every, **wanted}


# training


def train(
    config: Config, output: str | Path, dev: TrainingData, log: TextIO, tell: Callable[[str], None]
) -> Report:
    """Train a pipeline, put the best one into a directory, and score it on the dev data.

    The table of the logger goes to `log`. Whatever ends training early, the best checkpoint so far
    is kept, and where it is goes to `tell`: in the directory, unless something is there already.
    """
    work, table = beside(output), Table(log)
    best = work / DIR_MODEL_BEST
    try:
        train_nlp(init_nlp(config), work, stdout=table, stderr=log)
        report = dev_report(load_model(best), dev)
        store(best, report)
        put(best, output)
    except BaseException as error:
        rescue(work, output, table.rows < 2, tell)
        if isinstance(error, OSError):
            reason = (error.strerror or str(error)).lower()
            raise FileError(f"{output}: cannot be written: {reason}.", str(output)) from error
        if isinstance(error, UNFIT) and not isinstance(error, IobesError):
            raise ModelError(
                f"Training cannot go on ({type(error).__name__}: {error}). Is it a setting of the "
                "config? 'spacy train' with what --print-config prints shows where it is."
            ) from error
        raise
    shutil.rmtree(work)
    return report


class Table(io.StringIO):
    """Passes on what a logger prints, but not what spaCy says about the directory it writes.

    It counts the rows, one for each look at the dev data.
    """

    def __init__(self, stream: TextIO):
        super().__init__()
        self.stream = stream
        self.rows = 0

    def write(self, text: str) -> int:
        """Write, unless it is a remark."""
        self.rows += bool(ROW.match(text))
        return len(text) if REMARK.match(text) else self.stream.write(text)

    def flush(self) -> None:
        """Show what was written."""
        self.stream.flush()


def dev_report(nlp: Language, dev: TrainingData) -> Report:
    """The score of a pipeline on dev data, with the recipe that says how they were read."""
    scheme, policy = dev.reader.get("scheme"), dev.reader.get("policy", "raise")
    if scheme is None:
        ours = [p.scheme.name for _, p in nlp.pipeline if isinstance(p, EntityRecognizer)]
        scheme = ours[-1] if ours else None
    scorer = span_scorer(scheme=scheme, repair=scheme and "raise", gold_repair=policy)
    name = nlp.config["training"]["dev_corpus"]
    (corpus,) = resolve_dot_names(nlp.config.interpolate(), [name])
    examples = list(corpus(nlp))
    for example, doc in zip(examples, nlp.pipe(example.predicted for example in examples)):
        example.predicted = doc
    report = scorer.report(examples)
    return replace(report, counts=replace(report.counts, gold_violations=dev.repaired))


def store(folder: Path, report: Report) -> None:
    """Put the score of a stored pipeline into its meta data, with its recipe."""
    path = folder / "meta.json"
    meta = json.loads(path.read_text(encoding="utf8"))
    meta["performance"] |= scores_of(report, as_ents=True)
    path.write_text(json.dumps(meta, indent=2, ensure_ascii=False), encoding="utf8")


def rescue(work: Path, output: str | Path, early: bool, tell: Callable[[str], None]) -> None:
    """Keep a checkpoint, if there is one, and say where it is.

    It is the best one, or the last where it is too `early` to tell: spaCy looks at the dev data
    after the first step, and then not for long.
    """
    best, last = work / DIR_MODEL_BEST, work / DIR_MODEL_LAST
    wanted = (last, best) if early else (best, last)
    found = next(filter(loads, wanted), None) if best.exists() else None
    if found is None:
        shutil.rmtree(work, ignore_errors=True)
        tell("there is no checkpoint yet, so nothing was written")
        return
    said = "the last checkpoint, which has no score yet"
    if found == best:
        said = f"the best checkpoint so far (F1 {100 * performance(best):.2f} on the dev data)"
    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        tell(f"{output} is as it was, and {found} is {said}")
        return
    put(found, output)
    shutil.rmtree(work)
    tell(f"{output} holds {said}")


def loads(folder: Path) -> bool:
    """Whether a stored pipeline is whole."""
    try:
        load_model(folder)
    except Exception:  # of any kind, since any part of it may be missing
        return False
    return True


def performance(folder: Path) -> float:
    """The F1 of a stored pipeline."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf8"))["performance"]
        return float(meta.get("iobes_f") or meta.get("ents_f") or 0.0)
    except (OSError, ValueError, KeyError, AttributeError):
        return 0.0
