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
from ..corpus.conll import Columns
from ..corpus.files import STANDARD, shown
from ..corpus.findings import finding_lines
from ..corpus.inline import Markup
from ..corpus.nested_formats import COLUMNS, FORMATS, INLINE, format_of
from .application import command, counted, echo
from .doc_writing import (
    ColumnCount,
    ColumnOrder,
    DocDelimiter,
    DocWriting,
    DropSpaces,
    LabelHeader,
    Lossy,
)
from .nested_options import (
    Header,
    LabelOfLayer,
    Lines,
    MisalignedMentions,
    OffsetsOfJson,
    SchemeOfColumns,
    TokenizerOf,
    require_layers,
)
from .options import Json, PolicyName, column_options, require_scheme
from .progress import bar, reading
from .survey import print_json
from .text_options import markup_options, text_reading

if TYPE_CHECKING:
    from ..corpus.docbin import Written
    from ..corpus.file_sentences import FileSentences, TagReading
    from ..corpus.nested_corpus import NestedFile, NestedReading

GROUP = "sc"  # the span group, unless another one is named
SpansKey = Annotated[str, typer.Option("--spans-key", help="A span group in place of entities.")]


def entities(count: int) -> str:
    """`1 entity`, `2 entities`."""
    return f"{count:,} {'entity' if count == 1 else 'entities'}"


def say(text: str, report: dict[str, Any], output: str, json: bool) -> None:
    """Tell what was written, to standard output unless that is where the file goes."""
    if json:
        print_json(report, err=output == STANDARD)
    else:
        echo(text, err=output == STANDARD)


@command("to-docbin")
@markup_options
@column_options
def to_docbin_cli(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="IN... OUT.spacy",
            help="Column files, or (into a span group) brat folders, JSON lines (.jsonl), DocBins "
            "and inline-tagged texts (.xml, .tar.gz); and the file to write.",
        ),
    ],
    columns: Columns,
    markup: Markup,
    scheme: SchemeOfColumns = "",
    policy: PolicyName = "raise",
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            help="One Doc for each sentence, or for each document: from one document marker to the "
            "next, or the whole file.",
        ),
    ] = "sentence",
    spans_key: Annotated[
        str,
        typer.Option(
            "--spans-key",
            help="A span group in place of entities (default: none for columns without --layer, "
            f"--label or --header, else {GROUP}).",
        ),
    ] = "",
    layer: Annotated[
        list[int] | None,
        typer.Option(
            "--layer", help="A column of tags, in place of --tag; repeat it for nested spans."
        ),
    ] = None,
    label: LabelOfLayer = None,
    header: Header = False,
    lines: Lines = False,
    misaligned: MisalignedMentions = "count",
    offsets: OffsetsOfJson = "auto",
    lang: TokenizerOf = "",
    form: Annotated[
        str,
        typer.Option(
            "--from",
            help=f"What the files are: {', '.join(FORMATS)} (by name). A file or a folder of "
            "inline-tagged texts has to be called so.",
        ),
    ] = "auto",
    keep_tags: Annotated[
        bool, typer.Option("--keep-tags", help="Keep the tags as they are in the Docs' user data.")
    ] = False,
    json: Json = False,
) -> None:
    """Write files as one DocBin for 'spacy train'; malformed tags are refused.

    Column files become entities, or with --spans-key or --layer a span group. Mentions of texts
    always become one; those that cannot be spans are counted and named. Those of inline-tagged
    texts become entities, too, in Docs in which none overlap.
    """
    from ..corpus.column_docs import require_unit
    from ..corpus.docbin import write_docbin
    from ..corpus.file_sentences import TagReading

    *inputs, output = paths
    if not inputs:
        raise typer.BadParameter("name files to read and one to write", param_hint="IN... OUT")
    require_layers(layer)
    if lines and markup.sentence:
        message = "sentences are lines, or stand in a tag: name one"
        raise typer.BadParameter(message, param_hint="--lines / --sentence-tag")
    texts = [path for path in inputs if format_of(path, form) != COLUMNS]
    if len(texts) < len(inputs):
        require_scheme(scheme, next(path for path in inputs if path not in texts))
    grouped = bool(spans_key or texts or layer or label or header)
    if keep_tags and grouped:
        raise typer.BadParameter("the tags are kept beside entities only", param_hint="--keep-tags")
    if grouped:
        from ..corpus.file_sentences import tag_reading
        from ..corpus.nested_corpus import NestedReading
        from ..corpus.nested_docbin import write_nested

        reading = NestedReading(
            spans_key or GROUP,
            require_unit(unit),
            tag_reading(scheme, policy, layer or (), label or ()),
            columns,
            header,
            text_reading(misaligned, lines, columns.encoding, offsets, lang, markup),
            form,
        )
        made = write_nested(_nested(inputs, reading), output)
        size = _in_words(made, "" if spans_key else f" in the group {GROUP!r}")
        without = f"{counted(made.without_entities, 'Doc')} without entities, for mentions overlap"
        remarks = [without] * bool(made.without_entities)
        words = "\n".join([size, *remarks, *finding_lines(made.findings)])
        say(f"{output}: {words}", {"file": output, **made.as_json()}, output, json)
        return
    how = TagReading(get_scheme(scheme), get_tag_policy(policy))
    files = _opened(inputs, columns, how)
    done = write_docbin(files, output, require_unit(unit), "", keep_tags)
    say(f"{output}: {_in_words(done)}", {"file": output, **asdict(done)}, output, json)


