"""Loops of many designs closed in compiled code: the damped Newton steps of a single motion's assembly."""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, IntArray, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NC,
    NH,
    NP,
    NQ,
    NV,
    displaced,
    velocities,
)
from torseur.computation.simulation.model.force_laws import NU
from torseur.derivation.loops.assembly.levenberg_marquardt import (
    LARGEST_STEP,
    MOST_REFUSALS,
    TOLERANCE,
    first_damping,
    next_damping,
)

# The rule of every assembly, translated: why the loop around it is written twice is told in
# docs/decisions/0061-one-assembly-of-loops.md.
damping_at_first = routine(first_damping)
damping_after = routine(next_damping)
STEPS = 100
ROUNDING = 1e-15  # part of a matrix that is added to its diagonal, for rows that others imply


@routine
def close_loops(
    first: int, last: int, t: float, states: Array, given: Array, free: IntArray, scales: Array, residuals: Array
) -> None:
    """Moves the free coordinates of states from row `first` on to before `last` so that loops close.

    `scales` are those of moves along the speeds, then those of the constraints; `residuals` the largest that are left.
    """
    for row in range(first, last):
        residuals[row] = close_loop(t, states[row * (NQ + NV) :], given[row * NP :], free, scales)


@routine
def close_loop(t: float, y: Array, p: Array, free: IntArray, scales: Array) -> float:
    """Levenberg and Marquardt's steps of one design; the largest residual that is left."""
    residual = zeros(NH)
    jacobian = zeros(NH * NV)
    new_residual = zeros(NH)
    new_jacobian = zeros(NH * NV)
    trial = zeros(NQ + NV)
    move = zeros(NV)
    refusals = 0
    cost = closure(t, y, p, free, scales, residual, jacobian)
    damping = damping_at_first(cost)
    for _ in range(STEPS):
        if not math.sqrt(cost) > TOLERANCE or refusals == MOST_REFUSALS:
            break
        smallest_move(jacobian, residual, damping, scales, move)
        for i in range(NQ + NV):
            trial[i] = y[i]
        displaced(t, y, p, move, trial)
        new = closure(t, trial, p, free, scales, new_residual, new_jacobian)
        damping = damping_after(damping, cost, new)
        refusals += 1
        if new < cost:
            refusals = 0
            cost = new
            for i in range(NQ):
                y[i] = trial[i]
            for i in range(NH):
                residual[i] = new_residual[i]
            for i in range(NH * NV):
                jacobian[i] = new_jacobian[i]
    largest = 0.0
    for i in range(NH):
        largest = max(largest, abs(residual[i]))
    return largest if math.isfinite(cost) else math.inf


@routine
def closure(t: float, y: Array, p: Array, free: IntArray, scales: Array, residual: Array, jacobian: Array) -> float:
    """Residuals of holonomic constraints and their derivatives by what is free, both scaled; the sum of the squares."""
    u = zeros(NU + 1)
    rows = zeros(NC * NV)
    phi = zeros(NC)
    drift = zeros(NC)
    velocities(t, y, p, u, rows, phi, drift)
    total = 0.0
    for c in range(NH):
        residual[c] = phi[c] / scales[NV + c]
        total += residual[c] * residual[c]
        for i in range(NV):
            jacobian[c * NV + i] = rows[c * NV + i] * scales[i] / scales[NV + c] if free[i] != 0 else 0.0
    return total


@routine
def smallest_move(jacobian: Array, residual: Array, damping: float, scales: Array, move: Array) -> None:
    """-Jᵀ (J Jᵀ + damping)⁻¹ r, no longer than the longest move, in the units of the speeds."""
    square = zeros(NH * NH)
    x = zeros(NH)
    trace = 0.0
    for a in range(NH):
        x[a] = residual[a]
        for b in range(a + 1):
            total = 0.0
            for i in range(NV):
                total += jacobian[a * NV + i] * jacobian[b * NV + i]
            square[a * NH + b] = total
        trace += square[a * NH + a]
    for a in range(NH):
        square[a * NH + a] += damping + ROUNDING * trace + 1e-300
    solve_positive(square, x)
    largest = 1e-300
    for i in range(NV):
        total = 0.0
        for a in range(NH):
            total -= jacobian[a * NV + i] * x[a]
        move[i] = total
        largest = max(largest, abs(total))
    shorter = min(1.0, LARGEST_STEP / largest)
    for i in range(NV):
        move[i] = move[i] * shorter * scales[i]


@routine
def solve_positive(square: Array, x: Array) -> None:
    """x becomes A⁻¹ x, by Cholesky's factors of the lower triangle in place, inverses on their diagonal."""
    for a in range(NH):
        for b in range(a + 1):
            total = square[a * NH + b]
            for k in range(b):
                total -= square[a * NH + k] * square[b * NH + k]
            square[a * NH + b] = total * square[b * NH + b] if b < a else 1.0 / math.sqrt(total)
    for a in range(NH):
        total = x[a]
        for k in range(a):
            total -= square[a * NH + k] * x[k]
        x[a] = total * square[a * NH + a]
    for a in range(NH - 1, -1, -1):
        total = x[a]
        for k in range(a + 1, NH):
            total -= square[k * NH + a] * x[k]
        x[a] = total * square[a * NH + a]
