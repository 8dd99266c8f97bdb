"""Second derivatives: the discrete adjoint differentiated along every parameter, forward over adjoint.

The motion is that of the direct method, so that all stages of states and changes are known. Going back, weights λ are
accompanied by their changes Λ with each parameter, and the weights of the parameters by a row of the Hessian each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from torseur.codegen.routine import Array, External, Static, routine, static_range, zeros
from torseur.sensitivity.backward import NQ, pullback, repeat_steps
from torseur.sensitivity.constrained_second_order import ConstrainedCurvature, constrained_pull_twice
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import require_done
from torseur.sensitivity.discontinuities import Discontinuities
from torseur.sensitivity.landing import Landing
from torseur.sensitivity.loop import integrator, routine_of
from torseur.sensitivity.parameters import constants_matrix
from torseur.sensitivity.rates import Rates
from torseur.sensitivity.recording import Recording, record
from torseur.sensitivity.routines import ConstrainedRoutines, OpenRoutines, Routines
from torseur.sensitivity.tangent import NM, NPAR, NX, NY
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_STATE, PIECE_TIME, rhs
from torseur.simulation.system import Vector
from torseur.simulation.tableau import STAGES, A, B, C

NT: int = Static("NT")  # entries of (x, u)
NB: int = Static("NB")  # directions at once
NA: int = Static("NACC")  # accelerations
WIDE: int = Static("WIDE")  # numbers that are kept of a step

AT_ONCE = 4

curvature = External(
    "curvature",
    "t: float, y: Array, p: Array, a: Array, w: Array, u: Array, b: Array, v: Array, e: Array, "
    "ybar: Array, pbar: Array",
)


pull_twice = External(
    "pull_twice",
    "t: float, y: Array, dy: Array, p: Array, e: Array, w: Array, ybar: Array, pbar: Array, hessian: Array",
)


@routine
def open_pull_twice(
    t: float, y: Array, dy: Array, p: Array, e: Array, w: Array, ybar: Array, pbar: Array, hessian: Array
) -> None:
    """Weights w of (x', u') pulled back; the parameters' weights and the Hessian grow by their share."""
    part = zeros(NPAR)
    first = zeros(NX)
    u = zeros(NY * NB)
    b = zeros(NA * NB + 1)
    v = zeros(NX * NB)
    d = zeros(NM * NB + 1)
    changes = zeros(NY * NB)
    rows = zeros(NPAR * NB)
    pullback(t, y, p, dy[NQ:], w, first, part)
    for i in range(NX):
        ybar[i] = first[i]
    for k in range(NPAR):
        pbar[k] += part[k]
    for start in range(0, NPAR, NB):
        count = min(NB, NPAR - start)
        gather(NY, count, start, y[NX:], u)
        gather(NA, count, start, dy[NX + NQ * NPAR :], b)
        gather(NX, count, start, w[NX:], v)
        gather(NM, count, start, e, d)
        curvature(t, y, p, dy[NQ:], w, u, b, v, d, changes, rows)
        for i in range(NY):
            for j in range(count):
                ybar[NX + i * NPAR + start + j] = changes[i * NB + j]
        for i in range(NPAR):
            for j in range(count):
                hessian[i * NPAR + start + j] += rows[i * NB + j]


@routine
def gather(rows: int, count: int, start: int, source: Array, target: Array) -> None:
    """Some columns of a matrix with a column per parameter."""
    for i in range(rows):
        for j in range(count):
            target[i * NB + j] = source[i * NPAR + start + j]


@routine
def steps_back_twice(count: int, rows: Array, p: Array, e: Array, w: Array, pbar: Array, hessian: Array) -> None:
    """Weights of (x, u) at the end of these steps become weights at their start."""
    stage = zeros(NT)
    kbar = zeros(NT)
    ybar = zeros(STAGES * NT)
    for step in range(count - 1, -1, -1):
        row = rows[step * WIDE :]
        t = row[PIECE_TIME]
        h = row[PIECE_LENGTH]
        y = row[PIECE_STATE:]
        k = row[PIECE_STATE + NT :]
        for s in static_range(STAGES - 1, -1, -1):
            for i in range(NT):
                total = 0.0
                for j in static_range(s):
                    if A[s][j] != 0.0:
                        total += A[s][j] * k[j * NT + i]
                stage[i] = y[i] + h * total
            for i in range(NT):
                total = B[s] * w[i]
                for j in static_range(s + 1, STAGES):
                    if A[j][s] != 0.0:
                        total += A[j][s] * ybar[j * NT + i]
                kbar[i] = h * total
            pull_twice(t + C[s] * h, stage, k[s * NT :], p, e, kbar, ybar[s * NT :], pbar, hessian)
        for i in range(NT):
            total = 0.0
            for s in static_range(STAGES):
                total += ybar[s * NT + i]
            w[i] += total


