"""How much work something takes, whoever shares the machine: Python's calls are counted, and no clock is read."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable
from typing import Any


def forget_caches() -> None:
    """Empties what functions of the package keep of earlier answers, and the table of nodes of those that are gone.

    Otherwise what is dropped from a full cache or table while an action is counted is work of that action, and a count
    depends on the tests before.
    """
    # Not above: what a command loads is counted with this file alone, and the algebra loads NumPy.
    from torseur.algebra.graph.expr import forget_unused

    kept = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    for cache in kept:
        if cache.__module__.startswith("torseur."):
            cache.cache_clear()
    gc.collect()
    forget_unused()


def calls_of(action: Callable[[], Any]) -> int:
    """Calls of functions, Python's and C's, that an action makes. A million take some tenths of a second."""
    made, ahead = 0, sys.getprofile()

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    # What is finalised, of tests before, is no work of the action.
    gc.collect()
    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(ahead)
        if collects:
            gc.enable()
    return made
