"""Where the motion meets an event: how what follows from the state there changes with the parameters, to second order.

At the event g(t, y, p) = 0, new quantities z solve E(z; t, y, p) = 0. Seen at the fixed time t₀ of the event, the state
before arrives by its own motion in a time s that varies with the parameters, and z goes back by its own:

    X = x + s f₋ + s²/2 (f₋)',   g(t₀ + s, X) = 0,   E(Z; t₀ + s, X) = 0,   F = Z - s f₊ + s²/2 (f₊)'

F is what the motion afterwards sees. All is evaluated at s = 0, so that first slopes of f are enough for second
derivatives of F. A criterion at an event is a single z that does not move by itself: f₊ = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.errors import TorseurError, UnsupportedError
from torseur.graph import Expr, Input, Program, directional_derivative, symbol, symbols_of, vector, weighted_gradient
from torseur.mechanism import TIME
from torseur.sensitivity.motion_slopes import MotionSlope, MotionSlopes, Parts
from torseur.sensitivity.variation import Variation
from torseur.simulation.evaluation import Evaluator
from torseur.simulation.system import Vector

ITERATIONS = 20
SMALL = 1e-13  # step of Newton's method, in units of what is solved for, after which it has arrived
SOLVED = 1e-9  # what may be left of the equations, in units of the first guess


@dataclass(frozen=True, eq=False)
class Met:
    """A crossing that happened: the state before with its slope, the solution z, and all first slopes there."""

    t: float
    x: Vector
    z: Vector
    before: MotionSlope
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


@dataclass(frozen=True, eq=False)
class Crossing:
    """An event and the equations of what follows from the state there; the first unknowns are what is kept of them."""

    name: str
    slopes: MotionSlopes
    when: Expr
    unknowns: tuple[Expr, ...]
    equations: tuple[Expr, ...]
    kept: int

    @cached_property
    def _evaluator(self) -> Evaluator:
        formulas = [self.when, *self.equations]
        return Evaluator(self.slopes.program("crossing", formulas, (Input("z", self.unknowns),)))

    def met(self, t: float, x: Vector, settings: Vector, guess: Vector) -> Met:
        """The crossing at a state; unknowns are looked for from a guess of those that are kept."""
        y, before = x[: len(self.slopes.variation.states)], self.slopes.at(t, x, settings)
        bound = self.slopes.bound(t, y, before.solution)
        z = np.concatenate([guess, np.zeros(len(self.unknowns) - len(guess))])
        z = self._solved(bound, z)
        found = self._evaluator({**bound, "z": z.tolist()})
        by_unknowns, parts = self.slopes.split(found["slopes"], len(z))
        parts = parts.folded(before.of_solution)
        met = Met(t, x, z, before, _rows(parts, slice(0, 1)), _rows(parts, slice(1, None)), by_unknowns[1:])
        if met.rate == 0.0:
            raise TorseurError(
                f"{self.name}: the event function touches zero without crossing it at t = {t:.6g} s, so that its time "
                "has no slope by the parameters."
            )
        return met

    def _solved(self, bound: dict[str, list[float]], z: Vector) -> Vector:
        size = 1.0 + np.abs(z).max(initial=0.0)
        for _ in range(ITERATIONS):
            found = self._evaluator({**bound, "z": z.tolist()})
            step = np.linalg.lstsq(found["slopes"][1:, : len(z)], -found["values"][1:], rcond=1e-12)[0]
            z = z + step
            if np.abs(step).max(initial=0.0) <= SMALL * size:
                break
        left = np.abs(self._evaluator({**bound, "z": z.tolist()})["values"][1:]).max(initial=0.0)
        if not left <= SOLVED * size:
            raise TorseurError(
                f"{self.name}: what is asked for contradicts the constraints at t = {bound['t'][0]:.6g} s."
            )
        return np.asarray(z)

    def changes(self, met: Met, u: Vector) -> tuple[Vector, Vector, Vector]:
        """How much later the event is, and the changes there of the state before and of the unknowns."""
        states = len(self.slopes.variation.states)
        later = met.later(u)
        arriving = u + np.outer(met.before.value, later)
        equations = met.equations
        gap = equations.by_state @ arriving[:states] + np.outer(equations.by_time, later) + equations.by_parameters
        return later, arriving, np.asarray(np.linalg.lstsq(met.by_unknowns, -gap, rcond=1e-12)[0])

    def weigh(self, met: Met, weight: Weights) -> tuple[Vector, Vector, Vector, Vector]:
        """Weights of the state before and of the parameters, a row per criterion.

        With them, those of the equations and of the event function.
        """
        on_equations = self._on_equations(met, weight.kept)
        own, arriving = met.equations, weight.straight.copy()
        states = own.by_state.shape[1]
        arriving[:, :states] -= on_equations @ own.by_state
        of_time = weight.time - on_equations @ own.by_time + arriving @ met.before.value
        on_event = -of_time / met.rate
        arriving[:, :states] += np.outer(on_event, met.event.by_state[0])
        of_parameters = np.outer(on_event, met.event.by_parameters[0]) - on_equations @ own.by_parameters
        return arriving, of_parameters, on_equations, on_event

    def _on_equations(self, met: Met, kept: Vector) -> Vector:
        full = np.zeros((len(kept), len(met.z)))
        full[:, : self.kept] = kept
        return np.asarray(np.linalg.lstsq(met.by_unknowns.T, full.T, rcond=1e-12)[0].T)

    def weigh_twice(
        self, met: Met, u: Vector, weight: Weights, changes: Weights
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """One criterion's weights of the state before, with their changes; then those of the parameters, with theirs.

        `changes` are those of its weight, a row per parameter.
        """
        later, arrived, found = self.changes(met, u)
        value, of_parameters, x, nu = self.weigh(met, weight)
        bent = self._bent(met, x[0], float(nu[0]), arrived, found, later)
        of_unknowns = bent["unknowns"].copy()
        of_unknowns[:, : self.kept] += changes.kept
        dx = np.linalg.lstsq(met.by_unknowns.T, of_unknowns.T, rcond=1e-12)[0].T
        own, parts, f = met.equations, met.before.parts, met.before.value
        states, moved = own.by_state.shape[1], changes.straight.copy()
        moved[:, :states] += bent["state"] - dx @ own.by_state
        of_time = changes.time + bent["time"] - dx @ own.by_time + moved @ f
        of_time = of_time + value[0] @ met.before.along(u) + later * (value[0] @ met.before.bend)
        dnu = -of_time / met.rate
        moved[:, :states] += np.outer(dnu, met.event.by_state[0]) + np.outer(later, value[0] @ parts.by_state)
        hessian = bent["parameters"] - dx @ own.by_parameters
        hessian += np.outer(dnu, met.event.by_parameters[0]) + np.outer(later, value[0] @ parts.by_parameters)
        return value[0], moved, of_parameters[0], hessian

    @cached_property
    def _curvature(self) -> Evaluator:
        """The change of the gradient of ν g - x · E along a direction of everything in it but these weights."""
        variation = self.slopes.variation
        require_formulas(self.name, variation, [self.when, *self.equations], self.unknowns)
        x = tuple(symbol(f"weight of equation {k}") for k in range(len(self.equations)))
        nu = symbol("weight of event")
        variables = (*self.unknowns, *variation.states, *variation.moving, TIME)
        gradient = weighted_gradient([self.when, *self.equations], [nu, *(-e for e in x)], variables)
        d = tuple(symbol(f"direction {k}") for k in range(len(variables)))
        bent = directional_derivative(gradient, dict(zip(variables, d, strict=True)))
        inputs = [Input("z", self.unknowns), Input("x", x), Input("nu", (nu,)), Input("d", d)]
        return Evaluator(Program("crossing_twice", (*self.slopes.inputs, *inputs), (vector("bent", bent),)))

    def _bent(
        self, met: Met, x: Vector, nu: float, arriving: Vector, found: Vector, later: Vector
    ) -> dict[str, Vector]:
        """That change along each parameter, by what it is the gradient of."""
        variation, states = self.slopes.variation, len(self.slopes.variation.states)
        bound: dict[str, list[float]] = self.slopes.bound(met.t, met.x[:states], met.before.solution)
        bound |= {"z": met.z.tolist(), "x": x.tolist(), "nu": [nu]}
        rows = []
        for k in range(len(later)):
            d = np.concatenate([found[:, k], arriving[:states, k], self.slopes.directions[:, k], [later[k]]])
            rows.append(self._curvature({**bound, "d": d.tolist()})["bent"])
        ends = np.cumsum([len(self.unknowns), states, len(variation.moving)])
        unknowns, state, constants, time = np.split(np.array(rows), ends, axis=1)
        own = {"unknowns": unknowns, "state": state, "time": time[:, 0]}
        return {**own, "parameters": constants @ self.slopes.directions}


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights, a row per criterion: of what is kept, of the arriving state by itself, and of the time s."""

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


def explicit(slopes: MotionSlopes, name: str, when: Expr, values: Sequence[Expr]) -> Crossing:
    """A crossing where formulas give the new values."""
    unknowns = tuple(symbol(f"new value {k}") for k in range(len(values)))
    equations = tuple(z - value for z, value in zip(unknowns, values, strict=True))
    return Crossing(name, slopes, when, unknowns, equations, len(values))
