"""Outputs and events of a constrained system: functions of its state, accelerations and multipliers."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.solver.accelerations import solve_motion
from torseur.computation.simulation.constrained.solver.constrained_sizes import NC, NQ, NV
from torseur.computation.simulation.model.force_laws import NU, laws

solved_outputs = External("solved_outputs", "t: float, y: Array, p: Array, u: Array, a: Array, l: Array, z: Array")
solved_events = External("solved_events", "t: float, y: Array, p: Array, u: Array, a: Array, l: Array, g: Array")


@routine
def outputs_of_solution(t: float, y: Array, p: Array, z: Array) -> None:
    """Output formulas at a state."""
    u = zeros(NU + 1)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC)
    if NU > 0:
        laws(t, y, p, u)
    solve_motion(t, y, p, dy, multipliers)
    solved_outputs(t, y, p, u, dy[NQ:], multipliers, z)


@routine
def events_of_solution(t: float, y: Array, p: Array, g: Array) -> None:
    """Event formulas at a state."""
    u = zeros(NU + 1)
    dy = zeros(NQ + NV)
    multipliers = zeros(NC)
    if NU > 0:
        laws(t, y, p, u)
    solve_motion(t, y, p, dy, multipliers)
    solved_events(t, y, p, u, dy[NQ:], multipliers, g)
