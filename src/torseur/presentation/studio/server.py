"""The server of the page: its files over HTTP, everything else over one websocket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from torseur.derivation.formalisms import FORMALISMS
from torseur.description.library import entries
from torseur.errors import TorseurError
from torseur.presentation.levels.levels import LEVELS
from torseur.presentation.report.compose.derivation_cards import FORMALISM_TITLES
from torseur.presentation.report.page.report_page import colour_rules
from torseur.presentation.scene.bodies.vectors import KINDS
from torseur.presentation.scene.palette import CONTACT, ELEMENT, GROUND, SERIES, body_colour
from torseur.presentation.scene.scene_data import ELEMENT_COLOUR
from torseur.presentation.studio.crew import Crew
from torseur.presentation.studio.guard import Guard, Guarded
from torseur.presentation.studio.messages import LONGEST_TEXT, TEXT, finite, read_data, read_request, text_message
from torseur.presentation.studio.session import Session, SessionError

TYPES = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml"}
PACKAGES = {"studio": "torseur.presentation.studio", "report": "torseur.presentation.report"}
TAKEN_OVER = 4409
MOST_BODIES = 800  # that have a colour of their own in the style sheet
KEPT = ("text", "values", "initial", "until", "formalism", "level", "criterion", "outputs", "over", "arrows",
        "suspension")  # fmt: skip


class Studio:
    """One session, the page that shows it, and the workers that compute for it."""

    def __init__(self, session: Session, guard: Guard, bounds: dict[str, float] | None = None) -> None:
        self.session = session
        self.bounds = bounds
        self.page: WebSocket | None = None
        self.crew: Crew | None = None
        routes = [
            Route("/{token}/", self.serve_page),
            Route("/{token}/colours.css", self.serve_colours),
            Route("/{token}/{package}/assets/{path:path}", self.serve_asset),
            WebSocketRoute("/{token}/socket", self.converse),
        ]
        self.application = Guarded(Starlette(routes=routes, lifespan=self.life), guard)

    @contextlib.asynccontextmanager
    async def life(self, _: Starlette) -> AsyncIterator[None]:
        """Workers live as long as the server."""
        folder = self.session.file.resolve().parent if self.session.file is not None else None
        self.crew = Crew(self.deliver, folder, self.bounds)
        yield
        await self.crew.close()

    async def serve_page(self, request: HttpRequest) -> Response:
        return Response(index().replace("NONCE", request.scope["nonce"]), media_type="text/html")

    async def serve_colours(self, _: HttpRequest) -> Response:
        return Response(colours(), media_type="text/css")

    async def serve_asset(self, request: HttpRequest) -> Response:
        """A file of the page; nothing outside the packages' folders of such files.

        Addresses are those of the folders, so that a module finds another by the same words in a browser and on disk.
        """
        package, path = request.path_params["package"], PurePosixPath(request.path_params["path"])
        if package in PACKAGES and path.suffix in TYPES and not path.is_absolute() and ".." not in path.parts:
            asset = files(PACKAGES[package]).joinpath("assets", *path.parts)
            if asset.is_file():
                return Response(asset.read_bytes(), media_type=TYPES[path.suffix])
        return PlainTextResponse("Not found.\n", 404)

    async def converse(self, socket: WebSocket) -> None:
        """The conversation with one page; a newer page takes over from an older one."""
        await socket.accept()
        older, self.page = self.page, socket
        if older is not None:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await older.close(TAKEN_OVER)
        await self.deliver(self._hello())
        try:
            while True:
                await self._hear(await socket.receive_text())
        # Cancelled where the server ends while a request still waits for workers that start: the page goes with it.
        except (WebSocketDisconnect, KeyError, RuntimeError, asyncio.CancelledError):
            if self.page is socket:
                self.page = None

    async def deliver(self, message: bytes) -> None:
        """Sends a message of a worker, or of the server, to the page there is."""
        if self.page is None:
            return
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            if message[:1] == TEXT:
                await self.page.send_text(message[1:].decode())
            else:
                await self.page.send_bytes(message[1:])

    def _hello(self, kind: str = "hello") -> bytes:
        session = self.session
        file = session.file.name if session.file is not None else ""
        return text_message(
            kind, 0, state=asdict(session.state), file=file, saved=session.is_saved, recovered=session.recovered,
            limits=session.limits, **knowledge(),
        )  # fmt: skip

    async def _hear(self, message: str) -> None:
        """One message of the page; what is wrong with it is told, and nothing else happens."""
        try:
            data = read_data(message)
            kind = data.get("kind")
            if kind == "keep":
                await self._keep(data)
            elif kind == "save":
                await self._save(bool(data.get("overwrite")))
            elif kind == "reread":
                await asyncio.to_thread(self.session.read_again)
                self.session.recovered = False
                await self.deliver(self._hello())
            else:
                assert self.crew is not None
                await self.crew.ask(read_request(data))
        except TorseurError as problem:
            await self.deliver(text_message("refusal", 0, reason=str(problem)))

    async def _keep(self, data: dict[str, Any]) -> None:
        state = data.get("state")
        changes = _check(state) if isinstance(state, dict) else {}
        try:
            await asyncio.to_thread(self.session.keep, changes)
        except SessionError as problem:  # a full disk, for one
            await self.deliver(text_message("unkept", 0, reason=str(problem)))
            return
        await self.deliver(text_message("kept", 0, saved=self.session.is_saved, revision=self.session.state.revision))

    async def _save(self, overwrite: bool) -> None:
        obstacle = await asyncio.to_thread(self.session.save, overwrite)
        if obstacle:
            await self.deliver(text_message("conflict", 0, reason=obstacle))
        else:
            self.session.recovered = False
            await self.deliver(text_message("saved", 0))


def _check(state: dict[str, Any]) -> dict[str, Any]:
    """A state of the page, each field what it should be; what is not is refused."""
    read = read_request({**{k: v for k, v in state.items() if k != "number"}, "kind": "describe", "number": 0})
    changes: dict[str, Any] = {name: getattr(read, name) for name in KEPT if name in state}
    if "revision" in state:
        changes["revision"] = int(finite(state["revision"], "revision"))
    if isinstance(state.get("name"), str) and len(state["name"]) < LONGEST_TEXT:
        changes["name"] = state["name"][:200]
    return changes


@cache
def index() -> str:
    """The page, empty; the word NONCE stands for what lets the editor bring its style."""
    return files("torseur.presentation.studio").joinpath("assets", "studio.html").read_text(encoding="utf-8")


@cache
def colours() -> str:
    """The colours of bodies, elements between them, arrows and curves, light and dark; body 0 is the earth."""
    bodies = {f"--body-{k}": GROUND if k == 0 else body_colour(k - 1) for k in range(MOST_BODIES)}
    series = {f"--series-{k}": colour for k, colour in enumerate(SERIES)}
    overlays = {"--overlay-contact": CONTACT} | {f"--overlay-{kind}": colour for kind, (_, colour) in KINDS.items()}
    return colour_rules(bodies | {ELEMENT_COLOUR: ELEMENT} | overlays | series)


@cache
def knowledge() -> dict[str, Any]:
    """What the page offers: formalisms, levels, ready mechanisms, languages of code, and words to colour in a text."""
    from torseur.computation.codegen.sources.generate_files import TARGETS
    from torseur.description.language.syntax.grammar import grammar

    return {
        "formalisms": {name: FORMALISM_TITLES[name] for name in FORMALISMS},
        "levels": list(LEVELS),
        "library": [{"name": one.name, "use": one.usage.partition(":")[2], "title": one.title} for one in entries()],
        "targets": list(TARGETS),
        "words": sorted(grammar().keywords),
    }
