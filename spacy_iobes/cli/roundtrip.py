"""The command roundtrip: what mention separators make of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..codes.readings import DEFAULT_READING, READINGS, get_reading
from ..corpus.corpus import Corpus, Parts
from ..corpus.findings import many
from ..corpus.formats.columns import ColumnOrigin
from ..corpus.formats.options import ReadOptions
from ..corpus.inputs import is_stream
from ..scoring.tables import aligned
from .application import AT_FAULT, FINE, SHOWN, command, counted, echo
from .options import Inputs, Json, Limit, PolicyName, Quiet, SchemeName, read_options
from .survey import opened, print_json

if TYPE_CHECKING:
    from ..corpus.separator_survey import SeparatorSurvey, SetCounts

_READINGS = ", ".join(READINGS)


@command("roundtrip")
@read_options
def roundtrip_cli(
    files: Inputs,
    how: ReadOptions,
    reading: Annotated[
        str, typer.Option("--reading", "-r", help=f"Which mentions are meant: {_READINGS}.")
    ] = DEFAULT_READING,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    ambiguous: Annotated[
        bool, typer.Option("--ambiguous", help="List ambiguous mentions that come back, too.")
    ] = False,
    limit: Limit = SHOWN,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List mentions that are lost as mention separators. Exit code 1 if there are any.

    Separators are written for the mentions of one label in one sentence at a time: a set. The
    mentions of all layers count, whichever layer is the outermost.
    """
    from ..corpus.separator_survey import survey_separators

    rule, found = get_reading(reading), []
    for path in files:
        with opened(path, how, scheme) as corpus:
            parts = Parts(corpus, scheme, policy)
            found.append(survey_separators(corpus.name, parts, rule))
        if parts.saved.repaired:
            echo(f"{corpus.name}: {counted(parts.saved.repaired, 'violation')} repaired", err=True)
        _tell_of_columns(corpus)
    if json:
        print_json({"reading": rule.name, "files": [survey.as_json() for survey in found]})
    else:
        for survey in found:
            _show(survey, limit, quiet, ambiguous)
    raise typer.Exit(AT_FAULT if any(survey.faults for survey in found) else FINE)


def _tell_of_columns(corpus: Corpus) -> None:
    """Say how many columns there are, if there are more than were read and nobody has chosen."""
    asked = corpus.options.layers or corpus.options.tag != ReadOptions().tag
    if asked or is_stream(corpus.path):
        return
    for part in corpus:
        if isinstance(part.origin, ColumnOrigin):
            width = part.origin.part.layout.width
            if width > 1 + len(part.tags):
                echo(
                    f"{corpus.name} has {width} columns, of which the last was read: name each "
                    "that holds tags (--layer 1 --layer 2, for example)",
                    err=True,
                )
        return


def _show(survey: SeparatorSurvey, limit: int, quiet: bool, ambiguous: bool) -> None:
    """Print what became of the mentions of a file."""
    name, total = survey.name, survey.total
    if not quiet:
        findings = survey.findings if ambiguous else survey.faults
        for finding in findings[: limit or None]:
            echo(str(finding))
        if limit and len(findings) > limit:
            echo(f"{name}: and {len(findings) - limit:,} more (--limit 0 shows all)")
        header = ("label", "sets", "ambiguous", "lost", "mentions", "come back", "new")
        rows = [_row(label, counts) for label, counts in sorted(survey.labels.items())]
        if rows:
            rows += [_row("total", total)] * (len(rows) > 1)
            echo(aligned(header, rows, "lrrrrrr", rules=(0, len(survey.labels))))
    others = {
        kind: n for kind, n in survey.kinds.items() if n and kind not in ("lost", "ambiguous")
    }
    words = [f"{total.lost:,} of {counted(total.sets, 'set')} of mentions lost ({survey.reading})"]
    words += [f"{total.ambiguous:,} ambiguous", f"best F1 {100 * total.f1:.2f}"]
    words += [many(kind, n) for kind, n in others.items()]
    size = f"{counted(survey.sentences, 'sentence')}, {counted(survey.tokens, 'token')}"
    echo(f"{name}: {', '.join(words)}; {size}")


def _row(label: str, counts: SetCounts) -> tuple[str, ...]:
    new = counts.found - counts.kept
    numbers = (counts.sets, counts.ambiguous, counts.lost, counts.mentions, counts.kept, new)
    return (label, *(f"{number:,}" for number in numbers))
