"""Hessians of criteria: of their formulas, of the motion, of its jumps and of its start, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.graph import (
    Input,
    Program,
    as_expr,
    directional_derivative,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.mechanism import TIME
from torseur.sensitivity.criteria import ReadCriterion
from torseur.sensitivity.crossing import Crossing, Weights, explicit, require_formulas
from torseur.sensitivity.initial_curvature import InitialCurvature
from torseur.sensitivity.motion_slopes import MotionSlopes
from torseur.sensitivity.observation import is_plain
from torseur.sensitivity.results import Response
from torseur.sensitivity.routines import routines_of
from torseur.sensitivity.second_order import Curvature
from torseur.sensitivity.steady_curvature import equilibrium_curvature
from torseur.sensitivity.study import Study
from torseur.simulation.evaluation import Evaluator
from torseur.simulation.system import Vector


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
        return end[:size], end[size:].reshape(size, -1)

    def of(self, criterion: ReadCriterion) -> Vector:
        """The Hessian of one criterion."""
        weights, pbar, own = self._at_end(criterion)
        _, whole, at_start = self._curvature.hessian(weights, pbar, own)
        states = len(self.study.variation.states)
        whole = whole + np.tensordot(at_start[:states], initial_curvature(self.study), axes=1)
        return np.asarray(0.5 * (whole + whole.T))

    def _at_end(self, criterion: ReadCriterion) -> tuple[Vector, Vector, Vector]:
        """Weights of x and u at the end, of the parameters, and the Hessian at a given end."""
        variation = self.study.variation
        columns, states = variation.columns, len(variation.states)
        if criterion.kind == "integral":
            weights = np.zeros(variation.size * (1 + columns))
            weights[states + self.study.integrals.index(criterion)] = 1.0
            return weights, np.zeros(columns), np.zeros((columns, columns))
        crossing = self._crossing(criterion)
        return self._observed(criterion) if crossing is None else self._crossed(crossing)

    def _observed(self, criterion: ReadCriterion) -> tuple[Vector, Vector, Vector]:
        """Of a formula at a fixed time."""
        variation = self.study.variation
        size, states, columns = variation.size, len(variation.states), variation.columns
        if is_plain(variation, [criterion.formula]):
            return self._plain(criterion)
        observed = routines_of(replace(variation, integrands=(criterion.formula,)))
        found, pbar, hessian = self._curvature.observed(observed, self.until, *self._end, 0)
        width, weights = observed.variation.size, np.zeros(size * (1 + columns))
        weights[:states] = found[:states]
        weights[size : size + states * columns] = found[width : width + states * columns]
        return weights, pbar, hessian

    def _plain(self, criterion: ReadCriterion) -> tuple[Vector, Vector, Vector]:
        """Of a formula of the state alone."""
        variation, constants = self.study.variation, MotionSlopes(self.study.variation).directions
        size, states, columns = variation.size, len(variation.states), variation.columns
        variables = (*variation.states, *variation.moving)
        gradient = weighted_gradient([criterion.formula], [as_expr(1)], variables)
        d = tuple(symbol(f"direction {k}") for k in range(len(variables)))
        bent = directional_derivative(gradient, dict(zip(variables, d, strict=True)))
        outputs = vector("gradient", gradient), vector("bent", bent)
        evaluate = Evaluator(Program("curved", (*variation.rhs.inputs, Input("d", d)), outputs))
        x, u = self._end
        values = {"t": [self.until], "y": x[:states].tolist(), "p": list(variation.system.values)}
        bound = {group.name: values[group.name] for group in variation.rhs.inputs}
        found = [evaluate({**bound, "d": [*u[:states, k].tolist(), *constants[:, k].tolist()]}) for k in range(columns)]
        weights, turned = np.zeros(size * (1 + columns)), np.array([row["bent"] for row in found]).T
        weights[:states] = found[0]["gradient"][:states]
        weights[size : size + states * columns] = turned[:states].ravel()
        return weights, found[0]["gradient"][states:] @ constants, constants.T @ turned[states:]

    def _crossing(self, criterion: ReadCriterion) -> Crossing | None:
        """Where the time of a criterion moves with the parameters: at events, and at extrema inside the span."""
        if criterion.criterion.is_over_time:
            return None
        moments = self.study.moments
        ends = (self.study.course.start, self.study.course.until)
        if criterion.when is None and self.until in ends:
            return None
        when = moments.functions[moments.criteria.index(criterion)]
        formula = TIME if criterion.kind == "event time" else criterion.formula
        label = f"criterion '{criterion.label}'"
        require_formulas(label, self.study.variation, [when, formula])
        return explicit(MotionSlopes(self.study.variation), label, when, [formula])

    def _crossed(self, crossing: Crossing) -> tuple[Vector, Vector, Vector]:
        """Of a formula at an event."""
        x, u = self._end
        met = crossing.met(self.until, x, self._curvature.recording.parameters, np.zeros(1))
        size, columns = u.shape
        one = Weights(np.ones((1, 1)), np.zeros((1, size)), np.zeros(1))
        nothing = Weights(np.zeros((columns, 1)), np.zeros((columns, size)), np.zeros(columns))
        value, changes, pbar, rows = crossing.weigh_twice(met, u, one, nothing)
        return np.concatenate([value, changes.T.ravel()]), pbar, rows.T


def initial_curvature(study: Study) -> Vector:
    """Second derivatives of the initial state (state, parameter, parameter)."""
    variation, initial = study.variation, study.ready.initial
    if variation.system.programs is None:
        return np.zeros((len(variation.states), variation.columns, variation.columns))
    if study.from_equilibrium:
        return equilibrium_curvature(variation, initial)
    return InitialCurvature(variation, initial, study.course.start).second
