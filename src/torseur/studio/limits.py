"""Bounds of a worker process: memory by the operating system, time by whoever watches it."""

from __future__ import annotations

import sys

MEGABYTE = 2**20


def bound_memory(megabytes: int) -> None:
    """Lets this process take so much memory more than it has now; beyond that it gets MemoryError, or ends."""
    if sys.platform == "win32":
        return
    import resource

    most = address_space() + megabytes * MEGABYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def address_space() -> int:
    """Bytes of addresses this process has taken; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            import resource

            return int(status.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def memory_in_use() -> int:
    """Megabytes this process holds at present; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            import resource

            return int(status.read().split()[1]) * resource.getpagesize() // MEGABYTE
    except OSError:
        return 0
