"""One process at a time: a lock that the system takes back when its process ends, however."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from ..errors import FileError

BUSY = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)

if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 30  # a byte that is never written, so that others can read the file

    def _lock(file: int) -> None:
        os.lseek(file, FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Lock:
    """Holds a file until it is released or the process ends; the file names the process."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            if error.errno in READ_ONLY:
                raise self._unwritable(error) from error
            raise self._trouble(error) from error
        try:
            _lock(self._file)
        except OSError as error:
            holder = os.read(self._file, 20).decode("ascii", "replace").strip()
            os.close(self._file)
            if error.errno not in BUSY:
                raise self._trouble(error) from error
            who = f"process {holder}" if holder else "another process"
            raise FileError(
                f"{self.path.parent}: in use by {who}. Only one may write to it: end that one "
                "first, or name another folder.",
                str(self.path.parent),
            ) from error
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others have it; the file stays, since somebody may be waiting for it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _unwritable(self, error: OSError) -> FileError:
        reason = (error.strerror or str(error)).lower()
        return FileError(
            f"{self.path.parent}: the folder cannot be written to ({self.path.name}: {reason}). "
            "Whoever goes on with a session writes to it: change the permissions, or copy it.",
            str(self.path.parent),
        )

    def _trouble(self, error: OSError) -> FileError:
        reason = (error.strerror or str(error)).lower()
        return FileError(f"{self.path}: cannot be locked: {reason}.", str(self.path))
