"""The worker processes: one for what is written, one for motions, one for what takes longer, and one for each file.

A worker that is busy with a text nobody looks at any more is ended and replaced, and so is one that takes too long or
too much memory. Replacing is cheap: workers are copies of a process that has everything loaded.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from torseur.studio.messages import BEGUN, BINARY, DONE, TEXT, Request, text_message
from torseur.studio.worker import work

ROLES = {"describe": "writer", "move": "mover", "examine": "examiner"}
BOUNDS = {"describe": 30.0, "open": 10.0, "move": 20.0, "examine": 60.0, "export": 300.0}  # seconds
PATIENCE = {"writer": 0, "mover": 2, "examiner": 10}  # who goes first where processors are few
GRACE = 0.25  # seconds that a worker may go on with an old text
WATCH = 0.05  # seconds between two looks at the workers
MEGABYTES = 3000  # of memory that a worker may take beyond what it starts with
WORN = 900  # megabytes in use at which an idle worker is replaced

Deliver = Callable[[bytes], Awaitable[None]]


@dataclass
class Hand:
    """A worker process, what it is doing, and what it should do."""

    process: Any
    line: Connection
    running: Request | None = None
    since: float = 0.0
    newest: Request | None = None
    sent: dict[int, Request] = field(default_factory=dict)

    @property
    def is_idle(self) -> bool:
        return self.running is None and not self.sent

    def give(self, request: Request) -> None:
        """Sends a request; it replaces those that wait."""
        self.newest = request
        self.sent[request.number] = request
        self.line.send(request)

    def end(self) -> None:
        """Ends the process at once."""
        self.process.kill()
        self.line.close()


class Crew:
    """Workers by role. `deliver` gets every message for the page."""

    def __init__(self, deliver: Deliver, folder: Path | None, bounds: dict[str, float] | None = None) -> None:
        self.deliver = deliver
        self.folder = folder
        self.bounds = BOUNDS | (bounds or {})
        self.hands: dict[str, Hand] = {}
        self.context = _context()
        self.loop = asyncio.get_running_loop()
        self.outbox: asyncio.Queue[bytes] = asyncio.Queue()
        self.tasks = [self.loop.create_task(self._watch()), self.loop.create_task(self._post())]

    def ask(self, request: Request) -> None:
        """Passes a request to the worker whose role it is."""
        role = ROLES.get(request.kind, f"{request.kind} {request.number}")
        hand = self.hands.get(role)
        if hand is None or not hand.process.is_alive():
            hand = self.hands[role] = self._hire(role)
        self._send(role, hand, request)

    def prepare(self) -> None:
        """Starts the workers before they are needed."""
        for role in dict.fromkeys(ROLES.values()):
            self.hands[role] = self._hire(role)

    async def close(self) -> None:
        """Ends all workers."""
        for task in self.tasks:
            task.cancel()
        for hand in self.hands.values():
            hand.end()
        self.hands.clear()

    def _hire(self, role: str) -> Hand:
        here, there = self.context.Pipe()
        process = self.context.Process(
            target=work, args=(there, self.folder, MEGABYTES, PATIENCE.get(role, 10)), daemon=True
        )
        process.start()
        there.close()
        hand = Hand(process, here)
        threading.Thread(target=self._listen, args=(hand,), daemon=True).start()
        return hand

    def _send(self, role: str, hand: Hand, request: Request) -> None:
        try:
            hand.give(request)
        except (OSError, ValueError):
            self._replace(role, hand, again=request)

    def _replace(self, role: str, hand: Hand, again: Request | None) -> None:
        """Puts a new worker in the place of another, and gives it what the other was to do."""
        hand.end()
        if again is None:
            self.hands.pop(role, None)
            return
        self.hands[role] = self._hire(role)
        self.hands[role].give(again)

    def _listen(self, hand: Hand) -> None:
        """Takes what a worker says, in a thread of its own, to the loop."""
        try:
            while True:
                message = hand.line.recv_bytes()
                self.loop.call_soon_threadsafe(self._heard, hand, message)
        except (EOFError, OSError, RuntimeError, TypeError):  # the worker or the loop has ended
            try:
                self.loop.call_soon_threadsafe(self._lost, hand)
            except RuntimeError:
                return

    def _heard(self, hand: Hand, message: bytes) -> None:
        letter, content = message[:1], message[1:]
        if letter in (TEXT, BINARY):
            self._tell(message)
        elif letter == BEGUN:
            number = int(content)
            hand.running, hand.since = hand.sent.get(number), time.monotonic()
            hand.sent = {n: r for n, r in hand.sent.items() if n >= number}
        elif letter == DONE:
            number, memory = map(int, content.split())
            hand.running = None
            hand.sent.pop(number, None)
            self._tell(text_message("done", number, memory=memory))
            self._rest(hand, memory)

    def _rest(self, hand: Hand, memory: int) -> None:
        """After an answer: a worker for one export goes, and so does one that has grown large."""
        role = self._role_of(hand)
        if role is not None and hand.is_idle and (role not in ROLES.values() or memory > WORN):
            self._replace(role, hand, None)

    def _lost(self, hand: Hand) -> None:
        """A worker has ended by itself, or was ended from outside: what it was at fails, what waits goes on."""
        role = self._role_of(hand)
        if role is None:
            return
        failed, newest = hand.running or hand.newest, hand.newest
        pending = newest if newest is not None and newest is not failed and not hand.is_idle else None
        if failed is not None and not hand.is_idle:
            self._fail(
                failed, "The worker process ended; a new one has taken its place. Edit or move something to go on."
            )
        self._replace(role, hand, pending)

    def _role_of(self, hand: Hand) -> str | None:
        return next((role for role, one in self.hands.items() if one is hand), None)

    def _fail(self, request: Request, reason: str) -> None:
        self._tell(text_message("halt", request.number, reason=reason))
        self._tell(text_message("done", request.number, memory=0))

    def _tell(self, message: bytes) -> None:
        """Messages leave in the order in which they came."""
        self.outbox.put_nowait(message)

    async def _post(self) -> None:
        while True:
            await self.deliver(await self.outbox.get())

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH)
            now = time.monotonic()
            for role, hand in list(self.hands.items()):
                if hand.running is not None:
                    self._judge(role, hand, now - hand.since)

    def _judge(self, role: str, hand: Hand, seconds: float) -> None:
        """Ends a worker that has taken too long, or that works on an old text while a new one waits."""
        running, newest = hand.running, hand.newest
        assert running is not None
        waits = newest is not None and newest.number != running.number
        if waits and newest is not None and newest.text != running.text and seconds > GRACE:
            self._replace(role, hand, newest)
        elif seconds > self.bounds[running.kind]:
            self._fail(running, f"Stopped after {self.bounds[running.kind]:g} s: this takes too long.")
            self._replace(role, hand, newest if waits else None)


def _context() -> Any:
    """How processes are made: as copies of one that is ready, where the system can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torseur.studio.warm"])
    return context
