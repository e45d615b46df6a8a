"""The command `strategies`: which tagging strategy serves a corpus best, with statistics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpus.folders import require_folder
from ..corpus.formats.options import ReadOptions
from ..errors import OptionError
from ..learners.options import Options
from ..scoring.tables import as_text
from ..strategies.settings import Compared, Settings
from .application import command, counted, echo, tell
from .options import FILES, Json, PolicyName, SchemeName, fields_of, opened, read_options
from .output import print_json
from .progress import jobs

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..strategies.lab import Study

NARROW = 6  # labels that have columns of their own on a terminal


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
    from ..strategies.lab import study, titles
    from ..strategies.page import store_studies
    from ..strategies.tables import table_of

    if test and len(corpora) > 1:
        raise OptionError("goes with one corpus", "--test")
    if output:
        require_folder(output)
    plan = compared.plan(replace(options, seed=seed), by_unit=bool(test))
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