def _nested(paths: list[str], reading: NestedReading) -> Iterator[NestedFile]:
    """Every file, while its progress is shown."""
    from spacy.vocab import Vocab

    from ..corpus.nested_corpus import NestedFile

    vocab = Vocab()
    for path in paths:
        with bar(path) as progress:
            entities = format_of(path, reading.form) == INLINE
            yield NestedFile(path, replace(reading, entities=entities), vocab, progress)


def _in_words(done: Written, group: str | None = None) -> str:
    """What went into a DocBin: entities, or spans of a group, of which more may be said."""
    spans = sum(done.labels.values())
    words = [counted(done.docs, "Doc"), counted(done.sentences, "sentence")]
    words += [counted(done.tokens, "token")]
    words += [entities(spans) if group is None else counted(spans, "span") + group]
    words += [f"{done.missing:,} missing and {done.blocked:,} blocked"]
    return ", ".join(words) + (
        f"; {counted(done.repaired, 'violation')} repaired" if done.repaired else ""
    )


def _opened(paths: list[str], columns: Columns, how: TagReading) -> Iterator[FileSentences]:
    """Every file, while its progress is shown."""
    from ..corpus.file_sentences import FileSentences

    for path in paths:
        with reading(path, columns) as reader:
            yield FileSentences(reader, how)


@command("from-docbin")
def from_docbin_cli(
    source: Annotated[str, typer.Argument(metavar="IN.spacy", help="A DocBin file.")],
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="A file, or a folder for brat; - prints.")
    ],
    scheme: SchemeOfColumns = "",
    policy: PolicyName = "raise",
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="columns, brat, jsonl (a text and offsets of characters) or jsonl-tokens "
            "(default: jsonl if the file is named so, else columns).",
        ),
    ] = "",
    spans_key: SpansKey = "",
    layers: ColumnCount = None,
    order: ColumnOrder = "group",
    header: LabelHeader = False,
    lossy: Lossy = False,
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
    drop_spaces: DropSpaces = False,
    output_delimiter: DocDelimiter = "tab",
    encoding: Annotated[str, typer.Option("--encoding", help="Of the column file.")] = "utf8",
    json: Json = False,
) -> None:
    """Write a DocBin as a column file, a brat folder or JSON lines.

    Malformed entities are refused unless a policy is named, and spans that cannot be written unless
    they are to be left out (--lossy).
    """
    from ..corpus.doc_columns import DocFile
    from ..corpus.docbin import read_docbin
    from ..corpus.nested_out import format_named

    how = DocWriting(
        format_named(to, output),
        spans_key,
        lossy,
        scheme,
        layers,
        order,
        header,
        output_delimiter,
        encoding,
        document_markers,
        drop_spaces,
    )
    how.require(output)
    rule, unit = get_tag_policy(policy), "doc" if ignore_sentences else "sentence"
    file = DocFile(shown(source), read_docbin(source), unit)  # type: ignore[arg-type]
    words, report = how.write(file, output, rule)
    say(f"{output}: {words}", {"file": output, **report}, output, json)
