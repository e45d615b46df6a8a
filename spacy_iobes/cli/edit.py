"""Commands that write files: repair, convert, process."""

from __future__ import annotations

import json as json_reader
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..codes.policy import get_policy
from ..codes.scheme import SCHEMES, get_scheme
from ..codes.violation import Violation
from ..corpus.conll import AUTO, ONE_SCHEME, Columns, delimiter_named
from ..corpus.edit import Change, Relabel, edit_file, relabelling
from ..corpus.files import STANDARD
from ..corpus.output import Output
from ..errors import FileError
from .application import command, counted, echo
from .options import (
    InputsAndOutput,
    Json,
    OnlyTokenAndTag,
    OutputDelimiter,
    PolicyName,
    Quiet,
    SchemeName,
    column_options,
)
from .progress import reading
from .survey import print_json, size_in_words

SourceName = Annotated[str, typer.Option("--from", "-f", help=f"Scheme of the file: {ONE_SCHEME}.")]
TargetName = Annotated[
    str, typer.Option("--to", "-t", help=f"Scheme to write: one of {', '.join(SCHEMES)}.")
]


def jobs(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Every input with its output: a file for a file, or a directory for several."""
    *inputs, output = paths
    if not inputs:
        raise typer.BadParameter("name a file to read and one to write", param_hint="IN... OUT")
    if len(inputs) == 1:
        if output.endswith(("/", os.sep)):
            raise FileError(f"{output}: one file goes into a file, not into a directory.", output)
        yield inputs[0], output
        return
    names = [Path(path).name for path in inputs]
    if STANDARD in paths or len(set(names)) < len(names):
        raise typer.BadParameter(
            "several files go into a directory, each under its own name", param_hint="IN... OUT"
        )
    try:
        Path(output).mkdir(exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{output}: not a directory for the files: {reason}.", output) from error
    for path, name in zip(inputs, names):
        yield path, str(Path(output) / name)


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


def run(
    paths: list[str],
    columns: Columns,
    source: str,
    target: str,
    policy: str,
    output: Output,
    *,
    relabel: Relabel | None = None,
    named: frozenset[str] = frozenset(),
    quiet: bool = False,
    json: bool = False,
) -> None:
    """Edit every file and tell about it, also of labels that were `named` but do not occur."""
    for name, find in ((source, get_scheme), (target, get_scheme), (policy, get_policy)):
        find(name)  # before any file is touched
    results = []
    printed = False
    for path, goal in jobs(paths):
        printed = printed or goal == STANDARD
        teller = Teller(goal, quiet, json)
        with reading(path, columns) as reader:
            done = edit_file(
                reader,
                goal,
                source,
                target,
                policy,
                relabel=relabel,
                output=output,
                watch=teller.watch,
            )
        repaired = f", {counted(done.violations, 'violation')} repaired" if done.violations else ""
        changed = counted(done.changed, "tag")
        teller.say(f"{goal}: {changed} changed{repaired} in {size_in_words(reader)}")
        unseen = ", ".join(sorted(named - done.labels))
        if unseen:
            teller.say(f"{goal}: no span was labelled {unseen}")
        counts = asdict(done) | {"labels": sorted(done.labels)}
        results.append({"input": reader.name, "output": goal, **counts, "repairs": teller.repairs})
    if json:
        print_json(results, err=printed)


@command("repair")
@column_options
def repair_cli(
    paths: InputsAndOutput,
    scheme: SchemeName,
    policy: PolicyName,
    columns: Columns,
    output_delimiter: OutputDelimiter = None,
    discard_extra_columns: OnlyTokenAndTag = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make malformed tags legal under a named policy, and show what changed."""
    output = output_from(output_delimiter, discard_extra_columns)
    run(paths, columns, scheme, scheme, policy, output, quiet=quiet, json=json)


@command("convert")
@column_options
def convert_cli(
    paths: InputsAndOutput,
    source: SourceName,
    target: TargetName,
    columns: Columns,
    policy: PolicyName = "raise",
    output_delimiter: OutputDelimiter = None,
    discard_extra_columns: OnlyTokenAndTag = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rewrite files in another scheme; malformed tags are refused unless a policy is named."""
    output = output_from(output_delimiter, discard_extra_columns)
    run(paths, columns, source, target, policy, output, quiet=quiet, json=json)


@command("process")
@column_options
def process_cli(
    paths: InputsAndOutput,
    scheme: SchemeName,
    columns: Columns,
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
    policy: PolicyName = "raise",
    output_delimiter: OutputDelimiter = None,
    discard_extra_columns: OnlyTokenAndTag = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rename labels, then keep or remove some by their new names."""
    if keep and remove:
        raise typer.BadParameter("labels are either kept or removed", param_hint="--keep, --remove")
    names = dict(pair for text in rename or [] for pair in renames(text))
    if not (keep or remove or names):
        raise typer.BadParameter("say what to do", param_hint="--keep, --remove or --map")
    relabel = relabelling(listed(keep), listed(remove), names)
    output = output_from(output_delimiter, discard_extra_columns)
    named = frozenset(names) | (listed(keep) | listed(remove)) - frozenset(names.values())
    run(
        paths,
        columns,
        scheme,
        scheme,
        policy,
        output,
        relabel=relabel,
        named=named,
        quiet=quiet,
        json=json,
    )


def output_from(delimiter: str | None, only_token_and_tag: bool) -> Output:
    """How to write column files, from the options."""
    named = delimiter_named(delimiter) if delimiter is not None else None
    if named in ("", AUTO):
        raise typer.BadParameter("name one delimiter to write", param_hint="--output-delimiter")
    return Output(named, only_token_and_tag)


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
