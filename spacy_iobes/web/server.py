"""Serving a session until somebody ends it."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn

from ..selection.session import Session
from .address import Address, bound
from .app import application

GRACE = 1
"""Seconds that requests may take when the server is to end."""


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
        http="h11",
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)
