"""How much work something takes, whoever shares the machine: Python's calls are counted, and no clock is read."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


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
