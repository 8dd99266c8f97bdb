"""The worker processes: one for what is written, one for motions, one for what takes longer, one for
suspensions where any is looked at, and a few for files.

A worker that is busy with a text nobody looks at any more is ended and replaced, and so is one that takes too long or
too much memory. Replacing is cheap: workers are copies of a process that has everything loaded.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from torseur.presentation.studio.limits import return_memory
from torseur.presentation.studio.messages import BINARY, DONE, TEXT, Request, text_message
from torseur.presentation.studio.worker import work

ROLES = {"describe": "writer", "move": "mover", "examine": "examiner", "survey": "surveyor"}
FIRST = ("writer", "mover", "examiner")  # who is there before anything is asked
BOUNDS = {"describe": 30.0, "open": 10.0, "inscribe": 20.0, "move": 20.0, "examine": 60.0, "survey": 30.0,
          "export": 300.0}  # seconds  # fmt: skip
PATIENCE = {"writer": 0, "mover": 2, "examiner": 15, "surveyor": 4}  # who goes first where processors are few
GRACE = 0.25  # seconds that a worker may go on with an old text
WATCH = 0.05  # seconds between two looks at the workers
LULL = 20  # looks without work after which memory is returned
MEGABYTES = 3000  # of memory that a worker may take beyond what it starts with
AT_ONCE = {"export": 2, "open": 1, "inscribe": 1}  # requests of a kind that have workers of their own, each up to 3 GB
MOST_WAITING = 16  # of a kind that wait for such a worker; what is asked beyond that is told to come again
WORN = 60  # megabytes by which a worker may grow after its first answer before it is replaced

Deliver = Callable[[bytes], Awaitable[None]]


@dataclass
class Hand:
    """A worker process, what it is doing, and what it should do next.

    A request is sent only to a worker that waits for one: a busy one would leave it in the pipe, and a full pipe would
    stop the server. What a busy worker gets is a short sign that something newer waits.
    """

    process: Any
    line: Connection
    running: Request | None = None
    since: float = 0.0
    waiting: Request | None = None
    first: int = 0  # megabytes in use after its first answer

    def give(self, request: Request) -> None:
        """Lets the worker answer a request now, or after what it is at; it takes the place of another that waits."""
        if self.running is None:
            self.running, self.since = request, time.monotonic()
            self.line.send(request)
        else:
            # One sign is enough, and the worker reads it between two messages; more would fill the pipe.
            if self.waiting is None:
                self.line.send(None)
            self.waiting = request

    def finish(self) -> None:
        """The worker waits again; what waited for it goes on."""
        self.running, waited, self.waiting = None, self.waiting, None
        if waited is not None:
            self.give(waited)

    def end(self) -> None:
        """Ends the process at once."""
        self.process.kill()
        self.line.close()


# Why workers are forked from a warm process: docs/decisions/0054-workers-forked-from-a-warm-process.md.
class Crew:
    """Workers by role. `deliver` gets every message for the page."""

    def __init__(self, deliver: Deliver, folder: Path | None, bounds: dict[str, float] | None = None) -> None:
        self.deliver = deliver
        self.folder = folder
        self.bounds = BOUNDS | (bounds or {})
        self.hands: dict[str, Hand] = {}
        self.queues: dict[str, deque[Request]] = {kind: deque() for kind in AT_ONCE}
        self.queued = 0  # requests so far, by which workers for one request have their names
        self.context = _context()
        self.loop = asyncio.get_running_loop()
        self.outbox: asyncio.Queue[bytes] = asyncio.Queue()
        self.tasks = [self.loop.create_task(self._watch()), self.loop.create_task(self._post())]
        self.preparing = self.loop.create_task(self._prepare())

    async def ask(self, request: Request) -> None:
        """Passes a request to the worker whose role it is."""
        # Shielded: a page that goes away while workers start must not stop them from starting.
        await asyncio.shield(self.preparing)
        role = ROLES.get(request.kind)
        if role is None:
            self._queue(request)
            return
        hand = self.hands.get(role)
        if hand is None or not hand.process.is_alive():
            hand = self.hands[role] = self._hire(role)
        self._send(role, hand, request)

    def _queue(self, request: Request) -> None:
        """Lets a file be made, after those that were asked for before it."""
        queue = self.queues[request.kind]
        if len(queue) >= MOST_WAITING:
            self._fail(request, f"Busy: {MOST_WAITING} requests are waiting already. Ask again when one is answered.")
            return
        queue.append(request)
        self._serve_queues()

    def _serve_queues(self) -> None:
        """Gives what waits to workers of its own, a few at once: a page may ask for files faster than they are made."""
        for kind, queue in self.queues.items():
            while queue and sum(role.startswith(f"{kind} ") for role in self.hands) < AT_ONCE[kind]:
                self.queued += 1
                role = f"{kind} {self.queued}"
                self.hands[role] = self._hire(role)
                self._send(role, self.hands[role], queue.popleft())

    async def close(self) -> None:
        """Ends all workers."""
        await self.preparing
        for task in self.tasks:
            task.cancel()
        for hand in self.hands.values():
            hand.end()
        self.hands.clear()

    async def _prepare(self) -> None:
        """Starts the workers before they are needed; the first one takes seconds, so the loop goes on meanwhile."""
        self.hands = await asyncio.to_thread(lambda: {role: self._hire(role) for role in FIRST})

    def _hire(self, role: str) -> Hand:
        here, there = self.context.Pipe()
        process = self.context.Process(
            target=work, args=(there, self.folder, MEGABYTES, PATIENCE.get(role, 10)), daemon=True
        )
        with _no_script():
            process.start()
        there.close()
        hand = Hand(process, here)
        # A thread, because the loop cannot wait for a pipe of multiprocessing on every system.
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
            self._serve_queues()
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
                self.loop.call_soon_threadsafe(self._lose, hand)
            except RuntimeError:
                return

    def _heard(self, hand: Hand, message: bytes) -> None:
        letter, content = message[:1], message[1:]
        if letter in (TEXT, BINARY):
            self._tell(message)
        elif letter == DONE:
            number, memory = map(int, content.split())
            self._tell(text_message("done", number, memory=memory))
            self._rest(hand, memory)

    def _rest(self, hand: Hand, memory: int) -> None:
        """After an answer: a worker for one file goes, and so does one that has grown large; others take what waits."""
        role = self._role_of(hand)
        if role is None:
            return
        hand.first = hand.first or memory
        # Compared with its own first answer and not with a fixed bound: what a worker starts with differs by system.
        if role not in ROLES.values() or memory > hand.first + WORN:
            self._replace(role, hand, hand.waiting)
        else:
            hand.finish()

    def _lose(self, hand: Hand) -> None:
        """A worker has ended by itself, or was ended from outside: what it was at fails, what waits goes on."""
        role = self._role_of(hand)
        if role is None:
            return
        if hand.running is not None:
            reason = "The worker process ended; a new one takes its place. Edit or move something to go on."
            self._fail(hand.running, reason)
        self._replace(role, hand, hand.waiting)

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
        """Looks after workers that are busy; when none has been for a while, memory goes back to the system."""
        rest = 0
        while True:
            await asyncio.sleep(WATCH)
            now = time.monotonic()
            busy = [(role, hand) for role, hand in self.hands.items() if hand.running is not None]
            for role, hand in busy:
                self._judge(role, hand, now - hand.since)
            rest = 0 if busy else rest + 1
            if rest == LULL:
                return_memory()

    def _judge(self, role: str, hand: Hand, seconds: float) -> None:
        """Ends a worker that has taken too long, or that works on an old text while a new one waits."""
        running, waiting = hand.running, hand.waiting
        assert running is not None
        # Values that a slider changes are worth finishing: their text is the same, and the next answer reuses what
        # it derived.
        if waiting is not None and waiting.text != running.text and seconds > GRACE:
            self._tell(text_message("done", running.number, memory=0))
            self._replace(role, hand, waiting)
        elif seconds > self.bounds[running.kind]:
            self._fail(running, f"Stopped after {self.bounds[running.kind]:g} s: this takes too long.")
            self._replace(role, hand, waiting)


_starting = threading.Lock()


@contextmanager
def _no_script() -> Iterator[None]:
    """Workers run nothing of the script that started the studio.

    A new process imports the script of its parent again, for what its task may be defined in. That of a worker is ours;
    a script without a guard on `__main__` would start a studio in each of them.
    """
    with _starting:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script


def _context() -> Any:
    """How processes are made: as copies of one that is ready, where the system can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torseur.presentation.studio.warm"])
    return context
