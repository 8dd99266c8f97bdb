"""Workers end with the process that started them, and one process at a time writes a store."""

from __future__ import annotations

import os
import sys
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


def available_cores() -> int:
    """Cores that this process may use; those of the machine where the system does not tell."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lock_file(handle: int) -> bool:
    """Whether this process alone now holds an open file, until it closes the file or ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
