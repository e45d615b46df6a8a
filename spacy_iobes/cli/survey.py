"""Commands that look at files: validate, check, count, summarize, text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from json import dumps
from typing import Annotated, Any

import typer

from ..codes.scheme import get_scheme
from ..corpus.conll import ColumnReader, delimiter_named
from ..corpus.corpus import Corpus, likely_schemes
from ..corpus.files import STANDARD, write_bytes
from ..corpus.findings import finding_lines
from ..corpus.formats.options import ReadOptions
from ..corpus.sentences import Sentences
from ..corpus.summary import Summary
from ..corpus.survey import (
    checked,
    measured,
    mention_counts,
    sentence_texts,
    summarized,
    violations,
)
from ..errors import FileError
from ..scoring.tables import aligned
from .application import AT_FAULT, FEW, FINE, SHOWN, command, counted, echo, looks_like
from .options import (
    Inputs,
    Json,
    PolicyName,
    Quiet,
    SchemeName,
    missing_scheme,
    read_options,
    require_columns,
)
from .progress import bar

MORE = ("nested", "overlapping", "missing", "blocked", "repaired")
"""What is counted of spans and tokens beside their number."""
OutputFile = Annotated[str, typer.Option("--output", "-o", help="Where to write; - prints.")]


def json_text(value: Any) -> str:
    """A value as JSON that people can read, too."""
    return dumps(value, indent=2, ensure_ascii=False)


def print_json(value: Any, err: bool = False) -> None:
    """Print a value as JSON that people can read, too."""
    echo(json_text(value), err=err)


def say(text: str, report: dict[str, Any], output: str, json: bool) -> None:
    """Say what was written, on standard output unless that is where the file goes."""
    if json:
        print_json(report, err=output == STANDARD)
    else:
        echo(text, err=output == STANDARD)


def size(summary: Summary | ColumnReader) -> dict[str, int]:
    """How large what was read is."""
    return {
        "documents": summary.documents,
        "sentences": summary.sentences,
        "tokens": summary.tokens,
    }


def size_in_words(summary: Summary | ColumnReader) -> str:
    """The same for people; an empty file is said to be one."""
    if not summary.sentences:
        return "0 sentences: the file holds no tokens"
    words = ", ".join(counted(count, word[:-1]) for word, count in size(summary).items())
    return f"{words} ({summary.missing:,} not annotated)" if summary.missing else words


def tell(name: str, summary: Summary) -> None:
    """Say beside the output what it does not say: that a file is empty, or was repaired."""
    if not summary.sentences:
        echo(f"{name}: {size_in_words(summary)}", err=True)
    elif summary.missing:
        echo(f"{name}: {counted(summary.missing, 'token')} not annotated", err=True)
    if summary.repaired:
        echo(f"{name}: {counted(summary.repaired, 'violation')} repaired", err=True)
    for line in finding_lines(summary.findings):
        echo(f"{name}: {line}", err=True)


@contextmanager
def opened(path: str, how: ReadOptions, scheme: str | None = None) -> Iterator[Corpus]:
    """Open a file whose progress is shown; its tags must be in a scheme that is known."""
    require_columns(how, [path])
    with bar(path) as progress:
        corpus = Corpus(path, how, progress)
        if scheme == "" and corpus.format.name == "columns":
            raise missing_scheme(path)
        yield corpus


def tagged(corpus: Corpus) -> Iterator[Sentences]:
    """Yield the parts of a file; raise if it has spans in place of tags."""
    for part in corpus:
        if part.given is not None and len(part):
            raise FileError(
                f"{corpus.name}: files of the format {corpus.format.name} hold no tags that could "
                "be illegal.",
                corpus.name,
            )
        yield part


@command("validate")
@read_options
def validate_cli(
    files: Inputs,
    how: ReadOptions,
    scheme: SchemeName = "",
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
    if scheme:
        get_scheme(scheme)  # before any file is read
    results = []
    total = 0
    for path in files:
        found = unreadable = 0
        listed: list[dict[str, Any]] = []
        held: list[str] = []  # until it is known how many of them to show
        summary = Summary()
        with opened(path, how, scheme) as corpus:
            for violation in violations(tagged(corpus), scheme, summary):
                found += 1
                unreadable += violation.kind == "unreadable"
                if json:
                    listed.append(asdict(violation))
                elif limit == 0 and not quiet:
                    echo(str(violation))
                elif len(held) < (SHOWN if limit is None else limit):
                    held.append(str(violation))
        total += found
        name = summary.scheme(scheme)
        results.append({"file": corpus.name, **size(summary), "violations": listed})
        if not json:
            other = found > FEW or unreadable
            schemes = likely_schemes([corpus], get_scheme(name)) if other else ()
            shown = held[:FEW] if schemes and limit is None else held
            if not quiet:
                for line in shown:
                    echo(line)
                if limit != 0 and found > len(shown):
                    echo(f"{corpus.name}: and {found - len(shown):,} more (--limit 0 shows all)")
            number = counted(found, "violation") if found else "no violations"
            echo(f"{corpus.name}: {number} of {name} in {size_in_words(summary)}")
            if schemes:
                echo(f"{corpus.name}: {looks_like(schemes, ['--scheme'])}", err=True)
    if json:
        print_json({"scheme": scheme and get_scheme(scheme).name, "total": total, "files": results})
    raise typer.Exit(AT_FAULT if total else FINE)


@command("check")
@read_options
def check_cli(files: Inputs, how: ReadOptions, json: Json = False) -> None:
    """Say under which schemes files are legal. Exit code 1 if one is legal under none."""
    results = []
    for path in files:
        summary = Summary()
        with opened(path, how) as corpus:
            check = checked(tagged(corpus), summary)
        schemes = check.schemes.values()
        results.append(
            {"file": corpus.name, **size(summary), "legal": check.legal}
            | {"schemes": [asdict(scheme) for scheme in schemes]}
        )
        if not json:
            echo(f"{corpus.name}: {size_in_words(summary)}")
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
@read_options
def count_cli(
    files: Inputs,
    how: ReadOptions,
    scheme: SchemeName = "",
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
        summary = Summary()
        with opened(path, how, scheme) as corpus:
            texts += mention_counts(corpus, summary, scheme, policy)
        tell(corpus.name, summary)
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
@read_options
def summarize_cli(
    files: Inputs,
    how: ReadOptions,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    json: Json = False,
) -> None:
    """Count documents, sentences, tokens and the spans of each label."""
    found: list[tuple[str, Summary]] = []
    for path in files:
        with opened(path, how, scheme) as corpus:
            found.append((corpus.name, summarized(corpus, scheme, policy)))
    labels = sum((summary.labels for _, summary in found), Counter[str]())
    if json:
        listed = [
            {"file": name, **size(summary), "spans": summary.labels.total()}
            | {key: getattr(summary, key) for key in MORE}
            | {"labels": dict(sorted(summary.labels.items()))}
            for name, summary in found
        ]
        print_json({"files": listed, "labels": dict(sorted(labels.items()))})
        return
    more = [key for key in MORE if key == "repaired" or any(getattr(m, key) for _, m in found)]
    header = ("file", "documents", "sentences", "tokens", "spans", *more)
    sizes = [
        (name, *size(m).values(), m.labels.total(), *(getattr(m, key) for key in more))
        for name, m in found
    ]
    _print_counts(header, sizes)
    for name, summary in found:
        for line in finding_lines(summary.findings):
            echo(f"{name}: {line}", err=True)
    _print_counts(("label", "spans"), sorted(labels.items()))


def _print_counts(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print a table of numbers with their sum."""
    total = ("total", *(sum(column) for column in list(zip(*rows))[1:]))
    lines = [*rows, total] if len(rows) > 1 else rows
    cells = [(str(name), *(f"{number:,}" for number in numbers)) for name, *numbers in lines]
    echo(aligned(header, cells, "l" + "r" * (len(header) - 1), rules=(0, len(rows))) + "\n")


@command("text")
@read_options
def text_cli(files: Inputs, how: ReadOptions, output: OutputFile = STANDARD) -> None:
    """Write the text, one sentence on a line, tokens separated by spaces."""
    with write_bytes(output, how.encoding) as put:
        for path in files:
            summary = Summary()
            with opened(path, how) as corpus:
                for sentence in sentence_texts(measured(corpus, summary)):
                    put(f"{sentence}\n".encode("utf8", "surrogatepass"))
            tell(corpus.name, summary)
