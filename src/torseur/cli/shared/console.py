"""What commands print: text and tables on stdout, progress and remarks on stderr, or one JSON document."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from torseur.cli.shared.exits import raise_dropped_interrupt
from torseur.edges.plain_text import visible

WIDE = 10_000  # columns when nobody looks: lines are never broken in a file or a pipe


def console() -> Console:
    """Standard output."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)


def say(text: str) -> None:
    """A line on standard output, as it is."""
    sys.stdout.write(visible(text) + "\n")


def remark(text: str) -> None:
    """A line on standard error, for people."""
    print(visible(text), file=sys.stderr)


def show_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()) -> None:
    """A plain table; nothing when it has no rows."""
    if not rows:
        return
    table = Table(
        title=escape_markup(title),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    for number, heading in enumerate(headings):
        table.add_column(escape_markup(heading), justify="right" if number in numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*[escape_markup(cell) for cell in row])
    console().print(table, "")


def escape_markup(cell: str) -> str:
    """Text in which neither square brackets nor control characters mean anything."""
    from rich.markup import escape

    return escape(visible(cell))


def print_json(document: Any) -> None:
    """One JSON document; numbers that are not finite become null."""
    # JSON has escapes of its own, which keep the text; only what `visible` would change is written so.
    text = json.dumps(_simple(document), ensure_ascii=False, allow_nan=False)
    say(text if visible(text) == text else json.dumps(_simple(document), allow_nan=False))


def _simple(value: Any) -> Any:
    """Dataclasses, arrays and tuples as plain JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return _simple(asdict(value))
    if isinstance(value, dict):
        return {str(key): _simple(item) for key, item in value.items()}
    # Arrays and NumPy's own numbers, without importing NumPy for commands that do not need it.
    if hasattr(value, "tolist"):
        return _simple(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_simple(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def progress(text: str, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """A bar on stderr that follows a fraction, where somebody looks; it goes when the work is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda fraction: raise_dropped_interrupt()
        return
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=1.0)

        def follow(fraction: float) -> None:
            raise_dropped_interrupt()
            bar.update(task, completed=fraction)

        yield follow


@contextmanager
def working(text: str, quiet: bool = False) -> Iterator[None]:
    """A sign on stderr that work of unknown length goes on, where somebody looks."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(text):
        yield
