"""The command `train`: a recogniser from annotated files of any format, by spaCy's training."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.corpus import Corpus
from ..corpus.files import write_bytes
from ..corpus.formats.options import ExampleOptions, Portion, ReadOptions
from ..corpus.opener import require_named_columns
from ..errors import FileError
from ..pipeline.training_options import TrainingOptions
from ..scoring.formats import formatted
from .application import command, echo, tell
from .options import FILES, PolicyName, SchemeName, fields_of, read_options
from .signals import say_if_cut_off

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpus.training_corpus import TrainingCorpus

DATA = "File of any format, or a folder of them"


@command("train", allow_extra_args=True, ignore_unknown_options=True)
@read_options
@fields_of("options", TrainingOptions)
def train_cli(
    context: typer.Context,
    train: Annotated[str, typer.Argument(metavar="TRAIN", help=f"{DATA}, to learn from.")],
    how: ReadOptions,
    options: TrainingOptions,
    dev: Annotated[
        str,
        typer.Argument(
            metavar="[DEV]", help=f"{DATA}, to choose by (default: a tenth of TRAIN, by the seed)."
        ),
    ] = "",
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    output: Annotated[
        str, typer.Option("--output", "-o", help="The folder to write: spacy.load opens it.")
    ] = "",
    nested: Annotated[
        bool, typer.Option("--nested", help="Learn mentions that may overlap, as a span group.")
    ] = False,
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
        bool, typer.Option("--force", help="Replace a folder that holds something else.")
    ] = False,
) -> None:
    """Train a recogniser, and score it on the dev data.

    Settings of the config are given as spaCy takes them, behind the files: --training.dropout 0.1

    The best pipeline is written at the end or, if training is interrupted, the best one so far.
    """
    from ..corpus.folders import require_replaceable
    from ..corpus.training_corpus import group_to_learn
    from ..pipeline.training import train as run
    from ..pipeline.training_config import training_config

    if not (output or print_config):
        raise typer.BadParameter("say where the pipeline goes", param_hint="--output")
    more = context.args
    if dev.startswith("--"):  # there is none, and the first setting took its place
        dev, more = "", [dev, *more]
    overrides = overrides_of(more)
    if options.seed is not None and {"system.seed", "training.seed"} & set(overrides):
        raise typer.BadParameter("say the seed in one way", param_hint="--seed, --training.seed")
    tuning = tuning and not any(name.endswith(".entity_bias") for name in overrides)
    files = (train, dev) if dev else (train,)
    if output:
        require_replaceable(output, files, force, tell=tell)
    FILES.check(files, how)
    nlp = blank(how.lang or "en")
    options, how = replace(options, lang=how.lang), replace(how, lang="")
    key = group_to_learn(files, how) if nested else ""
    asked = ExampleOptions(scheme or None, policy, seed=options.seed or 0)
    parts: tuple[Portion, Portion] = ("all", "all") if dev else ("train", "dev")
    learnt, held_out = (
        to_learn(path, how, replace(asked, part=part), key, nlp)
        for path, part in zip((train, dev or train), parts)
    )
    chosen = training_config(learnt, held_out, options, overrides)
    if print_config:
        with write_bytes("-") as put:
            put(f"{chosen.to_str()}\n".encode())
        return
    for each in (learnt, held_out):
        tell(str(each))
    if missing := held_out.labels_beyond(learnt):
        tell(f"{held_out.path}: has labels that {train} has not, which cannot be found: {missing}")
    say_if_cut_off(f"Ended early: the checkpoints so far are in {output}.*.part")
    begin = perf_counter()
    report = run(chosen, output, held_out, sys.stderr, tell, tuning)
    tell(f"trained in {perf_counter() - begin:.0f} s")
    echo(formatted(report), nl=False)
    echo(f"{output}: the pipeline")


def to_learn(
    path: str, how: ReadOptions, options: ExampleOptions, key: str, nlp: Language
) -> TrainingCorpus:
    """Return the examples of a file, which is read now; what is found out of it is told."""
    from ..corpus.training_corpus import TrainingCorpus, learned_best

    if key:
        require_named_columns(Corpus(path, how))
    corpus = TrainingCorpus(path, how, learned_best(path, how, options, key), key, tell)
    corpus.check(nlp)
    corpus.require_entities()
    if corpus.scheme and not options.scheme and options.part != "dev":
        tell(f"{path}: tags read as {corpus.scheme}")
    if options.part == "dev":
        tell(f"{path}: {corpus.size.held_out} are held out to choose by (seed {options.seed})")
    return corpus


def blank(lang: str) -> Language:
    """Return an empty pipeline, whose tokenizer cuts texts."""
    import spacy

    try:
        return spacy.blank(lang)
    except ImportError as error:
        message = f"spaCy has no language {lang!r}, or lacks a library for it"
        raise typer.BadParameter(message, param_hint="--lang") from error


def overrides_of(arguments: list[str]) -> dict[str, Any]:
    """Return settings of the config, as spaCy's commands take them: --section.name value."""
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
