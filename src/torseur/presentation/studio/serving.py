"""From a session to a running server with an address that a browser can open."""

from __future__ import annotations

import atexit
import json
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from uvicorn import Config, Server

from torseur.description.library import PREFIX, source_of
from torseur.edges.file_names import is_robot, split_query
from torseur.errors import TorseurError
from torseur.presentation.studio.guard import NEAR, Guard, hosts_of
from torseur.presentation.studio.limits import settle_memory
from torseur.presentation.studio.server import Studio
from torseur.presentation.studio.session import START, Session

PORTS = range(8460, 8480)  # tried in this order, then any
LARGEST_MESSAGE = 4_000_000  # bytes
FRAME_HEIGHT = 720  # pixels of the studio in a notebook


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


class Running:
    """A studio in the background, a frame of a notebook that shows it; `stop()`, or the end of a block, ends it."""

    def __init__(self, session: Session, place: Place, frames: tuple[str, ...]) -> None:
        self._session, self._frames = session, frames
        self._server, self._listener, self.address = _prepare(session, place, frames)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), daemon=True)
        self._thread.start()
        self._runs = True
        atexit.register(self.stop)

    def stop(self) -> None:
        """Ends the server and its workers."""
        if self._runs:
            self._runs = False
            self._server.should_exit = True
            self._thread.join(10.0)
            self._listener.close()
            self._session.leave()
            atexit.unregister(self.stop)

    def __enter__(self) -> str:
        return self.address

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"studio: {self.address}" + ("" if self._runs else " (ended)")

    def _repr_html_(self) -> str:
        link = f'<a href="{self.address}" target="_blank">{self.address}</a>'
        if not self._frames:
            return f"<p>studio: {link}</p><p>To see it here, say where the notebook is: notebook=&quot;http://localhost:8888&quot;.</p>"
        # Another site than the notebook's: the frame needs its own storage and scripts, and no more.
        style = f"width:100%;height:{FRAME_HEIGHT}px;border:1px solid #c8ced4"
        return f'<iframe src="{self.address}" style="{style}" title="torseur studio"></iframe><p>{link}</p>'


def running(
    file: str | Path | None = None,
    place: Place | None = None,
    folder: Path | None = None,
    *,
    notebook: str | None = None,
) -> Running:
    """A studio in the background, for a file or "library:NAME"; `with studio(...) as address:` ends it with the block.

    `folder` is where the session is kept, by default the user's state folder. In a notebook its last line shows it in a
    frame; `notebook` is the origin that may do so ("http://localhost:8888"), found by itself for local Jupyter servers.
    """
    origins = (origin_of(notebook),) if notebook is not None else notebook_origins()
    return Running(begin(file, folder), place or Place(), origins)


def origin_of(address: str) -> str:
    """Scheme, host and port of an address, such as http://localhost:8888/lab?token=..."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"[\s;,']", parts.netloc):
        raise TorseurError(
            f"notebook='{address}': expected the address of the notebook, such as http://localhost:8888."
        )
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def notebook_origins() -> tuple[str, ...]:
    """Origins of the Jupyter servers of this user whose kernel this process is; none elsewhere."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    if kernel is None or not kernel.IPKernelApp.initialized():
        return ()
    folder = Path(kernel.IPKernelApp.instance().connection_dir)
    origins: dict[str, None] = {}
    for file in sorted(folder.glob("jpserver-*.json")):
        try:
            origin = origin_of(str(json.loads(file.read_text(encoding="utf-8")).get("url", "")))
        except (OSError, ValueError, TorseurError):
            continue
        # The server knows itself by one of the names under which browsers reach this machine.
        for name in ("localhost", "127.0.0.1"):
            origins[re.sub(r"//(localhost|127\.0\.0\.1)(?=:|$)", f"//{name}", origin)] = None
    return tuple(origins)


def begin(file: str | Path | None, folder: Path | None = None) -> Session:
    """The session of a file, new or not, of a robot file, or of a mechanism of the library."""
    if file is None or str(file).startswith(PREFIX):
        entry = START if file is None else str(file)
        source_of(entry)  # refused here when there is no such mechanism
        return Session(None, entry, folder)
    name, query = split_query(str(file)) if is_robot(str(file)) else (str(file), "")
    path = Path(name)
    if path.is_dir():
        raise TorseurError(f"'{file}' is a folder; give the name of a file in it.")
    if is_robot(name):
        # The page works on the text that describes the robot; the robot's own file is never written.
        return Session(None, str(path.resolve()) + (f"?{query}" if query else ""), folder)
    if not path.parent.is_dir():
        raise TorseurError(f"cannot open '{file}': there is no folder '{path.parent}'.")
    return Session(path, folder=folder)


def _prepare(session: Session, place: Place, frames: tuple[str, ...] = ()) -> tuple[Server, socket.socket, str]:
    """A server that has not begun, the socket it will listen on, and its address."""
    token, last = session.last_address()
    listener = _listener(place, last)
    port = listener.getsockname()[1]
    session.keep_address(token, port)
    studio = Studio(session, Guard(token, hosts_of(place.host, port, place.names), frames))
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
