"""Contacts that open and close along a motion, as jumps of the state and of the constraints in force.

A rebound is an impulse along all constraints that leaves their rates at zero and turns that of the gap around, times
the restitution. A contact that lets go changes no state: only the constraints differ before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.codegen.routine import Array, External, routine, zeros
from torseur.errors import UnsupportedError
from torseur.graph import Expr, as_expr
from torseur.sensitivity.constrained_tangent import NSHARED, factored_motion
from torseur.sensitivity.crossing import Crossing, explicit
from torseur.sensitivity.jumps import pushed
from torseur.sensitivity.motion_slopes import MotionSlopes
from torseur.simulation.constrained.contact_events import gaps
from torseur.simulation.constrained.contacts import Contacts
from torseur.simulation.constrained.sizes import NC, NH, NK, NP, NQ, NV, SIZES, THICKNESS
from torseur.simulation.events import NG
from torseur.simulation.requests import Impact

other_events = External("other_events", "t: float, y: Array, p: Array, g: Array")


@routine
def events_with_contacts(t: float, y: Array, p: Array, g: Array) -> None:
    """Contacts first, positive while nothing changes: gaps of open ones, pressure of closed ones; then other events."""
    u = zeros(1)
    distances = zeros(NK)
    mass = zeros(NV * NV)
    rows = zeros(NC * NV)
    plain = zeros(NC * NV)
    shared = zeros(NSHARED + 1)
    r = zeros(NC * NC)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC + 1)
    gaps(t, y, p, u, distances)
    closed = False
    for k in range(NK):
        closed = closed or p[NP + SIZES + NH - NK + k] >= 0.0
    if closed:
        factored_motion(t, y, p, dy, multipliers, mass, rows, r, plain, shared)
    for k in range(NK):
        row = NH - NK + k
        if p[NP + SIZES + row] >= 0.0:
            g[k] = -multipliers[row]
        else:
            g[k] = distances[k] + p[NP + THICKNESS]
    if NG > NK:
        other_events(t, y, p, g[NK:])


@dataclass(frozen=True, eq=False)
class ContactRules:
    """The contacts of a study, each with its restitution as a formula of the parameters."""

    slopes: MotionSlopes
    impacts: tuple[Impact, ...]
    restitutions: tuple[Expr, ...]

    @property
    def externals(self) -> dict[str, Any]:
        """What the loop's event functions need."""
        programs = self.slopes.variation.system.programs
        assert programs is not None
        return {"events": events_with_contacts, "gaps": programs.gaps}

    def crossing(self, contacts: Contacts, released: Sequence[int]) -> Crossing | None:
        """What has just happened to contacts; None where nothing did."""
        if len(contacts.rebounding) > 1:
            names = " and ".join(f"'{self.impacts[k].name}'" for k in contacts.rebounding)
            raise UnsupportedError(
                f"contacts {names} are hit at the same time: which of them comes first depends on the parameters, so "
                "that the motion has no slope by them there."
            )
        if contacts.rebounding:
            ((k, restitution),) = contacts.rebounding.items()
            return self._rebound(k, contacts.pushed, restitution > 0.0)
        return self._letting_go(released[0]) if released else None

    @cached_property
    def _kept(self) -> dict[object, Crossing]:
        return {}

    def _rebound(self, k: int, rows: tuple[int, ...], rebounds: bool) -> Crossing:
        key = (k, rows, rebounds)
        if key not in self._kept:
            programs = self.slopes.variation.system.programs
            assert programs is not None
            hit = programs.contacts[k]
            speeds = programs.equations.layout.speeds
            rate = sum((a * v for a, v in zip(hit.row, speeds, strict=True)), hit.drift)
            target = -self.restitutions[k] * rate if rebounds else as_expr(0)
            listed = [(programs.constraints[row], as_expr(0)) for row in rows]
            listed = [(c, target if c is hit else nothing) for c, nothing in listed]
            self._kept[key] = pushed(self.slopes, f"impact '{self.impacts[k].name}'", hit.residual, listed, {})
        return self._kept[key]

    def _letting_go(self, k: int) -> Crossing:
        key = ("lets go", k)
        if key not in self._kept:
            programs = self.slopes.variation.system.programs
            assert programs is not None
            pressure = programs.multipliers[programs.constraints.index(programs.contacts[k])]
            name = f"impact '{self.impacts[k].name}' lets go"
            self._kept[key] = explicit(self.slopes, name, pressure, self.slopes.variation.states)
        return self._kept[key]

    def fresh(self) -> Contacts:
        """The contacts as they are at the start of a motion."""
        constrained = self.slopes.variation.system.constrained
        assert constrained is not None and constrained.contacts is not None
        return replace(constrained.contacts, closed=set(constrained.contacts.closed))


def restitution_formulas(impacts: Sequence[Impact], shifts: dict[str, Expr]) -> tuple[Expr, ...]:
    """Restitution of each contact with the shifts that vary it."""
    return tuple(
        sum((shifts[name] for name in restitution_names(impact) if name in shifts), as_expr(impact.restitution))
        for impact in impacts
    )


def restitution_names(impact: Impact) -> tuple[str, str]:
    """What varies a contact's restitution: that of all contacts, and its own."""
    return "restitution", f"{impact.name}.restitution"
