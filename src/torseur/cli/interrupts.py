"""Ctrl-C, kept in mind.

Python drops an exception that is raised while it frees objects or follows a weak reference, which deriving equations
does all the time. An interrupt that was dropped is raised again at the next sign of progress.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

_asked = False


@contextmanager
def minding_interrupts() -> Iterator[None]:
    """Remembers an interrupt while a command runs; threads beside the main one get none anyway."""
    global _asked
    _asked = False
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _note(number: int, frame: FrameType | None) -> None:
    global _asked
    _asked = True
    raise KeyboardInterrupt


def raise_dropped_interrupt() -> None:
    """Raises an interrupt that came and was dropped."""
    if _asked:
        raise KeyboardInterrupt
