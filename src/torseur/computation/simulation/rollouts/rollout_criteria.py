"""Criteria of a rollout as programs: event functions, and what is noted at the start, at events and at the end.

At an event w = 0 the time moves by dt = -dw / ẇ, and a value there by df + ḟ dt; at an extremum and at a fixed end by
df alone. Rates of the state are known wherever something is looked for or noted, so that the rate of a formula of
coordinates and speeds takes no dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, Input, Program, as_expr, directional_derivative, live_nodes, symbol, vector
from torseur.computation.codegen.targets.cuda.rollout.rollout_source import RolloutParts, Take, Watch
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.outputs_and_events import Event, is_python
from torseur.computation.simulation.rollouts.rollout_programs import RolloutPrograms
from torseur.computation.simulation.rollouts.watched_rollouts import watch_routines
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError, UnsupportedError

FOUND_WAYS = {"maximum": -1, "minimum": 1}


@dataclass(frozen=True)
class RolloutCriteria:
    """What is taken of motions, besides records; `stop` is the event that ends them."""

    programs: RolloutPrograms
    stop: Event | None = None

    def __post_init__(self) -> None:
        if self.stop is not None and (is_python(self.stop) or self.stop.reset is not None):
            raise UnsupportedError(
                f"rollout: stop '{self.stop.name}' is or calls a Python function, which a GPU cannot. Give a formula."
            )
        if self.stop is not None and not self.stop.stop:
            raise TorseurError(f"rollout: event '{self.stop.name}' does not stop the motion: say stop=True.")

    @property
    def parts(self) -> RolloutParts:
        """All programs of the rollout."""
        own = self.programs
        found = {"motion": own.motion, "observe": own.observe, "correction": own.settle}
        known = {name: program for name, program in found.items() if program is not None}
        if not own.criteria and self.stop is None:
            return RolloutParts(known)
        programs = {**known, **self._noted_programs, **self._watch_program}
        return RolloutParts(programs, self.watch, watch_routines(self.watch))

    @cached_property
    def watch(self) -> Watch:
        criteria = list(enumerate(self.programs.criteria))
        stop = (self._number(*self._stop), int(self.stop.stop)) if self.stop is not None else None
        return Watch(
            criteria=len(criteria),
            columns=len(self.programs.parameters),
            start=tuple(Take(k, c.kind) for k, c in criteria if c.kind in FOUND_WAYS),
            end=tuple(Take(k, c.kind) for k, c in criteria if c.when == ""),
            events=tuple(self._takes_at(event) for event in range(len(self.events))),
            directions=tuple(direction for _, direction in self.events),
            followed=tuple(self._is_followed(event) for event in range(len(self.events))),
            stop=stop,
        )

    @cached_property
    def events(self) -> list[tuple[Expr, int]]:
        """Functions and directions, each once: several criteria may wait for the same event."""
        events = [self._event(c) for c in self.programs.criteria if c.kind in FOUND_WAYS or c.when != ""]
        return list(dict.fromkeys([*events, *([self._stop] if self.stop is not None else [])]))

    def _number(self, function: Expr, direction: int) -> int:
        return self.events.index((function, direction))

    def _event(self, criterion: Criterion) -> tuple[Expr, int]:
        """The function that changes sign at the instant of a criterion, and in which direction."""
        if criterion.when != "":
            return self._solve_multipliers(criterion.when), criterion.direction
        return self._rate(self.programs.formula(criterion.formula)), FOUND_WAYS[criterion.kind]

    @cached_property
    def _stop(self) -> tuple[Expr, int]:
        assert self.stop is not None and not callable(self.stop.function)
        wanted = self.stop.name if self.stop.function is None else self.stop.function
        return self._solve_multipliers(wanted), self.stop.direction

    def _is_followed(self, event: int) -> bool:
        """Whether an event was asked for by its function; else it is a place where an extremum may be."""
        asked = [self._event(c) for c in self.programs.criteria if c.when != ""]
        return self.events[event] in [*asked, *([self._stop] if self.stop is not None else [])]

    def _takes_at(self, event: int) -> tuple[Take, ...]:
        return tuple(
            Take(k, c.kind, c.occurrence if c.when != "" else 0)
            for k, c in enumerate(self.programs.criteria)
            if (c.kind in FOUND_WAYS or c.when != "") and self._number(*self._event(c)) == event
        )

    def _solve_multipliers(self, wanted: str | Expr) -> Expr:
        (formula,) = self.programs.without_multipliers([self.programs.formula(wanted)])
        return formula

    @cached_property
    def _rates(self) -> tuple[Expr, ...]:
        """Symbols of the rates of the coordinates."""
        return tuple(symbol(f"rate of {q.name}") for q in self.programs.equations.layout.coordinates)

    def _rate(self, formula: Expr) -> Expr:
        """The time derivative of a formula along the motion, of the state and its derivatives."""
        layout, own = self.programs.equations.layout, self.programs
        moving = dict(zip((*layout.coordinates, *layout.speeds), (*self._rates, *layout.accelerations), strict=True))
        moving |= dict(zip(own.integrals, own.integrands, strict=True))
        (plain,) = own.without_multipliers([formula])
        # The derivative of an acceleration is not a symbol: it is put in as a formula of the state first.
        if set(layout.accelerations) & set(live_nodes([plain])):
            (plain,) = own.without_unknowns([plain])
        return directional_derivative([plain], {**moving, TIME: as_expr(1)})[0]

    @property
    def _noted_programs(self) -> dict[str, Program]:
        """What is noted at each instant, as a program."""
        return {
            f"at_{instant}": Program(f"at_{instant}", self._inputs, (vector("noted", self._record(instant, takes)),))
            for instant, takes in zip(self.watch.names, self.watch.instants, strict=True)
            if takes
        }

    @cached_property
    def _inputs(self) -> tuple[Input, ...]:
        """Those of the motion, integrals, and derivatives, all with their columns."""
        own, layout = self.programs, self.programs.equations.layout
        more = [Input("rates", own.augmented(self._rates)), Input("vdot", own.augmented(layout.accelerations))]
        more += [Input("z", own.augmented(own.integrals))] if own.integrals else []
        return (*own.inputs, *more)

    @property
    def _watch_program(self) -> dict[str, Program]:
        if not self.events:
            return {}
        derivatives = (Input("rates", self._rates), Input("vdot", self.programs.equations.layout.accelerations))
        outputs = (vector("g", [function for function, _ in self.events]),)
        return {"watch": Program("watch", (*self.programs.base_inputs, *derivatives), outputs)}

    def _record(self, instant: str, takes: Sequence[Take]) -> list[Expr]:
        """Values, each with its changes behind it."""
        record: list[Expr] = []
        for take in takes:
            value = self._value(take.criterion)
            changes = self._changes([value])[0]
            when = self._when(instant, take)
            if when is not None and changes:
                # A criterion f at the zero of w moves with it: 0 = ∂w + ẇ ∂t, so that df = ∂f + ḟ ∂t with ∂t = -∂w / ẇ.
                # At an extremum ḟ = 0, and the time need not be known.
                rate, of_event = self._rate(value), self._rate(when)
                later = [-dw / of_event for dw in self._changes([when])[0]]
                changes = [df + rate * dt for df, dt in zip(changes, later, strict=True)]
            record += [value, *changes]
        return record

    def _when(self, instant: str, take: Take) -> Expr | None:
        """The function whose zero decides the time of what is noted; None where that does not move, or need not."""
        if instant == "stop":
            return self._stop[0]
        criterion = self.programs.criteria[take.criterion]
        return None if criterion.when == "" else self._solve_multipliers(criterion.when)

    def _value(self, number: int) -> Expr:
        criterion, own = self.programs.criteria[number], self.programs
        if criterion.kind == "event time":
            return TIME
        if criterion.kind == "integral":
            before = sum(c.kind == "integral" for c in own.criteria[:number])
            return own.integrals[before]
        return self._solve_multipliers(criterion.formula)

    def _changes(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        """For each formula its changes by the parameters at a fixed time."""
        own, layout = self.programs, self.programs.equations.layout
        directions = own.directions(*layout.accelerations, *own.integrals)
        columns = [directional_derivative(list(formulas), direction) for direction in directions]
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in formulas]
