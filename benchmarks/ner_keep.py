"""Measurements that are kept in a file, a JSON object on a line, so that long runs can go on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


class Keep:
    """The figures of each key; without a file they are kept until the end of the run."""

    def __init__(self, path: Path | None = None):
        self.path = path
        self.rows: dict[str, Figures] = {}
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf8").splitlines():
                self.remember(line)

    def remember(self, line: str) -> None:
        """Take over a line of the file, unless its writer was interrupted."""
        try:
            row = json.loads(line)
            self.rows[name(row["key"])] = row["figures"]
        except (ValueError, KeyError, TypeError):
            return

    def get(self, key: dict[str, Any]) -> Figures | None:
        """What was measured for a key."""
        return self.rows.get(name(key))

    def add(self, key: dict[str, Any], figures: Figures) -> None:
        """Append a row at once; an unfinished line before it is ended first."""
        self.rows[name(key)] = figures
        if self.path is None:
            return
        line = json.dumps({"key": key, "figures": figures}) + "\n"
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.lseek(file, 0, os.SEEK_END)
            if size and os.pread(file, 1, size - 1) != b"\n":
                line = "\n" + line
            os.write(file, line.encode())
        finally:
            os.close(file)


def name(key: dict[str, Any]) -> str:
    """A key as a string; tuples and lists are the same."""
    return json.dumps(key, sort_keys=True)
