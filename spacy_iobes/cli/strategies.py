"""The command `strategies`: which tagging strategy serves a corpus best, with statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..codes.scheme import get_scheme
from ..corpus.conll import Columns
from ..corpus.findings import finding_lines
from ..corpus.inline import Markup
from ..corpus.nested_formats import AUTO, COLUMNS, DOCS, INLINE, format_of
from ..errors import UnknownNameError
from .application import command, counted, echo
from .nested_options import MisalignedMentions
from .options import GoldPolicy, column_options
from .output import print_json
from .strategies_output import jobs_shown, require_folder, show, store
from .text_options import markup_options, text_reading
from .train import blank, tell

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..learners.options import Options
    from ..strategies.study import Study

FORMS = (AUTO, COLUMNS, DOCS, INLINE)


@command("strategies")
@markup_options
@column_options
def strategies_cli(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS...",
            help="Column files, .spacy files, inline-tagged texts (.xml, .tar.gz), or directories.",
        ),
    ],
    columns: Columns,
    markup: Markup,
    test: Annotated[
        str,
        typer.Option("--test", help="Learn from CORPUS and score on this, in place of splits."),
    ] = "",
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help="Scheme of column files, as they are.")
    ] = "",
    repair: GoldPolicy = "raise",
    form: Annotated[
        str,
        typer.Option(
            "--from",
            help=f"What the corpora are: {', '.join(FORMS)} (by name). A file or a folder of "
            "inline-tagged texts has to be called so.",
        ),
    ] = "auto",
    misaligned: MisalignedMentions = "expand",
    lang: Annotated[
        str, typer.Option("--lang", help="Of the tokenizer of inline-tagged texts.")
    ] = "en",
    strategies: Annotated[
        str,
        typer.Option("--strategies", help="Schemes to compare, with commas between them."),
    ] = "io,iob1,bio,bia,bie,be",
    learners: Annotated[
        str,
        typer.Option(
            "--learners", help="Of crf, softmax, winnow and winnow-incremental, with commas."
        ),
    ] = "crf,softmax,winnow",
    decodings: Annotated[
        str, typer.Option("--decodings", help="greedy, constrained, or both with a comma.")
    ] = "greedy,constrained",
    baseline: Annotated[
        str, typer.Option("--baseline", help="The strategy that others are compared with.")
    ] = "bio",
    splits: Annotated[
        int, typer.Option("--splits", min=1, help="Random splits of each corpus.")
    ] = 5,
    share: Annotated[float, typer.Option("--share", help="Of the documents, to learn from.")] = 0.5,
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            min=1,
            help="Passes over what is learned from (default: 5, of winnow 10 at most).",
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="The step size of crf and softmax.")
    ] = None,
    damping: Annotated[
        float | None,
        typer.Option(
            "--damping",
            help="Above 0, crf and softmax learn less of rare features: 1000 with --rate 0.5, for "
            "example, where rare words say little.",
        ),
    ] = None,
    significance: Annotated[
        str, typer.Option("--significance", help="The marks go by: t, corrected (t), wilcoxon.")
    ] = "t",
    level: Annotated[float, typer.Option("--level", help="Of significance.")] = 0.05,
    ensemble: Annotated[
        bool, typer.Option("--ensemble/--no-ensemble", help="Let the strategies vote, too.")
    ] = True,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of splits and learners.")] = 0,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes (default: all cores).")
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Directory for results as they are found, tables in JSON, a page and pictures. "
            "A run that was ended goes on there.",
        ),
    ] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what an earlier run found in the directory.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare tagging strategies on corpora: any scheme, any learner, on the same features.

    Learned on random halves of the documents and scored on the others; a mark says which strategy
    is better or worse than the baseline beyond chance.
    """
    from ..kernels import CHAIN_IN_USE, IN_USE
    from ..strategies.cells import Plan
    from ..strategies.study import Settings, study

    if test and len(corpora) > 1:
        raise typer.BadParameter("goes with one corpus", param_hint="--test")
    require_folder(output)
    plan = Plan(
        tuple(get_scheme(name).name for name in listed("--strategies", strategies)),
        known("--learners", learners),
        known("--decodings", decodings),
        ensemble=ensemble,
        by_unit=bool(test),
        options=options_of(epochs, rate, damping, seed),
    )
    settings = Settings(plan, splits, share, seed, baseline, significance, level)
    if {IN_USE, CHAIN_IN_USE} != {"compiled"}:
        tell(
            "The kernels are not compiled here, so this will be slow: `spacy-iobes info` says more."
        )
    found, names = list["Study"](), titles(corpora)
    read = reader(form, lang, misaligned, markup, scheme, repair, columns)
    for name, path in zip(names, corpora):
        docs, held_out = (read(each) if each else list["Doc"]() for each in (path, test))
        keep = Path(output) / f"{name}.jsonl" if output else None
        with jobs_shown(name) as progress:
            found.append(
                study(
                    name,
                    docs,
                    settings,
                    test=held_out,
                    keep=keep,
                    fresh=fresh,
                    workers=workers,
                    progress=progress,
                )
            )
    if output:
        store(found, Path(output))
    if json:
        print_json([each.as_dict() for each in found])
        return
    show(found)
    if output:
        echo(f"{output}: results, tables and the page index.html")


def options_of(epochs: int | None, rate: float | None, damping: float | None, seed: int) -> Options:
    """The settings of learners; what nobody gives is as they have it."""
    from ..learners.options import Options

    given = {"epochs": epochs, "passes": epochs, "rate": rate, "damping": damping}
    some: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        return Options(seed=seed, **some)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--rate, --damping") from error


def reader(
    form: str,
    lang: str,
    misaligned: str,
    markup: Markup,
    scheme: str,
    repair: str,
    columns: Columns,
) -> Callable[[str], list[Doc]]:
    """What reads the Docs of a corpus, from the options."""
    from ..strategies.corpora import docs_of, inline_docs

    if form not in FORMS:
        raise UnknownNameError(f"Unknown format {form!r}. Known: {', '.join(FORMS)}.", form, FORMS)
    nlp = blank(lang)
    texts = text_reading(misaligned, False, columns.encoding, "auto", lang, markup)

    def read(path: str) -> list[Doc]:
        if format_of(path, form if form == INLINE else AUTO) != INLINE:
            return docs_of(path, nlp, scheme, repair, columns)
        made = inline_docs(path, nlp, texts)
        for line in finding_lines(made.findings):
            tell(f"{path}: {line}")
        if made.overlapping:
            tell(f"{path}: {counted(made.overlapping, 'mention')} left out that overlap others")
        return made.docs

    return read


def listed(option: str, text: str) -> list[str]:
    """Names with commas between them, each once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter("name at least one", param_hint=option)
    return names


def known(option: str, text: str) -> tuple[str, ...]:
    """The learners or decodings of an option."""
    from ..learners.known import LEARNERS
    from ..strategies.decoding import DECODINGS

    every = {"--learners": tuple(LEARNERS), "--decodings": tuple(DECODINGS)}[option]
    names = [name.lower() for name in listed(option, text)]
    for name in names:
        if name not in every:
            message = f"Unknown {option[2:-1]} {name!r}. Known: {', '.join(every)}."
            raise UnknownNameError(message, name, every)
    return tuple(names)


def titles(paths: Sequence[str]) -> list[str]:
    """What corpora are called: the names of their files, numbered where they are the same."""
    found: list[str] = []
    for path in paths:
        name = Path(path).name.removesuffix(".gz").removesuffix(".tar")
        stem = name.rpartition(".")[0] or name or "corpus"
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        found.append(next(name for name in names if name not in found))
    return found
