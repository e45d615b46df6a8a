"""The application: a page, and three things that it may ask of a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import FileError, IobesError, SpanError, StaleError, UnknownNameError
from ..selection.session import Session
from .address import Address
from .body import UnusableError, json_body, whole_number
from .guard import Guard
from .messages import state_of

FILES = {
    "page.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "plot.js": "text/javascript; charset=utf-8",
    "sentence.js": "text/javascript; charset=utf-8",
    "server.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""All that is served beside the session; nothing is looked up by name on disk."""
START = "page.html"

Handler = Callable[[Request], Awaitable[Response]]


def application(session: Session, address: Address) -> Guard:
    """An ASGI application for one session at an address."""

    async def state(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(state_of, session))

    async def decide(request: Request) -> Response:
        given = await json_body(request)
        number, sentence = (whole_number(given, name) for name in ("number", "sentence"))
        return JSONResponse(await run_in_threadpool(_decided, session, number, sentence, given))

    async def undo(request: Request) -> Response:
        number = whole_number(await json_body(request), "number")
        return JSONResponse(await run_in_threadpool(_undone, session, number))

    routes = [Route("/" if name == START else f"/{name}", _file(name)) for name in FILES]
    routes += [
        Route("/api/state", state),
        Route("/api/decide", told(decide), methods=["POST"]),
        Route("/api/undo", told(undo), methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), address)


def _decided(session: Session, number: int, sentence: int, given: dict[str, Any]) -> dict[str, Any]:
    answer, spans = given.get("answer"), given.get("spans", [])
    if not isinstance(answer, str) or not isinstance(spans, list):
        raise UnusableError(422, "'answer' has to be a string, and 'spans' a list.")
    session.decide(sentence, answer, spans, number)  # type: ignore[arg-type]
    return state_of(session)


def _undone(session: Session, number: int) -> dict[str, Any]:
    return state_of(session, session.undo(number))


def told(handler: Handler) -> Handler:
    """The same, with errors as a status and a reason."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except UnusableError as error:
            return _trouble(error.status, error)
        except StaleError as error:
            return _trouble(409, error)
        except (SpanError, UnknownNameError) as error:
            return _trouble(422, error)
        except FileError as error:  # nothing was taken; the page tries again
            return _trouble(503, error)
        except IobesError as error:
            return _trouble(500, error)

    return handle


def _trouble(status: int, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status)


def _file(name: str) -> Handler:
    data = (files(__package__) / name).read_bytes()

    async def serve(request: Request) -> Response:
        return Response(data, media_type=FILES[name])

    return serve
