"""Hessians of criteria: of their formulas, of the motion, of its jumps and of its start, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import (
    Input,
    Program,
    as_expr,
    directional_derivative,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion
from torseur.analysis.sensitivity.criteria.observation import is_plain
from torseur.analysis.sensitivity.events.event_crossing import Adjoints, Crossing, explicit_crossing, require_formulas
from torseur.analysis.sensitivity.method_routines import routines_of
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.results.sensitivities import Response
from torseur.analysis.sensitivity.second_order.initial_second_order import InitialCurvature
from torseur.analysis.sensitivity.second_order.second_order_adjoint import Curvature
from torseur.analysis.sensitivity.second_order.steady_second_order import equilibrium_curvature
from torseur.analysis.sensitivity.sensitivity_study import Study
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME


def with_hessians(study: Study, responses: Sequence[Response]) -> tuple[Response, ...]:
    """The responses with their Hessians, each at the last of its times."""
    ends = {criterion.label: study.end_of(criterion) for criterion in study.criteria}
    motions = {end: _Hessians(study, end) for end in dict.fromkeys(ends.values())}
    criteria = {criterion.label: criterion for criterion in study.criteria}
    return tuple(replace(r, hessian=motions[ends[r.name]].of(criteria[r.name])) for r in responses)


@dataclass(frozen=True, eq=False)
class _Hessians:
    """Hessians of criteria that are evaluated at one time."""

    study: Study
    until: float

    @cached_property
    def _curvature(self) -> Curvature:
        course = replace(self.study.course, until=self.until)
        return Curvature(self.study.routines, course, self.study.discontinuities)

    @property
    def _end(self) -> tuple[Vector, Vector]:
        """x and u at that time."""
        size, end = self.study.variation.size, self._curvature.recording.end
        return end[:size], end[size:].reshape(size, self.study.variation.columns)

    def of(self, criterion: ReadCriterion) -> Vector:
        """The Hessian of one criterion."""
        adjoints, pbar, own = self._at_end(criterion)
        _, whole, at_start = self._curvature.hessian(adjoints, pbar, own)
        states = len(self.study.variation.states)
        # λ at the start times the second derivatives of the initial state: the term that the way back cannot know.
        whole = whole + np.tensordot(at_start[:states], initial_curvature(self.study), axes=1)
        # Both halves are computed, and agree to the tolerance.
        return np.asarray(0.5 * (whole + whole.T))

    def _at_end(self, criterion: ReadCriterion) -> tuple[Vector, Vector, Vector]:
        """Adjoints of x and u at the end, of the parameters, and the Hessian at a given end."""
        variation = self.study.variation
        columns, states = variation.columns, len(variation.states)
        if criterion.kind == "integral":
            adjoints = np.zeros(variation.size * (1 + columns))
            adjoints[states + self.study.integrals.index(criterion)] = 1.0
            return adjoints, np.zeros(columns), np.zeros((columns, columns))
        crossing = self._crossing(criterion)
        return self._at_fixed_time(criterion) if crossing is None else self._at_event(crossing)

    def _at_fixed_time(self, criterion: ReadCriterion) -> tuple[Vector, Vector, Vector]:
        """Of a formula at a fixed time."""
        variation = self.study.variation
        size, states, columns = variation.size, len(variation.states), variation.columns
        if is_plain(variation, [criterion.formula]):
            return self._plain(criterion)
        # Accelerations and multipliers have no formulas here: the criterion stands as an integrand that is not
        # integrated.
        observed = routines_of(replace(variation, integrands=(criterion.formula,)))
        of_state, pbar, hessian = self._curvature.observe(observed, self.until, *self._end, 0)
        width, adjoints = observed.variation.size, np.zeros(size * (1 + columns))
        adjoints[:states] = of_state[:states]
        adjoints[size : size + states * columns] = of_state[width : width + states * columns]
        return adjoints, pbar, hessian

    def _plain(self, criterion: ReadCriterion) -> tuple[Vector, Vector, Vector]:
        """Of a formula of the state alone."""
        variation, constants = self.study.variation, MotionDerivatives(self.study.variation).directions
        size, states, columns = variation.size, len(variation.states), variation.columns
        variables = (*variation.states, *variation.moving)
        gradient = weighted_gradient([criterion.formula], [as_expr(1)], variables)
        d = tuple(symbol(f"direction {k}") for k in range(len(variables)))
        along = directional_derivative(gradient, dict(zip(variables, d, strict=True)))
        outputs = vector("gradient", gradient), vector("along", along)
        evaluate = Evaluator(Program("curved", (*variation.rhs.inputs, Input("d", d)), outputs))
        x, u = self._end
        values = {"t": [self.until], "y": x[:states].tolist(), "p": list(variation.system.values)}
        bound = {group.name: values[group.name] for group in variation.rhs.inputs}
        directions = np.vstack([u[:states], constants]).T
        rows = [evaluate({**bound, "d": direction.tolist()}) for direction in directions]
        first, second = rows[0]["gradient"], np.array([row["along"] for row in rows]).T
        adjoints = np.zeros(size * (1 + columns))
        adjoints[:states] = first[:states]
        adjoints[size : size + states * columns] = second[:states].ravel()
        return adjoints, first[states:] @ constants, constants.T @ second[states:]

    def _crossing(self, criterion: ReadCriterion) -> Crossing | None:
        """Where the time of a criterion moves with the parameters: at events, and at extrema inside the span."""
        if criterion.criterion.is_over_time:
            return None
        instants = self.study.instants
        ends = (self.study.course.start, self.study.course.until)
        if criterion.when is None and self.until in ends:
            return None
        when = instants.functions[instants.criteria.index(criterion)]
        formula = TIME if criterion.kind == "event time" else criterion.formula
        label = f"criterion '{criterion.label}'"
        require_formulas(label, self.study.variation, [when, formula])
        return explicit_crossing(MotionDerivatives(self.study.variation), label, when, [formula])

    def _at_event(self, crossing: Crossing) -> tuple[Vector, Vector, Vector]:
        """Of a formula at an event."""
        x, u = self._end
        met = crossing.crossing_at(self.until, x, self._curvature.recording.parameters, np.zeros(1))
        size, columns = u.shape
        one = Adjoints(np.ones((1, 1)), np.zeros((1, size)), np.zeros(1))
        nothing = Adjoints(np.zeros((columns, 1)), np.zeros((columns, size)), np.zeros(columns))
        value, tangents, pbar, rows = crossing.pull_back_twice(met, u, one, nothing)
        return np.concatenate([value, tangents.T.ravel()]), pbar, rows.T


def initial_curvature(study: Study) -> Vector:
    """Second derivatives of the initial state (state, parameter, parameter)."""
    variation, initial = study.variation, study.ready.initial
    if variation.system.programs is None:
        return np.zeros((len(variation.states), variation.columns, variation.columns))
    if study.from_equilibrium:
        return equilibrium_curvature(variation, initial)
    return InitialCurvature(variation, initial, study.course.start).second
