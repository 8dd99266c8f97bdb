"""The course of a motion, and the integrator's loop compiled for a state that carries more than the system's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.analysis.sensitivity.direct.implicit_tangents import riders_complex, riders_real
from torseur.analysis.sensitivity.method_routines import Routines
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.codegen.routine import Routine
from torseur.computation.simulation.events.time_switches import TimeSwitches, switches_of_system
from torseur.computation.simulation.implicit.implicit_setup import STAGES, implicit_statics
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.integrate import integrate
from torseur.computation.simulation.loop.integrator import Integrator
from torseur.computation.simulation.loop.routine_binding import LOOSE, METHODS, compile_once
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import Problem, Tolerance, absolute_tolerance, checked_rtol, longest_step
from torseur.errors import TorseurError, unknown_name

MOST_BYTES = 256e6  # kept of a motion to go back through it, unless said otherwise


@dataclass(frozen=True, eq=False)
class Course:
    """From `start` to `until`, with derivatives wanted at `times`."""

    start: float
    until: float
    times: Vector
    rtol: float = 1e-9
    atol: Tolerance = None
    max_steps: int = 1_000_000
    max_step: float | None = None
    backend: str = "auto"
    most_bytes: float = MOST_BYTES
    progress: Callable[[float], None] | None = None
    integrator: str = "auto"

    def problem(
        self, variation: Variation, with_tangents: bool, times: Vector | None = None, keep: int = memory.KEEP_NOTHING
    ) -> Problem:
        """What the integrator is asked for."""
        atol = self._tolerances(variation)
        initial = variation.initial
        if with_tangents:
            scales = np.array([parameter.scale for parameter in variation.varied])
            # A tangent is per unit of its parameter: in sizes of the parameter it has the tolerance of its state.
            atol = np.concatenate([atol, np.outer(atol, 1.0 / scales).ravel()])
            initial = np.concatenate([initial, variation.initial_tangents.ravel()])
        return Problem(
            initial=initial,
            parameters=variation.system.solver_parameters,
            start=self.start,
            until=self.until,
            rtol=checked_rtol(self.rtol),
            atol=atol,
            times=self.times if times is None else times,
            keep=keep,
            max_steps=self.max_steps,
            max_step=longest_step(self.max_step, self.start, self.until),
            progress=self.progress,
            **_contacts_of(variation),
        )

    def _tolerances(self, variation: Variation) -> Vector:
        """Absolute tolerances of x; integrals count from the size of the span on."""
        own = absolute_tolerance(self.atol, self.rtol, variation.system, np.array(variation.system.initial))
        # An integral starts at zero and has no size of its own.
        integrals = np.full(len(variation.integrands), self.rtol * abs(self.until - self.start))
        return np.concatenate([own, integrals])


def _contacts_of(variation: Variation) -> dict[str, Any]:
    """How many contacts there are, and which the motion starts with an impact on."""
    constrained = variation.system.constrained
    if constrained is None or constrained.contacts is None:
        return {}
    return {"contacts": constrained.contacts.watched, "struck": constrained.contacts.struck}


# Features of the loop that stay out of the compiled code unless someone asks for them.
_ABSENT = dict.fromkeys(("NG", "PROJECT", "PARTITIONED", "NS", "NE", "NJ", "HALF", "RIDES", "NU", "NA", "NQ"), 0)


def integrator(size: int, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str) -> Integrator:
    """The explicit loop for a state of that size."""
    loop = routine_of(integrate, size, statics, externals, backend)
    return Integrator(loop, loop.backend)


def integrator_of_course(
    routines: Routines, size: int, statics: Mapping[str, int], externals: Mapping[str, Any], course: Course
) -> Integrator:
    """The loop of the integrator that the course asks for; by default implicit from where the motion is stiff."""
    if course.integrator not in METHODS:
        raise TorseurError(unknown_name("integrator", course.integrator, METHODS))
    own = known_switches(routines.variation)
    if own.program is not None:
        statics, externals = {**statics, "SWITCHES": 1}, {**externals, "next_switch": own.program}
    # Radau of order 9 pays where the tolerance is tight, order 5 where it is loose.
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


def known_switches(variation: Variation) -> TimeSwitches:
    """The switches of the equations and of what is integrated along the motion whose time is known."""
    return switches_of_system(variation.system, variation.integrands)


def stiff_statics(routines: Routines, statics: Mapping[str, int], method: str, size: int) -> dict[str, int]:
    """Compile-time numbers with those of an implicit method, for a state of that size, x first."""
    variation = routines.variation
    programs, own = variation.system.programs, implicit_statics(variation.system, method)
    # The adjoint integrates x alone; tangents ride only where the state holds them.
    carried = variation.columns if size > variation.size else 0
    own |= {"RIDES": int(size > own["NJ"]), "CARRIED": carried}
    of_mechanism = programs.statics if programs is not None else {}
    return {**of_mechanism, **statics, **own}


def routine_of(
    entry: Routine, size: int, statics: Mapping[str, int], externals: Mapping[str, Any], backend: str
) -> CompiledRoutine:
    """A routine of the sensitivity analysis, compiled; `size` is that of the state that the integrator sees."""
    return compile_once(entry, {"N": size, **_ABSENT, **statics}, externals, backend)
