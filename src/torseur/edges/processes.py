"""Workers end with the process that started them, however that ends."""

from __future__ import annotations

import os
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait


def end_with_parent() -> None:
    """Lets this worker end at once when the process that started it has gone, killed or not.

    A thread waits for what the system itself does when a process ends: on Linux and macOS it closes that process's end
    of a pipe, which no other process holds; on Windows it signals the process's handle. Nothing is polled, and
    compiled code, which lets other threads run, is ended too.
    """
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    wait([sentinel])
    # Without cleaning up: what a worker has begun is whole or not there, and nobody waits for its results.
    os._exit(1)
