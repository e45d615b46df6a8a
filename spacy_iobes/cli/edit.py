"""Commands that write files: repair, convert."""

from __future__ import annotations

import json as json_reader
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..codes.known import Known
from ..codes.policy import get_policy
from ..codes.scheme import SCHEMES, get_scheme
from ..codes.violation import Violation
from ..corpus.corpus import Parts, Several, format_to_write, save_parts
from ..corpus.edit import Change, Relabel, edit_columns, relabelled, relabelling
from ..corpus.files import STANDARD
from ..corpus.findings import finding_lines
from ..corpus.formats import ending_of, format_by_ending
from ..corpus.formats.options import ReadOptions, SaveOptions
from ..corpus.inputs import is_stream, require_other
from ..corpus.sentences import Sentences
from ..errors import FileError
from .application import command, counted, echo
from .options import (
    InputsAndOutput,
    Json,
    PolicyName,
    Quiet,
    SchemeName,
    opened,
    read_options,
    save_options,
)
from .output import print_json, size_in_words
from .outputs import CALLED_COLUMNS, jobs


class Teller:
    """Tells what an edit does: to standard output, unless that is where the file goes."""

    def __init__(self, output: str, quiet: bool, json: bool):
        self.err = output == STANDARD
        self.quiet = quiet
        self.json = json
        self.repairs: list[dict[str, Any]] = []

    def say(self, text: str) -> None:
        """Print a line for people."""
        if not self.json:
            echo(text, err=self.err)

    def watch(self, violations: list[Violation], changes: list[Change]) -> None:
        """Show a repaired sentence: what was wrong, and which tags became which."""
        if self.json:
            repair = {
                "violations": list(map(asdict, violations)),
                "changes": list(map(asdict, changes)),
            }
            self.repairs.append(repair)
        elif not self.quiet:
            for violation in violations:
                self.say(str(violation))
            for change in changes:
                self.say(f"    {change.line}: {change.token!r}: {change.old} => {change.new}")


@dataclass(frozen=True)
class Job:
    """What to do with files: how to read them, what to make of their tags, and how to write."""

    how: ReadOptions
    scheme: str
    policy: str
    save: SaveOptions
    relabel: Relabel | None = None
    named: frozenset[str] = frozenset()

    def run(self, paths: list[str], quiet: bool, json: bool) -> None:
        """Edit every file and tell about it, also of labels that were `named` but do not occur."""
        if self.save.to in SCHEMES:
            message = (
                f"{self.save.to} is a scheme of tags, not a format: --to-scheme {self.save.to}"
            )
            raise typer.BadParameter(message, param_hint="--to")
        for name, find in ((self.scheme, get_scheme), (self.save.to_scheme, get_scheme)):
            find(name or "bio")  # before any file is touched
        get_policy(self.policy)
        results, printed = list[dict[str, Any]](), False
        to = self.save.to
        for inputs, output in jobs(paths, self.how, to, lambda path: to):
            printed = printed or output == STANDARD
            results.append(self._edit(inputs, output, Teller(output, quiet, json)))
        if json:
            print_json(results, err=printed)

    def _edit(self, inputs: list[str], output: str, teller: Teller) -> dict[str, Any]:
        """Write files to one output; return what was done as data."""
        seen = set[str]()

        def change(known: Known) -> Known:
            seen.update(known.spans.labels)
            return relabelled(known, self.relabel) if self.relabel else known

        with ExitStack() as stack:
            bare = not format_to_write(output, self.save).annotated
            scheme = None if bare else self.scheme
            corpora = [stack.enter_context(opened(path, self.how, scheme)) for path in inputs]
            require_other(output, inputs if len(inputs) > 1 else [])
            formats = {corpus.format.name for corpus in corpora}
            found = next((corpus.scheme for corpus in corpora if corpus.scheme), "")
            how = self._written(formats, output, found)
            columns = formats | {how.to} == {"columns"}
            source: Iterable[Sentences] = Several(tuple(corpora))
            if how.to == "columns" and not columns and any(map(is_stream, inputs)):
                source = list(source)  # it is read twice
            parts = Parts(source, self.scheme, self.policy, change)
            if how.to == "columns":
                done = edit_columns(parts, output, how, teller.watch)
            else:
                done = save_parts(parts, output, how)
        repaired = f", {counted(done.repaired, 'violation')} repaired" if done.repaired else ""
        changed = counted(done.changed, "tag") + " changed"
        changed = changed if columns else counted(done.labels.total(), "span")
        teller.say(f"{output}: {changed}{repaired} in {size_in_words(done)}")
        for line in finding_lines(done.findings):
            teller.say(f"{output}: {line}")
        if unseen := ", ".join(sorted(self.named - seen)):
            teller.say(f"{output}: no span was labelled {unseen}")
        names = ("documents", "sentences", "tokens", "changed", "missing", "blocked")
        sizes = {name: getattr(done, name) for name in names}
        counts = {"violations": done.repaired, "labels": dict(sorted(done.labels.items()))}
        findings = [asdict(found) for found in done.findings]
        more = {"repairs": teller.repairs, "findings": findings}
        return {"inputs": [x.name for x in corpora], "output": output, **sizes, **counts, **more}

    def _written(self, formats: set[str], output: str, found: str) -> SaveOptions:
        """Return how to write a file: as its source, unless something else is said."""
        to = self.save.to
        if to == "auto":
            ending = ending_of(output)
            named = format_by_ending(ending)
            columns = self.save.to_scheme or len(formats) > 1 or ending in CALLED_COLUMNS
            to = named.name if named else "columns" if columns else next(iter(formats))
        scheme = self.save.to_scheme or self.scheme or found
        if to == "columns" and not scheme:
            message = f"name the scheme of the tags to write: {', '.join(SCHEMES)}"
            raise typer.BadParameter(message, param_hint="--to-scheme")
        key = self.save.spans_key or self.how.spans_key
        encoding = self.how.encoding
        return replace(self.save, to=to, to_scheme=scheme, spans_key=key, encoding=encoding)


