"""A study: a prepared model, its criteria and the course of its motion, with what every method needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, as_expr, evaluate, live_nodes, symbols_of, weighted_gradient
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion
from torseur.analysis.sensitivity.criteria.criteria_at_events import Instant, InstantCriteria
from torseur.analysis.sensitivity.criteria.observation import Observation, Settings, is_plain, observation_of
from torseur.analysis.sensitivity.direct.direct_method import Tangents, integrate_tangents
from torseur.analysis.sensitivity.direct.stepped_tangents import stepped_tangents
from torseur.analysis.sensitivity.events.contact_jumps import ContactRules
from torseur.analysis.sensitivity.events.discontinuities import Discontinuities
from torseur.analysis.sensitivity.events.jumps import Jump, read_jump
from torseur.analysis.sensitivity.events.switches import switches_of
from torseur.analysis.sensitivity.extended_loop import Course
from torseur.analysis.sensitivity.method_choice import Choice
from torseur.analysis.sensitivity.method_routines import Routines, routines_of
from torseur.analysis.sensitivity.model.initial_derivatives import given_state_tangents, initial_tangents
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.model.preparation import Prepared
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities
from torseur.analysis.sensitivity.steady.steady_states import equilibrium_start
from torseur.computation.simulation.events.state_jumps import too_fast_words
from torseur.computation.simulation.loop.integrator import Run, Statistics
from torseur.computation.simulation.loop.memory import STIFF
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError, UnsupportedError


@dataclass(frozen=True, eq=False)
class Study:
    """A prepared model, its criteria and the course of its motion."""

    ready: Prepared
    criteria: tuple[ReadCriterion, ...]
    course: Course
    jumps: tuple[Jump, ...] = ()
    from_equilibrium: bool = False

    @property
    def in_steps(self) -> bool:
        """Whether the motion goes in time steps."""
        return self.ready.switching is not None

    @cached_property
    def integrals(self) -> list[ReadCriterion]:
        return [criterion for criterion in self.criteria if criterion.kind == "integral"]

    @cached_property
    def variation(self) -> Variation:
        system, varied = self.ready.system, self.ready.varied
        integrands = tuple(criterion.formula for criterion in self.integrals)
        # Tangents of the start need the variation themselves, so that it is made without them first.
        bare = Variation(system, varied, np.zeros((len(system.states), len(varied))), integrands)
        if self.from_equilibrium:
            resting, start = equilibrium_start(replace(bare, integrands=()), self.ready.initial)
            return replace(bare, system=resting, start=start)
        return replace(bare, start=initial_tangents(bare, self.ready.initial, self.course.start))

    @cached_property
    def routines(self) -> Routines:
        return routines_of(self.variation)

    @cached_property
    def discontinuities(self) -> Discontinuities:
        """The contacts, the jumps with their names resolved, and the switches of the equations."""
        return self._discontinuities(self.variation)

    def _discontinuities(self, variation: Variation) -> Discontinuities:
        derivatives, constrained = MotionDerivatives(variation), variation.system.constrained
        switches = constrained is not None and constrained.switches
        contacts = ContactRules(derivatives, self.ready.restitutions) if switches else None
        written = tuple(read_jump(jump, derivatives) for jump in self.jumps)
        return Discontinuities(variation, contacts, (*written, *switches_of(derivatives)))

    @cached_property
    def values(self) -> list[ReadCriterion]:
        return [criterion for criterion in self.criteria if criterion.kind == "value"]

    @cached_property
    def observation(self) -> Observation:
        """The criteria that are formulas of the state."""
        return observation_of(self.variation, [criterion.formula for criterion in self.values], self.course.backend)

    @cached_property
    def instants(self) -> InstantCriteria:
        """The criteria whose time the motion decides."""
        located = tuple(criterion for criterion in self.criteria if not criterion.criterion.is_over_time)
        return InstantCriteria(located, self.variation, self.course.backend)

    def end_of(self, criterion: ReadCriterion) -> float:
        """The time at which a criterion is evaluated."""
        if criterion.criterion.is_over_time:
            return self.course.until
        return self.criterion_instants[self.instants.criteria.index(criterion)].t

    def tangents(self) -> tuple[Tangents, int]:
        """States and tangents along the motion, and how many of the marks in it are discontinuities."""
        if self.ready.switching is not None:
            complete = replace(self.variation, system=self.ready.switching)
            for criterion in self.criteria:
                # Accelerations are those with contacts: without them a formula of the state would stand for another.
                if not criterion.criterion.is_over_time or not is_plain(complete, [criterion.formula]):
                    what = "accelerations or multipliers" if criterion.criterion.is_over_time else "events"
                    raise UnsupportedError(
                        f"criterion '{criterion.label}': in time steps derivatives cover values and integrals of "
                        f"formulas of the state, not of {what}. Choose integrator='auto'."
                    )
            return stepped_tangents(self.ready, self.variation, self.course), 0
        jumps = self.discontinuities
        return integrate_tangents(self.routines, self.course, self.instants.watch(jumps), jumps), len(jumps)

    @cached_property
    def _still_motion(self) -> tuple[Tangents, Discontinuities]:
        # Where events are is a matter of the motion alone: without columns it costs one simulation.
        still = replace(self.variation, varied=(), start=self.variation.start[:, :0])
        jumps = self._discontinuities(still)
        return integrate_tangents(routines_of(still), self.course, self.instants.watch(jumps), jumps), jumps

    def search_notes(self, run: Run, jumps: int) -> tuple[str, ...]:
        """What is said of an event function of a criterion, or of a jump, that the search could not follow."""
        if run.unresolved < 0:
            return ()
        k = run.unresolved - jumps
        name = f"criterion '{self.instants.criteria[k].label}'" if k >= 0 else "a jump or switch of the motion"
        return (too_fast_words(name),)

    @property
    def notes_of_instants(self) -> tuple[str, ...]:
        """The same of the motion from which `criterion_instants` are, where there are any."""
        if not self.instants.criteria:
            return ()
        motion, jumps = self._still_motion
        return self.search_notes(motion.run, len(jumps))

    @cached_property
    def criterion_instants(self) -> list[Instant]:
        """The instants of the criteria that have one, from a motion without tangents."""
        motion, jumps = self._still_motion
        states = len(self.variation.states)
        initial, end = np.array(self.variation.system.initial), motion.end
        ends = [Instant(self.course.start, initial), Instant(end.t, end.x[:states])]
        listed = [
            [Instant(m.t, m.x[:states]) for m in motion.marks if m.number == len(jumps) + k]
            for k in range(len(self.instants.criteria))
        ]
        return [self.instants.choose(k, marks, ends, motion.settings) for k, marks in enumerate(listed)]

    def end_adjoints(
        self, t: float, end: Vector, criteria: Sequence[ReadCriterion], settings: Settings
    ) -> tuple[Vector, Vector, Vector]:
        """Values of criteria at a time where x is known, and their derivatives there by x and by the parameters."""
        states = len(self.variation.states)
        values, adjoints = np.zeros(len(criteria)), np.zeros((len(criteria), self.variation.size))
        of_parameters = np.zeros((len(criteria), self.variation.columns))
        observed = (
            self.observation.values(np.array([t]), end[None, :states], settings)[0] if self.values else np.empty(0)
        )
        for k, criterion in enumerate(criteria):
            if criterion.kind == "integral":
                place = states + self.integrals.index(criterion)
                values[k], adjoints[k, place] = end[place], 1.0
            elif criterion.kind == "value":
                values[k] = observed[self.values.index(criterion)]
                # The criteria of formulas are observed together; this one alone gets weight.
                one = np.eye(len(self.values))[self.values.index(criterion)]
                adjoints[k, :states], of_parameters[k] = self.observation.adjoints(t, end[:states], one, settings)
            else:
                instant, place = Instant(t, end[:states]), self.instants.criteria.index(criterion)
                values[k], adjoints[k, :states], of_parameters[k] = self.instants.adjoints(place, instant, settings)
        return values, adjoints, of_parameters

    def response(self, criterion: ReadCriterion, times: Vector, values: Vector, derivatives: Vector) -> Response:
        """A criterion with its derivatives, all of them finite."""
        wrong = np.flatnonzero(~(np.isfinite(values) & np.all(np.isfinite(derivatives), axis=1)))
        if wrong.size:
            raise TorseurError(
                f"criterion '{criterion.label}' has no finite value or derivative at t = {times[wrong[0]]:g} s."
            )
        magnitude = self._magnitude(criterion)
        return Response(
            criterion.label, criterion.unit, criterion.kind, times, values, derivatives, magnitude=magnitude
        )

    def _magnitude(self, criterion: ReadCriterion) -> float:
        """What changes of all states by their size make of a criterion; 0 where its formula has more than states."""
        span = abs(self.course.until - self.course.start)
        if criterion.kind == "event time":
            return span
        system = self.variation.system
        values = {"t": [self.course.start], "y": list(system.initial), "p": list(system.values)}
        bound = {node: x for g in self.variation.rhs.inputs for node, x in zip(g.nodes, values[g.name], strict=True)}
        gradient = weighted_gradient([criterion.formula], [as_expr(1)], self.variation.states)
        if not bound.keys() >= set(symbols_of(gradient)):
            return 0.0
        try:
            by_state = np.array([float(x) for x in evaluate(gradient, bound)])
        except (ArithmeticError, ValueError):
            return 0.0
        total = float(np.abs(by_state) @ system.state_scales(np.array(system.initial)))
        return (total * span if criterion.kind == "integral" else total) if np.isfinite(total) else 0.0

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

    def notes(self, responses: Sequence[Response]) -> list[str]:
        """What should be known before the derivatives are used."""
        return [*self._notes_on_start(), *self._notes_on_steps(), *self._notes_on_zeros(responses)]

    def _notes_on_start(self) -> list[str]:
        """What is said where given initial values cannot all stay as parameters change."""
        if self.from_equilibrium or self.variation.system.constrained is None:
            return []
        kept = given_state_tangents(self.variation, self.ready.initial, self.course.start)
        moved = np.flatnonzero(np.abs(kept).max(axis=0, initial=0.0) > 0.0)
        names = ", ".join(f"'{self.variation.varied[k].name}'" for k in moved)
        text = "Initial values that are given contradict the constraints as these change; all move by the least then"
        return [f"{text}: {names}."] if names else []

    def _notes_on_steps(self) -> list[str]:
        """What is said where the equations contain steps that are not followed."""
        derivatives = MotionDerivatives(self.variation)
        steps = [node for node in live_nodes(derivatives.formulas) if node.op == "floor"]
        # Of the state and of time they are switches; of accelerations and multipliers no event function is known.
        moving_steps = [node for node in steps if set(derivatives.solution).intersection(symbols_of([node]))]
        text = "jumps along the motion; the derivatives leave out that these instants move"
        return [f"'{moving_steps[0]}' {text}."] if moving_steps else []

    def _notes_on_zeros(self, responses: Sequence[Response]) -> list[str]:
        """What is said of parameters whose derivatives are exactly zero."""
        notes = []
        for k, parameter in enumerate(self.variation.varied):
            # A derivative of exactly zero is rarely meant: it says that something was named that nothing depends on.
            if any(np.any(response.derivatives[:, k]) for response in responses):
                continue
            symbols = {self.variation.constants[slot] for slot, _ in parameter.constants}
            if symbols & self._symbols or parameter.starts:
                reason = "no criterion depends on it in this motion"
            else:
                reason = f"neither the motion of {self.variation.system.name} nor a criterion depends on it"
            notes.append(f"The derivatives by '{parameter.name}' are exactly zero: {reason}.")
        return notes

    @cached_property
    def _symbols(self) -> set[Expr]:
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
