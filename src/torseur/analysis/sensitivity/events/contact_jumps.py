"""Contacts that open and close and friction that sticks and slides, as jumps of the state and of what is in force.

A rebound is an impulse along all constraints that leaves their rates at zero and turns that of the gap around, times
the restitution, with Coulomb's friction where the contact slides. A contact that lets go, or friction that breaks away,
changes no state: only what is in force differs before and after. What comes to rest keeps its speeds but for those that
stick from there on, which vary no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, as_expr
from torseur.analysis.sensitivity.constrained.constrained_tangents import SolvedMotion, solve_motion_with_factors
from torseur.analysis.sensitivity.events.event_crossing import Crossing, explicit_crossing
from torseur.analysis.sensitivity.events.jumps import Rubbing, impulsive_crossing
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.contacts.contact_events import NW, friction_events, gaps
from torseur.computation.simulation.constrained.contacts.contacts import Contacts
from torseur.computation.simulation.constrained.contacts.friction_rows import pressing
from torseur.computation.simulation.constrained.contacts.switching_modes import STICKS
from torseur.computation.simulation.constrained.solver.constrained_sizes import NH, NK, NP, NQ, Settings
from torseur.computation.simulation.events.event_search import NG
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.errors import UnsupportedError

FAST = 1.5  # length of the direction of what slides in a plane, above which it is faster than creeping

other_events = External("other_events", "t: float, y: Array, p: Array, g: Array")


@routine
def events_with_contacts(t: float, y: Array, p: Array, g: Array) -> None:
    """Contacts and friction first, positive while nothing changes (see contact_events.py); then other events."""
    settings = Settings.view(p[NP:])
    u = zeros(1)
    distances = zeros(NK + 1)
    solved = SolvedMotion()
    rates = zeros(NQ)
    if NK > 0:
        gaps(t, y, p, u, distances)
    # Pressures need the accelerations; while all contacts are open these are not solved for.
    closed = NW > 0
    for k in range(NK):
        closed = closed or settings.sizes[NH - NK + k] >= 0.0
    if closed:
        solve_motion_with_factors(t, y, p, rates, solved)
    for k in range(NK):
        row = NH - NK + k
        if settings.sizes[row] >= 0.0:
            g[k] = -solved.l[row]
        else:
            g[k] = distances[k] + settings.thickness[k]
    if NW > 0:
        friction_events(t, y, p, u, solved.l, g[NK:])
    if NG > NK + NW:
        other_events(t, y, p, g[NK + NW :])


@dataclass(frozen=True, eq=False)
class ContactRules:
    """The contacts and the friction of a study; the restitution of each contact is a formula of the parameters."""

    derivatives: MotionDerivatives
    restitutions: tuple[Expr, ...]

    @property
    def _programs(self) -> MechanismPrograms:
        programs = self.derivatives.variation.system.programs
        assert programs is not None
        return programs

    @property
    def externals(self) -> dict[str, Any]:
        """What the loop's event functions need."""
        return {"events": events_with_contacts, "gaps": self._programs.gaps}

    @property
    def watched(self) -> int:
        """Number of event functions of contacts and friction."""
        constrained = self.derivatives.variation.system.constrained
        assert constrained is not None and constrained.contacts is not None
        return constrained.contacts.watched

    def crossings(self, contacts: Contacts, earlier: Contacts, fired: Sequence[int]) -> list[Crossing]:
        """What has just happened, a crossing for each event function that changed sign; all lead to the same state."""
        # Beside parameters for which two contacts are hit together there are some for which either comes first.
        if len(contacts.rebounding) > 1:
            names = " and ".join(f"'{contacts.impacts[k].name}'" for k in contacts.rebounding)
            raise UnsupportedError(
                f"contacts {names} are hit at the same time: which of them comes first depends on the parameters, so "
                "that the motion has no derivative with respect to them there."
            )
        if contacts.rebounding:
            return [self._rebound(contacts)]
        rest = self._resting_rows(contacts) if contacts.stuck - earlier.stuck else ()
        released = [self._letting_go(k, rest) for k in fired if k in earlier.closed]
        first = len(contacts.impacts)
        elements = [k - first for k in fired if first <= k < first + len(contacts.friction)]
        return released + [self._switch_of_friction(k, earlier, rest) for k in elements]

    @cached_property
    def _crossings(self) -> dict[object, Crossing]:
        return {}

    def _rebound(self, contacts: Contacts) -> Crossing:
        ((k, restitution),) = contacts.rebounding.items()
        name = f"impact '{contacts.impacts[k].name}'"
        if contacts.is_bounded:
            raise UnsupportedError(
                f"{name}: its impulses follow from the energy that they may not exceed, or from a search without "
                "formulas, so that the motion has no derivative there. A restitution of 0 needs no such bound."
            )
        key = (k, contacts.pushed, contacts.rubbed, restitution > 0.0)
        if key not in self._crossings:
            programs = self._programs
            hit = programs.contacts[k]
            speeds = programs.equations.layout.speeds
            rate = sum((a * v for a, v in zip(hit.row, speeds, strict=True)), hit.drift)
            # A contact that sticks is hit with restitution zero, whatever is given: what varies then has no effect.
            target = -self.restitutions[k] * rate if restitution > 0.0 else as_expr(0)
            listed = [(programs.constraints[row], as_expr(0)) for row in contacts.pushed]
            listed = [(c, target if c is hit else nothing) for c, nothing in listed]
            sliding = [self._rubbing(contacts, element) for element in contacts.rubbed]
            self._crossings[key] = impulsive_crossing(self.derivatives, name, hit.residual, listed, {}, sliding)
        return self._crossings[key]

    def _rubbing(self, contacts: Contacts, k: int) -> Rubbing:
        element, normal = self._programs.friction[k], contacts.rubbing.normal(k)
        assert normal is not None
        return Rubbing(element.rows, element.amounts[1], self._programs.constraints[normal])

    def _resting_rows(self, contacts: Contacts) -> tuple[int, ...]:
        """The constraints in force where something has come to rest."""
        return tuple(np.flatnonzero(contacts.sizes > 0.0).tolist())

    def _letting_go(self, k: int, rest: tuple[int, ...]) -> Crossing:
        # The event function is the pressure, a multiplier: it has no formula, but derivatives through the solution.
        programs = self._programs
        pressure = programs.multipliers[programs.constraints.index(programs.contacts[k])]
        constrained = self.derivatives.variation.system.constrained
        assert constrained is not None
        return self._switched(f"impact '{constrained.impacts[k].name}' lets go", pressure, rest)

    def _switch_of_friction(self, k: int, earlier: Contacts, rest: tuple[int, ...]) -> Crossing:
        """Friction whose limit is reached, or which stops sliding."""
        programs, element = self._programs, self._programs.friction[k]
        name = f"friction '{element.name}'"
        if earlier.modes[k] == STICKS:
            by_name = dict(zip([c.name for c in programs.constraints], programs.multipliers, strict=True))
            normal = pressing(element, programs.contacts, programs.equations.constraints, by_name)
            limit = element.amounts[2] + element.amounts[3] * normal
            held = [by_name[row.name] for row in element.rows]
            # In squares, which stay smooth where a held force vanishes.
            return self._switched(f"{name} slides", sum((h * h for h in held), -limit * limit), rest)
        slips = [row.residual for row in element.rows]
        directions = earlier.sliding[earlier.rubbing.places(k)]
        if len(slips) == 2 and np.linalg.norm(directions) > FAST:
            when = sum((s * s for s in slips), as_expr(-(float(earlier.creep[k]) ** 2)))
        else:
            when = sum((s * float(d) for s, d in zip(slips, directions, strict=True)), as_expr(0))
        return self._switched(f"{name} stops sliding", when, rest)

    def _switched(self, name: str, when: Expr, rest: tuple[int, ...]) -> Crossing:
        """The state as it is, but for the speeds of what has come to rest."""
        key = (name, when, rest)
        if key not in self._crossings:
            if rest:
                rows = [(self._programs.constraints[row], as_expr(0)) for row in rest]
                self._crossings[key] = impulsive_crossing(self.derivatives, name, when, rows, {})
            else:
                states = self.derivatives.variation.states
                self._crossings[key] = explicit_crossing(self.derivatives, name, when, states)
        return self._crossings[key]

    def fresh(self) -> Contacts:
        """The contacts as they are at the start of a motion."""
        constrained = self.derivatives.variation.system.constrained
        assert constrained is not None and constrained.contacts is not None
        own = constrained.contacts
        return replace(own, closed=set(own.closed), stuck=set(own.stuck), notes=[])


def restitution_formulas(impacts: Sequence[Impact], shifts: dict[str, Expr]) -> tuple[Expr, ...]:
    """Restitution of each contact with the shifts that vary it."""
    return tuple(
        sum((shifts[name] for name in restitution_names(impact) if name in shifts), as_expr(impact.restitution))
        for impact in impacts
    )


def restitution_names(impact: Impact) -> tuple[str, str]:
    """What varies a contact's restitution: that of all contacts, and its own."""
    return "restitution", f"{impact.name}.restitution"
