"""The Jacobian of the right-hand side by differences, where there is nothing to differentiate."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, routine, zeros
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.implicit.newton_matrix import HALF
from torseur.computation.simulation.implicit.radau_memory import NJ, Jacobian

DIFFERENCE = 1e-7  # change of a state from which derivatives are taken, in units of its size
SMALLEST = 1e-2  # size that a state is taken to have at least


@routine
def difference_jacobian(t: float, y: Array, p: Array, jacobian: Jacobian) -> None:
    """Derivatives of the rates by all states, without those of coordinates whose rates are the speeds themselves.

    They are enough for Newton's iteration, which corrects itself.
    """
    beside = zeros(N)
    here = zeros(N)
    there = zeros(N)
    first = NJ // 2 if HALF else 0  # not from NE, which counts the equations of all stages together on the way back
    rhs(t, y, p, here)
    for i in range(N):
        beside[i] = y[i]
    for j in range(NJ):
        # To one side: truncation of the order of 1e-7 and rounding of 2e-9 are far below what the iteration notices,
        # and two sides would cost twice as much.
        change = DIFFERENCE * max(SMALLEST, abs(y[j]))
        beside[j] = y[j] + change
        rhs(t, beside, p, there)
        for i in range(first, NJ):
            jacobian[i - first, j] = (there[i] - here[i]) / change
        beside[j] = y[j]
