"""`sensitivity`: from a model and criteria to their slopes by the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.errors import SimulationError, UnsupportedError
from torseur.graph import Expr, symbols_of
from torseur.sensitivity.adjoint import recorded
from torseur.sensitivity.choice import Choice, chosen
from torseur.sensitivity.continuous import ContinuousAdjoint, basis
from torseur.sensitivity.course import MOST_BYTES, Course
from torseur.sensitivity.criteria import Criterion, ReadCriterion, as_criteria, read_criterion
from torseur.sensitivity.direct import Changes, direct
from torseur.sensitivity.growth import growth_of_changes, growth_of_weights, remarks
from torseur.sensitivity.initial import initial_changes
from torseur.sensitivity.jumps import Jump, JumpsOfChanges, read_jump
from torseur.sensitivity.moments import Moment, MomentCriteria
from torseur.sensitivity.observation import Observation
from torseur.sensitivity.parameters import Requested, Varied
from torseur.sensitivity.preparation import Prepared, prepare
from torseur.sensitivity.results import Response, Sensitivities
from torseur.sensitivity.routines import Routines, routines_of
from torseur.sensitivity.second_order import Curvature
from torseur.sensitivity.steady import equilibrium_start
from torseur.sensitivity.variation import Variation
from torseur.sensitivity.verification import Agreement, agreements
from torseur.simulation.from_equations import Model
from torseur.simulation.problem import Samples, Tolerance, finite_time, sample_times
from torseur.simulation.system import Vector

BASIS_LOST = 1e-4  # condition number of a basis of adjoint solutions times the tolerance, beyond which it is not used


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
    verify: bool = False,
    values: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
    from_equilibrium: bool = False,
    jumps: Sequence[Jump] = (),
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
    verify       compares the slopes with differences of motions: `agreement` of the result
    values       of parameters that replace those of the mechanism; `initial` likewise of coordinates and speeds
    from_equilibrium  starts at the equilibrium, which moves with the parameters, with `initial` values replaced there
    jumps        changes of the state where a formula changes sign
    memory       bytes that the adjoint may keep of the motion; beyond them parts of it are computed twice
    """
    start, until = finite_time("start", start), finite_time("until", until)
    ready = prepare(model, parameters, values or {}, {} if from_equilibrium else initial or {}, laws or {}, start)
    if from_equilibrium:
        ready = replace(ready, initial=initial or {})
    wanted = as_criteria(criteria, integral)
    times = np.array([until]) if samples is None else sample_times(samples, start, until)
    course = Course(start, until, times, rtol, atol, max_steps, max_step, backend, memory, progress)
    study = Study(ready, tuple(read_criterion(c, ready.system) for c in wanted), course, tuple(jumps), from_equilibrium)
    found = study.answer(method, second_order)
    return replace(found, agreement=study.verified(found.responses)) if verify else found


