"""Commands between column files and DocBins: to-docbin, from-docbin.

spaCy is only loaded by those who run one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..codes.policy import get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.conll import AUTO, Columns, delimiter_named
from ..corpus.files import STANDARD, shown
from .application import command, counted
from .options import Json, PolicyName, SchemeName, column_options
from .progress import reading
from .survey import print_json

if TYPE_CHECKING:
    from ..corpus.docbin import Written
    from ..corpus.sentences import FileSentences, TagReading

SpansKey = Annotated[str, typer.Option("--spans-key", help="A span group in place of entities.")]


def entities(count: int) -> str:
    """`1 entity`, `2 entities`."""
    return f"{count:,} {'entity' if count == 1 else 'entities'}"


def say(text: str, report: dict[str, Any], output: str, json: bool) -> None:
    """Tell what was written, to standard output unless that is where the file goes."""
    if json:
        print_json(report, err=output == STANDARD)
    else:
        typer.echo(text, err=output == STANDARD)


@command("to-docbin")
@column_options
def to_docbin_cli(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="IN... OUT.spacy", help="Column files, and the file to write."),
    ],
    scheme: SchemeName,
    columns: Columns,
    policy: PolicyName = "raise",
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            help="One Doc for each sentence, or for each document: from one document marker to the "
            "next, or the whole file.",
        ),
    ] = "sentence",
    spans_key: SpansKey = "",
    layer: Annotated[
        list[int] | None,
        typer.Option(
            "--layer", help="A column of tags, in place of --tag-index; repeat it for nested spans."
        ),
    ] = None,
    keep_tags: Annotated[
        bool, typer.Option("--keep-tags", help="Keep the tags as they are in the Docs' user data.")
    ] = False,
    json: Json = False,
) -> None:
    """Write column files as one DocBin for 'spacy train'; malformed tags are refused."""
    from ..corpus.column_docs import require_unit
    from ..corpus.docbin import write_docbin
    from ..corpus.sentences import TagReading

    *inputs, output = paths
    if not inputs:
        raise typer.BadParameter("name files to read and one to write", param_hint="IN... OUT")
    if layer and not spans_key:
        raise typer.BadParameter("layers go into a span group: name it", param_hint="--spans-key")
    if keep_tags and spans_key:
        raise typer.BadParameter("the tags are kept beside entities only", param_hint="--keep-tags")
    layers = tuple(layer or ())
    if len(set(layers)) < len(layers):
        raise typer.BadParameter("a column is one layer: name each once", param_hint="--layer")
    columns = replace(columns, tag=layers[0]) if layers else columns
    how = TagReading(get_scheme(scheme), get_tag_policy(policy), layers, labelled=not spans_key)
    files = _opened(inputs, columns, how)
    done = write_docbin(files, output, require_unit(unit), spans_key, keep_tags)
    say(f"{output}: {_in_words(done, spans_key)}", {"file": output, **asdict(done)}, output, json)


def _in_words(done: Written, spans_key: str) -> str:
    """What went into a DocBin."""
    spans = sum(done.labels.values())
    words = [counted(done.docs, "Doc"), counted(done.sentences, "sentence")]
    words += [counted(done.tokens, "token")]
    words += [counted(spans, "span") if spans_key else entities(spans)]
    words += [f"{done.missing:,} missing and {done.blocked:,} blocked"]
    return ", ".join(words) + (
        f"; {counted(done.repaired, 'violation')} repaired" if done.repaired else ""
    )


def _opened(paths: list[str], columns: Columns, how: TagReading) -> Iterator[FileSentences]:
    """Every file, while its progress is shown."""
    from ..corpus.sentences import FileSentences

    for path in paths:
        with reading(path, columns) as reader:
            yield FileSentences(reader, how)


@command("from-docbin")
def from_docbin_cli(
    source: Annotated[str, typer.Argument(metavar="IN.spacy", help="A DocBin file.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="A column file; - prints.")],
    scheme: SchemeName,
    policy: PolicyName = "raise",
    spans_key: SpansKey = "",
    layers: Annotated[
        int | None,
        typer.Option(
            "--layers",
            min=1,
            help="Columns of tags for a span group (default: as many as it needs). Spans go where "
            "attrs['layers'] says; without it the longest choose first, each the first column in "
            "which it overlaps no other.",
        ),
    ] = None,
    ignore_sentences: Annotated[
        bool, typer.Option("--ignore-sentences", help="Write each Doc as one sentence.")
    ] = False,
    document_markers: Annotated[
        bool,
        typer.Option(
            "--document-markers",
            help="A -DOCSTART- line before each Doc (default: if one has several sentences).",
        ),
    ] = False,
    output_delimiter: Annotated[
        str, typer.Option("--output-delimiter", help="Between the columns that are written.")
    ] = "tab",
    encoding: Annotated[str, typer.Option("--encoding", help="Of the column file.")] = "utf8",
    json: Json = False,
) -> None:
    """Write a DocBin as a column file; malformed entities are refused unless a policy is named."""
    from ..corpus.doc_columns import DocFile, columns_of
    from ..corpus.doc_lines import ColumnFormat, print_columns
    from ..corpus.docbin import read_docbin

    if layers and not spans_key:
        raise typer.BadParameter("only a span group has layers: name it", param_hint="--spans-key")
    delimiter = delimiter_named(output_delimiter)
    if delimiter in ("", AUTO):
        raise typer.BadParameter("name one delimiter to write", param_hint="--output-delimiter")
    goal, rule = get_scheme(scheme), get_tag_policy(policy)
    file = DocFile(shown(source), read_docbin(source), "doc" if ignore_sentences else "sentence")
    columns, repaired = columns_of(file, goal, rule, spans_key, layers)
    form = ColumnFormat(delimiter, encoding, True if document_markers else None)
    done = print_columns(file, columns, output, form)
    done.repaired = repaired
    words = [counted(done.docs, "Doc"), counted(done.sentences, "sentence")]
    words += [counted(done.tokens, "token"), counted(done.columns, "column") + " of tags"]
    words += [f"{counted(done.empty, 'empty Doc')} left out"] * bool(done.empty)
    words += [f"{counted(repaired, 'violation')} repaired"] * bool(repaired)
    say(f"{output}: {', '.join(words)}", {"file": output, **asdict(done)}, output, json)