@routine
def observed_twice(t: float, y: Array, p: Array, e: Array, w: Array, ybar: Array, pbar: Array, hessian: Array) -> None:
    """Weights of (x', u') in one state pulled back."""
    dy = zeros(NT)
    rhs(t, y, p, dy)
    pull_twice(t, y, dy, p, e, w, ybar, pbar, hessian)


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
        problem = self.course.problem(variation, True, times=np.empty(0))
        size, watching = len(problem.initial), self.routines.direct
        if self.jumps:
            problem = replace(problem, directions=self.jumps.directions, limits=(1,) * len(self.jumps))
            watching = {**watching, **self.jumps.externals(Rates(variation).externals(self.jumps.functions))}
        statics = {**self.routines.statics, "NG": len(self.jumps)}
        loop = integrator(size, statics, watching, self.course.backend)
        statics = {**self.routines.statics, "WIDTH": PIECE_STATE + (1 + STAGES) * size}
        repeat = partial(routine_of, repeat_steps, size, statics, self.routines.direct, self.course.backend)
        recording = record(loop, repeat, problem, self.course.most_bytes, self.jumps)
        require_done(recording.run, problem, variation.system)
        return recording

    def hessian(self, weights: Vector, pbar: Vector, hessian: Vector) -> tuple[Vector, Vector, Vector]:
        """Gradient and Hessian, from weights of (x, u) at the end and what the criterion has itself.

        The Hessian lacks second derivatives of the initial state, which count with the weights of x at the start.
        """
        variation, routines = self.routines.variation, self.routines
        w, pbar, hessian = weights.copy(), pbar.copy(), hessian.copy()
        size = variation.size * (1 + variation.columns)
        loop = routine_of(steps_back_twice, size, self.statics(routines), externals(routines), self.course.backend)
        p, e = self.recording.parameters, directions(routines)
        for part in self.recording.backwards():
            if isinstance(part, Landing):
                w, pbar, hessian = part.back_twice(w, pbar, hessian)
                p = part.settings
            else:
                loop(len(part), part.rows.reshape(-1), p, e, w, pbar, hessian.reshape(-1))
        start = variation.initial_changes
        first, second = w[: variation.size], w[variation.size :].reshape(variation.size, variation.columns)
        return pbar + first @ start, hessian + start.T @ second, first

    @staticmethod
    def statics(routines: Routines) -> dict[str, int]:
        variation = routines.variation
        size = variation.size * (1 + variation.columns)
        accelerations = len(variation.states) - variation.system.coordinates if variation.system.programs else 0
        own = {"NT": size, "NB": min(AT_ONCE, variation.columns), "NM": len(variation.moving), "NACC": accelerations}
        return {**routines.statics, **own, "WIDE": PIECE_STATE + (1 + STAGES) * size}

    def observed(self, routines: Routines, t: float, x: Vector, u: Vector, place: int) -> tuple[Vector, Vector, Vector]:
        """Weights of (x, u), of the parameters, and the Hessian of one formula in a state with known changes."""
        variation = routines.variation
        states, columns, size = len(variation.states), variation.columns, variation.size
        y, w = np.zeros(size * (1 + columns)), np.zeros(size * (1 + columns))
        y[:states], w[states + place] = x[:states], 1.0
        y[size : size + states * columns] = u[:states].ravel()
        ybar, pbar, hessian = np.zeros_like(y), np.zeros(columns), np.zeros((columns, columns))
        pull = {**externals(routines), "rhs": routines.direct["rhs"]}
        back = routine_of(observed_twice, len(y), self.statics(routines), pull, "python")
        p, e = variation.system.solver_parameters, directions(routines)
        back(float(t), y, p, e, w, ybar, pbar, hessian.reshape(-1))
        return ybar, pbar, hessian


def externals(routines: Routines) -> dict[str, object]:
    """Programs of the way back with its changes."""
    if isinstance(routines, OpenRoutines):
        programs, at_once = routines.programs, min(AT_ONCE, routines.variation.columns)
        own = {"pullback": programs.pullback, "curvature": programs.curvature(at_once)}
        return {**routines.direct, **own, "pull_twice": open_pull_twice}
    assert isinstance(routines, ConstrainedRoutines)
    curved = ConstrainedCurvature(routines.programs)
    own = {"pulled_alone": routines.programs.pulled_alone, "bending": curved.bending, "bent_pull": curved.bent_pull}
    return {**routines.direct, **own, "pull_twice": constrained_pull_twice}


def directions(routines: Routines) -> Vector:
    """Changes of the constants that vary, a row each, a column per parameter."""
    variation = routines.variation
    everything = constants_matrix(variation.varied, len(variation.constants))
    slots = [variation.constants.index(node) for node in variation.moving]
    return np.append(everything[slots].ravel(), 0.0)
