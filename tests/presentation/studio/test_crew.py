"""Workers: bounded, replaced when they end, and never busy with what nobody wants any more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from presentation.studio.answering import taken_apart
from torseur.description.library import source_of
from torseur.presentation.studio.crew import AT_ONCE, MOST_WAITING, Crew
from torseur.presentation.studio.messages import Request

PENDULUM, CHAIN = source_of("pendulum"), source_of("pendulum_chain?n=60")


class Page:
    """What a page hears."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []

    async def deliver(self, message: bytes) -> None:
        self.heard.append(taken_apart(message))

    async def wait(self, kind: str, number: int, seconds: float = 40.0) -> dict[str, Any]:
        """The first message of a kind about a request."""
        for _ in range(int(seconds / 0.02)):
            found = [m for m in self.heard if m["kind"] == kind and m["number"] == number]
            if found:
                return found[0]
            await asyncio.sleep(0.02)
        raise AssertionError(f"no {kind} {number}; heard {[(m['kind'], m['number']) for m in self.heard]}")


def with_crew(act: Callable[[Crew, Page], Awaitable[None]], **bounds: float) -> None:
    async def run() -> None:
        page = Page()
        crew = Crew(page.deliver, None, bounds)
        try:
            await act(crew, page)
        finally:
            await crew.close()

    # In a thread of its own: the driver of a browser, where one is open, keeps a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(run())).result()


def test_every_kind_is_answered():
    async def act(crew: Crew, page: Page) -> None:
        for number, kind in enumerate(("describe", "move", "examine"), 1):
            await crew.ask(Request(kind, number, PENDULUM))
            await page.wait("done", number)
        await crew.ask(Request("open", 4, what="four_bar"))
        assert (await page.wait("opened", 4))["text"] == source_of("four_bar")
        assert {m["kind"] for m in page.heard} >= {"faults", "outline", "equations", "motion", "derivatives"}

    with_crew(act)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_worker_is_replaced():
    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, PENDULUM))
        await page.wait("done", 1)
        os.kill(crew.hands["writer"].process.pid, signal.SIGKILL)
        await asyncio.sleep(0.2)
        await crew.ask(Request("describe", 2, PENDULUM))
        await page.wait("equations", 2)

    with_crew(act)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_worker_killed_at_work_is_told():
    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, CHAIN, level="intrinsic"))
        await page.wait("outline", 1)
        os.kill(crew.hands["writer"].process.pid, signal.SIGKILL)
        assert "worker" in (await page.wait("halt", 1))["reason"]
        await page.wait("done", 1)
        await crew.ask(Request("describe", 2, PENDULUM))
        await page.wait("equations", 2)

    with_crew(act)


def test_what_takes_too_long_is_stopped():
    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, CHAIN, level="intrinsic"))
        assert "Stopped after 1 s" in (await page.wait("halt", 1))["reason"]
        await crew.ask(Request("describe", 2, PENDULUM))
        await page.wait("equations", 2)

    with_crew(act, describe=1.0)


def test_an_old_text_gives_way_to_a_new_one():
    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, CHAIN, level="intrinsic"))
        await page.wait("outline", 1)
        await crew.ask(Request("describe", 2, PENDULUM))
        await page.wait("equations", 2, seconds=5.0)
        assert not [m for m in page.heard if m["kind"] == "equations" and m["number"] == 1]

    with_crew(act)


def test_long_texts_sent_to_a_busy_worker_stop_nobody():
    """Texts larger than a pipe holds, one after the other, while the worker does not listen."""

    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, CHAIN, level="intrinsic"))
        await page.wait("outline", 1)
        for number in range(2, 30):
            await asyncio.wait_for(crew.ask(Request("describe", number, "(* long *) " * 30_000)), 2.0)
        await crew.ask(Request("describe", 30, PENDULUM))
        await page.wait("equations", 30, seconds=8.0)

    with_crew(act)


def test_files_wait_for_few_workers_and_too_many_are_told_to_come_again():
    """Twenty-four exports at once: two workers beside the three others, every answer a file or a clear word."""

    async def act(crew: Crew, page: Page) -> None:
        for number in range(1, 25):
            await crew.ask(Request("export", number, PENDULUM, what="code"))
        most = 0
        for number in range(1, 25):
            while not [m for m in page.heard if m["kind"] == "done" and m["number"] == number]:
                most = max(most, len(crew.hands))
                await asyncio.sleep(0.02)
        assert most <= 3 + AT_ONCE["export"]
        files = {m["number"] for m in page.heard if m["kind"] == "file"}
        busy = {m["number"] for m in page.heard if m["kind"] == "halt" and "Busy" in m["reason"]}
        assert files | busy == {*range(1, 25)} and not files & busy and len(busy) == 24 - MOST_WAITING - 2

    with_crew(act)


SERVER = """
import asyncio, time
from torseur.presentation.studio.crew import AT_ONCE, MOST_WAITING, Crew
from torseur.presentation.studio.messages import Request
from torseur.description.library import source_of
async def main():
    async def deliver(message): pass
    crew = Crew(deliver, None)
    await crew.ask(Request("describe", 1, source_of("pendulum_chain?n=60"), level="intrinsic"))
    print(*[hand.process.pid for hand in crew.hands.values()], flush=True)
    await asyncio.sleep(60)
if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes")
def test_workers_end_with_a_killed_server(tmp_path):
    """Also one that is busy."""
    (tmp_path / "server.py").write_text(SERVER)
    server = subprocess.Popen([sys.executable, tmp_path / "server.py"], stdout=subprocess.PIPE, text=True)
    workers = [int(word) for word in server.stdout.readline().split()]
    assert len(workers) == 3 and all(Path(f"/proc/{pid}").exists() for pid in workers)
    server.kill()
    server.wait()
    for _ in range(500):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            return
        time.sleep(0.02)
    raise AssertionError("workers outlive their server")


def test_a_worker_that_has_grown_is_replaced(monkeypatch):
    monkeypatch.setattr("torseur.presentation.studio.crew.WORN", -1)

    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, PENDULUM))
        before = crew.hands["writer"]
        await page.wait("done", 1)
        await asyncio.sleep(0.2)
        assert crew.hands.get("writer") is not before
        await crew.ask(Request("describe", 2, PENDULUM))
        await page.wait("equations", 2)

    with_crew(act)


@pytest.mark.slow
def test_too_much_memory_is_refused(monkeypatch):
    monkeypatch.setattr("torseur.presentation.studio.crew.MEGABYTES", 5)

    async def act(crew: Crew, page: Page) -> None:
        await crew.ask(Request("describe", 1, source_of("pendulum_chain?n=150"), level="recursive"))
        reason = (await page.wait("halt", 1))["reason"]
        assert "memory" in reason or "worker" in reason
        await crew.ask(Request("move", 2, PENDULUM))
        await page.wait("done", 2)

    with_crew(act)


@pytest.mark.slow
def test_past_texts_leave_nothing_in_a_worker_that_rests():
    """The oracle is the table of all expressions, read where it is kept; what leaks, leaks every time."""
    from torseur.algebra.graph import expr
    from torseur.presentation.studio.answers.describe_text import describe
    from torseur.presentation.studio.worker import _tidy

    def left_by(factors: range) -> int:
        for k in factors:
            text = source_of("double_pendulum").replace("-g", f"-{k}*g")
            list(describe(Request("describe", k, text), None))
        _tidy()
        return len(expr._nodes)

    left = [left_by(range(k, k + 12)) for k in (2, 20, 40, 60)]
    assert min(after - before for before, after in pairwise(left)) < 200, left
