"""Formulas of the motion and their rates along it, as event functions of the loop.

With constraints, accelerations a and multipliers λ have rates of their own: K [a'; λ'] = -[r_y y' + r_t; c_y y' + c_t].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.codegen.routine import Array, External, routine, zeros
from torseur.graph import Expr, Input, Program, directional_derivative, live_nodes, symbol, time_derivative, vector
from torseur.mechanism import TIME
from torseur.sensitivity.constrained_tangent import NSHARED, factored_motion, solve_factored
from torseur.sensitivity.loop import routine_of
from torseur.sensitivity.routines import constrained_programs, routines_of
from torseur.sensitivity.variation import Variation
from torseur.simulation.constrained.sizes import NC, NQ, NV
from torseur.simulation.events import NG, events
from torseur.simulation.system import Vector

motion_rate = External("motion_rate", "t: float, y: Array, p: Array, a: Array, l: Array, d: Array, rate: Array")
solved_events = External(
    "solved_events", "t: float, y: Array, p: Array, a: Array, l: Array, b: Array, k: Array, g: Array"
)


@routine
def constrained_events(t: float, y: Array, p: Array, g: Array) -> None:
    """Formulas that need accelerations, multipliers or their rates."""
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    shared = zeros(NSHARED + 1)
    r = zeros(NC * NC)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC + 1)
    change = zeros(NV + NC)
    weight = factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain, shared)
    motion_rate(t, y, p, dy[NQ:], multipliers, dy, change)
    for i in range(NV + NC):
        change[i] = -change[i]
    solve_factored(p, mass, rows, r, plain, weight, change, change[NV:])
    solved_events(t, y, p, dy[NQ:], multipliers, change, change[NV:], g)


@routine
def events_at(t: float, y: Array, p: Array, g: Array) -> None:
    """Event functions in one state."""
    values = zeros(NG)
    events(t, y, p, values)
    for i in range(NG):
        g[i] = values[i]


@dataclass(frozen=True, eq=False)
class Rates:
    """Formulas of a system with their rates."""

    variation: Variation

    @property
    def _solution(self) -> tuple[Expr, ...]:
        """Accelerations and multipliers where they have no formulas."""
        return tuple(node for group in self.variation.system.solution for node in group.nodes)

    @cached_property
    def _solution_rates(self) -> tuple[Expr, ...]:
        return tuple(symbol(f"rate of {node}") for node in self._solution)

    def rate(self, formula: Expr) -> Expr:
        """The time derivative of a formula along the motion."""
        slopes = self.variation.rhs.outputs[0].entries
        if self._solution:
            programs = self.variation.system.programs
            assert programs is not None
            slopes = (*programs.equations.rates, *programs.equations.layout.accelerations)
        moving = dict(zip(self.variation.states, slopes, strict=True))
        moving |= dict(zip(self._solution, self._solution_rates, strict=True))
        (rate,) = time_derivative([formula], moving, TIME)
        return rate

    def externals(self, formulas: Sequence[Expr]) -> dict[str, Any]:
        """The formulas as event functions."""
        inputs = self.variation.rhs.inputs
        if not formulas:
            return {}
        if not {*self._solution, *self._solution_rates} & set(live_nodes(formulas)):
            return {"events": Program("events", inputs, (vector("g", formulas),))}
        speeds = len(self.variation.states) - self.variation.system.coordinates
        rates = (Input("b", self._solution_rates[:speeds]), Input("k", self._solution_rates[speeds:]))
        program = Program("events", (*inputs, *self.variation.system.solution, *rates), (vector("g", formulas),))
        return {"events": constrained_events, "solved_events": program, "motion_rate": self._motion_rate}

    @cached_property
    def _motion_rate(self) -> Program:
        """Rates of r and c along the motion at fixed accelerations and multipliers, for slopes d of the state."""
        states, system = self.variation.states, self.variation.system
        d = tuple(symbol(f"slope of state {k}") for k in range(len(states)))
        equations = constrained_programs(self.variation).equations_of_motion
        rate = directional_derivative(equations, {**dict(zip(states, d, strict=True)), TIME: 1})
        inputs = (*self.variation.rhs.inputs, *system.solution, Input("d", d))
        return Program("motion_rate", inputs, (vector("rate", rate),))

    def values(self, formulas: Sequence[Expr], t: float, y: Vector, settings: Vector) -> Vector:
        """Formulas, with rates among them or not, in one state."""
        routines = routines_of(self.variation)
        externals = {**routines.direct, **self.externals(formulas)}
        statics = {**routines.direct_statics, "NG": len(formulas)}
        evaluate = routine_of(events_at, self.variation.size, statics, externals, "python")
        found = np.zeros(len(formulas))
        evaluate(float(t), np.array(y), settings, found)
        return found
