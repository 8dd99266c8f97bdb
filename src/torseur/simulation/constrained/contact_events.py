"""Contacts as event functions: the gap of an open contact, the force that presses a closed one together."""

from __future__ import annotations

from torseur.codegen.routine import Array, External, routine, zeros
from torseur.simulation.constrained.accelerations import solve_motion
from torseur.simulation.constrained.sizes import NC, NH, NK, NP, NQ, NV, SIZES, THICKNESS
from torseur.simulation.events import NG
from torseur.simulation.laws import NU, laws

gaps = External("gaps", "t: float, y: Array, p: Array, u: Array, gaps: Array")
other_events = External("other_events", "t: float, y: Array, p: Array, g: Array")


@routine
def events_with_contacts(t: float, y: Array, p: Array, g: Array) -> None:
    """Contacts first, then the other event functions."""
    contact_events(t, y, p, g)
    if NG > NK:
        other_events(t, y, p, g[NK:])


@routine
def contact_events(t: float, y: Array, p: Array, g: Array) -> None:
    """Positive while nothing changes: open contacts have a gap, closed ones are pressed together."""
    u = zeros(NU + 1)
    distances = zeros(NK)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC)
    if NU > 0:
        laws(t, y, p, u)
    gaps(t, y, p, u, distances)
    closed = False
    for k in range(NK):
        closed = closed or p[NP + SIZES + NH - NK + k] >= 0.0
    if closed:
        solve_motion(t, y, p, dy, multipliers)
    for k in range(NK):
        row = NH - NK + k
        if p[NP + SIZES + row] >= 0.0:
            g[k] = -multipliers[row]
        else:
            g[k] = distances[k] + p[NP + THICKNESS]
