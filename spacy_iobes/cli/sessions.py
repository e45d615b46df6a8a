"""The commands `export` and `import`: a session of `annotate` as a file, and files into it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ..codes.scheme import SCHEMES
from ..corpus.conll import Columns
from .application import AT_FAULT, command, counted, echo
from .options import GoldPolicy, Json, column_options
from .output import print_json, say
from .text_options import text_reading
from .train import tell

if TYPE_CHECKING:
    from ..selection.importing import Imported
    from ..selection.session import Session

SHOWN = 10  # of those that a file has and the session has not
State = Annotated[str, typer.Argument(metavar="STATE", help="The folder of a session.")]


def opened(state: str) -> Session:
    """A session to go on with; what a crash has cut off is told."""
    from ..selection.folder import JOURNAL
    from ..selection.session import Session

    session = Session.open(state)
    if session.torn:
        tell(
            f"{session.folder / JOURNAL}: the last line was cut off by a crash, and is removed. "
            "Every answer that was acknowledged is there."
        )
    return session


@command("export")
def export_cli(
    state: State,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="A column file, a DocBin (.spacy) or JSON lines (.jsonl), by its name; - prints.",
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="columns, spacy, prodigy or doccano (default: what the name says; JSON lines are "
            "those of Prodigy).",
        ),
    ] = "",
    scheme: Annotated[
        str,
        typer.Option("--scheme", "-s", help=f"Of columns: {', '.join(SCHEMES)} (default: bio)."),
    ] = "",
    rest: Annotated[
        str,
        typer.Option(
            "--rest",
            help="Sentences that nobody has read: leave-out, missing (unknown, as spaCy has it), "
            "predicted (what the model finds) or outside (no mentions).",
        ),
    ] = "leave-out",
    json: Json = False,
) -> None:
    """Write what a session has so far, even while somebody annotates.

    Sentences that were rejected are left out, but for the form of Prodigy.
    """
    from ..selection.exporting import export
    from ..selection.session import Session

    with Session.look(state) as session:
        done = export(session, output, form, scheme, rest)
    parts = ", ".join(f"{count:,} {status}" for status, count in done.sentences.items())
    total = sum(done.sentences.values())
    words = [counted(total, "sentence") + (f" ({parts})" if parts else "")]
    words += [counted(sum(done.labels.values()), "mention")]
    words += [f"{label} {count:,}" for label, count in sorted(done.labels.items())]
    say(f"{done.file}: {', '.join(words)}", asdict(done), output, json)


@command("import")
@column_options
def import_cli(
    state: State,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Column files, DocBins (.spacy), JSON lines (.jsonl) or brat folders.",
        ),
    ],
    columns: Columns,
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help="Of column files, as for 'validate'.")
    ] = "",
    repair: GoldPolicy = "raise",
    layer: Annotated[
        list[int] | None,
        typer.Option(
            "--layer",
            help="A column of tags; repeat it for each (default: the last; in a session with "
            "nesting all but the token's).",
        ),
    ] = None,
    spans_key: Annotated[
        str, typer.Option("--spans-key", help="The span group of DocBins, if they have it.")
    ] = "sc",
    as_read: Annotated[
        bool,
        typer.Option(
            "--as-read",
            help="Sentences of a file that has only mentions of other labels count as read.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Take annotated sentences into a session, as if they had been read there.

    They are found by number, or by what they say. A file may hold any part of the corpus, and
    a second time it changes nothing. Mentions of other labels are passed over, and counted. The
    exit code is 1 if annotated sentences were left out.
    """
    from ..corpus.file_sentences import tag_reading
    from ..corpus.nested_corpus import NestedReading
    from ..selection.importing import add_file

    tags = tag_reading(scheme, repair, tuple(layer or ()))
    texts = text_reading("count", False, columns.encoding, "auto")
    how = NestedReading(spans_key, "document", tags, columns, texts=texts)
    reports, left_out = [], 0
    with opened(state) as session:
        for path in paths:
            done = add_file(session, path, how, as_read)
            left_out += done.left_out
            reports.append({"file": path, **asdict(done)})
            if not json:
                tell_imported(path, done)
        session.wait()
    if json:
        print_json(reports)
    if left_out:
        tell(f"{counted(left_out, 'annotated sentence')} left out, all others were taken.")
        raise typer.Exit(AT_FAULT)


def tell_imported(path: str, done: Imported) -> None:
    """Say what came of a file, and what did not."""
    words = [f"{done.new:,} new", f"{done.changed:,} changed", f"{done.same:,} as before"]
    words += [f"{done.unannotated:,} not annotated"] * bool(done.unannotated)
    echo(f"{path}: {', '.join(words)}")
    if done.passed:
        passed = ", ".join(f"{label} {count:,}" for label, count in done.passed.items())
        tell(f"{path}: mentions of other labels passed over: {passed}")
    for title, places in (
        ("not in the corpus", done.unmatched),
        ("not usable", done.unusable),
        ("left as answered before, since the file has only other labels there", done.kept),
    ):
        if places:
            tell(f"{path}: {counted(len(places), 'sentence')} {title}:")
            for place in places[:SHOWN]:
                tell(f"  {place}")
