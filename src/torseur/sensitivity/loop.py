"""The integrator's loop compiled for a state that carries more than the system's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torseur.codegen.compiled import CompiledRoutine
from torseur.codegen.routine import Routine
from torseur.errors import TorseurError, unknown_name
from torseur.sensitivity.course import Course
from torseur.sensitivity.routines import Routines
from torseur.sensitivity.stiff import riders_complex, riders_real
from torseur.simulation.binding import LOOSE, METHODS, compiled
from torseur.simulation.integrate import integrate
from torseur.simulation.integrator import Integrator
from torseur.simulation.radau.setup import STAGES, implicit_statics
from torseur.simulation.step import work_size

_ABSENT = dict.fromkeys(("NG", "PROJECT", "PARTITIONED", "NS", "NE", "NJ", "HALF", "RIDES", "NU", "NA", "NQ"), 0)


def integrator(size: int, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str) -> Integrator:
    """The explicit loop for a state of that size."""
    loop = routine_of(integrate, size, statics, externals, backend)
    return Integrator(loop, loop.backend)


def stepping(
    routines: Routines, size: int, statics: Mapping[str, int], externals: Mapping[str, Any], course: Course
) -> Integrator:
    """The loop of the integrator that the course asks for; by default implicit from where the motion is stiff."""
    if course.integrator not in METHODS:
        raise TorseurError(unknown_name("integrator", course.integrator, METHODS))
    method = course.integrator if course.integrator in STAGES else "radau9" if course.rtol < LOOSE else "radau5"

    def implicit() -> Integrator:
        own = stiff_statics(routines, statics, method, size)
        more = {**externals, **routines.implicit, "riders_real": riders_real, "riders_complex": riders_complex}
        loop = routine_of(integrate, size, own, more, course.backend)
        return Integrator(loop, loop.backend, method)

    if course.integrator in STAGES:
        return implicit()
    explicit = integrator(size, statics, externals, course.backend)
    return explicit if course.integrator == "explicit" else replace(explicit, when_stiff=implicit)


def stiff_statics(routines: Routines, statics: Mapping[str, int], method: str, size: int) -> dict[str, int]:
    """Compile-time numbers with those of an implicit method, for a state of that size, x first."""
    variation = routines.variation
    programs, own = variation.system.programs, implicit_statics(variation.system, method)
    carried = variation.columns if size > variation.size else 0
    own |= {"RIDES": int(size > own["NJ"]), "CARRIED": carried}
    of_mechanism = programs.statics if programs is not None else {}
    return {**of_mechanism, **statics, **own, **work_size(size, own["NS"], own["NE"], own["NJ"])}


def routine_of(
    entry: Routine, size: int, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str
) -> CompiledRoutine:
    """A routine of the sensitivity analysis, compiled; `size` is that of the state that the integrator sees."""
    return compiled(entry, {"N": size, **_ABSENT, **work_size(size, 0, 0), **statics}, externals, backend)
