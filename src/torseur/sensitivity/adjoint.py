"""The discrete adjoint method: one motion, then one way back through its steps per criterion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from torseur.sensitivity.backward import repeat_steps, steps_back
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import require_done
from torseur.sensitivity.loop import integrator, routine_of
from torseur.sensitivity.recording import Recording, record
from torseur.sensitivity.routines import Routines
from torseur.simulation.system import Vector


@dataclass(frozen=True, eq=False)
class Backward:
    """A recorded motion and the means to go back through it."""

    routines: Routines
    course: Course
    recording: Recording

    def gradients(self, weights: Vector, of_parameters: Vector) -> Vector:
        """Changes by the parameters (criterion, parameter) of criteria with these weights of x at the end.

        `of_parameters` are the criteria's own slopes by the parameters.
        """
        at_start, pbar = self.back(weights, of_parameters)
        result: Vector = pbar + at_start @ self.routines.variation.initial_changes
        return result

    def back(self, weights: Vector, of_parameters: Vector) -> tuple[Vector, Vector]:
        """Weights of x at the start, and of the parameters."""
        variation = self.routines.variation
        lam, pbar = np.array(weights, dtype=float), np.array(of_parameters, dtype=float)
        statics = {**self.routines.statics, "NW": len(lam)}
        loop = routine_of(steps_back, variation.size, statics, self.routines.backward, self.course.backend)
        settled, p = self.recording.end.copy(), self.recording.parameters
        for rows in self.recording.backwards():
            loop(len(rows), rows.reshape(-1), settled, p, lam.reshape(-1), pbar.reshape(-1))
        return lam, pbar


def recorded(routines: Routines, course: Course) -> Backward:
    """The motion to the end of the course, ready to go back through."""
    variation = routines.variation
    problem = course.problem(variation, False, times=np.empty(0))
    loop = integrator(variation.size, routines.statics, routines.forward, course.backend)
    backend = course.backend
    repeat = partial(routine_of, repeat_steps, variation.size, routines.statics, routines.backward, backend)
    recording = record(loop, repeat, problem, course.most_bytes)
    require_done(recording.run, problem, variation.system)
    return Backward(routines, course, recording)
