"""Who may talk to the server: the page that was served to somebody with the key, and no other."""

from __future__ import annotations

from secrets import compare_digest

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .address import Address

TOKEN_HEADER = "x-token"
BAD = 400
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
NO_KEY = (
    "This session needs its key. Open the address that the command has printed: it ends in "
    "?token= and the key."
)


class Guard:
    """Refuses other hosts (DNS rebinding), other origins (forged requests) and missing keys.

    Whoever opens the page with the key in its address gets a cookie that has it from then on.
    """

    def __init__(self, app: ASGIApp, address: Address):
        self.app = app
        self.address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with 403."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope)
        opened = self._opens(request)
        reason = self._refusal(request, opened)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if message["status"] >= BAD:  # whatever more is sent is not read
                    headers["Connection"] = "close"
                if opened and not reason:
                    headers.append("Set-Cookie", self._cookie())
            await send(message)

        if reason:
            await _refused(scope, reason)(scope, receive, guarded)
        else:
            await self.app(scope, receive, guarded)

    def _opens(self, request: Request) -> bool:
        """Whether somebody opens the page with the key in its address."""
        given = request.query_params.get("token")
        page = request.method == "GET" and request.scope["path"] == "/"
        return page and given is not None and self._is_key(given)

    def _refusal(self, request: Request, opened: bool) -> str:
        """Why a request is refused; empty if it is not."""
        headers, origin = request.headers, request.headers.get("origin")
        if headers.get("host") not in self.address.hosts:
            return "This server is for pages of this machine alone: another host was named."
        if origin is not None and origin not in self.address.origins:
            return "Pages of other origins may not talk to this session."
        if opened:
            return ""
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "Other pages may not talk to this session."
        if self._is_key(headers.get(TOKEN_HEADER, "")):
            return ""
        if not self._is_key(request.cookies.get(self.address.cookie, "")):
            return NO_KEY
        if request.method not in ("GET", "HEAD") and origin is None:
            return "A request that changes something has to tell its origin."
        return ""

    def _is_key(self, given: str) -> bool:
        return compare_digest(given.encode("utf8"), self.address.token.encode("utf8"))

    def _cookie(self) -> str:
        attributes = "Path=/; HttpOnly; SameSite=Strict"
        return f"{self.address.cookie}={self.address.token}; {attributes}"


def _refused(scope: Scope, reason: str) -> Response:
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": reason}, 403)
    return PlainTextResponse(f"{reason}\n", 403)
