"""Formulas of the motion and their rates along it, as event functions of the loop.

With constraints, accelerations a and multipliers λ have rates of their own: K [a'; λ'] = -[r_y y' + r_t; c_y y' + c_t].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    directional_derivative,
    live_nodes,
    symbol,
    time_derivative,
    vector,
)
from torseur.analysis.sensitivity.constrained.constrained_tangents import (
    SolvedMotion,
    solve_motion_with_factors,
    solve_with_factors,
)
from torseur.analysis.sensitivity.extended_loop import routine_of
from torseur.analysis.sensitivity.method_routines import constrained_programs, routines_of
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NC, NQ, NV
from torseur.computation.simulation.events.event_search import NG, events
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME

motion_rate = External(
    "motion_rate", "t: float, y: Array, p: Array, solved: SolvedMotion, d: Array, rate: Array", SolvedMotion
)
solved_events = External(
    "solved_events", "t: float, y: Array, p: Array, solved: SolvedMotion, b: Array, k: Array, g: Array", SolvedMotion
)


@routine
def constrained_events(t: float, y: Array, p: Array, g: Array) -> None:
    """Formulas that need accelerations, multipliers or their rates."""
    solved = SolvedMotion()
    dy = zeros(NQ + NV)
    rate = zeros(NV + NC)  # of accelerations and multipliers
    solve_motion_with_factors(t, y, p, dy, solved)
    for i in range(NV):
        dy[NQ + i] = solved.a[i]
    # [M Cᵀ] [a']     [r_y y' + r_t]
    # [C 0 ] [λ'] = - [c_y y' + c_t]      with the factors that a and λ were solved by
    motion_rate(t, y, p, solved, dy, rate)
    for i in range(NV + NC):
        rate[i] = -rate[i]
    solve_with_factors(p, solved, rate, rate[NV:])
    solved_events(t, y, p, solved, rate, rate[NV:], g)


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
        derivatives = self.variation.rhs.outputs[0].entries
        if self._solution:
            programs = self.variation.system.programs
            assert programs is not None
            # Accelerations have no formulas with constraints: they are symbols, and so are their rates.
            derivatives = (*programs.equations.rates, *programs.equations.layout.accelerations)
        moving = dict(zip(self.variation.states, derivatives, strict=True))
        moving |= dict(zip(self._solution, self._solution_rates, strict=True))
        (rate,) = time_derivative([formula], moving, TIME)
        return rate

    def externals(self, formulas: Sequence[Expr]) -> dict[str, Any]:
        """The formulas as event functions."""
        inputs = self.variation.rhs.inputs
        if not formulas:
            return {}
        # Formulas of the state alone need none of this, and are a program by themselves.
        if not {*self._solution, *self._solution_rates} & set(live_nodes(formulas)):
            return {"events": Program("events", inputs, (vector("g", formulas),))}
        speeds = len(self.variation.states) - self.variation.system.coordinates
        rates = (Input("b", self._solution_rates[:speeds]), Input("k", self._solution_rates[speeds:]))
        program = Program("events", (*inputs, *self.variation.system.solution, *rates), (vector("g", formulas),))
        return {"events": constrained_events, "solved_events": program, "motion_rate": self._motion_rate}

    @cached_property
    def _motion_rate(self) -> Program:
        """Rates of r and c along the motion at fixed accelerations and multipliers, for derivatives d of the state."""
        states, system = self.variation.states, self.variation.system
        d = tuple(symbol(f"rate of state {k}") for k in range(len(states)))
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
        values = np.zeros(len(formulas))
        evaluate(float(t), np.array(y), settings, values)
        return values
