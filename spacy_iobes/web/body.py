"""The JSON body of a request, refused before it is read if it is too large."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import ClientDisconnect, Request

LARGEST = 1 << 18
"""Bytes that a body may have: more than any answer to a sentence that a person could read."""


class UnusableError(Exception):
    """A request that cannot be understood, with the status that says so."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status = status


async def json_body(request: Request) -> dict[str, Any]:
    """The object that a request holds."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnusableError(
            415, f"The body has to be application/json, not {kind[:80] or 'nothing'!r}."
        )
    data = await _data(request)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnusableError(400, f"The body is no JSON: {str(error)[:200]}.") from error
    if not isinstance(value, dict):
        raise UnusableError(400, "The body has to be a JSON object.")
    return value


async def _data(request: Request) -> bytes:
    length = request.headers.get("content-length")
    if length is not None and (not length.isdecimal() or int(length[:20]) > LARGEST):
        raise _too_large()
    data = bytearray()
    try:
        async for chunk in request.stream():
            data += chunk
            if len(data) > LARGEST:
                raise _too_large()
    except ClientDisconnect as error:  # there is nobody left to answer
        raise UnusableError(400, "The body is not complete.") from error
    return bytes(data)


def _too_large() -> UnusableError:
    return UnusableError(413, f"The body has more than {LARGEST:,} bytes.")


def whole_number(value: dict[str, Any], name: str) -> int:
    """A number of an object."""
    found = value.get(name)
    if type(found) is not int:
        raise UnusableError(422, f"{name!r} has to be a whole number, not {str(found)[:80]!r}.")
    return found
