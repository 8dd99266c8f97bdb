"""Bounds of a worker process: memory by the operating system, time by whoever watches it."""

from __future__ import annotations

import ctypes
import gc
import mmap
import sys
from functools import cache
from typing import Any

MEGABYTE = 2**20
EARLY = (700, 10, 10)  # new objects between collections of garbage, and collections of the young between those of older
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # names of mallopt in glibc


def bound_memory(megabytes: int) -> None:
    """Lets this process take so much memory more than it has now; beyond that it gets MemoryError, or ends."""
    taken = address_space()
    # Windows has no such limit, and macOS refuses one below what a process has mapped, which it does not tell.
    if sys.platform == "win32" or not taken:
        return
    import resource

    # The limit counts addresses, and libraries reserve many that they never use.
    most = taken + megabytes * MEGABYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def address_space() -> int:
    """Bytes of addresses this process has taken; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            return int(status.read().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0


def memory_in_use() -> int:
    """Megabytes this process holds at present; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            return int(status.read().split()[1]) * mmap.PAGESIZE // MEGABYTE
    except OSError:
        return 0


def settle_memory() -> None:
    """Lets this process hold no more than it needs, for one that runs for days.

    What is loaded stays and is left out of collections, which then come early and take no time; garbage would otherwise
    gather to a quarter of it. Large blocks are mapped one by one and return to the system when they are freed, and all
    threads share one heap.
    """
    # Collected before frozen: what is garbage now would otherwise stay for ever.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*EARLY)
    choose = _of_glibc("mallopt")
    if choose is not None:
        for parameter, value in ((ARENA_MAX, 1), (MMAP_THRESHOLD, 128 * 1024), (TRIM_THRESHOLD, 128 * 1024)):
            choose(parameter, value)


def return_memory() -> None:
    """Gives memory that is free back to the system, where that can be asked for."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _of_glibc(name: str) -> Any:
    """A function of glibc; None with another C library."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
