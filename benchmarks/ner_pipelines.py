"""Pipelines of spaCy, trained from a config by the loop that `spacy train` runs."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import IO, Any

import spacy
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import DIR_MODEL_BEST
from spacy.training.loop import train as run_loop
from spacy.util import load_model, registry
from spacy.vocab import Vocab
from thinc.api import Config

from spacy_iobes.corpus import ExampleOptions, ReadOptions, TrainingCorpus
from spacy_iobes.pipeline import TrainingOptions, tune_stored
from spacy_iobes.pipeline.training_config import training_config

from .ner_corpora import Document, Parts, apart, entity_tags, joined
from .ner_lists import name_lists
from .ner_systems import TABLE, Ours, Spacy

CLOCK = "spacy-iobes-benchmarks.Clock.v1"
BATCH = 256


class Enough(Exception):  # noqa: N818
    """Training took as long as it may."""


@dataclass
class Clock:
    """A logger for `spacy train` that looks at the time, and ends training that takes too long."""

    cap: float
    begin: float = field(default_factory=process_time)
    best: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)

    def logger(self, nlp: Language, stdout: IO[str], stderr: IO[str]) -> tuple[Any, Any]:
        """What `spacy train` calls after every step, and at its end."""
        return self.look, lambda: None

    def look(self, info: dict[str, Any] | None) -> None:
        """After an evaluation, whose model is stored already."""
        if info is None:
            return
        self.last = {"steps": info["step"], "words seen": info["words"]}
        seconds = process_time() - self.begin
        if info["score"] == max(score for score, _ in info["checkpoints"]):
            self.best = {"best step": info["step"], "best s": seconds}
        if seconds > self.cap:
            raise Enough


def train(
    system: Spacy | Ours, language: str, parts: Parts, seed: int, folder: Path
) -> tuple[Tagger, dict[str, Any]]:
    """A whole run of `spacy train`: read, initialize, update, evaluate and store.

    Ours is what `spacy-iobes train` does: the config that it makes of the data, and the bias that
    it tunes on dev data; both count.
    """
    by_sentence = not isinstance(system, Ours) or system.unit == "sentence"
    for name, documents in (("train", parts.train), ("dev", parts.dev)):
        if isinstance(system, Ours):
            write_columns(apart(documents) if by_sentence else documents, folder / f"{name}.bio")
        else:
            stored(documents, folder / f"{name}.spacy")
    clock = Clock(system.cap if isinstance(system, Spacy) else float("inf"))
    registry.loggers.register(CLOCK, func=lambda: clock.logger)
    if isinstance(system, Ours):
        config = our_config(system, language, folder)
    else:
        config = config_of(system, language)
        config["paths"] |= {name: str(folder / f"{name}.spacy") for name in ("train", "dev")}
    config["system"]["seed"] = config["training"]["seed"] = seed
    config["training"]["logger"] = {"@loggers": CLOCK}
    capped = looped(config, folder)
    if isinstance(system, Ours):
        best = folder / DIR_MODEL_BEST
        tune_stored(load_model(best), best, lambda text: None)
    figures = {"training s": process_time() - clock.begin, "capped": capped}
    return Tagger(folder / DIR_MODEL_BEST, by_sentence), figures | clock.last | clock.best


def config_of(system: Spacy, language: str) -> Config:
    """The config of spaCy's `ner`, without data."""
    usual = init_config(lang=language, pipeline=["ner"], optimize="efficiency")
    return Config().from_str(usual.to_str(), overrides=system.overrides, interpolate=False)


def our_config(system: Ours, language: str, folder: Path) -> Config:
    """The config that `spacy-iobes train` trains with."""
    files = [folder / name for name in ("train.bio", "dev.bio")]
    how, options = ReadOptions(delimiter="tab"), ExampleOptions(scheme="bio")
    train, dev = (TrainingCorpus(file, how, options) for file in files)
    for corpus in (train, dev):
        corpus.check(spacy.blank(language))
    overrides = dict(system.overrides)
    if system.lists:
        overrides[f"{TABLE}.gazetteers"] = name_lists()
    return training_config(train, dev, TrainingOptions(system.config, lang=language), overrides)


def looped(config: Config, folder: Path) -> bool:
    """Initialize and train; whether training was ended before it was done."""
    try:
        run_loop(init_nlp(config), folder, stdout=io.StringIO(), stderr=io.StringIO())
    except Enough:
        return True
    return False


def stored(documents: list[Document], path: Path) -> None:
    """Write a .spacy file, a sentence in each Doc."""
    vocab = Vocab()
    docs = [made(vocab, unit) for unit in apart(documents)]
    DocBin(docs=docs, store_user_data=False).to_disk(path)


def write_columns(documents: list[Document], path: Path) -> None:
    """Write a column file, which says where documents begin if they are more than sentences."""
    marked = any(len(document) > 1 for document in documents)
    with path.open("w", encoding="utf8") as file:
        for document in documents:
            file.write("-DOCSTART-\tO\n\n" * marked)
            for words, tags in document:
                file.writelines(f"{word}\t{tag}\n" for word, tag in zip(words, tags))
                file.write("\n")


def made(vocab: Vocab, document: Document, gold: bool = True) -> Doc:
    """A Doc with the words and sentences of a document, and with its entities if it is gold."""
    words, tags = joined(document)
    starts: list[Any] = [at == 0 for sentence, _ in document for at in range(len(sentence))]
    return Doc(vocab, words=words, ents=tags if gold else None, sent_starts=starts)


class Tagger:
    """A stored pipeline, loaded as new."""

    def __init__(self, path: Path, by_sentence: bool):
        self.path = path
        self.by_sentence = by_sentence
        self.nlp = load_model(path)

    def units(self, documents: list[Document]) -> list[Document]:
        """What is a Doc."""
        return apart(documents) if self.by_sentence else documents

    def ready(self, documents: list[Document]) -> list[Doc]:
        """Docs that know their words and sentences."""
        return [made(self.nlp.vocab, unit, gold=False) for unit in self.units(documents)]

    def tag(self, docs: list[Doc]) -> list[Doc]:
        """Through the pipeline."""
        return list(self.nlp.pipe(docs, batch_size=BATCH))

    def tag_texts(self, texts: list[str]) -> None:
        """From text: the tokenizer of the language finds the words."""
        list(self.nlp.pipe(texts, batch_size=BATCH))

    def bio(self, docs: list[Doc]) -> list[list[str]]:
        """The entities of each Doc."""
        return [entity_tags(doc) for doc in docs]
