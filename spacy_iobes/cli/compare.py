"""The command that tests a difference between systems: compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions
from ..errors import OptionError
from ..scoring.file_pairs import FilePairs, ScoreOptions
from ..scoring.files import ALL, FileReport
from ..scoring.tables import percent
from .application import command, counted, echo
from .options import FILES, Json, SchemeName, fields_of, read_options
from .output import ON_PAGE, most_on_page, print_json, tell_cut

Html = Annotated[
    str,
    typer.Option("--html", help="Write a page, too: who is right where, with every sentence."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help=f"Of --html: at most so many places; 0 is all (default: {ON_PAGE:,}).",
        min=0,
    ),
]


@command("compare")
@fields_of("compared", ScoreOptions, ("average", "match"))
@read_options
def compare_cli(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold file.")],
    first: Annotated[
        list[str],
        typer.Option(
            "--a",
            "-a",
            metavar="FILE",
            help="A file of predictions of system A; repeat -a for its runs.",
        ),
    ],
    second: Annotated[
        list[str],
        typer.Option(
            "--b",
            "-b",
            metavar="FILE",
            help="A file of predictions of system B; repeat -b for its runs.",
        ),
    ],
    how: ReadOptions,
    compared: ScoreOptions,
    scheme: SchemeName = "",
    html: Html = "",
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Is the difference between two systems, or two sets of runs, more than chance?

    One prediction each: paired approximate randomisation and bootstrap over sentences. Several
    runs each: the Wilcoxon rank-sum test over their scores.
    """
    from ..scoring.difference import Difference

    signature = compared.signature(scheme)
    if html and len(first) + len(second) > 2:
        message = "a page is about one prediction of each system: name one -a and one -b"
        raise OptionError(message, "--html")
    pairs = FilePairs(FILES, gold, (*first, *second), how, scheme, compared)
    locate = ALL if html else 0
    reports = [report for _, report in pairs.reports(signature, True, locate)]
    a, b = reports[: len(first)], reports[len(first) :]
    found = Difference.of(a, b, compared)
    if html:
        write_page(pairs, (*a, *b), found.short, html, limit)
    if html == STANDARD:  # the page is printed, and nothing else
        return
    values = [[report.value for report in side] for side in (a, b)]
    if json:
        recipe = str(reports[0].signature)
        print_json({"signature": recipe, "a": values[0], "b": values[1], **found.data})
        return
    for name, side in zip("AB", values):
        echo(f"{name}: {' '.join(percent(value) for value in side)}")
    echo(f"difference A - B: {100 * found.data['difference']:+.2f}")
    for line in [*found.lines, *signature_lines(a, b)]:
        echo(line)


def write_page(
    pairs: FilePairs,
    reports: tuple[FileReport, ...],
    tests: Sequence[tuple[str, str]],
    output: str,
    limit: int | None,
) -> None:
    """Write the page of two systems, whose reports have all mistakes, and say what is on it."""
    from ..scoring.systems import cases, systems_page

    a, b = reports
    found, most = cases((a, b)), most_on_page(limit)
    names = [Path(str(path)).name for path in (*pairs.predictions, pairs.gold)]
    title = "{} (A) and {} (B) against {}".format(*names)
    pairs.write(output, systems_page((a, b), title, tests, found, most))
    what = f"{counted(len(found), 'place')} where a system is wrong"
    tell_cut(output, what, min(most, len(found)), len(found))


def signature_lines(first: Sequence[FileReport], second: Sequence[FileReport]) -> list[str]:
    """Return the signature of both systems, or those of each system if they differ."""
    a, b = ({str(report.signature): None for report in side} for side in (first, second))
    if a == b and len(a) == 1:
        return [f"signature {next(iter(a))}"]
    return [f"signature of {name} {text}" for name, side in zip("AB", (a, b)) for text in side]
