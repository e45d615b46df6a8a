"""The command `summarize`: how large files are, and what mentions they hold."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from ..corpus.files import STANDARD, write_bytes
from ..corpus.formats.options import ReadOptions
from ..corpus.summary import Summary
from ..corpus.survey import mention_counts, summarized
from .application import command
from .options import FILES, Inputs, Json, OutputFile, PolicyName, SchemeName, opened, read_options
from .output import counts_table, json_text, print_status

MORE = ("nested", "overlapping", "missing", "blocked", "repaired")
"""What is counted of spans and tokens beside their number."""


@command("summarize")
@read_options
def summarize_cli(
    files: Inputs,
    how: ReadOptions,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    mentions: Annotated[
        bool,
        typer.Option("--mentions", help="Count each mention: how often, its label, its text."),
    ] = False,
    output: OutputFile = STANDARD,
    json: Json = False,
) -> None:
    """Count documents, sentences, tokens and the spans of each label."""
    if mentions:
        text = _mentions(files, how, scheme, policy, json)
    else:
        text = _sizes(files, how, scheme, policy, json)
    with write_bytes(output) as put:
        put(text.encode())


def _mentions(files: list[str], how: ReadOptions, scheme: str, policy: str, json: bool) -> str:
    """Return every mention with its number, the most frequent first: columns, or JSON."""
    texts: Counter[tuple[str, str]] = Counter()
    for path in files:
        summary = Summary()
        with opened(path, how, scheme) as corpus:
            texts += mention_counts(corpus, summary, scheme, policy)
        print_status(corpus.name, summary)
    rows = sorted(texts.items(), key=lambda row: (-row[1], row[0]))
    if json:
        listed = [{"count": n, "label": label, "text": text} for (label, text), n in rows]
        return f"{json_text(listed)}\n"
    return "".join(f"{n}\t{label}\t{text}\n" for (label, text), n in rows)


def _sizes(files: list[str], how: ReadOptions, scheme: str, policy: str, json: bool) -> str:
    """Return how large files are, and how often each label occurs: tables, or JSON."""
    found: list[tuple[str, Summary]] = []
    for path in files:
        with opened(path, how, scheme) as corpus:
            found.append((corpus.name, summarized(corpus, scheme, policy)))
    labels = sum((summary.labels for _, summary in found), Counter[str]())
    if json:
        listed = [
            {"file": name, **summary.size, "spans": summary.labels.total()}
            | {key: getattr(summary, key) for key in MORE}
            | {"labels": summary.counts}
            for name, summary in found
        ]
        return json_text({"files": listed, "labels": dict(sorted(labels.items()))}) + "\n"
    more = [key for key in MORE if key == "repaired" or any(getattr(m, key) for _, m in found)]
    header = ("file", "documents", "sentences", "tokens", "spans", *more)
    sizes = [
        (name, *m.size.values(), m.labels.total(), *(getattr(m, key) for key in more))
        for name, m in found
    ]
    for name, summary in found:
        FILES.tell_findings(name, summary.findings)
    tables = counts_table(header, sizes), counts_table(("label", "spans"), sorted(labels.items()))
    return "".join(f"{table}\n\n" for table in tables)
