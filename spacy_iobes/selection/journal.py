"""An append-only file of JSON objects, one on a line, each on disk before anybody is told so."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FileError

Record = dict[str, Any]


class Written(NamedTuple):
    """The records of a journal, where the last whole one ends, and whether its line is ended.

    It is `torn` if something else is behind that.
    """

    records: list[Record]
    size: int
    ended: bool
    torn: bool = False


def read_journal(path: str | Path) -> Written:
    """What a journal holds.

    A last line that was not finished was never acknowledged, and is left out. Damage anywhere else
    is an error that names the line.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{path}: cannot be read: {reason}.", str(path)) from error
    *lines, rest = data.split(b"\n")
    records = [_record(line) for line in lines]
    if None in records:
        raise damaged(path, records.index(None) + 1, "no JSON object")
    found = [record for record in records if record is not None]
    last = _record(rest)  # whole but for its end: no beginning of an object is an object
    if last is not None:
        return Written([*found, last], len(data), False)
    return Written(found, len(data) - len(rest), True, bool(rest))


def _record(line: bytes) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def damaged(path: str | Path, line: int, reason: str) -> FileError:
    """An error about a line that cannot be what was written."""
    return FileError(
        f"{path}, line {line}: damaged ({reason}). All lines before it are fine. Restore the file "
        f"from a copy, or remove line {line} and all behind it to go on from there.",
        str(path),
        line,
    )


class Journal:
    """A journal open for writing; what was not finished in it is cut off first.

    `records` are those that it had when it was opened, and `torn` says whether something was cut
    off then. Only one process may do this at a time.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.records, self._size, ended, self.torn = read_journal(path)
        try:
            self._file = open(path, "r+b", buffering=0)  # noqa: SIM115
            self._cut()
        except OSError as error:
            raise self._trouble(error) from error
        self._broken = False
        if not ended:
            self._put(b"\n")

    @classmethod
    def create(cls, path: str | Path) -> Journal:
        """A new one, which must not be there yet."""
        with open(path, "xb") as file:
            os.fsync(file.fileno())
        return cls(path)

    def append(self, *records: Mapping[str, Any]) -> None:
        """Add records; when this returns they are on disk, and if it raises none of them is."""
        lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records]
        if lines:
            self._put("".join(f"{line}\n" for line in lines).encode("utf8"))

    def close(self) -> None:
        """Close the file; nothing can be added then."""
        self._file.close()

    def _put(self, data: bytes) -> None:
        if self._broken or self._file.closed:
            reason = "after the last trouble its end is not known" if self._broken else "closed"
            message = f"{self.path}: nothing can be added ({reason}). Open the session again."
            raise FileError(message, str(self.path))
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._take_back()
            raise self._trouble(error) from error
        self._size += len(data)

    def _take_back(self) -> None:
        """Remove what was written of records that were not finished."""
        try:
            self._cut()
        except OSError:
            self._broken = True

    def _cut(self) -> None:
        self._file.truncate(self._size)
        self._file.seek(self._size)
        os.fsync(self._file.fileno())

    def _trouble(self, error: OSError) -> FileError:
        reason = (error.strerror or str(error)).lower()
        message = f"{self.path}: cannot be written: {reason}. Nothing was added."
        return FileError(message, str(self.path))
