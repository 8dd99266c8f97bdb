"""From a session to a running server with an address that a browser can open."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from uvicorn import Config, Server

from torseur.description.library import PREFIX, source_of
from torseur.edges.file_names import ROBOT_SUFFIXES
from torseur.errors import TorseurError
from torseur.presentation.studio.guard import NEAR, Guard, hosts_of
from torseur.presentation.studio.limits import settle_memory
from torseur.presentation.studio.server import Studio
from torseur.presentation.studio.session import START, Session

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
    server, listener, address = _prepare(session, place)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that what follows is done then too
    ready(address)
    settle_memory()
    try:
        server.run(sockets=[listener])
    finally:
        listener.close()
        session.leave()


@contextmanager
def running(file: str | Path | None = None, place: Place | None = None, folder: Path | None = None) -> Iterator[str]:
    """A studio in the background, for a file or "library:NAME"; gives its address and ends with the block.

    `folder` is where the session is kept, by default the user's state folder.
    """
    session = begin(file, folder)
    server, listener, address = _prepare(session, place or Place())
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(10.0)
        listener.close()
        session.leave()


def begin(file: str | Path | None, folder: Path | None = None) -> Session:
    """The session of a file, new or not, of a robot file, or of a mechanism of the library."""
    if file is None or str(file).startswith(PREFIX):
        entry = START if file is None else str(file)
        source_of(entry)  # refused here when there is no such mechanism
        return Session(None, entry, folder)
    path = Path(file)
    if path.is_dir():
        raise TorseurError(f"'{file}' is a folder; give the name of a file in it.")
    if path.suffix.lower() in ROBOT_SUFFIXES:
        # The page works on the text that describes the robot; the robot's own file is never written.
        return Session(None, str(path.resolve()), folder)
    if not path.parent.is_dir():
        raise TorseurError(f"cannot open '{file}': there is no folder '{path.parent}'.")
    return Session(path, folder=folder)


def _prepare(session: Session, place: Place) -> tuple[Server, socket.socket, str]:
    """A server that has not begun, the socket it will listen on, and its address."""
    token, last = session.last_address()
    listener = _listener(place, last)
    port = listener.getsockname()[1]
    session.keep_address(token, port)
    studio = Studio(session, Guard(token, hosts_of(place.host, port, place.names)))
    config = Config(
        studio.application,
        log_level="error",
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=place.host not in NEAR,  # on one machine packing takes longer than the way
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return Server(config), listener, f"http://{_host_text(place.host)}:{port}/{token}/"


def _listener(place: Place, last: int) -> socket.socket:
    """A socket that listens there; the last port or one after the other of the usual ones when none is asked for."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    ports = [place.port] if place.port else [*([last] if last else []), *PORTS, 0]
    problem: OSError | None = None
    for port in ports:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((place.host, port))
            listener.listen(64)
            return listener
        except OSError as failed:
            listener.close()
            problem = failed
    where = f"{place.host}:{place.port}" if place.port else place.host
    raise TorseurError(f"cannot listen on {where}: {problem.strerror if problem else 'no port is free'}.")


def _host_text(host: str) -> str:
    return f"[{host}]" if ":" in host else host
