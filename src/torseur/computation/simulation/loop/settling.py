"""States brought back on their manifold: unit quaternions, closed loops."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, Static, routine
from torseur.computation.simulation.explicit.runge_kutta import N

PROJECT: int = Static("PROJECT")  # states are brought back on their manifold: 0 never, 1 by a formula, 2 on constraints

project = External("project", "t: float, y: Array, p: Array, out: Array")
constrain = External("constrain", "t: float, y: Array, p: Array, out: Array -> float")


@routine
def copy(source: Array, target: Array, size: int) -> None:
    for i in range(size):
        target[i] = source[i]


@routine
def settle(t: float, state: Array, p: Array, out: Array) -> float:
    """The state brought back on its manifold, where there is one; how far a singular configuration is, at most 1."""
    distance = 1.0
    if PROJECT == 2:
        distance = constrain(t, state, p, out)
    elif PROJECT == 1:
        project(t, state, p, out)
    else:
        copy(state, out, N)
    return distance