@command("repair")
@save_options
@read_options
def repair_cli(
    paths: InputsAndOutput,
    policy: PolicyName,
    how: ReadOptions,
    save: SaveOptions,
    scheme: SchemeName = "",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make malformed tags legal under a named policy, and show what changed."""
    Job(how, scheme, policy, save).run(paths, quiet, json)


@command("convert")
@save_options
@read_options
def convert_cli(
    paths: InputsAndOutput,
    how: ReadOptions,
    save: SaveOptions,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            help="Keep only these labels, separated by commas; with --map, by their new names.",
        ),
    ] = "",
    remove: Annotated[
        str,
        typer.Option(
            "--remove",
            help="Remove these labels, separated by commas; with --map, by their new names.",
        ),
    ] = "",
    rename: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Rename labels, OLD=NEW with commas between several, or a JSON file of "
            "{NEW: [OLD, ...]}; may repeat.",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write files in another format or scheme, or with other labels.

    Malformed tags are refused unless a policy is named. Column files keep all but their tags.
    """
    if keep and remove:
        raise typer.BadParameter("labels are either kept or removed", param_hint="--keep, --remove")
    names = dict(pair for text in rename or [] for pair in renames(text))
    relabel = relabelling(listed(keep), listed(remove), names) if keep or remove or names else None
    named = frozenset(names) | (listed(keep) | listed(remove)) - frozenset(names.values())
    Job(how, scheme, policy, save, relabel, named).run(paths, quiet, json)


def listed(text: str) -> frozenset[str]:
    """The labels in a list with commas."""
    return frozenset(label.strip() for label in text.split(",") if label.strip())


def renames(text: str) -> Iterator[tuple[str, str]]:
    """Old and new names, from `OLD=NEW` or from a JSON file of new names with their old ones."""
    old, equals, new = text.partition("=")
    if not text.lower().endswith(".json") and (equals or not Path(text).exists()):
        for pair in text.split(","):
            old, _, new = (part.strip() for part in pair.partition("="))
            if not (old and new):
                message = f"{pair!r} is not OLD=NEW, and {text!r} no JSON file"
                raise typer.BadParameter(message, param_hint="--map")
            yield old, new
        return
    try:
        with open(text, encoding="utf8") as file:
            groups = json_reader.load(file)
        pairs = [
            (old, new)
            for new, members in groups.items()
            for old in ([members] if isinstance(members, str) else members)
        ]
        if not all(isinstance(old, str) for old, _ in pairs):
            raise ValueError("a label is no string")
        if len({old for old, _ in pairs}) < len(pairs):
            raise ValueError("a label is renamed twice")
        yield from pairs
    except OSError as error:
        raise FileError(
            f"{text}: cannot be read: {(error.strerror or '').lower()}.", text
        ) from error
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise FileError(
            f"{text}: not JSON of the form {{NEW: [OLD, ...]}} ({error}).", text
        ) from error
