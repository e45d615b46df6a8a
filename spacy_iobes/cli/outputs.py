"""Where commands write: all files into one, or each into one of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from ..corpus.files import STANDARD
from ..corpus.formats import (
    COLUMN_ENDINGS,
    FOLDER,
    ending_of,
    format_by_ending,
    format_of,
    get_format,
)
from ..corpus.formats.folder import files_below
from ..corpus.formats.options import ReadOptions
from ..errors import FileError

CALLED_COLUMNS = COLUMN_ENDINGS - {"", ".txt"}
"""What only the names of column files end in."""


def jobs(
    paths: list[str], how: ReadOptions, to: str, written: Callable[[str], str]
) -> Iterator[tuple[list[str], str]]:
    """Yield inputs with their output: all go into one file, or each into one of a folder.

    `to` is the format that somebody names, `written` tells that of a file; `auto` is as it was.
    """
    *inputs, output = paths
    if not inputs:
        raise typer.BadParameter("name a file to read and one to write", param_hint="IN... OUT")
    folder = len(inputs) == 1 and format_of(inputs[0], how.format, how) is FOLDER
    if len(inputs) == 1 and not folder and output.endswith(("/", os.sep)):
        raise FileError(f"{output}: one file goes into a file, not into a directory.", output)
    if (len(inputs) == 1 and not folder) or _is_file(output, to):
        yield inputs, output
        return
    named = [pair for path in inputs for pair in _files(path, how)]
    if STANDARD in inputs or len({name for _, name in named}) < len(named):
        message = "several files go into a directory, each under its own name, or into one file"
        raise typer.BadParameter(message, param_hint="IN... OUT")
    for path, name in named:
        target = Path(output) / _named(name, written(path))
        _make(target.parent)
        yield [path], str(target)


def _files(path: str, how: ReadOptions) -> Iterator[tuple[str, str]]:
    """Yield a file, or those of a folder, with their names below it."""
    if path != STANDARD and format_of(path, how.format, how) is FOLDER:
        for file in files_below(path):
            yield str(file), str(file.relative_to(path))
    else:
        yield path, Path(path).name


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"{folder}: not a directory for the files: {reason}."
        raise FileError(message, str(folder)) from error


def _named(name: str, to: str) -> str:
    """Return the name of a file with the ending that another format has."""
    if to == "auto":
        return name
    row, ending = get_format(to), ending_of(name)
    own = format_by_ending(ending)
    if row.name == "columns":
        return name if own is None else name.removesuffix(".gz").removesuffix(ending) + ".conll"
    if own is not None and own.name == row.name:
        return name
    endings = {"brat": "", "label_studio": ".json"} | {"text": ".txt", "tokens": ".txt"}
    new = endings.get(row.name, row.endings[0] if row.endings else ".jsonl")
    return name.removesuffix(".gz").removesuffix(ending) + new


def _is_file(output: str, to: str) -> bool:
    """Return whether a name is that of a file, or of a brat folder, not of a directory of files."""
    if to == "brat" or output == STANDARD:
        return True
    ending = ending_of(output)
    known = ending in CALLED_COLUMNS or format_by_ending(ending) is not None
    return known and not Path(output).is_dir()
