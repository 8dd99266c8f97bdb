"""New values of states along a motion: at a sampling period, or where a formula becomes positive.

What is due at the same instant sees the state before any of it, so that no order matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from torseur.algebra.graph import Program
from torseur.computation.simulation.constrained.contacts.contact_gaps import number_of
from torseur.computation.simulation.loop.adjusting import SolverSettings
from torseur.computation.simulation.loop.integrator import Memory
from torseur.computation.simulation.loop.routine_binding import Binding
from torseur.computation.simulation.model.outputs_and_events import Event, Output, output_program
from torseur.computation.simulation.model.system import System, Vector
from torseur.description.mechanism import Update
from torseur.errors import SimulationError, TorseurError, UnsupportedError

SAME_INSTANT = 1e-9  # of a period

Act = Callable[[Memory], float]


@dataclass
class StateUpdates:
    """The updates of one motion: their formulas, compiled, and how many samples each has had."""

    system: System
    settings: SolverSettings
    binding: Binding
    backend: str
    start: float
    until: float
    counts: dict[str, int] = field(default_factory=dict)
    periods: dict[str, float] = field(default_factory=dict)
    programs: dict[str, tuple[list[int], Program]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        states = [state.name for state in self.system.states]
        for update in self._updates:
            names = [str(target.name) for target in update.targets]
            program = output_program([Output(n, v) for n, v in zip(names, update.values, strict=True)], self.system)
            assert program is not None
            self.programs[update.name] = [states.index(name) for name in names], program
            if update.period is not None:
                self.periods[update.name] = self._period(update)
        self.counts = dict.fromkeys(self.periods, 0)
        if self.periods and self.until < self.start:
            raise UnsupportedError(f"update '{min(self.periods)}' samples forward in time; until lies before start.")

    @property
    def _updates(self) -> Sequence[Update]:
        if self.system.programs is None:
            return ()
        return [e for e in self.system.programs.equations.mechanism.contacts if isinstance(e, Update)]

    def _period(self, update: Update) -> float:
        assert self.system.programs is not None and update.period is not None
        values = {p.name: value for p, value in zip(self.system.parameters, self.system.values, strict=True)}
        period = number_of(self.system.programs.equations, update.period, values, f"update '{update.name}'")
        if not 0.0 < period < float("inf"):
            raise TorseurError(f"update '{update.name}': its period is {period:g} s, expected more than zero.")
        return period

    @property
    def events(self) -> list[Event]:
        """Updates where a formula becomes positive, as events that reset the state."""
        due = [u for u in self._updates if u.condition is not None]
        return [Event(u.name, u.condition, 1, reset=partial(self.after, u.name)) for u in due]

    def after(self, name: str, t: float, y: Vector) -> Vector:
        """The state after an update."""
        places, program = self.programs[name]
        row = np.ascontiguousarray(y.reshape(1, -1))
        (values,) = self.binding.outputs(program, np.array([t]), row, self.settings.parameters, self.backend)
        if not np.all(np.isfinite(values)):
            state = self.system.states[places[int(np.argmin(np.isfinite(values)))]].name
            raise SimulationError(f"update '{name}' gives '{state}' no finite value at t = {t:.9g} s.")
        new = y.copy()
        new[places] = values
        return new

    def sample(self, work: Memory) -> float:
        """Does what is due at the time of the memory; the time of the next sample, or the end."""
        # Three samples of 0.2 s and two of 0.3 s are the same instant, up to rounding; no step fits in between.
        slack, before = SAME_INSTANT * min(self.periods.values()), work.y.copy()
        for name in self.periods:
            if self._next(name) <= work.time + slack:
                places = self.programs[name][0]
                work.y[places] = self.after(name, work.time, before)[places]
                self.counts[name] += 1
        following = min(map(self._next, self.periods))
        return following if following < self.until - slack else self.until

    def _next(self, name: str) -> float:
        # From the start by products: sums of periods would drift.
        return self.start + self.counts[name] * self.periods[name]


def acting_together(acts: Sequence[Act]) -> Act | None:
    """What acts at instants of its own, as one; at the same instant in the given order."""
    return (lambda work: min(act(work) for act in acts)) if acts else None
