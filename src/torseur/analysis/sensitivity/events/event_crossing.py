"""Where the motion meets an event: what follows from the state there, differentiated by the parameters to second order.

At the event g(t, y, p) = 0, new quantities z solve E(z; t, y, p) = 0. Seen at the fixed time t₀ of the event, the state
before arrives by its own motion in a time s that varies with the parameters, and z goes back by its own:

    X = x + s f₋ + s²/2 (f₋)',   g(t₀ + s, X) = 0,   E(Z; t₀ + s, X) = 0,   F = Z - s f₊ + s²/2 (f₊)'

F is what the motion afterwards sees. All is evaluated at s = 0, so that first derivatives of f are enough for second
derivatives of F. A criterion at an event is a single z that does not move by itself: f₊ = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    directional_derivative,
    symbol,
    symbols_of,
    vector,
    weighted_gradient,
)
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives, Parts, StateDerivative
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError, UnsupportedError

ITERATIONS = 20
SMALL = 1e-13  # step of Newton's method, in units of what is solved for, after which it has arrived
SOLVED = 1e-9  # what may be left of the equations, in units of the first guess


@dataclass(frozen=True, eq=False)
class Met:
    """A crossing that happened: the state before with its rate, the solution z, and all first derivatives there."""

    t: float
    x: Vector
    z: Vector
    before: StateDerivative
    event: Parts
    equations: Parts
    by_unknowns: Vector

    @property
    def rate(self) -> float:
        """Of the event function along the motion."""
        states = self.event.by_state.shape[1]
        return float(self.event.by_state[0] @ self.before.value[:states] + self.event.by_time[0])

    def later(self, u: Vector) -> Vector:
        """How much later the event happens, per parameter."""
        states = self.event.by_state.shape[1]
        return -(self.event.by_state[0] @ u[:states] + self.event.by_parameters[0]) / self.rate


# Why every jump is a system of equations: docs/decisions/0037-jumps-are-equations.md.
@dataclass(frozen=True, eq=False)
class Crossing:
    """An event and the equations of what follows from the state there; the first unknowns are what is kept of them."""

    name: str
    derivatives: MotionDerivatives
    when: Expr
    unknowns: tuple[Expr, ...]
    equations: tuple[Expr, ...]
    kept: int

    @cached_property
    def _evaluator(self) -> Evaluator:
        formulas = [self.when, *self.equations]
        return Evaluator(self.derivatives.program("crossing", formulas, (Input("z", self.unknowns),)))

    def crossing_at(self, t: float, x: Vector, settings: Vector, guess: Vector) -> Met:
        """The crossing at a state; unknowns are looked for from a guess of those that are kept."""
        y, before = x[: len(self.derivatives.variation.states)], self.derivatives.at(t, x, settings)
        bound = self.derivatives.input_values(t, y, before.solution)
        z = np.concatenate([guess, np.zeros(len(self.unknowns) - len(guess))])
        z = self._solve(bound, z)
        outputs = self._evaluator({**bound, "z": z.tolist()})
        by_unknowns, parts = self.derivatives.split(outputs["derivatives"], len(z))
        parts = parts.eliminate_solution(before.of_solution)
        met = Met(t, x, z, before, _rows(parts, slice(0, 1)), _rows(parts, slice(1, None)), by_unknowns[1:])
        # The time of the event moves by ds = -dg / ġ.
        if met.rate == 0.0:
            raise TorseurError(
                f"{self.name}: the event function touches zero without crossing it at t = {t:.6g} s, so that its time "
                "has no derivative with respect to the parameters."
            )
        return met

    def _solve(self, bound: dict[str, list[float]], z: Vector) -> Vector:
        size = 1.0 + np.abs(z).max(initial=0.0)
        for _ in range(ITERATIONS):
            outputs = self._evaluator({**bound, "z": z.tolist()})
            step = np.linalg.lstsq(outputs["derivatives"][1:, : len(z)], -outputs["values"][1:], rcond=1e-12)[0]
            z = z + step
            if np.abs(step).max(initial=0.0) <= SMALL * size:
                break
        left = np.abs(self._evaluator({**bound, "z": z.tolist()})["values"][1:]).max(initial=0.0)
        if not left <= SOLVED * size:
            raise TorseurError(
                f"{self.name}: the prescribed values contradict the constraints at t = {bound['t'][0]:.6g} s."
            )
        return np.asarray(z)

    def tangents(self, met: Met, u: Vector) -> tuple[Vector, Vector, Vector]:
        """How much later the event is, and the tangents there of the state before and of the unknowns."""
        states = len(self.derivatives.variation.states)
        later = met.later(u)
        # First order of X = x + s f₋ with ds = later: the state as it arrives at the event that moved.
        arriving = u + np.outer(met.before.value, later)
        equations = met.equations
        gap = equations.by_state @ arriving[:states] + np.outer(equations.by_time, later) + equations.by_parameters
        return later, arriving, np.asarray(np.linalg.lstsq(met.by_unknowns, -gap, rcond=1e-12)[0])

    def pull_back(self, met: Met, adjoint: Adjoints) -> tuple[Vector, Vector, Vector, Vector]:
        """Adjoints of the state before and of the parameters, a row per criterion.

        With them, those of the equations and of the event function.
        """
        # The transpose of `tangents`, link by link: of the kept unknowns to the equations, from there to the arriving
        # state and the time, and of the time, through ds = -dg / ġ, to the event function.
        on_equations = self._on_equations(met, adjoint.kept)
        own, arriving = met.equations, adjoint.straight.copy()
        states = own.by_state.shape[1]
        arriving[:, :states] -= on_equations @ own.by_state
        of_time = adjoint.time - on_equations @ own.by_time + arriving @ met.before.value
        on_event = -of_time / met.rate
        arriving[:, :states] += np.outer(on_event, met.event.by_state[0])
        of_parameters = np.outer(on_event, met.event.by_parameters[0]) - on_equations @ own.by_parameters
        return arriving, of_parameters, on_equations, on_event

    def _on_equations(self, met: Met, kept: Vector) -> Vector:
        full = np.zeros((len(kept), len(met.z)))
        full[:, : self.kept] = kept
        return np.asarray(np.linalg.lstsq(met.by_unknowns.T, full.T, rcond=1e-12)[0].T)

    def pull_back_twice(
        self, met: Met, u: Vector, adjoint: Adjoints, tangents: Adjoints
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """One criterion's adjoints of the state before, with their tangents; then those of the parameters, with theirs.

        `tangents` are those of its adjoint, a row per parameter.
        """
        later, arrived, new = self.tangents(met, u)
        value, of_parameters, x, nu = self.pull_back(met, adjoint)
        curved = self._gradient_tangents(met, x[0], float(nu[0]), arrived, new, later)
        of_unknowns = curved["unknowns"].copy()
        of_unknowns[:, : self.kept] += tangents.kept
        # Adjoints x of the equations and ν of the event belong to ∂/∂(z, y, p, t) of ν g - x · E. Along a parameter
        # that gradient changes by its second derivatives (`curved`), and x and ν by dx and dν so that it still fits
        # what comes from behind.
        dx = np.linalg.lstsq(met.by_unknowns.T, of_unknowns.T, rcond=1e-12)[0].T
        own, parts, f = met.equations, met.before.parts, met.before.value
        states, moved = own.by_state.shape[1], tangents.straight.copy()
        moved[:, :states] += curved["state"] - dx @ own.by_state
        of_time = tangents.time + curved["time"] - dx @ own.by_time + moved @ f
        # ∂X/∂s = f₋ + s (f₋)': along a parameter it changes with f₋ at the moving state, and with s itself.
        of_time = of_time + value[0] @ met.before.along(u) + later * (value[0] @ met.before.time_derivative)
        dnu = -of_time / met.rate
        moved[:, :states] += np.outer(dnu, met.event.by_state[0]) + np.outer(later, value[0] @ parts.by_state)
        hessian = curved["parameters"] - dx @ own.by_parameters
        hessian += np.outer(dnu, met.event.by_parameters[0]) + np.outer(later, value[0] @ parts.by_parameters)
        return value[0], moved, of_parameters[0], hessian

    @cached_property
    def _curvature(self) -> Evaluator:
        """The derivative of the gradient of ν g - x · E along a direction of everything in it but these adjoints."""
        variation = self.derivatives.variation
        require_formulas(self.name, variation, [self.when, *self.equations], self.unknowns)
        x = tuple(symbol(f"adjoint of equation {k}") for k in range(len(self.equations)))
        nu = symbol("adjoint of event")
        variables = (*self.unknowns, *variation.states, *variation.moving, TIME)
        gradient = weighted_gradient([self.when, *self.equations], [nu, *(-e for e in x)], variables)
        d = tuple(symbol(f"direction {k}") for k in range(len(variables)))
        curved = directional_derivative(gradient, dict(zip(variables, d, strict=True)))
        inputs = [Input("z", self.unknowns), Input("x", x), Input("nu", (nu,)), Input("d", d)]
        return Evaluator(Program("crossing_twice", (*self.derivatives.inputs, *inputs), (vector("curved", curved),)))

    def _gradient_tangents(
        self, met: Met, x: Vector, nu: float, arriving: Vector, new: Vector, later: Vector
    ) -> dict[str, Vector]:
        """That derivative along each parameter, by what it is the gradient of."""
        variation, states = self.derivatives.variation, len(self.derivatives.variation.states)
        bound: dict[str, list[float]] = self.derivatives.input_values(met.t, met.x[:states], met.before.solution)
        bound |= {"z": met.z.tolist(), "x": x.tolist(), "nu": [nu]}
        rows = []
        for k in range(len(later)):
            d = np.concatenate([new[:, k], arriving[:states, k], self.derivatives.directions[:, k], [later[k]]])
            rows.append(self._curvature({**bound, "d": d.tolist()})["curved"])
        ends = np.cumsum([len(self.unknowns), states, len(variation.moving)])
        unknowns, state, constants, time = np.split(np.array(rows), ends, axis=1)
        own = {"unknowns": unknowns, "state": state, "time": time[:, 0]}
        return {**own, "parameters": constants @ self.derivatives.directions}


@dataclass(frozen=True, eq=False)
class Adjoints:
    """Adjoints, a row per criterion: of what is kept, of the arriving state by itself, and of the time s."""

    kept: Vector
    straight: Vector
    time: Vector


def require_formulas(name: str, variation: Variation, formulas: Sequence[Expr], more: Sequence[Expr] = ()) -> None:
    """Refuses second derivatives of what has no formula in state, parameters and time."""
    known = {*variation.states, *variation.constants, *more, TIME}
    if not known.issuperset(symbols_of(formulas)):
        raise UnsupportedError(
            f"{name}: second order needs events and new values without accelerations and multipliers, which have no "
            "formulas with closed loops or contacts."
        )


def _rows(parts: Parts, rows: slice) -> Parts:
    return Parts(parts.by_solution[rows], parts.by_state[rows], parts.by_parameters[rows], parts.by_time[rows])


def explicit_crossing(derivatives: MotionDerivatives, name: str, when: Expr, values: Sequence[Expr]) -> Crossing:
    """A crossing where formulas give the new values."""
    unknowns = tuple(symbol(f"new value {k}") for k in range(len(values)))
    equations = tuple(z - value for z, value in zip(unknowns, values, strict=True))
    return Crossing(name, derivatives, when, unknowns, equations, len(values))


@dataclass(frozen=True, eq=False)
class Landing:
    """The crossing as it was met, the tangents u of x before it, x' after it, and the settings before it."""

    crossing: Crossing
    met: Met
    u: Vector
    after: StateDerivative
    settings: Vector

    @property
    def _states(self) -> int:
        return self.crossing.kept

    @property
    def x(self) -> Vector:
        """x after the jump; integrals go on."""
        return np.concatenate([self.met.z[: self._states], self.met.x[self._states :]])

    @property
    def tangents(self) -> Vector:
        """u after the jump."""
        later, arriving, new = self.crossing.tangents(self.met, self.u)
        arriving[: self._states] = new[: self._states]
        # Back to the fixed time by the motion afterwards: F = Z - s f₊.
        return np.asarray(arriving - np.outer(self.after.value, later))

    def back(self, adjoints: Vector, pbar: Vector) -> tuple[Vector, Vector]:
        """Adjoints before the jump (a row per criterion), from those after it."""
        # F = Z - s f₊ to first order: that is what the time s does by itself.
        own = self._split(adjoints, -adjoints @ self.after.value)
        arriving, of_parameters, _, _ = self.crossing.pull_back(self.met, own)
        return arriving, pbar + of_parameters

    def back_twice(self, adjoints: Vector, gains: Vector) -> tuple[Vector, Vector]:
        """Adjoints of one criterion and their tangents (x, u as one vector), pulled back; what parameters gain.

        `gains` holds the adjoints of the parameters, then the Hessian.
        """
        size = len(self.met.x)
        value, tangents = adjoints[:size], adjoints[size:].reshape(size, -1).T
        later, _, unknowns = self.crossing.tangents(self.met, self.u)
        new, parts = np.zeros_like(self.u), self.after.parts
        new[: self._states] = unknowns[: self._states]
        # F = Z - s f₊ + s²/2 (f₊)': the terms of s, differentiated once more along every parameter.
        of_time = -tangents @ self.after.value - value @ self.after.along(new)
        of_time += later * (value @ (parts.by_state @ self.after.value[: self._states] - parts.by_time))
        of_state = tangents.copy()
        of_state[:, : self._states] -= np.outer(later, value @ parts.by_state)
        own = self._split(value[None], -value[None] @ self.after.value)
        pulled = self.crossing.pull_back_twice(self.met, self.u, own, self._split(of_state, of_time))
        arriving, moved, of_parameters, rows = pulled
        rows = rows - np.outer(later, value @ parts.by_parameters)
        gains_here = np.concatenate([of_parameters, rows.T.ravel()])
        return np.concatenate([arriving, moved.T.ravel()]), gains + gains_here

    def _split(self, adjoints: Vector, of_time: Vector) -> Adjoints:
        """Adjoints of F as those of what is kept, and of integrals, which go straight on."""
        # Integrals do not take part in a jump: their adjoints pass by the equations.
        straight = adjoints.copy()
        straight[:, : self._states] = 0.0
        return Adjoints(adjoints[:, : self._states], straight, of_time)
