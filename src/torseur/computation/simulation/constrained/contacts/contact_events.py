"""Contacts as event functions: the gap of an open contact, the force that presses a closed one together."""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, External, Static, routine, zeros
from torseur.computation.simulation.constrained.contacts.friction_forces import rubbing
from torseur.computation.simulation.constrained.solver.accelerations import prepare_motion, solve_motion
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NC,
    NE1,
    NE2,
    NH,
    NK,
    NP,
    NQ,
    NT,
    NV,
    PRESSED,
    Factors,
    Settings,
)
from torseur.computation.simulation.events.event_search import NG
from torseur.computation.simulation.model.force_laws import NU, laws

STARTING = 1e-3  # part of creeping that what begins to slide may go back by
BEGUN = 3.0  # speed, in units of creep, at which it has begun

NW: int = Static("NW", 0)  # events of friction: one of each element, and one of Painlevé's case where it can happen

gaps = External("gaps", "t: float, y: Array, p: Array, u: Array, gaps: Array")
other_events = External("other_events", "t: float, y: Array, p: Array, g: Array")


@routine
def events_with_contacts(t: float, y: Array, p: Array, g: Array) -> None:
    """Contacts first, then the other event functions."""
    contact_events(t, y, p, g)
    if NG > NK + NW:
        other_events(t, y, p, g[NK + NW :])


@routine
def contact_events(t: float, y: Array, p: Array, g: Array) -> None:
    """Positive while nothing changes: open contacts have a gap, closed ones are pressed together."""
    settings = Settings.view(p[NP:])
    u = zeros(NU + 1)
    distances = zeros(NK + 1)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC)
    if NU > 0:
        laws(t, y, p, u)
    if NK > 0:
        gaps(t, y, p, u, distances)
    closed = NW > 0
    for k in range(NK):
        closed = closed or settings.sizes[NH - NK + k] >= 0.0
    if closed:
        solve_motion(t, y, p, dy, multipliers)
    for k in range(NK):
        row = NH - NK + k
        if settings.sizes[row] >= 0.0:
            # -λ presses. A share of rounding size in a redundant contact is no pull, hence the grip.
            g[k] = settings.grip[0] - multipliers[row]
        else:
            g[k] = distances[k] + settings.thickness[k]
    if NW > 0:
        friction_events(t, y, p, u, multipliers, g[NK:])


@routine
def friction_events(t: float, y: Array, p: Array, u: Array, multipliers: Array, g: Array) -> None:
    """Positive while nothing changes: what slides has a speed, what sticks is held by less than its limit.

    What has begun to slide in a plane is watched along its first direction, until it is faster than creeping: from
    there on by its speed, whatever way it turns.
    """
    settings = Settings.view(p[NP:])
    slips = zeros(NT)
    amounts = zeros(NE1 + NE2, 5)
    normals = zeros(NE1 + NE2)
    gradients = zeros(NE1 + NE2, NC)
    rubbing(t, y, p, u, multipliers, slips, amounts, normals, gradients)
    for k in range(NE1 + NE2):
        i = k if k < NE1 else NE1 + 2 * (k - NE1)
        count = 1 if k < NE1 else 2
        row = NC - NT + i
        slides = False
        along = 0.0
        held = 0.0
        sticks = False
        for j in range(count):
            slides = slides or settings.sliding[i + j] != 0.0
            sticks = sticks or settings.sizes[row + j] >= 0.0
            along += settings.sliding[i + j] * slips[i + j]
            held += multipliers[row + j] * multipliers[row + j]
        if slides:
            g[k] = along + settings.creep[k]
            if k >= NE1:
                faster = settings.sliding[i] * settings.sliding[i] + settings.sliding[i + 1] * settings.sliding[i + 1]
                speed = math.sqrt(slips[i] * slips[i] + slips[i + 1] * slips[i + 1])
                # Zero when it comes back, or when it is fast enough to be watched by its speed.
                begun = min(along + STARTING * settings.creep[k], BEGUN * settings.creep[k] - speed)
                g[k] = speed - settings.creep[k] if faster > 2.0 else begun
        elif sticks:
            g[k] = amounts[k, 2] + amounts[k, 3] * normals[k] - math.sqrt(held) + settings.grip[0]
        else:
            g[k] = 1.0
    if PRESSED:
        g[NE1 + NE2] = jamming(t, y, p)


@routine
def jamming(t: float, y: Array, p: Array) -> float:
    """How much sliding friction reduces what presses it: positive, 0 in Painlevé's case."""
    factors = Factors()
    dy = zeros(NQ + NV)
    prepare_motion(t, y, p, dy, factors)
    return factors.stiffening
