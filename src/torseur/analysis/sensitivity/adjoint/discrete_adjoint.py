"""The discrete adjoint method: one motion, then one way back through its steps per criterion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from torseur.analysis.sensitivity.adjoint.backward_routines import repeat_steps, steps_back
from torseur.analysis.sensitivity.adjoint.step_recording import Recording, Switch, record
from torseur.analysis.sensitivity.criteria.formula_rates import Rates
from torseur.analysis.sensitivity.direct.direct_method import require_done
from torseur.analysis.sensitivity.direct.implicit_tangents import implicit_steps_back
from torseur.analysis.sensitivity.events.discontinuities import Discontinuities, selection
from torseur.analysis.sensitivity.events.event_crossing import Landing
from torseur.analysis.sensitivity.extended_loop import Course, integrator_of_course, routine_of, stiff_statics
from torseur.analysis.sensitivity.method_routines import Routines
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.model.system import Vector


@dataclass(frozen=True, eq=False)
class Backward:
    """A recorded motion and the means to go back through it."""

    routines: Routines
    course: Course
    recording: Recording
    loops: dict[tuple[int, str], CompiledRoutine] = field(default_factory=dict)

    def gradients(self, adjoints: Vector, of_parameters: Vector) -> tuple[Vector, Vector]:
        """Derivatives of criteria by the parameters, and the adjoints of x at the start, from those at the end.

        `of_parameters` are the criteria's own derivatives by the parameters; a row per criterion everywhere.
        """
        at_start, pbar = self.back(adjoints, of_parameters)
        return pbar + at_start @ self.routines.variation.initial_tangents, at_start

    def loop(self, criteria: int, method: str = "") -> CompiledRoutine:
        """The way back through steps, explicit or of an implicit method, compiled for so many criteria."""
        if (criteria, method) not in self.loops:
            self.loops[criteria, method] = self._compile(criteria, method)
        return self.loops[criteria, method]

    def _compile(self, criteria: int, method: str) -> CompiledRoutine:
        statics, externals = {**self.routines.statics, "NW": criteria}, self.routines.backward
        size, states = self.routines.variation.size, len(self.routines.variation.states)
        if not method:
            return routine_of(steps_back, size, statics, externals, self.course.backend)
        statics = stiff_statics(self.routines, statics, method, size)
        statics |= {"NE": statics["NS"] * states}
        externals = {**externals, **self.routines.implicit}
        return routine_of(implicit_steps_back, size, statics, externals, self.course.backend)

    def back(self, adjoints: Vector, of_parameters: Vector) -> tuple[Vector, Vector]:
        """Adjoints of x at the start, and of the parameters."""
        lam, pbar = np.array(adjoints, dtype=float), np.array(of_parameters, dtype=float)
        settled, p = self.recording.end.copy(), self.recording.parameters
        for part in self.recording.backwards():
            # From the end to the start: blocks of steps, and between them jumps, which map adjoints by the transpose of
            # what they did to tangents, and selections of constraints, which only change the parameters of the earlier
            # steps.
            if isinstance(part, Switch):
                p = part.settings
            elif isinstance(part, Landing):
                lam, pbar = part.back(lam, pbar)
                settled, p = part.met.x.copy(), part.settings
            else:
                loop = self.loop(len(lam), part.method)
                loop(len(part), part.rows.reshape(-1), settled, p, lam.reshape(-1), pbar.reshape(-1))
        return lam, pbar


def record_motion(routines: Routines, course: Course, jumps: Discontinuities | None = None) -> Backward:
    """The motion to the end of the course, across its jumps, ready to go back through."""
    variation = routines.variation
    problem = course.problem(variation, False, np.empty(0), memory.KEEP_STAGES)
    statics, externals = routines.statics, routines.forward
    if jumps:
        problem = replace(problem, directions=jumps.directions, limits=(1,) * len(jumps))
        statics = {**statics, "NG": len(jumps)}
        # Event functions may solve for accelerations, whose programs only the way back binds.
        externals = {**routines.backward, **jumps.externals(Rates(variation).externals(jumps.functions))}
    loop = integrator_of_course(routines, variation.size, statics, externals, course)
    backend = course.backend
    # Compiled only if some block turns out to be kept without its stages: see Recording.backwards.
    repeat = partial(routine_of, repeat_steps, variation.size, routines.statics, routines.backward, backend)
    problem = (
        replace(problem, reselect=selection(variation, problem.parameters)) if variation.system.constrained else problem
    )
    recording = record(loop, repeat, problem, course.most_bytes, jumps)
    require_done(recording.run, problem, variation.system)
    return Backward(routines, course, recording)
