"""`sensitivity`: from a model and criteria to their slopes by the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.graph import Expr, symbols_of
from torseur.sensitivity.adjoint import Backward, recorded
from torseur.sensitivity.choice import Choice, chosen
from torseur.sensitivity.course import MOST_BYTES, Course
from torseur.sensitivity.criteria import Criterion, ReadCriterion, as_criteria, read_criterion
from torseur.sensitivity.direct import Changes, direct
from torseur.sensitivity.growth import growth_of_changes, growth_of_weights, remarks
from torseur.sensitivity.initial import initial_changes
from torseur.sensitivity.observation import Observation
from torseur.sensitivity.parameters import Requested
from torseur.sensitivity.preparation import Prepared, prepare
from torseur.sensitivity.results import Response, Sensitivities
from torseur.sensitivity.routines import Routines, routines_of
from torseur.sensitivity.variation import Variation
from torseur.simulation.from_equations import Model
from torseur.simulation.problem import Samples, Tolerance, finite_time, sample_times
from torseur.simulation.system import Vector


def sensitivity(
    model: Model,
    criteria: str | Criterion | Sequence[str | Criterion],
    parameters: Requested | None = None,
    *,
    until: float,
    start: float = 0.0,
    samples: Samples = None,
    integral: bool = False,
    method: str = "auto",
    second_order: bool = False,
    values: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
    laws: Mapping[str, Callable[..., object]] | None = None,
    rtol: float = 1e-9,
    atol: Tolerance = None,
    max_steps: int = 1_000_000,
    max_step: float | None = None,
    memory: float = MOST_BYTES,
    backend: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Sensitivities:
    """How criteria of a motion change with parameters of the mechanism.

    criteria     formulas in the names of the mechanism, such as "kinetic_energy" or "arm.position.x^2", or Criterion
                 objects; `integral` makes integrals of plain formulas
    parameters   names of parameters ("m1"), of initial values ("q1(0)"), of constants without a name ("arm.mass",
                 "gravity.y", "grip[3]" for a point of a table); "l=l1+r2" varies both together. By default all
                 parameters of the mechanism
    samples      times, or how many, at which slopes are wanted; by default the end only
    method       "direct", "adjoint" (of the integrator's own steps), "continuous_adjoint", or "auto", the cheaper one
    second_order adds the Hessian of each criterion, at the end
    values       of parameters that replace those of the mechanism; `initial` likewise of coordinates and speeds
    memory       bytes that the adjoint may keep of the motion; beyond them parts of it are computed twice
    """
    start, until = finite_time("start", start), finite_time("until", until)
    ready = prepare(model, parameters, values or {}, initial or {}, laws or {}, start)
    wanted = as_criteria(criteria, integral)
    times = np.array([until]) if samples is None else sample_times(samples, start, until)
    course = Course(start, until, times, rtol, atol, max_steps, max_step, backend, memory, progress)
    study = Study(ready, tuple(read_criterion(c, ready.system) for c in wanted), course)
    return study.answer(method, second_order)


@dataclass(frozen=True, eq=False)
class Study:
    """A prepared model, its criteria and the course of its motion."""

    ready: Prepared
    criteria: tuple[ReadCriterion, ...]
    course: Course

    @cached_property
    def integrals(self) -> list[ReadCriterion]:
        return [criterion for criterion in self.criteria if criterion.kind == "integral"]

    @cached_property
    def variation(self) -> Variation:
        system, varied = self.ready.system, self.ready.varied
        integrands = tuple(criterion.formula for criterion in self.integrals)
        bare = Variation(system, varied, np.zeros((len(system.states), len(varied))), integrands)
        return replace(bare, start=initial_changes(bare, self.ready.initial, self.course.start))

    @cached_property
    def routines(self) -> Routines:
        return routines_of(self.variation)

    @cached_property
    def values(self) -> list[ReadCriterion]:
        return [criterion for criterion in self.criteria if criterion.kind == "value"]

    @cached_property
    def observation(self) -> Observation:
        """The criteria that are formulas of the state."""
        formulas = tuple(criterion.formula for criterion in self.values)
        observed = routines_of(replace(self.variation, integrands=formulas))
        return Observation(observed, self.variation.system.solver_parameters, self.course.backend)

    def answer(self, method: str, second_order: bool) -> Sensitivities:
        """The slopes, by the method asked for or the cheaper one."""
        choice = chosen(method, self.routines, len(self.criteria), len(self.course.times))
        found = self._direct(choice) if choice.method == "direct" else self._adjoint(choice)
        return replace(found, notes=(*self.variation.system.notes, *self._untouched(), *found.notes))

    def _direct(self, choice: Choice) -> Sensitivities:
        found = direct(self.routines, self.course)
        states = len(self.variation.states)
        values, slopes = self._observed(found)
        table = {criterion.label: (values[:, k], slopes[:, k]) for k, criterion in enumerate(self.values)}
        table |= {c.label: (found.x[:, states + k], found.u[:, states + k]) for k, c in enumerate(self.integrals)}
        responses = [self._response(criterion, found.times, *table[criterion.label]) for criterion in self.criteria]
        notes, trusted = remarks(growth_of_changes(self.variation, found.u), found.times, self.course.rtol)
        return self._result(choice, responses, found.run.statistics, notes, trusted)

    def _observed(self, found: Changes) -> tuple[Vector, Vector]:
        if not self.values:
            return np.empty((len(found.times), 0)), np.empty((len(found.times), 0, self.variation.columns))
        states = len(self.variation.states)
        return self.observation.changes(found.times, found.x[:, :states], found.u[:, :states])

    def _adjoint(self, choice: Choice) -> Sensitivities:
        back = recorded(self.routines, self.course)
        values, weights, of_parameters = self._end_weights(back)
        at_start, pbar = back.back(weights, of_parameters)
        slopes = pbar + at_start @ self.variation.initial_changes
        times = np.array([back.recording.run.t])
        responses = [
            self._response(criterion, times, values[k : k + 1], slopes[k : k + 1])
            for k, criterion in enumerate(self.criteria)
        ]
        growth = growth_of_weights(self.variation, at_start, values).max(initial=0.0)
        notes, trusted = remarks(np.array([growth]), times, self.course.rtol)
        return self._result(choice, responses, back.recording.run.statistics, notes, trusted)

    def _end_weights(self, back: Backward) -> tuple[Vector, Vector, Vector]:
        """Values of the criteria at the end, and their slopes there by x and by the parameters."""
        size, columns, states = self.variation.size, self.variation.columns, len(self.variation.states)
        t, end = back.recording.run.t, back.recording.end
        values, weights = np.zeros(len(self.criteria)), np.zeros((len(self.criteria), size))
        of_parameters = np.zeros((len(self.criteria), columns))
        observed = self.observation.values(np.array([t]), end[None, :states])[0] if self.values else np.empty(0)
        for k, criterion in enumerate(self.criteria):
            if criterion.kind == "integral":
                place = states + self.integrals.index(criterion)
                values[k], weights[k, place] = end[place], 1.0
            else:
                place = self.values.index(criterion)
                values[k] = observed[place]
                chosen_one = np.eye(len(self.values))[place]
                weights[k, :states], of_parameters[k] = self.observation.weights(t, end[:states], chosen_one)
        return values, weights, of_parameters

    def _response(self, criterion: ReadCriterion, times: Vector, values: Vector, slopes: Vector) -> Response:
        return Response(criterion.label, criterion.unit, criterion.kind, times, values, slopes)

    def _result(
        self, choice: Choice, responses: Sequence[Response], statistics: object, notes: tuple[str, ...], trusted: bool
    ) -> Sensitivities:
        return Sensitivities(
            self.variation.system.name,
            self.variation.varied,
            tuple(responses),
            choice.method,
            choice.reason,
            statistics,  # type: ignore[arg-type]
            notes,
            trusted,
        )

    def _untouched(self) -> list[str]:
        """What is said of parameters that nothing depends on."""
        variation = self.variation
        formulas: list[Expr] = [c.formula for c in self.criteria] + [
            c.when for c in self.criteria if c.when is not None
        ]
        system = variation.system
        rhs = [e for output in variation.rhs.outputs for e in output.entries]
        used = set(symbols_of([*rhs, *formulas]))
        found = []
        for k, parameter in enumerate(variation.varied):
            symbols = {variation.constants[slot] for slot, _ in parameter.constants}
            if not symbols & used and not np.any(variation.start[:, k]):
                found.append(
                    f"'{parameter.name}' changes nothing: neither the motion of {system.name} nor a criterion depends "
                    "on it, so its slopes are exactly zero."
                )
        return found
