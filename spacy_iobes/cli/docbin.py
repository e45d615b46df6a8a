"""Commands between column files and DocBins: to-docbin, from-docbin.

spaCy is only loaded by those who run one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..codes.policy import Policy, get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.conll import AUTO, Columns, delimiter_named
from ..corpus.files import STANDARD, shown
from ..corpus.nested import Finding, told
from ..corpus.nested_formats import COLUMNS, format_of
from .application import command, counted
from .nested_options import (
    Header,
    LabelOfLayer,
    Lines,
    MisalignedMentions,
    OffsetsOfJson,
    SchemeOfColumns,
    TokenizerOf,
    require_layers,
    text_reading,
)
from .options import Json, PolicyName, column_options
from .progress import bar, reading
from .survey import print_json

if TYPE_CHECKING:
    from ..corpus.doc_columns import DocFile
    from ..corpus.docbin import Written
    from ..corpus.nested_corpus import NestedFile, NestedReading
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
        typer.Argument(
            metavar="IN... OUT.spacy",
            help="Column files, or (into a span group) brat folders, JSON lines (.jsonl) and "
            "DocBins; and the file to write.",
        ),
    ],
    columns: Columns,
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
    spans_key: SpansKey = "",
    layer: Annotated[
        list[int] | None,
        typer.Option(
            "--layer", help="A column of tags, in place of --tag-index; repeat it for nested spans."
        ),
    ] = None,
    label: LabelOfLayer = None,
    header: Header = False,
    lines: Lines = False,
    misaligned: MisalignedMentions = "count",
    offsets: OffsetsOfJson = "auto",
    lang: TokenizerOf = "",
    keep_tags: Annotated[
        bool, typer.Option("--keep-tags", help="Keep the tags as they are in the Docs' user data.")
    ] = False,
    json: Json = False,
) -> None:
    """Write files as one DocBin for 'spacy train'; malformed tags are refused.

    Column files become entities, or with --spans-key a span group. Mentions of brat folders and
    JSON lines always become one; those that cannot be spans are counted and named.
    """
    from ..corpus.column_docs import require_unit
    from ..corpus.docbin import write_docbin
    from ..corpus.sentences import TagReading

    *inputs, output = paths
    if not inputs:
        raise typer.BadParameter("name files to read and one to write", param_hint="IN... OUT")
    if (layer or label or header) and not spans_key:
        raise typer.BadParameter("layers go into a span group: name it", param_hint="--spans-key")
    require_layers(layer)
    texts = [path for path in inputs if format_of(path) != COLUMNS]
    if len(texts) < len(inputs) and not scheme:
        named = next(path for path in inputs if path not in texts)
        raise typer.BadParameter(f"{named} is a column file: name it", param_hint="--scheme")
    if keep_tags and (spans_key or texts):
        raise typer.BadParameter("the tags are kept beside entities only", param_hint="--keep-tags")
    if spans_key or texts:
        from ..corpus.nested_corpus import NestedReading
        from ..corpus.nested_docbin import write_nested
        from ..corpus.sentences import tag_reading

        reading = NestedReading(
            spans_key or "sc",
            require_unit(unit),
            tag_reading(scheme, policy, layer or (), label or ()),
            columns,
            header,
            text_reading(misaligned, lines, columns.encoding, offsets, lang),
        )
        made = write_nested(_nested(inputs, reading), output)
        words = "\n".join([_in_words(made, reading.key), *told(made.findings)])
        say(f"{output}: {words}", {"file": output, **made.as_json()}, output, json)
        return
    how = TagReading(get_scheme(scheme), get_tag_policy(policy))
    files = _opened(inputs, columns, how)
    done = write_docbin(files, output, require_unit(unit), "", keep_tags)
    say(f"{output}: {_in_words(done, '')}", {"file": output, **asdict(done)}, output, json)


def _nested(paths: list[str], reading: NestedReading) -> Iterator[NestedFile]:
    """Every file, while its progress is shown."""
    from spacy.vocab import Vocab

    from ..corpus.nested_corpus import NestedFile

    vocab = Vocab()
    for path in paths:
        with bar(path) as progress:
            yield NestedFile(path, reading, vocab, progress)


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
    order: Annotated[
        str,
        typer.Option(
            "--order",
            help="Of the columns for a span group: group (as it says), outermost or innermost "
            "first, or label (one column for each).",
        ),
    ] = "group",
    header: Annotated[
        bool, typer.Option("--header", help="With --order label: a first line with the labels.")
    ] = False,
    lossy: Annotated[
        bool,
        typer.Option("--lossy", help="Leave out and count spans that cannot be written."),
    ] = False,
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
    drop_spaces: Annotated[
        bool,
        typer.Option("--drop-spaces", help="Leave out tokens of white space, which no column has."),
    ] = False,
    output_delimiter: Annotated[
        str, typer.Option("--output-delimiter", help="Between the columns that are written.")
    ] = "tab",
    encoding: Annotated[str, typer.Option("--encoding", help="Of the column file.")] = "utf8",
    json: Json = False,
) -> None:
    """Write a DocBin as a column file, a brat folder or JSON lines.

    Malformed entities are refused unless a policy is named, and spans that cannot be written unless
    they are to be left out (--lossy).
    """
    from ..corpus.doc_columns import DocFile
    from ..corpus.docbin import read_docbin
    from ..corpus.nested_out import WRITERS, Mentions, format_named

    form = format_named(to, output)
    if form == "brat" and output == STANDARD:
        raise typer.BadParameter("a brat folder cannot be printed: name one", param_hint="OUT")
    rule, unit = get_tag_policy(policy), "doc" if ignore_sentences else "sentence"
    if form == "columns":
        how = _ColumnOptions(scheme, spans_key, layers, order, header, lossy, output_delimiter)
        how.require()
    docs = read_docbin(source)
    file = DocFile(shown(source), docs, unit)  # type: ignore[arg-type]
    if form != "columns":
        mentions = Mentions(file, spans_key, rule, spaces=form != "brat")
        made = WRITERS[form](mentions, output, lossy)
        words = [counted(made.docs, "Doc"), counted(made.tokens, "token")]
        words += [counted(made.spans, "span")]
        words += [f"{counted(made.repaired, 'violation')} repaired"] * bool(made.repaired)
        text = "\n".join([", ".join(words), *told(made.findings)])
        say(f"{output}: {text}", {"file": output, **asdict(made)}, output, json)
        return
    if drop_spaces:
        from ..corpus.text_docs import without_spaces

        file = replace(file, docs=[without_spaces(doc) for doc in docs])
    marked = True if document_markers else None
    _print_columns(file, output, how, rule, encoding, marked, json)


class _ColumnOptions(NamedTuple):
    """What the options say of the columns to write."""

    scheme: str
    key: str
    layers: int | None
    order: str
    header: bool
    lossy: bool
    delimiter: str

    def require(self) -> None:
        """Refuse what does not go together."""
        if not self.scheme:
            raise typer.BadParameter("name the scheme of the columns", param_hint="--scheme")
        if not self.key:
            for wrong, hint in ((self.layers, "layers"), (self.order != "group", "an order")):
                if wrong:
                    message = f"only a span group has {hint}: name it"
                    raise typer.BadParameter(message, param_hint="--spans-key")
        if self.header and self.order != "label":
            raise typer.BadParameter("only columns of labels have names", param_hint="--header")
        if delimiter_named(self.delimiter) in ("", AUTO):
            raise typer.BadParameter("name one delimiter to write", param_hint="--output-delimiter")


def _print_columns(
    file: DocFile,
    output: str,
    how: _ColumnOptions,
    policy: Policy,
    encoding: str,
    marked: bool | None,
    json: bool,
) -> None:
    from ..corpus.doc_lines import ColumnFormat, print_columns
    from ..corpus.layered_columns import Arrangement, layered_columns, strict_columns
    from ..corpus.layers import require_order

    goal, order, repaired = get_scheme(how.scheme), require_order(how.order), 0
    findings, header = list[Finding](), tuple[str, ...]()
    if how.key and (how.lossy or order != "group"):
        arrangement = Arrangement(order, how.layers, how.lossy)
        columns, labels, findings = layered_columns(file, how.key, goal, arrangement)
        header = ("token", *labels) if how.header else ()
    elif how.key:
        columns = strict_columns(file, how.key, goal, how.layers)
    else:
        columns, repaired = file.entity_columns(goal, policy)
    form = ColumnFormat(delimiter_named(how.delimiter), encoding, marked, header)
    done = print_columns(file, columns, output, form)
    done.repaired = repaired
    words = [counted(done.docs, "Doc"), counted(done.sentences, "sentence")]
    words += [counted(done.tokens, "token"), counted(done.columns, "column") + " of tags"]
    words += [f"{counted(done.empty, 'empty Doc')} left out"] * bool(done.empty)
    words += [f"{counted(repaired, 'violation')} repaired"] * bool(repaired)
    text = "\n".join([", ".join(words), *told(findings)])
    report = {"file": output, **asdict(done)}
    if how.key:
        report["findings"] = [asdict(found) for found in findings]
    say(f"{output}: {text}", report, output, json)
