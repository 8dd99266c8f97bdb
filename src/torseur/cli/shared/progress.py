"""Progress of long studies on stderr: a bar where somebody looks, a line now and then where it goes into a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torseur.cli.shared.exits import raise_dropped_interrupt
from torseur.edges.plain_text import visible

LINE_SECONDS = 30.0


@contextmanager
def point_progress(name: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that takes how many points are done, of how many; shows the rate and the time that is left."""
    if quiet:
        yield lambda done, size: raise_dropped_interrupt()
    elif sys.stderr.isatty():
        with _bar(name) as follow:
            yield follow
    else:
        yield Lines(name).follow


@contextmanager
def step_progress(name: str, quiet: bool) -> Iterator[Callable[[int, int, float], None]]:
    """A function that takes the start, the step and the objective of an optimisation, where somebody looks."""
    if quiet or not sys.stderr.isatty():
        yield lambda start, step, objective: raise_dropped_interrupt()
        return
    from rich.console import Console

    with Console(stderr=True).status(name) as sign:

        def follow(start: int, step: int, objective: float) -> None:
            raise_dropped_interrupt()
            sign.update(f"{name}: start {start + 1}, step {step}, objective {objective:.6g}")

        yield follow


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task, pace = bar.add_task(name, total=None, pace=""), Pace()

        def follow(done: int, size: int) -> None:
            raise_dropped_interrupt()
            bar.update(task, completed=done, total=size, pace=pace.words(done, size))

        yield follow


class Pace:
    """Rate and remaining time, from the points done since the first look."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def words(self, done: int, size: int) -> str:
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
        began, already = self._first
        if done == already or now == began:
            return ""
        rate = (done - already) / (now - began)
        return f"{rate:,.0f} a second, {duration((size - done) / rate)} left"


class Lines:
    """A line on stderr every half minute."""

    def __init__(self, name: str) -> None:
        self._name, self._pace, self._told = name, Pace(), time.monotonic()

    def follow(self, done: int, size: int) -> None:
        raise_dropped_interrupt()
        words = self._pace.words(done, size)
        if words and time.monotonic() - self._told >= LINE_SECONDS:
            self._told = time.monotonic()
            print(visible(f"{self._name}: {done} of {size} points, {words}"), file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172800 else f"{seconds / 86400:.1f} days"
