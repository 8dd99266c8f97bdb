"""Everything that makes a motion jump: contacts first among the loop's events, then jumps, then laws that switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr
from torseur.analysis.sensitivity.events.contact_jumps import ContactRules
from torseur.analysis.sensitivity.events.event_crossing import Crossing, Landing, Met
from torseur.analysis.sensitivity.events.jumps import JumpRules
from torseur.analysis.sensitivity.events.switches import SwitchRules
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.constrained.contacts.contacts import Contacts
from torseur.computation.simulation.events.state_jumps import FLIGHTS
from torseur.computation.simulation.loop.adjusting import SolverSettings
from torseur.computation.simulation.loop.integrator import Memory
from torseur.computation.simulation.model.system import Vector
from torseur.errors import UnsupportedError

TOGETHER = 1e-5  # part of how fast instants move by which those of several changes at one time may differ


@dataclass(frozen=True, eq=False)
class Discontinuities:
    """The contacts, jumps and switches of a study."""

    variation: Variation
    contacts: ContactRules | None = None
    jumps: tuple[JumpRules | SwitchRules, ...] = ()

    def __len__(self) -> int:
        return self.contact_count + len(self.jumps)

    @property
    def contact_count(self) -> int:
        return self.contacts.watched if self.contacts is not None else 0

    @property
    def functions(self) -> list[Expr]:
        """Event functions that are formulas."""
        return [rule.when for rule in self.jumps]

    @property
    def directions(self) -> tuple[int, ...]:
        return (-1,) * self.contact_count + tuple(rule.direction for rule in self.jumps)

    def externals(self, of_formulas: dict[str, Any]) -> dict[str, Any]:
        """Event functions of the loop, with contacts before the formulas."""
        if self.contacts is None:
            return of_formulas
        others = {("other_events" if name == "events" else name): value for name, value in of_formulas.items()}
        return {**others, **self.contacts.externals}

    def along(self, parameters: Vector) -> Jumps | None:
        """What happens along one motion, whose loop takes these parameters; None when it cannot jump."""
        if not len(self):
            return None
        system, contacts = self.variation.system, None
        if self.contacts is not None:
            assert system.constrained is not None
            contacts = self.contacts.fresh()
            system = replace(system, constrained=replace(system.constrained, contacts=contacts))
        return Jumps(self, SolverSettings(system, parameters), contacts)


def selection(variation: Variation, parameters: Vector) -> Callable[[float, Vector], None] | None:
    """Selects other constraints among redundant ones along one motion; None when there is no choice."""
    system = variation.system
    constrained = system.constrained
    if constrained is None or constrained.usual is None or constrained.switches or not constrained.is_redundant:
        return None
    own = replace(system, constrained=replace(constrained, usual=constrained.usual.copy()))
    settings, states = SolverSettings(own, parameters), len(variation.states)
    return lambda t, x: settings.reselect(t, x[:states])


@dataclass
class Jumps:
    """Changes x, and u where it is carried along, wherever the loop stops; keeps what happened."""

    rules: Discontinuities
    settings: SolverSettings
    contacts: Contacts | None
    landings: list[Landing] = field(default_factory=list)
    past: list[tuple[float, Vector]] = field(default_factory=list)
    direction: float = 1.0

    def settings_at(self, t: float) -> Vector:
        """The parameters as the loop took them up to a time."""
        earlier = (before for end, before in self.past if (t - end) * self.direction <= 0.0)
        return next(earlier, self.settings.parameters)

    def apply(self, work: Memory) -> bool:
        """Changes the state where the loop stopped; the motion goes on."""
        t, self.direction = work.time, float(work.motion.direction)
        count = len(self.rules)
        fired = [int(mark[1]) for mark in work.kept_marks[-1] if mark[0] == t and int(mark[1]) < count]
        # Contacts first: what they leave is the state that jumps at the same instant see.
        hit = [k for k in fired if k < self.rules.contact_count]
        if hit:
            self._change_contacts(t, work, hit)
        for k in fired[len(hit) :]:
            rule = self.rules.jumps[k - self.rules.contact_count]
            x, u = self._state(work)
            landing = rule.land(t, x, u, self.settings.parameters)
            if landing is not None:
                self._take(work, landing)
            # The loop may stop there again, and reads the side of zero it goes on from just after the start (0 says
            # so).
            work.events.limits[k], work.events.sides[k] = 1, 0
            if isinstance(rule, SwitchRules) and landing is not None:
                self._step_over(work, rule, landing)
        return True

    def _state(self, work: Memory) -> tuple[Vector, Vector]:
        """x and u where the loop stands; u without columns where it is not carried along."""
        size, columns = self.rules.variation.size, self.rules.variation.columns
        x, u = work.y[:size].copy(), work.y[size:].copy()
        return x, u.reshape(size, columns) if len(u) else np.zeros((size, columns))

    def _take(self, work: Memory, landing: Landing) -> None:
        self.landings.append(landing)
        work.y[:] = np.concatenate([landing.x, landing.tangents.ravel()])[: len(work.y)]

    def _step_over(self, work: Memory, rule: SwitchRules, landing: Landing) -> None:
        """Goes on from just behind a switch, where the loop finds the new derivative."""
        t, x = rule.beyond(landing, self.direction)
        if (work.motion.t_end - t) * self.direction > 0.0:
            work.motion.time, work.y[: len(x)] = t, x

    def _require_one_instant(self, t: float, crossings: Sequence[Crossing], met: Sequence[Met], u: Vector) -> None:
        """Refuses changes at one time that come one after the other beside these parameters."""
        times = [own.later(u) for own in met]
        largest = max(np.abs(later).max(initial=0.0) for later in times)
        for crossing, later in zip(crossings[1:], times[1:], strict=True):
            if np.abs(later - times[0]).max(initial=0.0) > TOGETHER * largest:
                raise UnsupportedError(
                    f"{crossings[0].name} and {crossing.name} happen at the same time, t = {t:.6g} s: which of them "
                    "comes first depends on the parameters, so that the motion has no derivative by them there."
                )

    def _change_contacts(self, t: float, work: Memory, fired: Sequence[int]) -> None:
        rules, contacts = self.rules.contacts, self.contacts
        assert rules is not None and contacts is not None
        x, u = self._state(work)
        states, before = len(self.rules.variation.states), self.settings.parameters.copy()
        earlier = replace(contacts, closed=set(contacts.closed), stuck=set(contacts.stuck))
        new = contacts.change(t, x[:states], fired)
        self.settings.take_constraints(t, new)
        self.past.append((t, before))
        crossings = rules.crossings(contacts, earlier, fired)
        if crossings:
            met = [crossing.crossing_at(t, x, before, new) for crossing in crossings]
            self._require_one_instant(t, crossings, met, u)
            after = rules.derivatives.at(t, met[0].z[:states], self.settings.parameters)
            self._take(work, Landing(crossings[0], met[0], u, after, before))
        count = self.rules.contact_count
        # Contacts are positive while nothing changes, also just after a rebound, where rounding could say otherwise.
        work.events.limits[:count] = work.events.sides[:count] = 1
        # A long step would fly over the next impact.
        flight = FLIGHTS * contacts.flight_time(t, work.y[:states])
        work.motion.step = min(work.motion.step, flight)
