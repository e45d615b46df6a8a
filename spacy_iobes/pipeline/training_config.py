"""The config of a training: one that ships with the package or another, fitted to the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.util import get_sourced_components, load_model_from_config, registry
from thinc.api import Config

from ..codes.scheme import get_scheme
from ..corpus.touching import require_apart
from ..corpus.training_corpus import TrainingCorpus
from ..errors import FileError, UnknownNameError
from .configs import explained, overridden, read_config, require_plain, shipped
from .documents import looks_at_documents
from .ner import EntityRecognizer
from .training_options import TrainingOptions

DEFAULT, NESTED = "ner_fast", "nested_fast"
KEPT = ("limit", "shuffle", "augmenter", "tag_scheme")
"""What the reader of a config says that a command does not: it stays."""
FROZEN = "frozen_components"
EPOCHS, SMALL, MORE = 5, 1000, 20  # passes over the data, or where 1000 steps allow it up to 20
LOOKS, PATIENCE = 5, 3  # how often dev data are looked at, at least, and how often in vain


def training_config(
    train: TrainingCorpus,
    dev: TrainingCorpus,
    settings: TrainingOptions | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Config:
    """Return the complete config of a training, as `spacy train` takes it.

    Both files were read.
    """
    settings, overrides = settings or TrainingOptions(), dict(overrides or {})
    nested = bool(train.key)
    name = settings.config or (NESTED if nested else DEFAULT)
    config = read_config(name)
    for section in ("paths", "corpora", "training", "components", "nlp", "system"):
        config.setdefault(section, {})
    for part, corpus in (("train", train), ("dev", dev)):
        config["paths"][part] = corpus.path
        config["corpora"][part] = reader_of(corpus, config["corpora"].get(part), part)
        config["training"][f"{part}_corpus"] = f"corpora.{part}"
    if settings.lang:
        config["nlp"]["lang"] = settings.lang
        if config["nlp"].get("tokenizer") == {"@tokenizers": "spacy.Tokenizer.v1"}:
            del config["nlp"]["tokenizer"]  # so that the language has its own
    if settings.model_scheme:
        set_scheme(config, settings.model_scheme)
    if settings.seed is not None:
        config["system"]["seed"] = config["training"]["seed"] = settings.seed
    if nested:
        set_key(config, train.key)
    nlp, config = complete(overridden(complete(config, nested)[1], overrides), nested)
    if looks_at_documents(nlp) and train.size.marks_documents and dev.size.marks_documents:
        train, dev = train.by_document(), dev.by_document()
        join_documents(config, overrides)
    for component, pipe in nlp.pipeline:
        if isinstance(pipe, EntityRecognizer) and component not in config["training"][FROZEN]:
            require_apart(train.annotated(), train.options.unit, pipe.scheme)
    steps = overrides.get("training.max_steps", settings.max_steps)
    ratio = sum(dev.size.lengths) / sum(train.size.lengths)
    planned = schedule(batches(config, train.size.lengths), steps, settings.epochs, ratio)
    if name not in (DEFAULT, NESTED):  # it keeps its numbers, but for what was asked for
        planned["eval_frequency"] = min(
            planned["eval_frequency"], config["training"]["eval_frequency"]
        )
        asked = ["max_steps"] if steps or settings.epochs else []
        asked += ["eval_frequency"] if asked or name in shipped() else []
        asked += ["patience"] if settings.epochs else []
        planned = {key: planned[key] for key in asked}
    for key, value in planned.items():
        if f"training.{key}" not in overrides:
            config["training"][key] = value
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


def reader_of(corpus: TrainingCorpus, there: Any, name: str) -> dict[str, Any]:
    """Return the block that reads a corpus, with what a block of the config says of examples."""
    block = corpus.block()
    require_plain(block)
    kept = {key: there[key] for key in KEPT if key in block and key in (there or ())}
    return {**block, **kept, "path": f"${{paths.{name}}}"}


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


def batches(config: Config, lengths: Sequence[int]) -> int:
    """Return how many batches the config makes of Docs of these lengths."""
    block = config.interpolate()["training"]["batcher"]
    batcher = registry.resolve({"batcher": block})["batcher"]
    return max(sum(1 for _ in batcher([range(length) for length in lengths])), 1)


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
