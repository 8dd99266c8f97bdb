"""The continuous adjoint: λ' = -f_yᵀ λ backwards along the dense output of the motion, with μ' = -f_pᵀ λ beside it.

From a whole basis Q of solutions with Q = 1 at the end, the derivatives of any criterion at any time tᵢ follow: its
adjoint λᵢ there belongs to the solution Q(t) c with Q(tᵢ) c = λᵢ, and with W = ∫ Qᵀ f_p from t to the end,

    dg = g_p + cᵀ (W(t₀) - W(tᵢ)) + (Q(t₀) c)ᵀ u₀
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from torseur.analysis.sensitivity.adjoint.backward_routines import NW, pullback
from torseur.analysis.sensitivity.direct.direct_method import require_done
from torseur.analysis.sensitivity.direct.tangent_routines import NPAR, NX
from torseur.analysis.sensitivity.extended_loop import Course, integrator
from torseur.analysis.sensitivity.method_routines import Routines
from torseur.computation.codegen.routine import Array, External, Record, Static, routine, static_range, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.integrator import Run
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import Problem

FIRST: int = Static("FIRST")  # place of the motion in p, behind the parameters: its number of pieces, then the pieces

state_rhs = External("state_rhs", "t: float, y: Array, p: Array, dy: Array")


class MotionPiece(Record):
    """A step of the motion that the adjoint goes back along (see dop853.Piece, for the states of that motion)."""

    time: float
    length: float
    state: Annotated[Array, NX]
    coefficients: Annotated[Array, 7, NX]


@routine
def adjoint_rhs(t: float, y: Array, p: Array, dy: Array) -> None:
    """(λ', μ') of every solution, one after the other."""
    x = zeros(NX)
    derivative = zeros(NX)
    ybar = zeros(NX)
    pbar = zeros(NPAR)
    state_at(t, p, x)
    state_rhs(t, x, p, derivative)
    for c in range(NW):
        pullback(t, x, p, derivative[NQ:], y[c * (NX + NPAR) :], ybar, pbar)
        out = dy[c * (NX + NPAR) :]
        for i in range(NX):
            out[i] = -ybar[i]
        for k in range(NPAR):
            out[NX + k] = -pbar[k]


@routine
def state_at(t: float, p: Array, x: Array) -> None:
    """The state at a time, from the dense output of the motion: its piece by bisection, then Horner's rule."""
    low = 0
    high = int(p[FIRST]) - 1
    pieces = p[FIRST + 1 :]
    first = MotionPiece.view(pieces)
    forward = first.length > 0.0
    while low < high:
        middle = (low + high + 1) // 2
        # A motion may run towards earlier times; then pieces that start after t come first.
        starts_before = pieces[middle * (2 + 8 * NX)] <= t
        if starts_before == forward:
            low = middle
        else:
            high = middle - 1
    piece = MotionPiece.view(pieces[low * (2 + 8 * NX) :])
    part = (t - piece.time) / piece.length
    left = 1.0 - part
    for i in range(NX):
        value = piece.coefficients[6, i]
        for r in static_range(5, -1, -1):
            value = piece.coefficients[r, i] + (left if r % 2 == 0 else part) * value
        x[i] = piece.state[i] + part * value


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

    def solutions(self, adjoints: Vector, times: Vector) -> tuple[Vector, Vector]:
        """λ (time, solution, state) and μ (time, solution, parameter) at times from the end back to the start.

        `adjoints` holds the final values of the solutions, one row each.
        """
        variation, routines, course = self.routines.variation, self.routines, self.course
        size, columns, count = variation.size, variation.columns, len(adjoints)
        pieces = self.motion.rows
        # The motion travels in p, as everything that is constant along an integration does:
        #
        #     p = [ parameters and settings | number of pieces | piece 0 | piece 1 | … ]
        p = np.concatenate([variation.system.solver_parameters, [float(len(pieces))], pieces.ravel()])
        statics = {**routines.statics, "NW": count, "FIRST": len(variation.system.solver_parameters), "PROJECT": 0}
        externals = {**routines.backward, "rhs": adjoint_rhs, "state_rhs": routines.forward["rhs"]}
        # Beside λ of every solution stands μ with μ' = -f_pᵀ λ and μ = 0 at the end, so that ∫ f_pᵀ λ has the error
        # control of the integrator as well.
        final = np.hstack([adjoints, np.zeros((count, columns))]).ravel()
        loop = integrator(len(final), statics, externals, course.backend)
        problem = Problem(
            initial=final,
            parameters=p,
            start=course.until,
            until=course.start,
            rtol=course.rtol,
            atol=course.rtol * self._scales(adjoints),
            times=times,
            keep=memory.KEEP_NOTHING,
            max_steps=course.max_steps,
            max_step=abs(course.until - course.start),
        )
        run = loop.run(problem)
        require_done(run, problem, variation.system)
        table = run.samples.reshape(len(run.samples), count, size + columns)
        return table[:, :, :size], table[:, :, size:]

    def _scales(self, adjoints: Vector) -> Vector:
        """Size of each number below which its error no longer counts: of adjoints, and per size of a parameter."""
        variation = self.routines.variation
        sizes = np.maximum(np.abs(adjoints).max(axis=1, keepdims=True), 1e-300)
        of_parameters = sizes / np.array([parameter.scale for parameter in variation.varied])
        return np.hstack([np.repeat(sizes, variation.size, axis=1), of_parameters]).ravel()

    def gradients(self, adjoints: Vector, of_parameters: Vector) -> tuple[Vector, Vector]:
        """Derivatives of criteria with these adjoints at the end, and their adjoints at the start."""
        lam, mu = self.solutions(adjoints, np.array([self.course.start]))
        return of_parameters + mu[-1] + lam[-1] @ self.routines.variation.initial_tangents, lam[-1]


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

    def derivatives(self, sample: int, adjoints: Vector, of_parameters: Vector, start: Vector) -> Vector:
        """Derivatives of criteria with these adjoints (a row each) at one sample."""
        # Solutions are linear in their final values: c combines those of the basis into the one that is λᵢ at the
        # sample.
        c = np.linalg.solve(self.q[sample], adjoints.T)
        result: Vector = of_parameters + c.T @ (self.w_start - self.w[sample]) + (self.q_start @ c).T @ start
        return result


def basis(adjoint: ContinuousAdjoint) -> Basis:
    """The basis whose solutions are one at the end, at the samples in their own order."""
    course, size = adjoint.course, adjoint.routines.variation.size
    back = course.times[::-1]
    wanted = np.append(back, course.start)
    # Q = 1 at the end. Towards the start its columns turn towards those that grow most, which `conditions` watches:
    # where they cannot be told apart, digits of c are lost.
    lam, mu = adjoint.solutions(np.eye(size), wanted)
    q = lam.transpose(0, 2, 1)
    return Basis(q[-2::-1], mu[-2::-1], q[-1], mu[-1])