@dataclass(frozen=True, eq=False)
class Study:
    """A prepared model, its criteria and the course of its motion."""

    ready: Prepared
    criteria: tuple[ReadCriterion, ...]
    course: Course
    jumps: tuple[Jump, ...] = ()
    from_equilibrium: bool = False

    @cached_property
    def integrals(self) -> list[ReadCriterion]:
        return [criterion for criterion in self.criteria if criterion.kind == "integral"]

    @cached_property
    def variation(self) -> Variation:
        system, varied = self.ready.system, self.ready.varied
        integrands = tuple(criterion.formula for criterion in self.integrals)
        bare = Variation(system, varied, np.zeros((len(system.states), len(varied))), integrands)
        if self.from_equilibrium:
            settled, start = equilibrium_start(replace(bare, integrands=()), self.ready.initial)
            return replace(bare, system=settled, start=start)
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

    @cached_property
    def moments(self) -> MomentCriteria:
        """The criteria whose time is found along the motion."""
        found = tuple(criterion for criterion in self.criteria if not criterion.criterion.is_over_time)
        return MomentCriteria(found, self.variation, self.course.backend)

    def answer(self, method: str, second_order: bool) -> Sensitivities:
        """The slopes, by the method asked for or the cheaper one."""
        choice = self._choice(method)
        found = self._by(choice)
        if second_order:
            found = replace(found, responses=tuple(self._curved(r) for r in found.responses))
        return replace(found, notes=(*self.variation.system.notes, *self._untouched(), *found.notes))

    def verified(self, responses: Sequence[Response]) -> tuple[Agreement, ...]:
        """How the slopes agree with differences of motions at a tighter tolerance."""
        tight = replace(self.course, rtol=max(1e-2 * self.course.rtol, 1e-13))

        def shifted(parameter: Varied, step: float) -> list[Vector]:
            moved = self.ready.shifted(parameter, step)
            ready = replace(moved, varied=())
            read = tuple(read_criterion(c.criterion, ready.system) for c in self.criteria)
            study = replace(self, ready=ready, criteria=read, course=tight)
            return [response.values for response in study._direct(Choice("direct", "")).responses]

        return agreements(self.variation.varied, responses, shifted)

    def _choice(self, method: str) -> Choice:
        if not self.jumps:
            return chosen(method, self.routines, len(self.criteria), len(self.course.times))
        if method not in ("auto", "direct"):
            raise UnsupportedError("jumps of the state are followed by the direct method only: method='direct'.")
        return Choice("direct", "the state jumps, which the direct method follows")

    def _by(self, choice: Choice) -> Sensitivities:
        if choice.method == "direct":
            return self._direct(choice)
        if len(self.course.times) > 1:
            return self._from_basis(choice)
        return self._adjoint(choice) if choice.method == "adjoint" else self._continuous(choice)

    def _continuous(self, choice: Choice) -> Sensitivities:
        """Slopes at the end by the continuous adjoint."""
        adjoint = ContinuousAdjoint(self.routines, self._without_moments())
        values, weights, of_parameters = self._end_weights(adjoint.motion.t, adjoint.motion.y, self.criteria)
        slopes, at_start = adjoint.gradients(weights, of_parameters)
        times = np.array([self.course.until])
        responses = [self._response(c, times, values[k, None], slopes[k, None]) for k, c in enumerate(self.criteria)]
        growth = growth_of_weights(self.variation, at_start, values).max(initial=0.0)
        notes, trusted = remarks(np.array([growth]), times, self.course.rtol)
        return self._result(choice, responses, adjoint.motion.statistics, notes, trusted)

    def _without_moments(self) -> Course:
        if self.moments.criteria:
            raise UnsupportedError(
                f"criterion '{self.moments.criteria[0].label}': events and extrema are for the direct method, or the "
                "discrete adjoint without samples."
            )
        return self.course

    def _from_basis(self, choice: Choice) -> Sensitivities:
        """Slopes at all samples by a basis of adjoint solutions; by the direct method where that loses digits."""
        adjoint, times = ContinuousAdjoint(self.routines, self._without_moments()), self.course.times
        try:
            found = basis(adjoint)
            worst = float(found.conditions.max(initial=1.0))
        except SimulationError:
            worst = float("inf")
        if not worst * self.course.rtol < BASIS_LOST:
            text = f"the basis of adjoint solutions has condition number {worst:.1e}, too much for rtol"
            taken = self._direct(Choice("direct", f"{text} = {self.course.rtol:g}; the direct method took over"))
            return replace(taken, notes=(f"Adjoint over time: {taken.reason}.", *taken.notes))
        values, slopes = [], []
        for k, (t, x) in enumerate(zip(times, adjoint.motion.samples, strict=True)):
            at_sample, weights, of_parameters = self._end_weights(float(t), x, self.criteria)
            values.append(at_sample)
            slopes.append(found.slopes(k, weights, of_parameters, self.variation.initial_changes))
        table, curves = np.array(values), np.array(slopes)
        responses = [self._response(c, times, table[:, k], curves[:, k]) for k, c in enumerate(self.criteria)]
        note = f"Condition number of the basis of adjoint solutions: at most {worst:.1e}."
        return self._result(choice, responses, adjoint.motion.statistics, (note,), True)

    def _direct(self, choice: Choice) -> Sensitivities:
        rules = [read_jump(jump, self.variation) for jump in self.jumps]
        directions = tuple(jump.direction for jump in self.jumps)
        watch = self.moments.watch([rule.when for rule in rules], directions, (1,) * len(rules))
        found = direct(self.routines, self.course, watch, JumpsOfChanges(rules).apply if rules else None)
        states = len(self.variation.states)
        values, slopes = self._observed(found)
        table = {c.label: (found.times, values[:, k], slopes[:, k]) for k, c in enumerate(self.values)}
        for k, criterion in enumerate(self.integrals):
            table[criterion.label] = (found.times, found.x[:, states + k], found.u[:, states + k])
        table |= self._at_moments(found, len(rules))
        responses = [self._response(criterion, *table[criterion.label]) for criterion in self.criteria]
        notes, trusted = remarks(growth_of_changes(self.variation, found.u), found.times, self.course.rtol)
        return self._result(choice, responses, found.run.statistics, notes, trusted)

    def _observed(self, found: Changes) -> tuple[Vector, Vector]:
        if not self.values:
            return np.empty((len(found.times), 0)), np.empty((len(found.times), 0, self.variation.columns))
        states = len(self.variation.states)
        return self.observation.changes(found.times, found.x[:, :states], found.u[:, :states])

    def _at_moments(self, found: Changes, jumps: int) -> dict[str, tuple[Vector, Vector, Vector]]:
        """Time, value and slopes of the criteria whose time was found along the motion."""
        states, table = len(self.variation.states), {}
        begin = Moment(self.course.start, np.array(self.variation.system.initial), self.variation.start)
        end = Moment(found.end.t, found.end.x[:states], found.end.u[:states])
        for k, criterion in enumerate(self.moments.criteria):
            marks = [Moment(m.t, m.x[:states], m.u[:states]) for m in found.marks if m.number == jumps + k]
            moment = self.moments.chosen(k, marks, [begin, end])
            value, slopes = self.moments.slopes(k, moment)
            table[criterion.label] = (np.array([moment.t]), np.array([value]), slopes[None])
        return table

    def _adjoint(self, choice: Choice) -> Sensitivities:
        ends = [self._end_of(criterion) for criterion in self.criteria]
        responses: dict[str, Response] = {}
        growth, statistics = 0.0, None
        for until in dict.fromkeys(ends):
            here = [c for c, end in zip(self.criteria, ends, strict=True) if end == until]
            back = recorded(self.routines, replace(self.course, until=until))
            values, weights, of_parameters = self._end_weights(until, back.recording.end, here)
            at_start, pbar = back.back(weights, of_parameters)
            slopes = pbar + at_start @ self.variation.initial_changes
            for k, criterion in enumerate(here):
                row = np.array([until]), values[k : k + 1], slopes[k : k + 1]
                responses[criterion.label] = self._response(criterion, *row)
            growth = max(growth, growth_of_weights(self.variation, at_start, values).max(initial=0.0))
            statistics = back.recording.run.statistics
        notes, trusted = remarks(np.array([growth]), np.array([self.course.until]), self.course.rtol)
        return self._result(choice, [responses[c.label] for c in self.criteria], statistics, notes, trusted)

    def _end_of(self, criterion: ReadCriterion) -> float:
        """The time at which a criterion is evaluated."""
        if criterion.criterion.is_over_time:
            return self.course.until
        return self._found[self.moments.criteria.index(criterion)].t

    @cached_property
    def _found(self) -> list[Moment]:
        """The moments of the criteria that have one, from a motion without changes."""
        still = replace(self.variation, varied=(), start=self.variation.start[:, :0])
        found = direct(routines_of(still), self.course, self.moments.watch())
        states = len(self.variation.states)
        ends = [Moment(self.course.start, np.array(self.variation.system.initial)), Moment(found.end.t, found.end.x)]
        ends = [replace(moment, y=moment.y[:states]) for moment in ends]
        listed = [[Moment(m.t, m.x[:states]) for m in found.marks if m.number == k] for k in range(len(self.moments.criteria))]
        return [self.moments.chosen(k, marks, ends) for k, marks in enumerate(listed)]

    def _end_weights(
        self, t: float, end: Vector, criteria: Sequence[ReadCriterion]
    ) -> tuple[Vector, Vector, Vector]:
        """Values of criteria at a time where x is known, and their slopes there by x and by the parameters."""
        states = len(self.variation.states)
        values, weights = np.zeros(len(criteria)), np.zeros((len(criteria), self.variation.size))
        of_parameters = np.zeros((len(criteria), self.variation.columns))
        observed = self.observation.values(np.array([t]), end[None, :states])[0] if self.values else np.empty(0)
        for k, criterion in enumerate(criteria):
            if criterion.kind == "integral":
                place = states + self.integrals.index(criterion)
                values[k], weights[k, place] = end[place], 1.0
            elif criterion.kind == "value":
                values[k] = observed[self.values.index(criterion)]
                one = np.eye(len(self.values))[self.values.index(criterion)]
                weights[k, :states], of_parameters[k] = self.observation.weights(t, end[:states], one)
            else:
                moment, place = Moment(t, end[:states]), self.moments.criteria.index(criterion)
                values[k], weights[k, :states], of_parameters[k] = self.moments.weights(place, moment)
        return values, weights, of_parameters

    @cached_property
    def curvature(self) -> Curvature:
        return Curvature(self.routines, self.course)

    def _curved(self, response: Response) -> Response:
        """The response with its Hessian at the end of the span."""
        criterion = next(c for c in self.criteria if c.label == response.name)
        if not criterion.criterion.is_over_time or self.jumps:
            raise UnsupportedError(f"criterion '{criterion.label}': second order is for values and integrals, no jumps.")
        size, states, columns = self.variation.size, len(self.variation.states), self.variation.columns
        end = self.curvature.recording.end
        weights, pbar, hessian = np.zeros(size * (1 + columns)), np.zeros(columns), np.zeros((columns, columns))
        if criterion.kind == "integral":
            weights[states + self.integrals.index(criterion)] = 1.0
        else:
            x, u = end[:size], end[size:].reshape(size, columns)
            observed = self.observation.routines
            place = self.values.index(criterion)
            found, pbar, hessian = self.curvature.observed(observed, self.course.until, x, u, place)
            width = observed.variation.size
            weights[:states] = found[:states]
            weights[size : size + states * columns] = found[width : width + states * columns]
        _, whole = self.curvature.hessian(weights, pbar, hessian)
        return replace(response, hessian=0.5 * (whole + whole.T))

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
