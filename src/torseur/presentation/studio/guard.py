"""Who may talk to the studio: pages that know its token, from its own address, and nobody else.

The token is the first part of every path. Host is checked so that no foreign name can be made to point here, Origin so
that no foreign page can connect, and the policy sent with the page lets nothing run but the studio's own files.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

NEAR = ("127.0.0.1", "::1", "localhost")  # this machine alone, as an address to listen on
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")  # as a browser calls it
REFUSED = "Not found. Open the address that `torseur studio` printed.\n"


@dataclass(frozen=True)
class Guard:
    """The address that is served, and the token that opens it."""

    token: str
    hosts: tuple[str, ...]  # with the port, as a browser sends them
    frames: tuple[str, ...] = ()  # origins of pages that may show it in a frame: those of notebooks

    def permits(self, scope: Any) -> bool:
        """Whether a connection is for this address, comes from it, and knows the token."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.hosts:
            return False
        origin = headers.get("origin")
        required = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD")
        if (origin is not None or required) and not self._is_own(origin):
            return False
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not self._is_visit(headers):
            return False
        given = scope["path"].split("/")[1]
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _is_visit(self, headers: Headers) -> bool:
        """Whether somebody opens the page itself, from wherever the address was shown, or a notebook frames it."""
        places = ("document", "iframe") if self.frames else ("document",)
        return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") in places

    def _is_own(self, origin: str | None) -> bool:
        return origin is not None and origin.lower() in {f"http://{host}" for host in self.hosts}

    def headers(self, nonce: str) -> dict[str, str]:
        """What an answer says about what its page may do; the nonce lets the editor bring its style."""
        sockets = " ".join(f"ws://{host}" for host in self.hosts if not host.startswith("["))
        shown_in = " ".join(self.frames) or "'none'"
        policy = (
            f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; font-src 'self'; "
            f"img-src 'self' data: blob:; connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; "
            f"frame-ancestors {shown_in}"
        )
        # Browsers that know frame-ancestors, all that can show the page, pass X-Frame-Options over.
        return {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            **({} if self.frames else {"X-Frame-Options": "DENY"}),
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }


def hosts_of(host: str, port: int, names: Iterable[str] = ()) -> tuple[str, ...]:
    """What a browser may call this server."""
    listed = [*names, host] if host not in NEAR else [*LOOPBACK, *names]
    return tuple(dict.fromkeys(f"{name}:{port}".lower() for name in listed))


class Guarded:
    """An application that answers only what its guard permits, and sends its headers with every answer."""

    def __init__(self, application: Any, guard: Guard) -> None:
        self.application, self.guard = application, guard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
        elif self.guard.permits(scope):
            nonce = secrets.token_urlsafe(16)
            await self.application({**scope, "nonce": nonce}, receive, self._with_headers(send, nonce))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403})
        else:
            await PlainTextResponse(REFUSED, 404)(scope, receive, self._with_headers(send, secrets.token_urlsafe(16)))

    def _with_headers(self, send: Any, nonce: str) -> Any:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.lower().encode(), value.encode()) for name, value in self.guard.headers(nonce).items()]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        return send_with_headers
