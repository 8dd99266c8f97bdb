"""The integrator's loop compiled for a state that carries more than the system's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torseur.codegen.compiled import CompiledRoutine
from torseur.codegen.routine import Routine
from torseur.simulation.binding import compiled
from torseur.simulation.integrate import integrate
from torseur.simulation.integrator import Integrator
from torseur.simulation.step import work_size

_ABSENT = dict.fromkeys(("NG", "PROJECT", "PARTITIONED", "NS", "NE", "HALF", "NU", "NA", "NQ"), 0)


def integrator(size: int, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str) -> Integrator:
    """The explicit loop for a state of that size."""
    loop = routine_of(integrate, size, statics, externals, backend)
    return Integrator(loop, loop.backend)


def routine_of(
    entry: Routine, size: int, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str
) -> CompiledRoutine:
    """A routine of the sensitivity analysis, compiled; `size` is that of the state that the integrator sees."""
    return compiled(entry, {"N": size, **_ABSENT, **work_size(size, 0, 0), **statics}, externals, backend)
