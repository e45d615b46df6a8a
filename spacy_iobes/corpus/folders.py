"""Directories that are written whole or not at all."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..errors import FileError
from .files import require_name

PIPELINE = frozenset(("meta.json", "config.cfg", "tokenizer", "vocab"))
"""What the directory of a pipeline holds beside its components."""

EXCHANGE = 2
"""The flag of renameat2 and renamex_np: each name gets what the other has."""


def is_pipeline(folder: Path) -> bool:
    """Whether a directory holds a pipeline of spaCy, and nothing else."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf8"))
        names = {path.name for path in folder.iterdir()}
        return "config.cfg" in names and names <= PIPELINE | {*meta["pipeline"], *meta["disabled"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def require_replaceable(
    folder: str | Path,
    inputs: Iterable[str],
    force: bool | None = None,
    *,
    tell: Callable[[str], None],
) -> None:
    """Raise if a directory cannot be written, or if something would be lost in it.

    A pipeline may give way to another one, anything else only by `force`, which is None where
    nobody can ask for it.
    """
    restore(folder, tell)
    target = _real(folder)
    if target.exists() and not target.is_dir():
        raise FileError(f"{folder}: a file is in the way. Name a directory.", str(folder))
    around = [Path.cwd(), *(_real(path) for path in inputs)]
    for path in around:
        if target.exists() and (path == target or target in path.parents):
            what = "the working directory" if path == around[0] else path
            message = f"{folder}: {what} is in there, and would be lost. Name another directory."
            raise FileError(message, str(folder))
    if target.exists() and any(target.iterdir()) and not (force or is_pipeline(target)):
        message = f"{folder}: the directory holds something else than a pipeline, which would be "
        other = "." if force is None else ", or replace it (--force)."
        raise FileError(f"{message}lost. Name another one{other}", str(folder))


def require_folder(path: str) -> None:
    """Raise for what cannot be made a directory, before there is something to put there."""
    require_name(path)
    for place in (Path(path), *Path(path).parents):
        if place.exists() and not place.is_dir():
            raise FileError(f"{place} is a file: --output names a directory.", str(place))


def beside(folder: str | Path) -> Path:
    """A new directory beside another one, on the same disk, to write into first."""
    target = _real(folder)
    made = target.with_name(f"{target.name[:100]}.{os.urandom(4).hex()}.part")
    try:
        made.mkdir(parents=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        where = f"in {made.parent}: {reason}"
        raise FileError(f"{folder}: cannot be written {where}.", str(folder)) from error
    return made


def put(new: Path, folder: str | Path) -> None:
    """Let a directory take the place of another one, which is there until then."""
    target = _real(folder)
    try:
        if not target.exists():
            os.rename(new, target)
        elif not exchanged(new, target):
            _replace(new, target)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"{folder}: cannot be written: {reason}. What was to go there is {new}."
        raise FileError(message, str(folder)) from error


def exchanged(new: Path, target: Path) -> bool:
    """Exchange two directories in one step, and remove the old one; False if that cannot be done.

    Linux and macOS can, on most file systems.
    """
    library: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    names = os.fsencode(new), os.fsencode(target)
    if hasattr(library, "renameat2"):
        here = -100  # paths are those of the working directory
        done = library.renameat2(here, names[0], here, names[1], ctypes.c_uint(EXCHANGE)) == 0
    elif hasattr(library, "renamex_np"):
        done = library.renamex_np(*names, ctypes.c_uint(EXCHANGE)) == 0
    else:
        done = False
    if done:
        shutil.rmtree(new, ignore_errors=True)
    return bool(done)


def _replace(new: Path, target: Path) -> None:
    """Put a directory in the place of another one in two steps; `restore` can undo the first."""
    old = _replaced(target)
    shutil.rmtree(old, ignore_errors=True)  # its successor was there
    os.rename(target, old)
    try:
        os.rename(new, target)
    except OSError:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def restore(folder: str | Path, tell: Callable[[str], None]) -> None:
    """Put a directory back that was to be replaced when a process was killed, and say so."""
    target = _real(folder)
    old = _replaced(target)
    if not target.exists() and os.path.isdir(old):
        os.rename(old, target)
        tell(f"{folder}: restored, since what was to replace it was not finished")


def _replaced(target: Path) -> Path:
    """Where a directory is while another one takes its place."""
    return target.with_name(f".{target.name}.replaced.part")


def _real(path: str | Path) -> Path:
    """Where a file or directory is, behind all links."""
    require_name(path)
    return Path(os.path.realpath(path))
