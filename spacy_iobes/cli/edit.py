"""Commands that write files: repair, convert."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from ..codes.policy import get_policy
from ..codes.violation import Violation
from ..corpus.edit import Change, Edit, relabelling, renames
from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions, SaveOptions, option
from ..corpus.outputs import outputs, require_schemes
from ..errors import OptionError
from .application import command, echo
from .options import (
    FILES,
    InputsAndOutput,
    Json,
    PolicyName,
    Quiet,
    SchemeName,
    fields_of,
    read_options,
    save_options,
)
from .output import print_json


@dataclass(frozen=True)
class Labels:
    """The labels to keep, to remove and to rename."""

    keep: str = option(
        "", "Keep only these labels, separated by commas; with --map, by their new names."
    )
    remove: str = option(
        "", "Remove these labels, separated by commas; with --map, by their new names."
    )
    rename: tuple[str, ...] = option(
        (),
        "Rename labels, OLD=NEW with commas between several, or a JSON file of {NEW: [OLD, ...]}; "
        "may repeat.",
        option="--map",
    )


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
    run(Edit(FILES, how, save, scheme, policy), paths, quiet, json)


@command("convert")
@fields_of("labels", Labels)
@save_options
@read_options
def convert_cli(
    paths: InputsAndOutput,
    how: ReadOptions,
    save: SaveOptions,
    labels: Labels,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write files in another format or scheme, or with other labels.

    Malformed tags are refused unless a policy is named. Column files keep all but their tags.
    """
    keep, remove = (
        frozenset(label.strip() for label in text.split(",") if label.strip())
        for text in (labels.keep, labels.remove)
    )
    if labels.keep and labels.remove:
        raise OptionError("labels are either kept or removed", "--keep, --remove")
    names = dict(pair for text in labels.rename for pair in renames(text))
    relabel = relabelling(keep, remove, names) if labels != Labels() else None
    named = {*names, *((keep | remove) - {*names.values()})}
    run(Edit(FILES, how, save, scheme, policy, relabel), paths, quiet, json, named)


def run(edit: Edit, paths: list[str], quiet: bool, json: bool, named: Collection[str] = ()) -> None:
    """Write files, and tell what was done, on standard output unless that is where a file goes."""
    require_schemes(edit.save, edit.scheme)
    get_policy(edit.policy)
    results, printed = list[dict[str, Any]](), False
    for inputs, output in outputs(paths, edit.how, edit.save.to):
        err, repairs = output == STANDARD, list[dict[str, Any]]()
        watch = partial(keep, repairs) if json else None if quiet else partial(show, err)
        done = edit.write(inputs, output, watch)
        printed = printed or err
        results.append(done.as_dict(repairs))
        if not json:
            for line in done.lines(named):
                echo(line, err=err)
    if json:
        print_json(results, err=printed)


def show(err: bool, violations: list[Violation], changes: list[Change]) -> None:
    """Print what was wrong in a sentence, and which tags became which."""
    for each in (*violations, *changes):
        echo(str(each), err=err)


def keep(repairs: list[dict[str, Any]], violations: list[Violation], changes: list[Change]) -> None:
    """Add what was wrong in a sentence, and which tags became which, as plain values."""
    both: dict[str, Sequence[Any]] = {"violations": violations, "changes": changes}
    repairs.append({name: [asdict(each) for each in some] for name, some in both.items()})
