"""The command roundtrip: what mention separators make of a corpus.

spaCy is only loaded by those who name a `.spacy` file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ..codes.readings import DEFAULT_READING, READINGS, get_reading
from ..corpus.conll import Columns
from ..corpus.files import shown
from ..corpus.findings import many
from ..corpus.nested_formats import COLUMNS, DOCS, format_of
from ..scoring.formats import aligned
from .application import AT_FAULT, FINE, SHOWN, command, counted, echo
from .nested_options import (
    Header,
    LabelOfLayer,
    Lines,
    MisalignedMentions,
    OffsetsOfJson,
    SchemeOfColumns,
    require_layers,
)
from .options import Json, Limit, PolicyName, Quiet, column_options, missing_scheme
from .progress import reading as opened
from .survey import print_json
from .text_options import text_reading

if TYPE_CHECKING:
    from ..corpus.file_sentences import TagReading
    from ..corpus.nested import NestedSurvey, SetCounts
    from ..corpus.nested_text import TextReading
    from ..corpus.tagged import Unit

_READINGS = ", ".join(READINGS)


@command("roundtrip")
@column_options
def roundtrip_cli(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Column files, .spacy files, JSON lines (.jsonl), brat folders."
        ),
    ],
    columns: Columns,
    reading: Annotated[
        str, typer.Option("--reading", "-r", help=f"Which mentions are meant: {_READINGS}.")
    ] = DEFAULT_READING,
    scheme: SchemeOfColumns = "",
    policy: PolicyName = "raise",
    layer: Annotated[
        list[int] | None,
        typer.Option("--layer", help="A column of tags; repeat it for nested mentions."),
    ] = None,
    label: LabelOfLayer = None,
    header: Header = False,
    spans_key: Annotated[
        str, typer.Option("--spans-key", help="The span group of .spacy files.")
    ] = "sc",
    ignore_sentences: Annotated[
        bool, typer.Option("--ignore-sentences", help="Take each Doc for one sentence.")
    ] = False,
    lines: Lines = False,
    misaligned: MisalignedMentions = "count",
    offsets: OffsetsOfJson = "auto",
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
    how = _Settings(
        rule.name,
        _tags(scheme, policy, layer, label),
        replace(columns, tag=layer[0]) if layer else columns,
        header,
        spans_key,
        "doc" if ignore_sentences else "sentence",
        text_reading(misaligned, lines, columns.encoding, offsets),
    )
    found = [_survey(path, how) for path in files]
    if json:
        print_json({"reading": rule.name, "files": [survey.as_json() for survey in found]})
    else:
        for survey in found:
            _show(survey, limit, quiet, ambiguous)
    raise typer.Exit(AT_FAULT if any(survey.faults for survey in found) else FINE)


class _Settings(NamedTuple):
    """What the options say."""

    rule: str
    tags: TagReading | None
    columns: Columns
    header: bool
    key: str
    unit: Unit
    texts: TextReading


def _tags(
    scheme: str, policy: str, layers: list[int] | None, labels: list[str] | None
) -> TagReading | None:
    """How to read the tags of column files; None without a scheme."""
    from ..corpus.file_sentences import tag_reading

    require_layers(layers)
    return tag_reading(scheme, policy, layers or (), labels or ())


def _survey(path: str, how: _Settings) -> NestedSurvey:
    """What becomes of the mentions of one file or folder."""
    from ..corpus.nested import survey_nested

    kind = format_of(path)
    if kind not in (COLUMNS, DOCS):
        from ..corpus.nested_text import text_passages
        from ..corpus.text_files import TEXTS

        texts = TEXTS[kind](path, how.texts)
        unit = "line" if how.texts.lines else "text"
        return survey_nested(path, text_passages(texts), how.rule, unit)
    if kind == DOCS:
        from ..corpus.doc_columns import DocFile
        from ..corpus.docbin import read_docbin
        from ..corpus.nested_docs import group_passages

        file = DocFile(shown(path), read_docbin(path), how.unit)
        passages = group_passages(file, how.key)
        return survey_nested(
            file.name, passages, how.rule, "Doc" if how.unit == "doc" else how.unit
        )
    if how.tags is None:
        raise missing_scheme(path)
    from ..corpus.file_sentences import TOKEN_AND_TAG, FileSentences
    from ..corpus.nested_columns import column_passages, headed

    columns, tags = how.columns, how.tags
    if how.header:
        columns, tags = headed(path, columns, tags)
    with opened(path, columns) as reader:
        sentences = FileSentences(reader, tags)
        found = survey_nested(reader.name, column_passages(sentences), how.rule)
        if not tags.layers and reader.width > TOKEN_AND_TAG and columns.tag == Columns().tag:
            echo(
                f"{reader.name} has {reader.width} columns, of which the last was read: name each "
                "that holds tags (--layer 1 --layer 2, for example)",
                err=True,
            )
    if sentences.violations:
        echo(f"{reader.name}: {counted(sentences.violations, 'violation')} repaired", err=True)
    return found


def _show(survey: NestedSurvey, limit: int, quiet: bool, ambiguous: bool) -> None:
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
    size = f"{counted(survey.sentences, survey.unit)}, {counted(survey.tokens, 'token')}"
    echo(f"{name}: {', '.join(words)}; {size}")


def _row(label: str, counts: SetCounts) -> tuple[str, ...]:
    new = counts.found - counts.kept
    numbers = (counts.sets, counts.ambiguous, counts.lost, counts.mentions, counts.kept, new)
    return (label, *(f"{number:,}" for number in numbers))
