"""The command docs: what is in DocBins; spaCy is only loaded when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpus.files import shown
from ..scoring.formats import aligned
from .application import AT_FAULT, FINE, SHOWN, command, counted, echo
from .docbin import entities
from .options import Json, Limit, Quiet
from .survey import print_json

if TYPE_CHECKING:
    from ..corpus.doc_survey import DocSurvey


@command("docs")
def docs_cli(
    files: Annotated[list[str], typer.Argument(metavar="FILE.spacy", help="DocBin files.")],
    limit: Limit = SHOWN,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List violations and count entities and spans of DocBins. Exit code 1 if there are any.

    Docs and tokens are counted from 0. Malformed entities are counted as the policy begin reads
    them.
    """
    from ..corpus.doc_survey import survey_docs
    from ..corpus.docbin import read_docbin

    results, total = [], 0
    for path in files:
        name = shown(path)
        found = survey_docs(read_docbin(path), name)
        total += len(found.violations)
        results.append({"file": name, **asdict(found)})
        if not json:
            _show(name, found, limit, quiet)
    if json:
        print_json({"total": total, "files": results})
    raise typer.Exit(AT_FAULT if total else FINE)


def _show(name: str, found: DocSurvey, limit: int, quiet: bool) -> None:
    """Print what is in a file."""
    count = len(found.violations)
    if not quiet:
        for violation in found.violations[: limit or None]:
            echo(str(violation))
        if limit and count > limit:
            echo(f"{name}: and {count - limit:,} more (--limit 0 shows all)")
    number = counted(count, "violation") if count else "no violations"
    sizes = f"{counted(found.docs, 'Doc')}, {counted(found.sentences, 'sentence')}"
    echo(f"{name}: {number} in {sizes}, {counted(found.tokens, 'token')}")
    if quiet:
        return
    crossing = f", {found.crossing:,} of them across sentence borders" if found.crossing else ""
    echo(
        f"{entities(sum(found.labels.values()))}{crossing}; "
        f"{counted(found.missing, 'token')} missing, {found.blocked:,} blocked"
    )
    if rows := list(_rows(found)):
        echo(aligned(("place", "label", "spans", "nested", "overlapping"), rows, "llrrr"))


def _rows(found: DocSurvey) -> Iterator[tuple[str, ...]]:
    """A table of the labels in each place."""
    for label, count in sorted(found.labels.items()):
        yield "ents", label, f"{count:,}", "", ""
    for key, group in found.groups.items():
        total = sum(group.labels.values())
        yield f"spans[{key!r}]", "", f"{total:,}", f"{group.nested:,}", f"{group.overlapping:,}"
        for label, count in sorted(group.labels.items()):
            yield "", label, f"{count:,}", "", ""
