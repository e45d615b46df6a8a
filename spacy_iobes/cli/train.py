"""The command `train`: a recogniser from column files or DocBins, by spaCy's own training."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.conll import Columns
from ..corpus.files import write_bytes
from ..errors import FileError
from ..scoring.formats import formatted
from .application import command, counted, echo
from .nested_options import NestedOptions, nested_data_options
from .options import GoldPolicy, column_options
from .signals import say_if_cut_off

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpus.training_data import TrainingData

DATA = "Column file, .spacy file (with --nested also brat or JSON lines), or a directory of them"


@command("train", allow_extra_args=True, ignore_unknown_options=True)
@column_options
@nested_data_options
def train_cli(
    context: typer.Context,
    train: Annotated[str, typer.Argument(metavar="TRAIN", help=f"{DATA}, to learn from.")],
    dev: Annotated[str, typer.Argument(metavar="DEV", help=f"{DATA}, to choose by.")],
    columns: Columns,
    nested: NestedOptions,
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help="Scheme of the tags in column files.")
    ] = "",
    output: Annotated[
        str, typer.Option("--output", "-o", help="The directory to write: spacy.load opens it.")
    ] = "",
    repair: GoldPolicy = "raise",
    lang: Annotated[
        str, typer.Option("--lang", "-l", help="Language of the pipeline (default: en).")
    ] = "",
    model_scheme: Annotated[
        str, typer.Option("--model-scheme", help="Scheme of the model itself (default: iobes).")
    ] = "",
    config: Annotated[
        str,
        typer.Option(
            "--config",
            "-c",
            help="A config in place of ner_fast: a file of your own, ner_cnn or ner_wide_deep; in "
            "place of nested_fast, with --nested: nested_cnn, nested_mean or nested_wide_deep.",
        ),
    ] = "",
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="Train for so many passes over TRAIN.")
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=1, help="Train for at most so many steps.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, help="Of the random numbers (default: that of the config, 0 in ours)."
        ),
    ] = None,
    tuning: Annotated[
        bool,
        typer.Option(
            "--tune/--no-tune",
            help="Set the bias for entities to what is best on DEV, unless the config has one.",
        ),
    ] = True,
    print_config: Annotated[
        bool,
        typer.Option("--print-config", help="Print the config for 'spacy train'; do not train."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a directory that holds something else.")
    ] = False,
) -> None:
    """Train a recogniser, and score it on the dev data.

    Settings of the config are given as spaCy takes them: --training.dropout 0.1

    The best pipeline is written at the end or, if training is interrupted, the best one so far.
    """
    from ..corpus.folders import require_replaceable
    from ..corpus.training_data import training_data
    from ..pipeline.training import train as run
    from ..pipeline.training_config import DEFAULT, NESTED, Settings, training_config

    if epochs is not None and max_steps is not None:
        raise typer.BadParameter("say how long in one way", param_hint="--epochs, --max-steps")
    if not (output or print_config):
        raise typer.BadParameter("say where the pipeline goes", param_hint="--output")
    overrides = overrides_of(context.args)
    if seed is not None and {"system.seed", "training.seed"} & set(overrides):
        raise typer.BadParameter("say the seed in one way", param_hint="--seed, --training.seed")
    tuning = tuning and not any(name.endswith(".entity_bias") for name in overrides)
    if output:
        require_replaceable(output, (train, dev), force, tell=tell)
    if nested.wanted:
        from ..corpus.nested_training import nested_training_data

        nlp, files = blank(lang or "en"), (train, dev)
        reading = nested.reading(scheme, repair, columns, files)
        learnt, held_out = (nested_training_data(path, reading, nlp, tell) for path in files)
    else:
        learnt, held_out = (training_data(path, scheme, repair, columns) for path in (train, dev))
    config = config or (NESTED if nested.wanted else DEFAULT)
    settings = Settings(config, lang, model_scheme, seed, max_steps, epochs)
    chosen = training_config(learnt, held_out, settings, overrides)
    if print_config:
        with write_bytes("-") as put:
            put(f"{chosen.to_str()}\n".encode())
        return
    for each in (learnt, held_out):
        tell(in_words(each, repair))
    if missing := unlearnt(learnt, held_out):
        tell(f"{dev}: has labels that {train} has not, which cannot be found: {missing}")
    say_if_cut_off(f"Ended early: the checkpoints so far are in {output}.*.part")
    begin = perf_counter()
    report = run(chosen, output, held_out, sys.stderr, tell, tuning)
    tell(f"trained in {perf_counter() - begin:.0f} s")
    echo(formatted(report), nl=False)
    echo(f"{output}: the pipeline")


def blank(lang: str) -> Language:
    """An empty pipeline, whose tokenizer cuts texts."""
    import spacy

    try:
        return spacy.blank(lang)
    except ImportError as error:
        message = f"spaCy has no language {lang!r}, or lacks a library for it"
        raise typer.BadParameter(message, param_hint="--lang") from error


def tell(text: str) -> None:
    """Say something beside the result."""
    echo(text, err=True)


def in_words(data: TrainingData, policy: str) -> str:
    """What is in a file."""
    docs = "sentence" if data.reader.get("unit") == "sentence" else "Doc"
    words = [counted(len(data.lengths), docs), counted(data.tokens, "token")]
    what = counted(data.entities, "mention") if data.nested else counted(data.entities, "entity")
    words += [f"{what} of {counted(len(data.labels), 'label')}"]
    words += [f"{counted(data.repaired, 'violation')} repaired ({policy})"] * bool(data.repaired)
    return f"{data.path}: {', '.join(words)}"


def unlearnt(train: TrainingData, dev: TrainingData) -> str:
    """The labels of the dev data that there is nothing to learn of."""
    missing = sorted(set(dev.labels) - set(train.labels))
    return ", ".join(f"{label} ({dev.labels[label]:,})" for label in missing)


def overrides_of(arguments: list[str]) -> dict[str, Any]:
    """Settings of the config, as spaCy's commands take them: --section.name value."""
    from spacy.cli._util import parse_config_overrides

    wanted = False  # a value may follow
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if not name.startswith("--"):
            if not wanted:
                raise typer.BadParameter(f"{argument!r} is one argument too many")
            wanted = False
            continue
        if "." not in name:
            raise FileError(f"There is no option {name}. 'train --help' lists them.")
        if name in ("--paths.train", "--paths.dev"):
            raise FileError(f"{name}: TRAIN and DEV say which files to read.")
        wanted = not equals
    found: dict[str, Any] = parse_config_overrides(list(arguments))
    return found
