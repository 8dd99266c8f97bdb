"""From a session to a running server with an address that a browser can open."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from torseur.errors import TorseurError
from torseur.studio.guard import Guard, hosts_of
from torseur.studio.server import Studio
from torseur.studio.session import Session

PORTS = range(8460, 8480)  # tried in this order, then any
LARGEST_MESSAGE = 4_000_000  # bytes


@dataclass(frozen=True)
class Place:
    """Where to listen: this machine alone, unless told otherwise."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: the first free one
    names: tuple[str, ...] = ()  # further names by which browsers may call this machine


def serve(session: Session, place: Place, ready: Callable[[str], None]) -> None:
    """Serves a session until it is interrupted; `ready` gets the address."""
    import uvicorn

    listener = _listener(place)
    port = listener.getsockname()[1]
    token = session.token()
    studio = Studio(session, Guard(token, hosts_of(place.host, port, place.names)))
    config = uvicorn.Config(
        studio.application,
        log_level="error",
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    ready(f"http://{_shown(place.host)}:{port}/{token}/")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()
        session.leave()


def _listener(place: Place) -> socket.socket:
    """A socket that listens there; one after the other of the usual ports when none is asked for."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    ports = [place.port] if place.port else [*PORTS, 0]
    problem: OSError | None = None
    for port in ports:
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((place.host, port))
            found.listen(64)
            return found
        except OSError as failed:
            found.close()
            problem = failed
    where = f"{place.host}:{place.port}" if place.port else place.host
    raise TorseurError(f"cannot listen on {where}: {problem.strerror if problem else 'no port is free'}.")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
