"""Directories that are written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from ..errors import FileError

PIPELINE = frozenset(("meta.json", "config.cfg", "tokenizer", "vocab"))
"""What the directory of a pipeline holds beside its components."""


def is_pipeline(folder: Path) -> bool:
    """Whether a directory holds a pipeline of spaCy, and nothing else."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf8"))
        names = {path.name for path in folder.iterdir()}
        return "config.cfg" in names and names <= PIPELINE | {*meta["pipeline"], *meta["disabled"]}
    except (OSError, ValueError, KeyError, TypeError):
        return False


def require_replaceable(folder: str | Path, inputs: Iterable[str], force: bool) -> None:
    """Raise if a directory cannot be written, or if something would be lost in it.

    A pipeline may give way to another one, anything else only by `force`.
    """
    target = Path(os.path.realpath(folder))
    if target.exists() and not target.is_dir():
        raise FileError(f"{folder}: a file is in the way. Name a directory.", str(folder))
    around = [Path.cwd(), *(Path(os.path.realpath(path)) for path in inputs)]
    for path in around:
        if target.exists() and (path == target or target in path.parents):
            what = "the working directory" if path == around[0] else path
            message = f"{folder}: {what} is in there, and would be lost. Name another directory."
            raise FileError(message, str(folder))
    if target.exists() and any(target.iterdir()) and not (force or is_pipeline(target)):
        message = f"{folder}: the directory holds something else than a pipeline, which would be "
        raise FileError(f"{message}lost. Name another one, or say --force.", str(folder))


def beside(folder: str | Path) -> Path:
    """A new directory beside another one, on the same disk, to write into first."""
    target = Path(os.path.realpath(folder))
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
    target, old = Path(os.path.realpath(folder)), new.with_name(f"{new.name}.old")
    there = target.exists()
    try:
        if there:
            os.rename(target, old)
        os.rename(new, target)
    except OSError as error:
        if there and not target.exists():
            os.rename(old, target)
        reason = (error.strerror or str(error)).lower()
        message = f"{folder}: cannot be written: {reason}. What was to go there is {new}."
        raise FileError(message, str(folder)) from error
    if there:
        shutil.rmtree(old, ignore_errors=True)
