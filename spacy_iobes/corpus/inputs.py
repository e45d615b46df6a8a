"""Files that a command names: which of them are streams, and whether one would be overwritten."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..errors import FileError
from .files import HELD, STANDARD, opened, shown

Identity = tuple[int, int] | str
"""What two names of one file have in common."""


def _status(path: str) -> os.stat_result | None:
    path = HELD.get(path, path)
    try:
        return os.fstat(sys.stdin.fileno()) if path == STANDARD else os.stat(path)
    except (OSError, ValueError, AttributeError):  # no such file, or no real standard input
        return None


def _identity(path: str) -> Identity:
    found = _status(path)
    return path if found is None else (found.st_dev, found.st_ino)


def is_stream(path: str) -> bool:
    """Whether a file is gone once it is read: standard input, a pipe, `<(a command)`."""
    found = _status(path)
    kinds = (stat.S_ISFIFO, stat.S_ISSOCK)
    return (path == STANDARD and path not in HELD) or (
        found is not None and any(kind(found.st_mode) for kind in kinds)
    )


@contextmanager
def held(paths: Iterable[str]) -> Iterator[None]:
    """Let streams be read more than once: meanwhile, what they hold is in temporary files."""
    from tempfile import NamedTemporaryFile  # here: most commands read no streams

    with ExitStack() as stack:
        for path in filter(is_stream, paths):
            file = stack.enter_context(NamedTemporaryFile())
            with opened(path) as source:
                shutil.copyfileobj(source, file)
            file.flush()
            HELD[path] = file.name
            stack.callback(HELD.pop, path)
        yield


def require_once(paths: Iterable[str]) -> None:
    """Raise if a stream is among the files more than once, in the order in which they are read."""
    seen: set[Identity] = set()
    for path in filter(is_stream, paths):
        identity = _identity(path)
        if identity in seen:
            name = "standard input" if path == STANDARD else f"{path}, a pipe,"
            raise FileError(
                f"{name} can be read only once, but this command reads it again: save it to a "
                "file and name that.",
                path,
            )
        seen.add(identity)


def require_other(output: str, inputs: Iterable[str]) -> None:
    """Raise if the output would take the place of one of the files that are read."""
    if output == STANDARD or not Path(output).exists():
        return
    for path in inputs:
        if path != STANDARD and _identity(path) == _identity(output) and Path(path).is_file():
            raise FileError(
                f"{shown(output)} is one of the files to be read, and would be overwritten: "
                "write to another.",
                output,
            )
