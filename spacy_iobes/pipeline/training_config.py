"""The config of a training: one that ships with the package or another, fitted to the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.util import get_sourced_components, load_model_from_config, registry
from thinc.api import Config

from ..codes.scheme import get_scheme
from ..corpus.touching import require_apart
from ..corpus.training_data import TrainingData
from ..errors import FileError, UnknownNameError
from .configs import explained, overridden, read_config, require_plain, shipped
from .documents import looks_at_documents
from .ner import EntityRecognizer

DEFAULT, NESTED = "ner_fast", "nested_fast"
FROZEN = "frozen_components"
EPOCHS, SMALL, MORE = 5, 1000, 20  # passes over the data, or where 1000 steps allow it up to 20
LOOKS, PATIENCE = 5, 3  # how often dev data are looked at, at least, and how often in vain


@dataclass(frozen=True)
class Settings:
    """What a command may say beside the data; None and "" leave it to the config."""

    config: str = DEFAULT
    lang: str = ""
    scheme: str = ""
    seed: int | None = None
    max_steps: int | None = None
    epochs: int | None = None


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
        require_plain(data.reader)
        config["paths"][name] = data.path
        config["corpora"][name] = reader_of(data, config["corpora"].get(name), name)
        config["training"][f"{name}_corpus"] = f"corpora.{name}"
    if settings.lang:
        config["nlp"]["lang"] = settings.lang
        if config["nlp"].get("tokenizer") == {"@tokenizers": "spacy.Tokenizer.v1"}:
            del config["nlp"]["tokenizer"]  # so that the language has its own
    if settings.scheme:
        set_scheme(config, settings.scheme)
    if settings.seed is not None:
        config["system"]["seed"] = config["training"]["seed"] = settings.seed
    if train.nested:
        set_key(config, train.reader["spans_key"])
    nlp, config = complete(overridden(complete(config, train.nested)[1], overrides), train.nested)
    if looks_at_documents(nlp) and train.has_documents and dev.has_documents:
        train, dev = train.by_document, dev.by_document
        join_documents(config, overrides)
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, EntityRecognizer) and name not in config["training"][FROZEN]:
            require_apart(train, pipe.scheme)
    steps = overrides.get("training.max_steps", settings.max_steps)
    planned = schedule(batches(config, train), steps, settings.epochs, dev.tokens / train.tokens)
    if settings.config not in (DEFAULT, NESTED):  # it keeps its numbers, but for what was asked for
        planned["eval_frequency"] = min(
            planned["eval_frequency"], config["training"]["eval_frequency"]
        )
        asked = ["max_steps"] if steps or settings.epochs else []
        asked += ["eval_frequency"] if asked or settings.config in shipped() else []
        asked += ["patience"] if settings.epochs else []
        planned = {name: planned[name] for name in asked}
    for name, value in planned.items():
        if f"training.{name}" not in overrides:
            config["training"][name] = value
    require_looks(config["training"])
    return config


def require_looks(training: Mapping[str, Any]) -> None:
    """Refuse to train without a look at the dev data, by which the best model is found."""
    often, last = training["eval_frequency"], training["max_steps"]
    if last and often > last:
        raise FileError(
            f"Training ends after {last} steps, before the dev data are looked at for the first "
            f"time (training.eval_frequency is {often}): let it be {last} or less."
        )


def join_documents(config: Config, overrides: Mapping[str, Any]) -> None:
    """Let a Doc be a document in which no entity leaves its sentence, but for what was asked."""
    wanted: list[tuple[str, str, str, Any]]
    wanted = [("corpora", name, "unit", "document") for name in ("train", "dev")]
    wanted += [("corpora", name, "keep_sentences", True) for name in ("train", "dev")]
    wanted += [("components", name, "sentence_bound", True) for name in recognisers(config)]
    for section, name, key, value in wanted:
        if f"{section}.{name}.{key}" not in overrides:
            config[section][name][key] = value


def reader_of(data: TrainingData, there: Any, name: str) -> dict[str, Any]:
    """The block that reads the data; that of the config, if it is of the same kind."""
    same = isinstance(there, dict) and there.get("@readers") == data.reader["@readers"]
    block = there if same and "scheme" not in data.reader else data.reader
    return {**block, "path": f"${{paths.{name}}}"}


def set_scheme(config: Config, scheme: str) -> None:
    """Let the recognisers of a config use a scheme."""
    name = get_scheme(scheme).name
    ours = [n for n in recognisers(config) if "scheme" in config["components"][n]]
    for component in ours:
        config["components"][component]["scheme"] = name
    if not ours:
        known = ", ".join(config["components"]) or "none"
        message = f"The config has no iobes_ner to set a scheme for. Its components: {known}."
        raise UnknownNameError(message, "iobes_ner", config["components"])


def recognisers(config: Config) -> list[str]:
    """The names of the recognisers that a config has settings for."""
    ours = ("iobes_ner", "iobes_nested_ner")
    return [n for n, c in config["components"].items() if c.get("factory") in ours]


def set_key(config: Config, key: str) -> None:
    """Let nested recognisers of a config write to a span group."""
    for component in config["components"].values():
        if component.get("factory") == "iobes_nested_ner":
            component["spans_key"] = key


def complete(config: Config, nested: bool = False) -> tuple[Language, Config]:
    """The pipeline of a config, which must find what is wanted, and all that spaCy fills in."""
    with explained("the config"):
        try:
            nlp = load_model_from_config(config, auto_fill=True)
            registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)
        except ImportError as error:
            lang = config["nlp"].get("lang")
            raise FileError(f"The language {lang!r} cannot be loaded: {error}") from error
    goal, what = ("doc.spans", "nested mentions") if nested else ("doc.ents", "entities")
    found = [name for name in nlp.pipe_names if goal in nlp.get_pipe_meta(name).assigns]
    if not found:
        known = ", ".join(nlp.pipe_names) or "none"
        raise FileError(f"The config has no component that finds {what}. It has: {known}.")
    filled = nlp.config
    filled["components"].update(get_sourced_components(config))  # which spaCy has written out
    return nlp, filled


def batches(config: Config, data: TrainingData) -> int:
    """How many batches the config makes of the data; all that counts are the lengths of Docs."""
    block = config.interpolate()["training"]["batcher"]
    batcher = registry.resolve({"batcher": block})["batcher"]
    return max(sum(1 for _ in batcher([range(length) for length in data.lengths])), 1)


def schedule(epoch: int, steps: int | None, epochs: int | None, dev_size: float) -> dict[str, int]:
    """How long to train, and how often to look at the dev data: about once an epoch.

    An epoch has so many steps. Dev data whose size is several times that of the training data are
    looked at less often.
    """
    if epochs is not None:
        last, often, patience = epochs * epoch, float(epoch), 0
    else:
        last = steps or max(EPOCHS * epoch, min(SMALL, MORE * epoch))
        often, patience = min(epoch * max(dev_size, 1), last / LOOKS), PATIENCE
    every = max(last // math.ceil(last / max(often, 1)), 1)
    return {"max_steps": last, "eval_frequency": every, "patience": patience * every}
