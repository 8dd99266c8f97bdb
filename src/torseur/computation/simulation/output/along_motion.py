"""Functions of time and state evaluated along a motion, row by row, in compiled code."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, Static, routine
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.loop.settling import settle

NZ: int = Static("NZ")  # number of outputs

outputs = External("outputs", "t: float, y: Array, p: Array, z: Array")


@routine
def outputs_along(rows: int, times: Array, states: Array, p: Array, out: Array) -> None:
    """The outputs in each state, one row each."""
    for row in range(rows):
        outputs(times[row], states[row * N :], p, out[row * NZ :])


@routine
def settle_along(rows: int, times: Array, states: Array, p: Array, out: Array) -> None:
    """Each state brought back on its manifold."""
    for row in range(rows):
        settle(times[row], states[row * N :], p, out[row * N :])
