"""Commands that look at files: validate, check, count, summarize, text."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from json import dumps
from typing import Annotated, Any

import typer

from ..codes.scheme import get_scheme
from ..corpus.conll import ColumnReader, Columns, delimiter_named
from ..corpus.files import STANDARD, write_bytes
from ..corpus.survey import (
    Mentions,
    file_check,
    file_mentions,
    file_text,
    file_violations,
    likely_schemes,
)
from ..scoring.formats import aligned
from .application import AT_FAULT, FEW, FINE, SHOWN, command, counted, echo, looks_like
from .options import (
    Inputs,
    Json,
    PolicyName,
    Quiet,
    SchemeName,
    column_options,
)
from .progress import reading

OutputFile = Annotated[str, typer.Option("--output", "-o", help="Where to write; - prints.")]


def json_text(value: Any) -> str:
    """A value as JSON that people can read, too."""
    return dumps(value, indent=2, ensure_ascii=False)


def print_json(value: Any, err: bool = False) -> None:
    """Print a value as JSON that people can read, too."""
    echo(json_text(value), err=err)


def size(read: ColumnReader | Mentions) -> dict[str, int]:
    """How large what was read is."""
    return {"documents": read.documents, "sentences": read.sentences, "tokens": read.tokens}


def size_in_words(read: ColumnReader | Mentions) -> str:
    """The same for people; an empty file is said to be one."""
    if not read.sentences:
        return "0 sentences: the file holds no tokens"
    words = ", ".join(counted(count, word[:-1]) for word, count in size(read).items())
    return f"{words} ({read.missing:,} not annotated)" if read.missing else words


def tell(name: str, read: ColumnReader | Mentions) -> None:
    """Say beside the output what it does not say: that a file is empty, or was repaired."""
    if not read.sentences:
        echo(f"{name}: {size_in_words(read)}", err=True)
    elif read.missing:
        echo(f"{name}: {counted(read.missing, 'token')} not annotated", err=True)
    if isinstance(read, Mentions) and read.repaired:
        echo(f"{name}: {counted(read.repaired, 'violation')} repaired", err=True)


@command("validate")
@column_options
def validate_cli(
    files: Inputs,
    scheme: SchemeName,
    columns: Columns,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            help=f"List at most so many; 0 lists all (default: {SHOWN}, and {FEW} of a file that "
            "looks like another scheme).",
            min=0,
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List every illegal tag with its line. Exit code 1 if there are any."""
    wanted = get_scheme(scheme)
    results = []
    total = 0
    for path in files:
        found = unreadable = 0
        listed: list[dict[str, Any]] = []
        held: list[str] = []  # until it is known how many of them to show
        with reading(path, columns) as reader:
            for violation in file_violations(reader, wanted):
                found += 1
                unreadable += violation.kind == "unreadable"
                if json:
                    listed.append(asdict(violation))
                elif limit == 0 and not quiet:
                    echo(str(violation))
                elif len(held) < (SHOWN if limit is None else limit):
                    held.append(str(violation))
        total += found
        results.append({"file": reader.name, **size(reader), "violations": listed})
        if not json:
            other = found > FEW or unreadable
            schemes = likely_schemes(path, [columns], wanted) if other else ()
            shown = held[:FEW] if schemes and limit is None else held
            if not quiet:
                for line in shown:
                    echo(line)
                if limit != 0 and found > len(shown):
                    echo(f"{reader.name}: and {found - len(shown):,} more (--limit 0 shows all)")
            number = counted(found, "violation") if found else "no violations"
            echo(f"{reader.name}: {number} of {wanted.name} in {size_in_words(reader)}")
            if schemes:
                echo(f"{reader.name}: {looks_like(schemes, ['--scheme'])}", err=True)
    if json:
        print_json({"scheme": wanted.name, "total": total, "files": results})
    raise typer.Exit(AT_FAULT if total else FINE)


