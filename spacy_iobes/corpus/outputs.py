"""Where commands write: all files into one, or each into one of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..codes.scheme import SCHEMES, get_scheme
from ..errors import FileError, OptionError
from .files import STANDARD
from .formats import (
    COLUMN_ENDINGS,
    FOLDER,
    ending_of,
    format_by_ending,
    format_of,
    get_format,
)
from .formats.folder import files_below
from .formats.options import ReadOptions, SaveOptions

CALLED_COLUMNS = COLUMN_ENDINGS - {"", ".txt"}
"""What only the names of column files end in."""
NAMED = "IN... OUT"


def require_schemes(how: SaveOptions, scheme: str) -> None:
    """Raise, before any file is touched, for schemes that nobody knows, or that are no formats."""
    if how.to in {name for row in SCHEMES.values() for name in (row.name, *row.aliases)}:
        message = f"{how.to} is a scheme of tags, not a format: --to-scheme {how.to}"
        raise OptionError(message, "--to")
    for name in filter(None, (scheme, how.to_scheme)):
        get_scheme(name)


def outputs(
    paths: list[str], how: ReadOptions, to: str, texts: str = "auto"
) -> Iterator[tuple[list[str], str]]:
    """Yield inputs with their output: all go into one file, or each into one of a folder.

    `to` is the format that somebody names, `texts` that of plain texts if nobody does; `auto` is
    the one that a file has.
    """
    *inputs, output = paths
    if not inputs:
        raise OptionError("name a file to read and one to write", NAMED)
    folder = len(inputs) == 1 and format_of(inputs[0], how.format, how) is FOLDER
    if len(inputs) == 1 and not folder and output.endswith(("/", os.sep)):
        raise FileError(f"{output}: one file goes into a file, not into a directory.", output)
    if len(inputs) == 1 and not folder:
        yield inputs, output
        return
    if _is_file(output, to):
        if output != STANDARD and Path(output).exists():
            raise FileError(
                f"{output}: is there already, and would be written over with the files before it. "
                "Name a new file behind them, or a folder.",
                output,
            )
        yield inputs, output
        return
    named = [pair for path in inputs for pair in _files(path, how)]
    if STANDARD in inputs or len({name for _, name in named}) < len(named):
        message = "several files go into a directory, each under its own name, or into one file"
        raise OptionError(message, NAMED)
    for path, name in named:
        plain = to == "auto" and format_of(path, how.format, how).name == "text"
        target = Path(output) / _named(name, texts if plain else to)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"{target.parent}: not a directory for the files: {reason}."
            raise FileError(message, str(target.parent)) from error
        yield [path], str(target)


def _files(path: str, how: ReadOptions) -> Iterator[tuple[str, str]]:
    """Yield a file, or those of a folder, with their names below it."""
    if path != STANDARD and format_of(path, how.format, how) is FOLDER:
        for file in files_below(path):
            yield str(file), str(file.relative_to(path))
    else:
        yield path, Path(path).name


def _named(name: str, to: str) -> str:
    """Return the name of a file with the ending that another format has."""
    if to == "auto":
        return name
    row, ending = get_format(to), ending_of(name)
    own = format_by_ending(ending)
    if row.name == ("columns" if own is None else own.name):
        return name
    endings = {"brat": "", "label_studio": ".json", "columns": ".conll"}
    endings |= {"text": ".txt", "tokens": ".txt"}
    new = endings.get(row.name, row.endings[0] if row.endings else ".jsonl")
    return name.removesuffix(".gz").removesuffix(ending) + new


def _is_file(output: str, to: str) -> bool:
    """Return whether a name is that of a file, or of a brat folder, not of a directory of files."""
    if to == "brat" or output == STANDARD:
        return True
    ending = ending_of(output)
    known = ending in CALLED_COLUMNS or format_by_ending(ending) is not None
    return known and not Path(output).is_dir()
