"""Jumps of the state at events: contacts that hit or let go, and resets that the user wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.computation.simulation.constrained.contacts.contacts import Contacts
from torseur.computation.simulation.constrained.contacts.switching_modes import SLIDES, STICKS
from torseur.computation.simulation.constrained.start.consistent_state import nearest_state
from torseur.computation.simulation.loop.adjusting import SolverSettings
from torseur.computation.simulation.loop.integrator import Memory
from torseur.computation.simulation.model.outputs_and_events import Event
from torseur.computation.simulation.model.system import Vector
from torseur.errors import SimulationError, TorseurError

FLIGHTS = 4.0  # longest step after a rebound, in times of flight until the next one


@dataclass(frozen=True)
class Segment:
    """A part of the motion with the same contacts in force: from which time, sample and row, with which parameters."""

    time: float
    sample: int
    row: int
    parameters: Vector


@dataclass
class Jumps:
    """What happens where the loop stopped at an event; contacts are numbered before the events.

    `labels` names what contacts did, in the order of their marks. `segments` are the parts of the motion between
    changes of contacts: what is asked of a state depends on which are closed there.
    """

    settings: SolverSettings
    events: tuple[Event, ...]
    labels: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)

    @property
    def contacts(self) -> int:
        """Number of event functions of contacts and friction."""
        constrained = self.settings.system.constrained
        return 0 if constrained is None or constrained.contacts is None else constrained.contacts.watched

    def begin(self, t: float) -> None:
        """Notes what is in force at the start."""
        self.segments.append(Segment(t, 0, 0, self.settings.parameters.copy()))

    @property
    def struck(self) -> tuple[int, ...]:
        """Contacts that the motion starts with an impact on."""
        constrained = self.settings.system.constrained
        return constrained.contacts.struck if constrained is not None and constrained.contacts is not None else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said of impacts."""
        constrained = self.settings.system.constrained
        return () if constrained is None or constrained.contacts is None else tuple(constrained.contacts.notes)

    @property
    def limits(self) -> tuple[int, ...]:
        """Occurrences after which the loop stops, per contact and event."""
        return (1,) * self.contacts + tuple(1 if event.reset else int(event.stop) for event in self.events)

    @property
    def directions(self) -> tuple[int, ...]:
        return (-1,) * self.contacts + tuple(event.direction for event in self.events)

    def too_fast(self, number: int) -> tuple[str, ...]:
        """A note about the event function of this number, which the search for events could not follow; -1 for none."""
        if number < 0:
            return ()
        constrained = self.settings.system.constrained
        contacts = constrained.contacts if constrained is not None else None
        if contacts is None or number >= contacts.watched:
            return (too_fast_words(f"event '{self.events[number - self.contacts].name}'"),)
        names = [f"contact '{c.name}'" for c in contacts.impacts] + [f"friction '{e.name}'" for e in contacts.friction]
        return (too_fast_words([*names, "friction that jams"][number]),)

    def apply(self, work: Memory) -> bool:
        """Changes the state after the loop stopped at events; false when the motion ends there."""
        t = work.time
        fired = [int(mark[1]) for mark in work.kept_marks[-1] if mark[0] == t]
        if any(work.events.limits[k] == 0 and not self._jumps(k) for k in fired):
            return False
        ended = False
        self.settings.let_go()
        contacts = [k for k in fired if k < self.contacts]
        if contacts:
            self._change_contacts(t, work, contacts)
        for k in fired:
            if k >= self.contacts and self._jumps(k):
                ended = self._reset(t, work, k) or ended
        return not ended

    def _jumps(self, k: int) -> bool:
        return k < self.contacts or self.events[k - self.contacts].reset is not None

    def _change_contacts(self, t: float, work: Memory, fired: Sequence[int]) -> None:
        constrained = self.settings.system.constrained
        assert constrained is not None and constrained.contacts is not None
        contacts = constrained.contacts
        closed, modes, before = set(contacts.closed), contacts.modes, work.y.copy()
        work.y[:] = contacts.change(t, before.copy(), fired)
        happened = _happenings(contacts, closed, modes, fired)
        # A contact that rounding alone had closed has no event; what changed along with others has one of its own.
        marks = [mark for mark in work.kept_marks[-1] if mark[0] != t or mark[1] >= self.contacts]
        marks += [np.array([t, k, *before]) for k in happened]
        work.kept_marks[-1] = np.array(marks).reshape(len(marks), 2 + len(before))
        self.labels += happened.values()
        self.settings.take_constraints(t, work.y)
        self.begin_segment(t, work)
        work.events.limits[: self.contacts] = 1
        work.events.sides[: self.contacts] = 1
        flight = FLIGHTS * contacts.flight_time(t, work.y)
        work.motion.step = min(work.motion.step, flight)

    def begin_segment(self, t: float, work: Memory) -> None:
        """Notes that other parameters are in force from here on."""
        self.segments.append(Segment(t, work.output.sample, work.kept_count, self.settings.parameters.copy()))

    def _on_constraints(self, t: float, y: Vector) -> Vector:
        """A state that a user wrote, moved onto the constraints."""
        constrained = self.settings.system.constrained
        if constrained is None or constrained.numbers is None:
            return y
        try:
            return nearest_state(constrained.numbers, t, y)
        except TorseurError as error:
            raise SimulationError(f"after a reset at t = {t:.9g} s: {error}") from error

    def _reset(self, t: float, work: Memory, k: int) -> bool:
        """Applies a user's reset; true when the event's number of occurrences is reached."""
        event = self.events[k - self.contacts]
        assert event.reset is not None
        try:
            new = np.array(event.reset(t, work.y.copy()), dtype=float)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise SimulationError(f"reset of event '{event.name}' failed at t = {t:.9g} s: {reason}") from error
        if new.shape != work.y.shape or not np.all(np.isfinite(new)):
            raise SimulationError(
                f"reset of event '{event.name}' at t = {t:.9g} s must return {len(work.y)} finite numbers."
            )
        work.y[:] = self._on_constraints(t, new)
        work.events.limits[k], work.events.sides[k] = 1, 0
        count = sum(int(mark[1]) == k for marks in work.kept_marks for mark in marks)
        return bool(event.stop) and count >= int(event.stop)


def _happenings(contacts: Contacts, closed: set[int], modes: tuple[str, ...], fired: Sequence[int]) -> dict[int, str]:
    """What has just happened to contacts and friction, by the numbers of their event functions."""
    happened: dict[int, str] = {}
    count = len(contacts.impacts)
    for k, impact in enumerate(contacts.impacts):
        # First: what stops pressing may close again by rounding, which is no impact.
        if k in closed and k not in contacts.closed and k in fired:
            happened[k] = f"{impact.name} opens"
        elif k in contacts.rebounding:
            happened[k] = impact.name
    for e, (element, old, new) in enumerate(zip(contacts.friction, modes, contacts.modes, strict=True)):
        if old != new and new in (STICKS, SLIDES):
            happened[count + e] = f"{element.name} {new}"
    return happened


def too_fast_words(name: str) -> str:
    """What is said of an event function that the search for events could not follow."""
    return (
        f"The function of {name} changes faster than the steps can follow: some of its changes of sign may be "
        "missing. A shorter max_step finds more of them."
    )
