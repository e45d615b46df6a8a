"""Real servers of sessions, in processes of their own that can be killed."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from spacy_iobes.selection import Session

from .shared import environment

pytest.importorskip("starlette", reason="no server: pip install 'spacy-iobes[annotate]'")
pytest.importorskip("uvicorn", reason="no server: pip install 'spacy-iobes[annotate]'")

from spacy_iobes.web.address import bound
from spacy_iobes.web.server import server_of

ADDRESS = re.compile(r"(http://127\.0\.0\.1:(\d+)/\?token=([\w-]+))")


class Served:
    """A server that can be asked; `url` is what to open in a browser."""

    url: str
    port: int
    token: str

    def ask(
        self,
        path: str,
        body: object = None,
        headers: Mapping[str, str | None] | None = None,
        method: str = "",
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        """The status, what was said (read as JSON if it is) and the headers.

        A key and an origin are sent unless the headers say otherwise; None leaves one out.
        """
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        host = f"127.0.0.1:{self.port}"
        sent: dict[str, str | None] = {"Cookie": f"spacy-iobes-{self.port}={self.token}"}
        if data is not None:
            sent |= {"Origin": f"http://{host}", "Content-Type": "application/json"}
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(
            method or ("POST" if data is not None else "GET"), path, skip_host=True
        )
        for name, value in {"Host": host, **sent}.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None and "Content-Length" not in sent:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        with connection.getresponse() as response:
            text = response.read()
            found = response.status, response.headers
        connection.close()
        try:
            return found[0], json.loads(text), found[1]
        except ValueError:
            return found[0], text.decode(), found[1]

    def state(self) -> Any:
        """What the page would show."""
        status, found, _ = self.ask("/api/state")
        assert status == 200, found
        return found


class Server(Served):
    """A process that serves a session."""

    def __init__(self, *arguments: object):
        command = [sys.executable, "-m", "spacy_iobes", "annotate", *map(str, arguments)]
        self.process = subprocess.Popen(
            [*command, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = ADDRESS.search(line)
        if found is None:
            _, errors = self.process.communicate()
            raise AssertionError(f"no address: {line!r} {errors}")
        self.url, self.port, self.token = found[1], int(found[2]), found[3]

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; the exit code, and what was printed as errors."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@contextmanager
def served(*arguments: object) -> Iterator[Server]:
    """A server, which is killed at the end if it is still there."""
    server = Server(*arguments)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


@contextmanager
def here(session: Session) -> Iterator[Served]:
    """A server in a thread of this process, which starts sooner, and has the session to itself."""
    listening, address = bound(session.folder)
    server, found = server_of(session, address), Served()
    found.url, found.port, found.token = address.url, address.port, address.token
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    with session, listening:
        thread.start()
        try:
            yield found
        finally:
            server.should_exit = True
            thread.join()
            session.wait()
