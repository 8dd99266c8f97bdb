"""Contacts as event functions: the gap of an open contact, the force that presses a closed one together."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.solver.accelerations import solve_motion
from torseur.computation.simulation.constrained.solver.constrained_sizes import NC, NH, NK, NP, NQ, NV, Settings
from torseur.computation.simulation.events.event_search import NG
from torseur.computation.simulation.model.force_laws import NU, laws

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
    settings = Settings.view(p[NP:])
    u = zeros(NU + 1)
    distances = zeros(NK)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC)
    if NU > 0:
        laws(t, y, p, u)
    gaps(t, y, p, u, distances)
    closed = False
    for k in range(NK):
        closed = closed or settings.sizes[NH - NK + k] >= 0.0
    if closed:
        solve_motion(t, y, p, dy, multipliers)
    for k in range(NK):
        row = NH - NK + k
        if settings.sizes[row] >= 0.0:
            g[k] = -multipliers[row]
        else:
            g[k] = distances[k] + settings.thickness[k]
