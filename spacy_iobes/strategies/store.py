"""Results on disk, a line for each as it is found, so that a run that was ended can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..corpus.files import write_bytes
from ..errors import FileError


class Store:
    """The results of a run by key; its settings are the first line.

    A line that was not finished is left out. Without a path, results are kept in memory alone.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any], fresh: bool = False):
        self.path = path
        self.settings = json.loads(json.dumps(settings))
        self.rows: dict[str, dict[str, Any]] = {}
        if path is None:
            return
        if path.is_file() and not fresh:
            self._read(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_bytes(path) as put:  # whole: a run that is killed here can be resumed
                put(_line({"settings": self.settings}))

    def _read(self, path: Path) -> None:
        lines = path.read_text(encoding="utf8", errors="replace").splitlines()
        found = [row for row in map(_row, lines) if row is not None]
        if not found or "settings" not in found[0]:
            raise FileError(f"{path}: holds no results of this command. Name another.", str(path))
        for name, before, now in differing(found[0]["settings"], self.settings):
            raise FileError(
                f"{path}: holds results of another run: its {name} is {before!r}, not {now!r}. "
                "Name another directory, or begin anew (--fresh).",
                str(path),
            )
        self.rows = {key(row["key"]): row for row in found[1:] if "key" in row}

    def get(self, name: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of a key, if there is one."""
        return self.rows.get(key(name))

    def add(self, name: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Keep a result; when this returns it is on disk."""
        row = {"key": dict(name), **result}
        self.rows[key(name)] = json.loads(json.dumps(row))
        if self.path is not None:
            self._append(row)

    def _append(self, row: Mapping[str, Any]) -> None:
        assert self.path is not None
        with self.path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                unfinished = file.read(1) != b"\n"
            else:
                unfinished = False
            file.write(b"\n" * unfinished + _line(row))
            file.flush()
            os.fsync(file.fileno())


def differing(
    before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """The settings that are not the same, those within others by their own names."""
    for name in {**before, **now}:
        one, other = before.get(name), now.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differing(one, other)
        elif one != other:
            yield name, one, other


def key(name: Mapping[str, Any]) -> str:
    """A key as a string."""
    return json.dumps(dict(name), sort_keys=True)


def _line(row: Mapping[str, Any]) -> bytes:
    """A row as it is on disk."""
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf8")


def _row(line: str) -> dict[str, Any] | None:
    """A line, unless its writer was interrupted."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
