"""Second derivatives: the discrete adjoint differentiated along every parameter, forward over adjoint.

The motion is that of the direct method, so that all stages of states and changes are known. Going back, weights λ are
accompanied by their changes Λ with each parameter, and the weights of the parameters by a row of the Hessian each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from torseur.codegen.routine import Array, External, Static, routine, zeros
from torseur.sensitivity.backward import NQ, repeat_steps, steps_back
from torseur.sensitivity.constrained_second_order import DIRECTIONS, ConstrainedCurvature, constrained_pull_twice
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import require_done
from torseur.sensitivity.discontinuities import Discontinuities, selection
from torseur.sensitivity.landing import Landing
from torseur.sensitivity.loop import integrator, routine_of
from torseur.sensitivity.motion_slopes import MotionSlopes
from torseur.sensitivity.observation import observed_back
from torseur.sensitivity.rates import Rates
from torseur.sensitivity.recording import Recording, Switch, record
from torseur.sensitivity.routines import OpenRoutines, Routines, constrained_programs
from torseur.sensitivity.tangent import NM, NPAR, NX, NY
from torseur.simulation import memory
from torseur.simulation.dop853 import PIECE_STATE
from torseur.simulation.system import Vector
from torseur.simulation.tableau import STAGES

NB: int = Static("NB")  # directions at once
NA: int = Static("NACC")  # accelerations

AT_ONCE = 4

pulled_once = External("pulled_once", "t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array")
curvature = External(
    "curvature",
    "t: float, y: Array, p: Array, a: Array, w: Array, u: Array, b: Array, v: Array, e: Array, "
    "ybar: Array, pbar: Array",
)


@routine
def open_pull_twice(t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, gains: Array) -> None:
    """Weights w of (x', u') pulled back, and what the parameters and then the Hessian gain.

    `a` are the slopes of (x, u) from the accelerations on.
    """
    u = zeros(NY * NB)
    b = zeros(NA * NB + 1)
    v = zeros(NX * NB)
    d = zeros(NM * NB + 1)
    changes = zeros(NY * NB)
    rows = zeros(NPAR * NB)
    pulled_once(t, y, p, a, w, ybar, gains)
    for i in range(NY * NPAR, NX * NPAR):
        ybar[NX + i] = 0.0
    for start in range(0, NPAR, NB):
        count = min(NB, NPAR - start)
        gather(NY, count, start, y[NX:], u)
        gather(NA, count, start, a[NX - NQ + NQ * NPAR :], b)
        gather(NX, count, start, w[NX:], v)
        gather(NM, count, start, p[DIRECTIONS:], d)
        curvature(t, y, p, a, w, u, b, v, d, changes, rows)
        for i in range(NY):
            for j in range(count):
                ybar[NX + i * NPAR + start + j] = changes[i * NB + j]
        for i in range(NPAR):
            for j in range(count):
                gains[NPAR + i * NPAR + start + j] = rows[i * NB + j]


@routine
def gather(rows: int, count: int, start: int, source: Array, target: Array) -> None:
    """Some columns of a matrix with a column per parameter."""
    for i in range(rows):
        for j in range(count):
            target[i * NB + j] = source[i * NPAR + start + j]


@dataclass(frozen=True, eq=False)
class Curvature:
    """Second derivatives of formulas of the state and of integrals along a motion."""

    routines: Routines
    course: Course
    jumps: Discontinuities

    @cached_property
    def recording(self) -> Recording:
        """The motion of states and changes."""
        variation = self.routines.variation
        problem = self.course.problem(variation, True, np.empty(0), memory.KEEP_SLOPES)
        size, watching = len(problem.initial), self.routines.direct
        if self.jumps:
            problem = replace(problem, directions=self.jumps.directions, limits=(1,) * len(self.jumps))
            watching = {**watching, **self.jumps.externals(Rates(variation).externals(self.jumps.functions))}
        statics = {**self.routines.direct_statics, "NG": len(self.jumps)}
        loop = integrator(size, statics, watching, self.course.backend)
        statics = {**self.routines.direct_statics, "WIDTH": PIECE_STATE + (1 + STAGES) * size}
        repeat = partial(routine_of, repeat_steps, size, statics, self.routines.direct, self.course.backend)
        problem = replace(problem, reselect=selection(variation, problem.parameters))
        recording = record(loop, repeat, problem, self.course.most_bytes, self.jumps)
        require_done(recording.run, problem, variation.system)
        return recording

    def hessian(self, weights: Vector, pbar: Vector, hessian: Vector) -> tuple[Vector, Vector, Vector]:
        """Gradient and Hessian, from weights of (x, u) at the end and what the criterion has itself.

        The Hessian lacks second derivatives of the initial state, which count with the weights of x at the start.
        """
        variation, routines = self.routines.variation, self.routines
        w, gains, columns = weights.copy(), np.concatenate([pbar, hessian.ravel()]), variation.columns
        size = variation.size * (1 + columns)
        loop = routine_of(steps_back, size, self.statics(routines), externals(routines), self.course.backend)
        p, end = self._with_directions(routines, self.recording.parameters), self.recording.end.copy()
        for part in self.recording.backwards():
            if isinstance(part, Switch):
                p = self._with_directions(routines, part.settings)
            elif isinstance(part, Landing):
                w, gains = part.back_twice(w, gains)
                p = self._with_directions(routines, part.settings)
            else:
                loop(len(part), part.rows.reshape(-1), end, p, w, gains)
        start, pbar, hessian = variation.initial_changes, gains[:columns], gains[columns:].reshape(columns, columns)
        first, second = w[: variation.size], w[variation.size :].reshape(variation.size, variation.columns)
        return pbar + first @ start, hessian + start.T @ second, first

    @staticmethod
    def statics(routines: Routines) -> dict[str, int]:
        variation = routines.variation
        size = variation.size * (1 + variation.columns)
        accelerations = len(variation.states) - variation.system.coordinates if variation.system.programs else 0
        own = {"NB": min(AT_ONCE, variation.columns), "NM": len(variation.moving), "NACC": accelerations}
        own |= {"LENGTH": size, "GAINS": variation.columns * (1 + variation.columns), "NW": 1, "PROJECT": 0}
        own["DIRECTIONS"] = len(variation.system.solver_parameters)
        return {**routines.direct_statics, **own, "WIDTH": PIECE_STATE + (1 + STAGES) * size}

    @staticmethod
    def _with_directions(routines: Routines, parameters: Vector) -> Vector:
        """The parameters as the way back takes them: with the changes of the constants that vary behind."""
        return np.concatenate([parameters, MotionSlopes(routines.variation).directions.ravel(), [0.0]])

    def observed(self, routines: Routines, t: float, x: Vector, u: Vector, place: int) -> tuple[Vector, Vector, Vector]:
        """Weights of (x, u), of the parameters, and the Hessian of one formula in a state with known changes."""
        variation = routines.variation
        states, columns, size = len(variation.states), variation.columns, variation.size
        y, w = np.zeros(size * (1 + columns)), np.zeros(size * (1 + columns))
        y[:states], w[states + place] = x[:states], 1.0
        y[size : size + states * columns] = u[:states].ravel()
        ybar, gains = np.zeros_like(y), np.zeros(columns * (1 + columns))
        back = routine_of(observed_back, len(y), self.statics(routines), externals(routines), "python")
        back(float(t), y, self._with_directions(routines, self.recording.parameters), w, ybar, gains)
        return ybar, gains[:columns], gains[columns:].reshape(columns, columns)


def externals(routines: Routines) -> dict[str, object]:
    """Programs of the way back with its changes."""
    if isinstance(routines, OpenRoutines) and not routines.is_large:
        programs, at_once = routines.programs, min(AT_ONCE, routines.variation.columns)
        own = {"pulled_once": programs.pullback, "curvature": programs.curvature(at_once)}
        return {**routines.direct, **own, "pullback": open_pull_twice}
    solved = constrained_programs(routines.variation)
    curved = ConstrainedCurvature(solved)
    bent = {"pulled_alone": solved.pulled_alone, "bending": curved.bending, "bent_pull": curved.bent_pull}
    return {**routines.direct, **bent, "pullback": constrained_pull_twice}
