"""Where a session is served, and the key that its page needs; both stay the same if they can.

So a page that is open when the server ends works again when it is back.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import FileError

HOST = "127.0.0.1"
FILE = "address.json"
KEY_BYTES = 32


@dataclass(frozen=True)
class Address:
    """A port of this machine, and a key that nobody can guess."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may name as its host."""
        return tuple(f"{name}:{self.port}" for name in (HOST, "localhost"))

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the page of a request may be from."""
        return tuple(f"http://{host}" for host in self.hosts)

    @property
    def cookie(self) -> str:
        """The name of the cookie with the key; cookies do not tell ports apart."""
        return f"spacy-iobes-{self.port}"


def bound(folder: str | Path, port: int = 0) -> tuple[socket.socket, Address]:
    """A socket that listens on this machine alone, and the address of a session.

    Port 0 is the one of the last time, or if that is taken any that is free.
    """
    path = Path(folder) / FILE
    before = _before(path)
    found = None
    if not port and before is not None:
        with suppress(OSError):
            found = _listening(before.port)
    try:
        found = found or _listening(port)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"Port {port} of {HOST}: {reason}. Name another one, or 0 for any that is free."
        raise FileError(message) from error
    token = before.token if before is not None else secrets.token_urlsafe(KEY_BYTES)
    address = Address(found.getsockname()[1], token)
    _keep(path, address)
    return found, address


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere this would let two processes have one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(64)
    except BaseException:
        made.close()
        raise
    return made


def _before(path: Path) -> Address | None:
    """The address of the last time, if it can be read and its key is long enough."""
    try:
        given: Any = json.loads(path.read_text(encoding="utf8"))
        port, token = int(given["port"]), str(given["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Address(port, token) if len(token) >= KEY_BYTES and token.isascii() else None


def _keep(path: Path, address: Address) -> None:
    """Write the file so that nobody else can read it."""
    data = json.dumps({"port": address.port, "token": address.token}) + "\n"
    new = path.with_name(f".{FILE}.part")
    new.unlink(missing_ok=True)
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(file, "w", encoding="utf8") as stream:
        stream.write(data)
    os.replace(new, path)
