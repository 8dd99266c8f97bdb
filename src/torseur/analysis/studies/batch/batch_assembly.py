"""Loops of many designs closed in compiled code: the damped Newton steps of a single motion's assembly."""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, IntArray, Record, routine, zeros
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
ROTATIONS = 30  # over all pairs of rows; five to ten are enough
ORTHOGONAL = 1e-15  # cosine between rows that counts as none


class Rule(Record):
    """What a design's moves and residuals are measured by."""

    moves: Annotated[Array, NV]  # units of moves along the speeds: 1 for angles, the mechanism's size for lengths
    rows: Annotated[Array, NC]  # units of the constraints
    rounding: Annotated[Array, NC]  # largest entry of a row that is rounding of dimensions, -1 where there is none
    negligible: float  # singular values that are, in units of the largest but at least of 1; 0 where none is


@routine
def close_loops(
    first: int, last: int, t: float, states: Array, given: Array, free: IntArray, rule: Array, residuals: Array
) -> None:
    """Moves the free coordinates of states from row `first` on to before `last` so that loops close.

    `rule` holds a `Rule`; `residuals` become the largest that are left.
    """
    for row in range(first, last):
        residuals[row] = close_loop(t, states[row * (NQ + NV) :], given[row * NP :], free, rule)


@routine
def close_loop(t: float, y: Array, p: Array, free: IntArray, rule: Array) -> float:
    """Levenberg and Marquardt's steps of one design; the largest residual that is left."""
    residual = zeros(NH)
    jacobian = zeros(NH * NV)
    new_residual = zeros(NH)
    new_jacobian = zeros(NH * NV)
    trial = zeros(NQ + NV)
    move = zeros(NV)
    refusals = 0
    cost = closure(t, y, p, free, rule, residual, jacobian)
    damping = damping_at_first(cost)
    for _ in range(STEPS):
        if not math.sqrt(cost) > TOLERANCE or refusals == MOST_REFUSALS:
            break
        smallest_move(jacobian, residual, damping, rule, move)
        for i in range(NQ + NV):
            trial[i] = y[i]
        displaced(t, y, p, move, trial)
        new = closure(t, trial, p, free, rule, new_residual, new_jacobian)
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
def closure(t: float, y: Array, p: Array, free: IntArray, rule: Array, residual: Array, jacobian: Array) -> float:
    """Residuals of holonomic constraints and their derivatives by what is free, both scaled; the sum of the squares."""
    units = Rule.view(rule)
    u = zeros(NU + 1)
    rows = zeros(NC * NV)
    phi = zeros(NC)
    drift = zeros(NC)
    velocities(t, y, p, u, rows, phi, drift)
    total = 0.0
    for c in range(NH):
        residual[c] = phi[c] / units.rows[c]
        total += residual[c] * residual[c]
        size = 0.0
        for i in range(NV):
            jacobian[c * NV + i] = rows[c * NV + i] * units.moves[i] / units.rows[c]
            size = max(size, abs(jacobian[c * NV + i]))
        for i in range(NV):
            if free[i] == 0 or size <= units.rounding[c]:
                jacobian[c * NV + i] = 0.0
    return total


@routine
def smallest_move(jacobian: Array, residual: Array, damping: float, rule: Array, move: Array) -> None:
    """-Jᵀ (J Jᵀ + damping)⁻¹ r, no longer than the longest move, in the units of the speeds."""
    units = Rule.view(rule)
    if units.negligible > 0.0:
        move_by_singular_values(jacobian, residual, damping, units.negligible, move)
    else:
        move_by_normal_equations(jacobian, residual, damping, move)
    largest = 1e-300
    for i in range(NV):
        largest = max(largest, abs(move[i]))
    shorter = min(1.0, LARGEST_STEP / largest)
    for i in range(NV):
        move[i] = move[i] * shorter * units.moves[i]


@routine
def move_by_normal_equations(jacobian: Array, residual: Array, damping: float, move: Array) -> None:
    """-Jᵀ (J Jᵀ + damping)⁻¹ r by Cholesky's factors."""
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
    for i in range(NV):
        total = 0.0
        for a in range(NH):
            total -= jacobian[a * NV + i] * x[a]
        move[i] = total


@routine
def move_by_singular_values(jacobian: Array, residual: Array, damping: float, negligible: float, move: Array) -> None:
    """The same without the directions in which J is no more than the rounding of dimensions.

    J = U S Vᵀ: rotations of pairs of rows make them orthogonal (Hestenes 1958), which leaves S Vᵀ of J and Uᵀ r of r.
    Squares J Jᵀ would hide singular values below 1e-8 of the largest, and dimensions of nine digits make such.
    """
    rows = zeros(NH * NV)
    seen = zeros(NH)
    for i in range(NH * NV):
        rows[i] = jacobian[i]
    for a in range(NH):
        seen[a] = residual[a]
    for _ in range(ROTATIONS):
        turned = 0
        for a in range(NH):
            for b in range(a + 1, NH):
                turned += make_orthogonal(a, b, rows, seen)
        if turned == 0:
            break
    largest = 0.0
    for a in range(NH):
        largest = max(largest, square_of(a, rows))
    least = negligible * max(1.0, math.sqrt(largest))
    for i in range(NV):
        move[i] = 0.0
    for a in range(NH):
        square = square_of(a, rows)
        if math.sqrt(square) > least:
            for i in range(NV):
                move[i] -= rows[a * NV + i] * seen[a] / (square + damping)


@routine
def square_of(a: int, rows: Array) -> float:
    """The squared length of row a."""
    total = 0.0
    for i in range(NV):
        total += rows[a * NV + i] * rows[a * NV + i]
    return total


@routine
def make_orthogonal(a: int, b: int, rows: Array, seen: Array) -> int:
    """Turns rows a and b in their plane until they are orthogonal; 0 where they are already."""
    first = square_of(a, rows)
    second = square_of(b, rows)
    product = 0.0
    for i in range(NV):
        product += rows[a * NV + i] * rows[b * NV + i]
    if abs(product) <= ORTHOGONAL * math.sqrt(first * second):
        return 0
    # The smaller of the two angles, so that the rotations converge: tan²φ + 2 ζ tan φ = 1.
    zeta = (second - first) / (2.0 * product)
    tangent = 1.0 / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
    if zeta < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = cosine * tangent
    for i in range(NV):
        x = rows[a * NV + i]
        rows[a * NV + i] = cosine * x - sine * rows[b * NV + i]
        rows[b * NV + i] = sine * x + cosine * rows[b * NV + i]
    x = seen[a]
    seen[a] = cosine * x - sine * seen[b]
    seen[b] = sine * x + cosine * seen[b]
    return 1


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