@command("check")
@column_options
def check_cli(files: Inputs, columns: Columns, json: Json = False) -> None:
    """Say under which schemes files are legal. Exit code 1 if one is legal under none."""
    results = []
    for path in files:
        with reading(path, columns) as reader:
            check = file_check(reader)
        schemes = check.schemes.values()
        results.append(
            {"file": reader.name, **size(reader), "legal": check.legal}
            | {"schemes": [asdict(scheme) for scheme in schemes]}
        )
        if not json:
            echo(f"{reader.name}: {size_in_words(reader)}")
            rows = [
                (
                    row.scheme,
                    "yes" if row.legal else "no",
                    f"{row.violations:,}",
                    str(row.first or ""),
                )
                for row in schemes
            ]
            header = ("scheme", "legal", "violations", "first")
            echo(aligned(header, rows, "llrl"))
    if json:
        print_json(results)
    raise typer.Exit(FINE if all(result["legal"] for result in results) else AT_FAULT)


@command("count")
@column_options
def count_cli(
    files: Inputs,
    scheme: SchemeName,
    columns: Columns,
    policy: PolicyName = "raise",
    output: OutputFile = STANDARD,
    output_delimiter: Annotated[
        str, typer.Option("--output-delimiter", help="Between the columns that are written.")
    ] = "tab",
    json: Json = False,
) -> None:
    """Count every mention: how often, which label, which text."""
    texts: Counter[tuple[str, str]] = Counter()
    for path in files:
        with reading(path, columns) as reader:
            found = file_mentions(reader, scheme, policy)
        texts += found.texts
        tell(reader.name, found)
    rows = sorted(texts.items(), key=lambda row: (-row[1], row[0]))
    if json:
        listed = [{"count": n, "label": label, "text": text} for (label, text), n in rows]
        lines = [json_text(listed)]
    else:
        between = delimiter_named(output_delimiter)
        lines = [between.join((str(n), label, text)) for (label, text), n in rows]
    with write_bytes(output) as put:
        put("".join(f"{line}\n" for line in lines).encode())


@command("summarize")
@column_options
def summarize_cli(
    files: Inputs,
    scheme: SchemeName,
    columns: Columns,
    policy: PolicyName = "raise",
    json: Json = False,
) -> None:
    """Count documents, sentences, tokens and the spans of each label."""
    found: list[tuple[str, Mentions]] = []
    for path in files:
        with reading(path, columns) as reader:
            found.append((reader.name, file_mentions(reader, scheme, policy)))
    labels = sum((mentions.labels for _, mentions in found), Counter[str]())
    if json:
        listed = [
            {"file": name, **size(mentions), "spans": mentions.labels.total()}
            | {"labels": dict(sorted(mentions.labels.items())), "repaired": mentions.repaired}
            for name, mentions in found
        ]
        print_json({"files": listed, "labels": dict(sorted(labels.items()))})
        return
    sizes = [(name, *size(m).values(), m.labels.total(), m.repaired) for name, m in found]
    _print_counts(("file", "documents", "sentences", "tokens", "spans", "repaired"), sizes)
    _print_counts(("label", "spans"), sorted(labels.items()))


def _print_counts(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print a table of numbers with their sum."""
    total = ("total", *(sum(column) for column in list(zip(*rows))[1:]))
    lines = [*rows, total] if len(rows) > 1 else rows
    cells = [(str(name), *(f"{number:,}" for number in numbers)) for name, *numbers in lines]
    echo(aligned(header, cells, "l" + "r" * (len(header) - 1), rules=(0, len(rows))) + "\n")


@command("text")
@column_options
def text_cli(files: Inputs, columns: Columns, output: OutputFile = STANDARD) -> None:
    """Write the text, one sentence on a line, tokens separated by spaces."""
    with write_bytes(output, columns.encoding) as put:
        for path in files:
            with reading(path, columns) as reader:
                for sentence in file_text(reader):
                    put(f"{sentence}\n".encode())
            tell(reader.name, reader)
