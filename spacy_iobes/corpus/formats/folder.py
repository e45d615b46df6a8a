"""A folder of files of any kind, and of those below it: one after the other, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import FileError
from ..files import Progress
from ..sentences import Sentences
from .options import ReadOptions


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read each of the files as if it were alone."""
    from . import format_of

    for file in files_below(path):
        yield from format_of(file, how.format, how).read(file, how, progress)


def needs_scheme(path: str | Path, how: ReadOptions) -> bool:
    """Return whether any of the files has tags whose scheme it does not name itself."""
    from . import format_of

    files = files_below(path)
    return any(format_of(file, how.format, how).needs_scheme(file, how) for file in files)


def files_below(path: str | Path) -> list[Path]:
    """Return the files in or below a folder in the order of their names, but no hidden ones."""
    root = Path(path)
    below = [(file, file.relative_to(root).parts) for file in sorted(root.rglob("*"))]
    found = [
        file
        for file, parts in below
        if file.is_file() and not any(part.startswith(".") for part in parts)
    ]
    if not found:
        raise FileError(f"{path}: a folder without files. Name another.", str(path))
    return found
