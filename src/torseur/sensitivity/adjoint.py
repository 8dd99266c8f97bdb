"""The discrete adjoint method: one motion, then one way back through its steps per criterion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from torseur.codegen.compiled import CompiledRoutine
from torseur.sensitivity.backward import repeat_steps, steps_back
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import require_done
from torseur.sensitivity.discontinuities import Discontinuities, selection
from torseur.sensitivity.landing import Landing
from torseur.sensitivity.loop import routine_of, stepping, stiff_statics
from torseur.sensitivity.rates import Rates
from torseur.sensitivity.recording import Recording, Switch, implicit_width, record
from torseur.sensitivity.routines import Routines
from torseur.sensitivity.stiff import implicit_steps_back
from torseur.simulation import memory
from torseur.simulation.system import Vector


@dataclass(frozen=True, eq=False)
class Backward:
    """A recorded motion and the means to go back through it."""

    routines: Routines
    course: Course
    recording: Recording
    loops: dict[tuple[int, str], CompiledRoutine] = field(default_factory=dict)

    def gradients(self, weights: Vector, of_parameters: Vector) -> Vector:
        """Changes by the parameters (criterion, parameter) of criteria with these weights of x at the end.

        `of_parameters` are the criteria's own slopes by the parameters.
        """
        at_start, pbar = self.back(weights, of_parameters)
        result: Vector = pbar + at_start @ self.routines.variation.initial_changes
        return result

    def loop(self, criteria: int, method: str = "") -> CompiledRoutine:
        """The way back through steps, explicit or of an implicit method, compiled for so many criteria."""
        if (criteria, method) not in self.loops:
            self.loops[criteria, method] = self._compiled(criteria, method)
        return self.loops[criteria, method]

    def _compiled(self, criteria: int, method: str) -> CompiledRoutine:
        statics, externals = {**self.routines.statics, "NW": criteria}, self.routines.backward
        size, states = self.routines.variation.size, len(self.routines.variation.states)
        if not method:
            return routine_of(steps_back, size, statics, externals, self.course.backend)
        statics = stiff_statics(self.routines, statics, method, size)
        statics |= {"WIDTH": implicit_width(method, size), "NE": statics["NS"] * states}
        externals = {**externals, **self.routines.implicit}
        return routine_of(implicit_steps_back, size, statics, externals, self.course.backend)

    def back(self, weights: Vector, of_parameters: Vector) -> tuple[Vector, Vector]:
        """Weights of x at the start, and of the parameters."""
        lam, pbar = np.array(weights, dtype=float), np.array(of_parameters, dtype=float)
        settled, p = self.recording.end.copy(), self.recording.parameters
        for part in self.recording.backwards():
            if isinstance(part, Switch):
                p = part.settings
            elif isinstance(part, Landing):
                lam, pbar = part.back(lam, pbar)
                settled, p = part.met.x.copy(), part.settings
            else:
                loop = self.loop(len(lam), part.method)
                loop(len(part), part.rows.reshape(-1), settled, p, lam.reshape(-1), pbar.reshape(-1))
        return lam, pbar


def recorded(routines: Routines, course: Course, jumps: Discontinuities | None = None) -> Backward:
    """The motion to the end of the course, across its jumps, ready to go back through."""
    variation = routines.variation
    problem = course.problem(variation, False, np.empty(0), memory.KEEP_SLOPES)
    statics, externals = routines.statics, routines.forward
    if jumps:
        problem = replace(problem, directions=jumps.directions, limits=(1,) * len(jumps))
        statics = {**statics, "NG": len(jumps)}
        externals = {**routines.backward, **jumps.externals(Rates(variation).externals(jumps.functions))}
    loop = stepping(routines, variation.size, statics, externals, course)
    backend = course.backend
    repeat = partial(routine_of, repeat_steps, variation.size, routines.statics, routines.backward, backend)
    problem = (
        replace(problem, reselect=selection(variation, problem.parameters)) if variation.system.constrained else problem
    )
    recording = record(loop, repeat, problem, course.most_bytes, jumps)
    require_done(recording.run, problem, variation.system)
    return Backward(routines, course, recording)
