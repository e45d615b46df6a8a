"""The command `strategies`: which tagging strategy serves a corpus best, with statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..codes.scheme import get_scheme
from ..corpus.folders import require_folder
from ..corpus.formats.options import ADVANCED, ReadOptions, option
from ..errors import OptionError
from ..learners.options import Options
from ..names import known_name
from ..scoring.tables import as_text
from ..strategies.settings import STRATEGIES, Settings
from .application import command, counted, echo, tell
from .options import FILES, Json, PolicyName, SchemeName, fields_of, opened, read_options
from .output import print_json
from .progress import jobs

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..strategies.lab import Study

NARROW = 6  # labels that have columns of their own on a terminal


@dataclass(frozen=True)
class Compared:
    """What is compared with what."""

    strategies: str = option(",".join(STRATEGIES), "Schemes to compare, with commas between them.")
    learners: str = option(
        "crf,softmax,winnow", "Of crf, softmax, winnow and winnow-incremental, with commas."
    )
    decodings: str = option(
        "greedy,constrained,ensemble",
        "Of greedy, constrained and ensemble (the strategies vote), with commas.",
        ADVANCED,
    )
    workers: int = option(0, "How many processes (default: as many as there are cores).", ADVANCED)


@command("strategies")
@fields_of("compared", Compared)
@fields_of("chosen", Settings)
@fields_of("options", Options)
@read_options
def strategies_cli(
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS...", help="Files or folders of any format.")
    ],
    how: ReadOptions,
    options: Options,
    chosen: Settings,
    compared: Compared,
    test: Annotated[
        str,
        typer.Option("--test", help="Learn from CORPUS and score on this, in place of splits."),
    ] = "",
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of splits and learners.")] = 0,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Folder for results as they are found, tables in JSON, a page and pictures. A run "
            "that was ended goes on there.",
        ),
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Forget what an earlier run found in the folder.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare tagging strategies on corpora: any scheme, any learner, on the same features.

    Learned on random halves of the documents (of the sentences, where a corpus has one document)
    and scored on the others; a mark says which strategy is better or worse than the baseline beyond
    chance. Of mentions that overlap, the longest are kept.
    """
    from ..kernels import CHAIN_IN_USE, IN_USE
    from ..strategies.lab import study
    from ..strategies.page import store_studies
    from ..strategies.plan import Plan
    from ..strategies.tables import table_of

    if test and len(corpora) > 1:
        raise OptionError("goes with one corpus", "--test")
    if output:
        require_folder(output)
    ways = known("--decodings", compared.decodings)
    plan = Plan(
        tuple(get_scheme(name).name for name in listed("--strategies", compared.strategies)),
        known("--learners", compared.learners),
        tuple(name for name in ways if name != "ensemble"),
        ensemble="ensemble" in ways,
        by_unit=bool(test),
        options=replace(options, seed=seed),
    )
    if plan.ensemble and "constrained" not in ways:
        message = "the strategies vote where sequences are constrained: add constrained"
        raise OptionError(message, "--set decodings")
    if {IN_USE, CHAIN_IN_USE} != {"compiled"}:
        slow = "The kernels are not compiled here, so this will be slow: 'info' says more."
        tell(slow)
    found = list["Study"]()
    for name, path in zip(titles(corpora), corpora):
        docs, held_out = (docs_in(each, how, scheme, policy) for each in (path, test))
        keep = Path(output) / f"{name}.jsonl" if output else None
        with jobs(name) as progress:
            found.append(
                study(
                    name,
                    docs,
                    replace(chosen, plan=plan, seed=seed),
                    test=held_out,
                    keep=keep,
                    fresh=force,
                    workers=compared.workers or None,
                    progress=progress,
                )
            )
    if output:
        store_studies(found, Path(output))
    if json:
        print_json([each.as_dict() for each in found])
        return
    for each in found:
        echo(f"{each.name}: {each.facts}\n")
        for comparison in each.comparisons:
            echo(as_text(table_of(comparison, len(each.labels) <= NARROW)))
    if output:
        echo(f"{output}: results, tables and the page index.html")


def docs_in(path: str, how: ReadOptions, scheme: str, policy: str) -> list[Doc]:
    """Return the Docs of a corpus; say what was left out of them."""
    from ..strategies.material import units_of

    if not path:
        return []
    with opened(path, how, scheme) as corpus:
        units = units_of(corpus, scheme, policy)
    FILES.tell_findings(path, units.findings)
    if units.overlapping:
        left_out = counted(units.overlapping, "mention")
        tell(f"{path}: {left_out} left out that overlap longer ones")
    return units.docs


def listed(option: str, text: str) -> list[str]:
    """Return the names in a list with commas, each once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise OptionError("name at least one", option)
    return names


def known(option: str, text: str) -> tuple[str, ...]:
    """Return the learners or decodings that an option names."""
    from ..learners.known import LEARNERS
    from ..strategies.decoding import DECODINGS
    from ..strategies.ensemble import NAME

    every = {"--learners": tuple(LEARNERS), "--decodings": (*DECODINGS, NAME)}[option]
    names = [name.lower() for name in listed(option, text)]
    return tuple(known_name(option[2:-1], name, every) for name in names)


def titles(paths: Sequence[str]) -> list[str]:
    """Return what corpora are called: the names of their files, numbered where they are equal."""
    found: list[str] = []
    for path in paths:
        name = Path(path).name.removesuffix(".gz").removesuffix(".tar")
        stem = name.rpartition(".")[0] or name or "corpus"
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        found.append(next(name for name in names if name not in found))
    return found
