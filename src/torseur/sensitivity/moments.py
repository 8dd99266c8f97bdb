"""Criteria at moments that the motion itself chooses: events and extrema.

At an event w = 0 the time moves by dt = -dw / ẇ, and a value there by dg + ġ dt. At an extremum ġ = 0, so that only
dg at fixed time counts; so it does at the ends of the span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.errors import TorseurError, UnsupportedError
from torseur.graph import Expr, Program, live_nodes, time_derivative, vector
from torseur.mechanism import TIME
from torseur.sensitivity.constrained_tangent import constrained_events
from torseur.sensitivity.criteria import ReadCriterion
from torseur.sensitivity.observation import Observation
from torseur.sensitivity.routines import routines_of
from torseur.sensitivity.variation import Variation
from torseur.simulation.system import Vector


@dataclass(frozen=True, eq=False)
class Watch:
    """Event functions of the loop: their externals and the directions of their changes of sign."""

    externals: dict[str, Any]
    directions: tuple[int, ...]
    limits: tuple[int, ...]


NOTHING = Watch({}, (), ())


@dataclass(frozen=True, eq=False)
class Moment:
    """A state (y, with its changes where they are known) at a time."""

    t: float
    y: Vector
    u: Vector | None = None


@dataclass(frozen=True, eq=False)
class MomentCriteria:
    """Criteria whose time is found along the motion."""

    criteria: tuple[ReadCriterion, ...]
    variation: Variation
    backend: str

    @cached_property
    def functions(self) -> list[Expr]:
        """For each criterion the function that changes sign at its moment."""
        return [
            criterion.when if criterion.kind.startswith("event") else self._rate(criterion.formula, criterion.label)  # type: ignore[misc]
            for criterion in self.criteria
        ]

    @property
    def directions(self) -> tuple[int, ...]:
        fixed = {"maximum": -1, "minimum": 1}
        return tuple(fixed.get(c.kind, c.criterion.direction) for c in self.criteria)

    def _rate(self, formula: Expr, label: str) -> Expr:
        """The time derivative of a formula along the motion."""
        system, states = self.variation.system, self.variation.states
        solution = {node for group in system.solution for node in group.nodes}
        if solution & set(live_nodes([formula])):
            raise UnsupportedError(
                f"criterion '{label}': with constraints, extrema and events of accelerations and reactions are not "
                "available. Ask for the value at samples instead."
            )
        rhs = self.variation.rhs.outputs[0].entries
        if system.programs is not None and solution:
            equations = system.programs.equations
            rhs = (*equations.rates, *equations.layout.accelerations)
        (rate,) = time_derivative([formula], dict(zip(states, rhs, strict=True)), TIME)
        return rate

    def watch(self, more: Sequence[Expr] = (), directions: tuple[int, ...] = (), limits: tuple[int, ...] = ()) -> Watch:
        """What the loop looks for; `more` are event functions that come first."""
        functions = [*more, *self.functions]
        if not functions:
            return NOTHING
        system = self.variation.system
        solution = {node for group in system.solution for node in group.nodes}
        own = directions + self.directions, limits + (0,) * len(self.functions)
        if not solution & set(live_nodes(functions)):
            program = Program("events", self.variation.rhs.inputs, (vector("g", functions),))
            return Watch({"events": program}, *own)
        program = Program("events", (*self.variation.rhs.inputs, *system.solution), (vector("g", functions),))
        return Watch({"events": constrained_events, "solved_events": program}, *own)

    @cached_property
    def _observations(self) -> list[Observation]:
        """For each criterion its formula, its event function and the rates of both."""
        found = []
        for criterion, function in zip(self.criteria, self.functions, strict=True):
            formulas = [criterion.formula]
            if criterion.kind.startswith("event"):
                rates = [self._rate(formula, criterion.label) for formula in (criterion.formula, function)]
                formulas = [criterion.formula, function, *rates]
            routines = routines_of(replace(self.variation, integrands=tuple(formulas)))
            found.append(Observation(routines, self.variation.system.solver_parameters, self.backend))
        return found

    def chosen(self, k: int, marks: Sequence[Moment], ends: Sequence[Moment]) -> Moment:
        """The moment of criterion k, among those that the loop met and the ends of the span."""
        criterion = self.criteria[k]
        if criterion.kind.startswith("event"):
            if len(marks) < criterion.criterion.occurrence:
                raise TorseurError(self._never(k, len(marks), ends))
            return marks[criterion.criterion.occurrence - 1]
        candidates = [*marks, *ends]
        values = self._observations[k].values(np.array([m.t for m in candidates]), np.array([m.y for m in candidates]))[
            :, 0
        ]
        best = np.argmax(values) if criterion.kind == "maximum" else np.argmin(values)
        return candidates[int(best)]

    def _never(self, k: int, times: int, ends: Sequence[Moment]) -> str:
        criterion = self.criteria[k].criterion
        values = self._observations[k].values(np.array([m.t for m in ends]), np.array([m.y for m in ends]))[:, 1]
        found = "never happens" if times == 0 else f"happens only {times} times"
        way = {0: "changes sign", 1: "rises through zero", -1: "falls through zero"}[criterion.direction]
        span = f"between t = {ends[0].t:g} s and t = {ends[-1].t:g} s"
        return (
            f"criterion '{criterion.label}': the event {found} {span}: '{criterion.when}' is {values[0]:.4g} at the "
            f"start and {values[-1]:.4g} at the end, and {way} {times} times. Go on longer, or ask for another event."
        )

    def slopes(self, k: int, moment: Moment) -> tuple[float, Vector]:
        """Value and slopes of criterion k, from the changes of the state at its moment."""
        assert moment.u is not None
        values, changes = self._observations[k].changes(np.array([moment.t]), moment.y[None], moment.u[None])
        if not self.criteria[k].kind.startswith("event"):
            return float(values[0, 0]), changes[0, 0]
        later = -changes[0, 1] / self._safe_rate(k, values[0, 3])
        if self.criteria[k].kind == "event time":
            return moment.t, later
        return float(values[0, 0]), changes[0, 0] + values[0, 2] * later

    def weights(self, k: int, moment: Moment) -> tuple[float, Vector, Vector]:
        """Value of criterion k, and its slopes by the state and the parameters at its moment."""
        observation = self._observations[k]
        values = observation.values(np.array([moment.t]), moment.y[None])[0]
        if not self.criteria[k].kind.startswith("event"):
            return float(values[0]), *observation.weights(moment.t, moment.y, np.array([1.0]))
        rate = self._safe_rate(k, values[3])
        is_time = self.criteria[k].kind == "event time"
        mixed = np.array([0.0 if is_time else 1.0, -(1.0 if is_time else values[2]) / rate, 0.0, 0.0])
        return (moment.t if is_time else float(values[0])), *observation.weights(moment.t, moment.y, mixed)

    def _safe_rate(self, k: int, rate: float) -> float:
        if abs(rate) < 1e-300:
            raise TorseurError(
                f"criterion '{self.criteria[k].label}': the event function touches zero without crossing it, so that "
                "its time has no slope by the parameters."
            )
        return float(rate)
