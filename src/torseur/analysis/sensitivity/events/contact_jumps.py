"""Contacts that open and close along a motion, as jumps of the state and of the constraints in force.

A rebound is an impulse along all constraints that leaves their rates at zero and turns that of the gap around, times
the restitution. A contact that lets go changes no state: only the constraints differ before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.analysis.sensitivity.constrained.constrained_tangents import SolvedMotion, solve_motion_with_factors
from torseur.analysis.sensitivity.events.event_crossing import Crossing, explicit_crossing
from torseur.analysis.sensitivity.events.jumps import impulsive_crossing
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.contacts.contact_events import gaps
from torseur.computation.simulation.constrained.contacts.contacts import Contacts
from torseur.computation.simulation.constrained.solver.constrained_sizes import NH, NK, NP, NQ, Settings
from torseur.computation.simulation.events.event_search import NG
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.errors import UnsupportedError

other_events = External("other_events", "t: float, y: Array, p: Array, g: Array")


@routine
def events_with_contacts(t: float, y: Array, p: Array, g: Array) -> None:
    """Contacts first, positive while nothing changes: gaps of open ones, pressure of closed ones; then other events."""
    settings = Settings.view(p[NP:])
    u = zeros(1)
    distances = zeros(NK)
    solved = SolvedMotion()
    rates = zeros(NQ)
    gaps(t, y, p, u, distances)
    # Pressures need the accelerations; while all contacts are open these are not solved for.
    closed = False
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
    if NG > NK:
        other_events(t, y, p, g[NK:])


@dataclass(frozen=True, eq=False)
class ContactRules:
    """The contacts of a study, each with its restitution as a formula of the parameters."""

    derivatives: MotionDerivatives
    impacts: tuple[Impact, ...]
    restitutions: tuple[Expr, ...]

    @property
    def externals(self) -> dict[str, Any]:
        """What the loop's event functions need."""
        programs = self.derivatives.variation.system.programs
        assert programs is not None
        return {"events": events_with_contacts, "gaps": programs.gaps}

    def crossing(self, contacts: Contacts, released: Sequence[int]) -> Crossing | None:
        """What has just happened to contacts; None where nothing did."""
        # Beside parameters for which two contacts are hit together there are some for which either comes first.
        if len(contacts.rebounding) > 1:
            names = " and ".join(f"'{self.impacts[k].name}'" for k in contacts.rebounding)
            raise UnsupportedError(
                f"contacts {names} are hit at the same time: which of them comes first depends on the parameters, so "
                "that the motion has no derivative by them there."
            )
        if contacts.rebounding:
            ((k, restitution),) = contacts.rebounding.items()
            return self._rebound(k, contacts.pushed, restitution > 0.0)
        return self._letting_go(released[0]) if released else None

    @cached_property
    def _crossings(self) -> dict[object, Crossing]:
        return {}

    def _rebound(self, k: int, rows: tuple[int, ...], rebounds: bool) -> Crossing:
        key = (k, rows, rebounds)
        if key not in self._crossings:
            programs = self.derivatives.variation.system.programs
            assert programs is not None
            hit = programs.contacts[k]
            speeds = programs.equations.layout.speeds
            rate = sum((a * v for a, v in zip(hit.row, speeds, strict=True)), hit.drift)
            # A contact that sticks is hit with restitution zero, whatever is given: what varies then has no effect.
            target = -self.restitutions[k] * rate if rebounds else as_expr(0)
            listed = [(programs.constraints[row], as_expr(0)) for row in rows]
            listed = [(c, target if c is hit else nothing) for c, nothing in listed]
            self._crossings[key] = impulsive_crossing(
                self.derivatives, f"impact '{self.impacts[k].name}'", hit.residual, listed, {}
            )
        return self._crossings[key]

    def _letting_go(self, k: int) -> Crossing:
        key = ("lets go", k)
        if key not in self._crossings:
            programs = self.derivatives.variation.system.programs
            assert programs is not None
            # The event function is the pressure, a multiplier: it has no formula, but derivatives through the solution.
            pressure = programs.multipliers[programs.constraints.index(programs.contacts[k])]
            name = f"impact '{self.impacts[k].name}' lets go"
            self._crossings[key] = explicit_crossing(
                self.derivatives, name, pressure, self.derivatives.variation.states
            )
        return self._crossings[key]

    def fresh(self) -> Contacts:
        """The contacts as they are at the start of a motion."""
        constrained = self.derivatives.variation.system.constrained
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
