"""The command roundtrip: what mention separators make of a corpus.

spaCy is only loaded by those who name a `.spacy` file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..codes.policy import get_tag_policy
from ..codes.readings import READINGS, get_reading
from ..codes.scheme import get_scheme
from ..corpus.conll import Columns
from ..corpus.files import shown
from ..scoring.formats import aligned
from .application import AT_FAULT, FINE, SHOWN, command, counted
from .options import Json, Limit, PolicyName, Quiet, column_options
from .progress import reading as opened
from .survey import print_json

if TYPE_CHECKING:
    from ..corpus.nested import NestedSurvey, SetCounts
    from ..corpus.sentences import TagReading
    from ..corpus.tagged import Unit

_READINGS = ", ".join(READINGS)


@command("roundtrip")
@column_options
def roundtrip_cli(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Column files, .spacy files and brat folders."),
    ],
    columns: Columns,
    reading: Annotated[
        str, typer.Option("--reading", "-r", help=f"Which mentions are meant: {_READINGS}.")
    ] = "nearest_start",
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help="Of column files, as for 'validate'.")
    ] = "",
    policy: PolicyName = "raise",
    layer: Annotated[
        list[int] | None,
        typer.Option("--layer", help="A column of tags; repeat it for nested mentions."),
    ] = None,
    spans_key: Annotated[
        str, typer.Option("--spans-key", help="The span group of .spacy files.")
    ] = "sc",
    ignore_sentences: Annotated[
        bool, typer.Option("--ignore-sentences", help="Take each Doc for one sentence.")
    ] = False,
    ambiguous: Annotated[
        bool, typer.Option("--ambiguous", help="List ambiguous mentions that come back, too.")
    ] = False,
    limit: Limit = SHOWN,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List nested mentions that are lost as mention separators. Exit code 1 if there are any.

    Separators are written for the mentions of one label in one sentence at a time: a set. The
    mentions of all layers count, whichever layer is the outermost.
    """
    rule = get_reading(reading)
    how = _how(scheme, policy, tuple(layer or ()))
    columns = replace(columns, tag=layer[0]) if layer else columns
    unit: Unit = "doc" if ignore_sentences else "sentence"
    found = [_survey(path, rule.name, how, columns, spans_key, unit) for path in files]
    if json:
        print_json({"reading": rule.name, "files": [survey.as_json() for survey in found]})
    else:
        for survey in found:
            _show(survey, limit, quiet, ambiguous)
    raise typer.Exit(AT_FAULT if any(survey.faults for survey in found) else FINE)


def _how(scheme: str, policy: str, layers: tuple[int, ...]) -> TagReading | None:
    """How to read the tags of column files; None without a scheme."""
    from ..corpus.sentences import TagReading

    if len(set(layers)) < len(layers):
        raise typer.BadParameter("a column is one layer: name each once", param_hint="--layer")
    if not scheme:
        return None
    return TagReading(get_scheme(scheme), get_tag_policy(policy), layers, labelled=False)


def _survey(
    path: str, rule: str, how: TagReading | None, columns: Columns, key: str, unit: Unit
) -> NestedSurvey:
    """What becomes of the mentions of one file or folder."""
    from ..corpus.nested import survey_nested

    if Path(path).is_dir():
        from ..corpus.brat import brat_passages

        return survey_nested(path, brat_passages(path), rule, "text")
    if path.endswith(".spacy"):
        from ..corpus.doc_columns import DocFile
        from ..corpus.docbin import read_docbin
        from ..corpus.nested_docs import group_passages

        file = DocFile(shown(path), read_docbin(path), unit)
        return survey_nested(
            file.name, group_passages(file, key), rule, "Doc" if unit == "doc" else unit
        )
    if how is None:
        raise typer.BadParameter(f"{path} is a column file: name its scheme", param_hint="--scheme")
    from ..corpus.nested_columns import column_passages
    from ..corpus.sentences import FileSentences

    with opened(path, columns) as reader:
        sentences = FileSentences(reader, how)
        found = survey_nested(reader.name, column_passages(sentences), rule)
    if sentences.violations:
        typer.echo(
            f"{reader.name}: {counted(sentences.violations, 'violation')} repaired", err=True
        )
    return found


def _show(survey: NestedSurvey, limit: int, quiet: bool, ambiguous: bool) -> None:
    """Print what became of the mentions of a file."""
    name, total = survey.name, survey.total
    if not quiet:
        findings = survey.findings if ambiguous else survey.faults
        for finding in findings[: limit or None]:
            typer.echo(str(finding))
        if limit and len(findings) > limit:
            typer.echo(f"{name}: and {len(findings) - limit:,} more (--limit 0 shows all)")
        header = ("label", "sets", "ambiguous", "lost", "mentions", "come back", "new")
        rows = [_row(label, counts) for label, counts in sorted(survey.labels.items())]
        if rows:
            rows += [_row("total", total)] * (len(rows) > 1)
            typer.echo(aligned(header, rows, "lrrrrrr", rules=(0, len(survey.labels))))
    others = {
        kind: n for kind, n in survey.kinds.items() if n and kind not in ("lost", "ambiguous")
    }
    words = [f"{total.lost:,} of {counted(total.sets, 'set')} of mentions lost ({survey.reading})"]
    words += [f"{total.ambiguous:,} ambiguous", f"best F1 {100 * total.f1:.2f}"]
    words += [f"{counted(n, 'mention')} {kind}" for kind, n in others.items()]
    size = f"{counted(survey.sentences, survey.unit)}, {counted(survey.tokens, 'token')}"
    typer.echo(f"{name}: {', '.join(words)}; {size}")


def _row(label: str, counts: SetCounts) -> tuple[str, ...]:
    new = counts.found - counts.kept
    numbers = (counts.sets, counts.ambiguous, counts.lost, counts.mentions, counts.kept, new)
    return (label, *(f"{number:,}" for number in numbers))
