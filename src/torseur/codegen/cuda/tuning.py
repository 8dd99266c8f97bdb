"""How a kernel is launched: measured on the device, a few variants once, and remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from torseur.codegen.cache import cache_key, load, store

SMALL = 16384
"""States below which a launch is latency, whatever its shape: nothing is measured."""
REPETITIONS = 5


@dataclass(frozen=True)
class Launch:
    """Threads per block, and blocks that must fit on a multiprocessor, which caps the registers of a thread."""

    block: int = 128
    resident: int = 1

    @property
    def option(self) -> str:
        """What the compiler is told."""
        return f"-DTORSEUR_BOUNDS=__launch_bounds__({self.block},{self.resident})"


VARIANTS = (*(Launch(128, resident) for resident in (1, 2, 3, 4, 5, 6, 8)), Launch(64, 1), Launch(256, 1))


def tuned(source: str, n: int, cupy: Any, run: Callable[[Launch], None]) -> Launch | None:
    """The fastest variant for a source on this device; None while there were only few states to measure with."""
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    key = cache_key("cuda launch", name, source)
    known = load(key)
    if known is None and n < SMALL:
        return None
    if known is None:
        known = json.dumps(asdict(min(VARIANTS, key=lambda launch: _seconds(cupy, run, launch)))).encode()
        store(key, known)
    return Launch(**json.loads(known))


def _seconds(cupy: Any, run: Callable[[Launch], None], launch: Launch) -> float:
    """The shortest of some launches."""
    run(launch)
    times = []
    for _ in range(REPETITIONS):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        run(launch)
        end.record()
        end.synchronize()
        times.append(float(cupy.cuda.get_elapsed_time(begin, end)))
    return min(times)
