"""A study: a prepared model, its criteria and the course of its motion, with what every method needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.errors import TorseurError
from torseur.graph import Expr, live_nodes, symbols_of
from torseur.mechanism import TIME
from torseur.sensitivity.choice import Choice
from torseur.sensitivity.contact_jumps import ContactRules, restitution_formulas
from torseur.sensitivity.course import Course
from torseur.sensitivity.criteria import ReadCriterion
from torseur.sensitivity.direct import direct
from torseur.sensitivity.discontinuities import Discontinuities
from torseur.sensitivity.initial import initial_changes, kept_changes
from torseur.sensitivity.jumps import Jump, read_jump
from torseur.sensitivity.moments import Moment, MomentCriteria
from torseur.sensitivity.motion_slopes import MotionSlopes
from torseur.sensitivity.observation import Observation, Settings, observation_of
from torseur.sensitivity.preparation import Prepared
from torseur.sensitivity.results import Response, Sensitivities
from torseur.sensitivity.routines import Routines, routines_of
from torseur.sensitivity.steady import equilibrium_start
from torseur.sensitivity.switches import switches_of
from torseur.sensitivity.variation import Variation
from torseur.simulation.integrator import Statistics
from torseur.simulation.memory import STIFF
from torseur.simulation.system import Vector


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
    def discontinuities(self) -> Discontinuities:
        """The contacts, the jumps with their names settled, and the switches of the equations."""
        return self._discontinuities(self.variation)

    def _discontinuities(self, variation: Variation) -> Discontinuities:
        slopes, impacts = MotionSlopes(variation), self.ready.impacts
        restitutions = restitution_formulas(impacts, self.ready.restitution_shifts)
        contacts = ContactRules(slopes, impacts, restitutions) if impacts else None
        written = tuple(read_jump(jump, slopes) for jump in self.jumps)
        return Discontinuities(variation, contacts, (*written, *switches_of(slopes)))

    @cached_property
    def values(self) -> list[ReadCriterion]:
        return [criterion for criterion in self.criteria if criterion.kind == "value"]

    @cached_property
    def observation(self) -> Observation:
        """The criteria that are formulas of the state."""
        return observation_of(self.variation, [criterion.formula for criterion in self.values], self.course.backend)

    @cached_property
    def moments(self) -> MomentCriteria:
        """The criteria whose time is found along the motion."""
        found = tuple(criterion for criterion in self.criteria if not criterion.criterion.is_over_time)
        return MomentCriteria(found, self.variation, self.course.backend)

    def end_of(self, criterion: ReadCriterion) -> float:
        """The time at which a criterion is evaluated."""
        if criterion.criterion.is_over_time:
            return self.course.until
        return self.found_moments[self.moments.criteria.index(criterion)].t

    @cached_property
    def found_moments(self) -> list[Moment]:
        """The moments of the criteria that have one, from a motion without changes."""
        still = replace(self.variation, varied=(), start=self.variation.start[:, :0])
        jumps = self._discontinuities(still)
        found = direct(routines_of(still), self.course, self.moments.watch(jumps), jumps)
        states = len(self.variation.states)
        ends = [Moment(self.course.start, np.array(self.variation.system.initial)), Moment(found.end.t, found.end.x)]
        ends = [replace(moment, y=moment.y[:states]) for moment in ends]
        listed = [
            [Moment(m.t, m.x[:states]) for m in found.marks if m.number == len(jumps) + k]
            for k in range(len(self.moments.criteria))
        ]
        return [self.moments.chosen(k, marks, ends, found.settings) for k, marks in enumerate(listed)]

    def end_weights(
        self, t: float, end: Vector, criteria: Sequence[ReadCriterion], settings: Settings
    ) -> tuple[Vector, Vector, Vector]:
        """Values of criteria at a time where x is known, and their slopes there by x and by the parameters."""
        states = len(self.variation.states)
        values, weights = np.zeros(len(criteria)), np.zeros((len(criteria), self.variation.size))
        of_parameters = np.zeros((len(criteria), self.variation.columns))
        observed = (
            self.observation.values(np.array([t]), end[None, :states], settings)[0] if self.values else np.empty(0)
        )
        for k, criterion in enumerate(criteria):
            if criterion.kind == "integral":
                place = states + self.integrals.index(criterion)
                values[k], weights[k, place] = end[place], 1.0
            elif criterion.kind == "value":
                values[k] = observed[self.values.index(criterion)]
                one = np.eye(len(self.values))[self.values.index(criterion)]
                weights[k, :states], of_parameters[k] = self.observation.weights(t, end[:states], one, settings)
            else:
                moment, place = Moment(t, end[:states]), self.moments.criteria.index(criterion)
                values[k], weights[k, :states], of_parameters[k] = self.moments.weights(place, moment, settings)
        return values, weights, of_parameters

    @staticmethod
    def response(criterion: ReadCriterion, times: Vector, values: Vector, slopes: Vector) -> Response:
        wrong = np.flatnonzero(~(np.isfinite(values) & np.all(np.isfinite(slopes), axis=1)))
        if wrong.size:
            raise TorseurError(
                f"criterion '{criterion.label}' has no finite value or slope at t = {times[wrong[0]]:g} s."
            )
        return Response(criterion.label, criterion.unit, criterion.kind, times, values, slopes)

    def result(
        self,
        choice: Choice,
        responses: Sequence[Response],
        statistics: Statistics | None,
        notes: tuple[str, ...],
        trusted: bool,
    ) -> Sensitivities:
        return Sensitivities(
            self.variation.system.name,
            self.variation.varied,
            tuple(responses),
            choice.method,
            choice.reason,
            statistics,
            (*notes, *_on_stiffness(statistics)),
            trusted,
            seconds=statistics.wall_time if statistics is not None else 0.0,
        )

    def unfree(self) -> list[str]:
        """What is said where given initial values cannot all stay as parameters change."""
        if self.from_equilibrium or self.variation.system.constrained is None:
            return []
        kept = kept_changes(self.variation, self.ready.initial, self.course.start)
        moved = np.flatnonzero(np.abs(kept).max(axis=0, initial=0.0) > 0.0)
        names = ", ".join(f"'{self.variation.varied[k].name}'" for k in moved)
        text = "Initial values that are given contradict the constraints as these change; all move by the least then"
        return [f"{text}: {names}."] if names else []

    def stepped(self) -> list[str]:
        """What is said where the equations contain steps that are not followed."""
        moving = {*self.variation.states, TIME}
        steps = [node for node in live_nodes(MotionSlopes(self.variation).formulas) if node.op == "floor"]
        found = [node for node in steps if moving.intersection(symbols_of([node]))]
        return [f"'{found[0]}' jumps along the motion; the slopes leave out that these moments move."] if found else []

    def untouched(self, responses: Sequence[Response]) -> list[str]:
        """What is said of parameters whose slopes are exactly zero."""
        found = []
        for k, parameter in enumerate(self.variation.varied):
            if any(np.any(response.slopes[:, k]) for response in responses):
                continue
            symbols = {self.variation.constants[slot] for slot, _ in parameter.constants}
            if symbols & self._used or parameter.starts:
                reason = "no criterion depends on what it changes in this motion"
            else:
                reason = f"neither the motion of {self.variation.system.name} nor a criterion depends on it"
            found.append(f"The slopes by '{parameter.name}' are exactly zero: {reason}.")
        return found

    @cached_property
    def _used(self) -> set[Expr]:
        """Symbols in the equations of motion and in the criteria."""
        whens = [criterion.when for criterion in self.criteria if criterion.when is not None]
        rhs = [entry for output in self.variation.rhs.outputs for entry in output.entries]
        return set(symbols_of([*rhs, *(criterion.formula for criterion in self.criteria), *whens]))


def _on_stiffness(statistics: Statistics | None) -> list[str]:
    """What is said of a motion whose explicit steps are limited by stability."""
    if statistics is None or statistics.stiffness <= STIFF or statistics.method != "explicit":
        return []
    return [
        f"The motion is stiff: the explicit method took {statistics.steps} steps to stay stable, more than it needs."
    ]
