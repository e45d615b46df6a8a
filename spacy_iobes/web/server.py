"""Serving a session until somebody ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..selection.session import Session
from .address import Address, bound
from .app import application

GRACE = 1
"""Seconds that requests may take when the server is to end."""
PATIENCE = 10
"""Seconds in which a whole request has to arrive."""


class TimedProtocol(H11Protocol):
    """HTTP that closes a connection whose request is not there in time.

    uvicorn waits for ever for the rest of a request, and for the first one of a connection.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request, but for no longer than at first."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._wait_no_more()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End to wait."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(PATIENCE, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def serve(session: Session, port: int = 0, ready: Callable[[str], None] | None = None) -> None:
    """Serve the page of a session on this machine alone, until an interrupt or a request to end.

    `ready` is told the address, with the key in it, as soon as it can be opened.
    """
    listening, address = bound(session.folder, port)
    with listening:
        if ready is not None:
            ready(address.url)  # the socket listens already: whoever is early waits
        server_of(session, address).run(sockets=[listening])


def server_of(session: Session, address: Address) -> uvicorn.Server:
    """A server that says nothing unless something is wrong."""
    config = uvicorn.Config(
        application(session, address),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        loop="asyncio",
        http=TimedProtocol,
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)
