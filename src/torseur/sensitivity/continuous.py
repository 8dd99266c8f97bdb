"""The continuous adjoint: λ' = -f_yᵀ λ backwards along the dense output of the motion, with μ' = -f_pᵀ λ beside it.

From a whole basis Q of solutions with Q = 1 at the end, the slopes of any criterion at any time tᵢ follow: its weights
λᵢ there belong to the solution Q(t) c with Q(tᵢ) c = λᵢ, and with W = ∫ Qᵀ f_p from t to the end,

    dg = g_p + cᵀ (W(t₀) - W(tᵢ)) + (Q(t₀) c)ᵀ u₀
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.codegen.routine import Array, External, Static, routine, static_range, zeros
from torseur.sensitivity.backward import NQ, NW, pullback
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import require_done
from torseur.sensitivity.loop import integrator
from torseur.sensitivity.routines import Routines
from torseur.sensitivity.tangent import NPAR, NX
from torseur.simulation import memory
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_STATE, PIECE_TIME
from torseur.simulation.integrator import Run
from torseur.simulation.problem import Problem
from torseur.simulation.system import Vector

FIRST: int = Static("FIRST")  # place of the motion in p, behind the parameters: its number of pieces, then the pieces
PIECES: int = Static("PIECES")  # numbers of a piece

state_slope = External("state_slope", "t: float, y: Array, p: Array, dy: Array")


@routine
def adjoint_slope(t: float, y: Array, p: Array, dy: Array) -> None:
    """(λ', μ') of every solution, one after the other."""
    x = zeros(NX)
    slope = zeros(NX)
    ybar = zeros(NX)
    pbar = zeros(NPAR)
    state_at(t, p, x)
    state_slope(t, x, p, slope)
    for c in range(NW):
        pullback(t, x, p, slope[NQ:], y[c * (NX + NPAR) :], ybar, pbar)
        out = dy[c * (NX + NPAR) :]
        for i in range(NX):
            out[i] = -ybar[i]
        for k in range(NPAR):
            out[NX + k] = -pbar[k]


@routine
def state_at(t: float, p: Array, x: Array) -> None:
    """The state at a time, from the dense output of the motion."""
    low = 0
    high = int(p[FIRST]) - 1
    forward = p[FIRST + 1 + PIECE_LENGTH] > 0.0
    while low < high:
        middle = (low + high + 1) // 2
        starts_before = p[FIRST + 1 + middle * PIECES + PIECE_TIME] <= t
        if starts_before == forward:
            low = middle
        else:
            high = middle - 1
    piece = p[FIRST + 1 + low * PIECES :]
    part = (t - piece[PIECE_TIME]) / piece[PIECE_LENGTH]
    left = 1.0 - part
    dense = piece[PIECE_STATE + NX :]
    for i in range(NX):
        value = dense[6 * NX + i]
        for r in static_range(5, -1, -1):
            value = dense[r * NX + i] + (left if r % 2 == 0 else part) * value
        x[i] = piece[PIECE_STATE + i] + part * value


@dataclass(frozen=True, eq=False)
class ContinuousAdjoint:
    """A motion with its dense output, and solutions of the adjoint equation along it."""

    routines: Routines
    course: Course

    @cached_property
    def motion(self) -> Run:
        """The motion, with a piece for every step and the state at every sample."""
        variation = self.routines.variation
        problem = replace(self.course.problem(variation, False), keep=memory.KEEP_DENSE)
        loop = integrator(variation.size, self.routines.statics, self.routines.forward, self.course.backend)
        run = loop.run(problem)
        require_done(run, problem, variation.system)
        return run

    def solutions(self, weights: Vector, times: Vector) -> tuple[Vector, Vector]:
        """λ (time, solution, state) and μ (time, solution, parameter) at times from the end back to the start.

        `weights` holds the final values of the solutions, one row each.
        """
        variation, routines, course = self.routines.variation, self.routines, self.course
        size, columns, count = variation.size, variation.columns, len(weights)
        pieces = self.motion.rows
        p = np.concatenate([variation.system.solver_parameters, [float(len(pieces))], pieces.ravel()])
        statics = {**routines.statics, "NW": count, "FIRST": len(variation.system.solver_parameters), "PROJECT": 0}
        statics["PIECES"] = pieces.shape[1]
        externals = {**routines.backward, "rhs": adjoint_slope, "state_slope": routines.forward["rhs"]}
        final = np.hstack([weights, np.zeros((count, columns))]).ravel()
        loop = integrator(len(final), statics, externals, course.backend)
        problem = Problem(
            initial=final,
            parameters=p,
            start=course.until,
            until=course.start,
            rtol=course.rtol,
            atol=course.rtol * self._scales(weights),
            times=times,
            keep=memory.KEEP_NOTHING,
            max_steps=course.max_steps,
            max_step=abs(course.until - course.start),
        )
        run = loop.run(problem)
        require_done(run, problem, variation.system)
        table = run.samples.reshape(len(run.samples), count, size + columns)
        return table[:, :, :size], table[:, :, size:]

    def _scales(self, weights: Vector) -> Vector:
        """Size of each number below which its error no longer counts: of weights, and per size of a parameter."""
        variation = self.routines.variation
        sizes = np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1e-300)
        of_parameters = sizes / np.array([parameter.scale for parameter in variation.varied])
        return np.hstack([np.repeat(sizes, variation.size, axis=1), of_parameters]).ravel()

    def gradients(self, weights: Vector, of_parameters: Vector) -> tuple[Vector, Vector]:
        """Slopes of criteria with these weights at the end, and their weights at the start."""
        lam, mu = self.solutions(weights, np.array([self.course.start]))
        return of_parameters + mu[-1] + lam[-1] @ self.routines.variation.initial_changes, lam[-1]


@dataclass(frozen=True, eq=False)
class Basis:
    """A basis of solutions at the samples of a course, from its end back, and at its start.

    Q (time, state, solution) and W (time, solution, parameter).
    """

    q: Vector
    w: Vector
    q_start: Vector
    w_start: Vector

    @property
    def conditions(self) -> Vector:
        """Condition number of Q at each sample."""
        return np.array([np.linalg.cond(q) for q in self.q])

    def slopes(self, sample: int, weights: Vector, of_parameters: Vector, start: Vector) -> Vector:
        """Slopes of criteria with these weights (a row each) at one sample."""
        c = np.linalg.solve(self.q[sample], weights.T)
        result: Vector = of_parameters + c.T @ (self.w_start - self.w[sample]) + (self.q_start @ c).T @ start
        return result


def basis(adjoint: ContinuousAdjoint) -> Basis:
    """The basis whose solutions are one at the end, at the samples in their own order."""
    course, size = adjoint.course, adjoint.routines.variation.size
    back = course.times[::-1]
    wanted = np.append(back, course.start)
    lam, mu = adjoint.solutions(np.eye(size), wanted)
    q = lam.transpose(0, 2, 1)
    return Basis(q[-2::-1], mu[-2::-1], q[-1], mu[-1])
