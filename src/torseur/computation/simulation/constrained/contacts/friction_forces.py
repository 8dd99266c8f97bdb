"""Forces of friction that slides: multipliers of its rows that are given instead of solved for.

With T its rows and λ_T its multipliers, M v' + Cᵀ λ = f - Tᵀ λ_T. Where the limit depends on what presses, λ does on
λ_T in turn: λ = λ₀ + B λ_T with a column of B for each row that slides, and Newton's method solves

    λ_T = d limit(N(λ₀ + B λ_T))

whose matrix 1 - d μ ∂N/∂λ B has a positive determinant until the friction jams (Painlevé's case).
"""

from __future__ import annotations

import math
from typing import Annotated, TypeAlias

from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.contacts.friction_rows import BARELY
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NC,
    NE1,
    NE2,
    NP,
    NT,
    NV,
    PRESSED,
    Factors,
    Settings,
)
from torseur.computation.simulation.constrained.solver.factors import solve_augmented

rubbing = External(
    "rubbing",
    "t: float, y: Array, p: Array, u: Array, l: Array, slips: Array, amounts: Array, normals: Array, gradients: Array",
)

Amounts: TypeAlias = Annotated[Array, ..., 5]
Sliding: TypeAlias = Annotated[Array, NT, NV]

# Why friction is a row whose multiplier is given: docs/decisions/0094-friction-as-rows-that-switch.md.
ITERATIONS = 12
CONVERGED = 1e-13  # change of a force, by the size of forces, after which Newton's method ends


@routine
def limit_of(k: int, normal: float, speed: float, amounts: Amounts) -> float:
    """The force of element k while it slides with a speed."""
    moving = amounts[k, 0] + amounts[k, 1] * normal
    stribeck = amounts[k, 4]
    if stribeck <= 0.0:
        return moving
    resting = amounts[k, 2] + amounts[k, 3] * normal
    ratio = speed / stribeck
    return moving + (resting - moving) * math.exp(-ratio * ratio)


@routine
def derivative_of(k: int, speed: float, amounts: Amounts) -> float:
    """By how much that force grows with what presses."""
    moving = amounts[k, 1]
    stribeck = amounts[k, 4]
    if stribeck <= 0.0:
        return moving
    ratio = speed / stribeck
    return moving + (amounts[k, 3] - moving) * math.exp(-ratio * ratio)


@routine
def directions_of(p: Array, slips: Array, directions: Array, speeds: Array) -> None:
    """In which direction each row slides, 0 where it does not, and how fast its element does.

    A line keeps the side of its mode, also a little beyond zero: the equations stay smooth up to the switch.
    """
    settings = Settings.view(p[NP:])
    for k in range(NE1):
        directions[k] = settings.sliding[k]
        speeds[k] = max(settings.sliding[k] * slips[k], 0.0)
    for k in range(NE2):
        i = NE1 + 2 * k
        directions[i] = 0.0
        directions[i + 1] = 0.0
        speeds[NE1 + k] = math.sqrt(slips[i] * slips[i] + slips[i + 1] * slips[i + 1])
        if settings.sliding[i] != 0.0 or settings.sliding[i + 1] != 0.0:
            # A part of its first direction, while it creeps: of nothing alone the direction turns without limit.
            square = settings.sliding[i] * settings.sliding[i] + settings.sliding[i + 1] * settings.sliding[i + 1]
            # A direction of length 1 creeps, one of length 2 is faster (see Contacts): all of it, and nothing.
            little = BARELY * settings.creep[NE1 + k] * (4.0 - square) / 3.0
            first = slips[i] + little * settings.sliding[i]
            second = slips[i + 1] + little * settings.sliding[i + 1]
            size = math.sqrt(first * first + second * second)
            directions[i] = first / size
            directions[i + 1] = second / size


@routine
def element_of(row: int) -> int:
    """The element of a row of friction."""
    return row if row < NE1 else NE1 + (row - NE1) // 2


@routine
def add_friction(t: float, y: Array, p: Array, u: Array, rows: Sliding, factors: Factors, force: Array) -> None:
    """Takes the friction of all that slides from the force; `rows` are those of friction before they were factored."""
    slips = zeros(NT)
    amounts = zeros(NE1 + NE2, 5)
    normals = zeros(NE1 + NE2)
    gradients = zeros(NE1 + NE2, NC)
    directions = zeros(NT)
    speeds = zeros(NE1 + NE2)
    multipliers = zeros(NC)
    factors.stiffening = 1.0
    if PRESSED:
        solve_pressed(t, y, p, u, rows, factors, force)
    else:
        rubbing(t, y, p, u, multipliers, slips, amounts, normals, gradients)
        directions_of(p, slips, directions, speeds)
        for i in range(NT):
            k = element_of(i)
            factors.friction[i] = directions[i] * limit_of(k, normals[k], speeds[k], amounts)
    for i in range(NT):
        for j in range(NV):
            force[j] -= factors.friction[i] * rows[i, j]


@routine
def solve_pressed(t: float, y: Array, p: Array, u: Array, rows: Sliding, factors: Factors, force: Array) -> None:
    """Friction whose limits depend on multipliers, by Newton's method."""
    slips = zeros(NT)
    amounts = zeros(NE1 + NE2, 5)
    normals = zeros(NE1 + NE2)
    gradients = zeros(NE1 + NE2, NC)
    directions = zeros(NT)
    speeds = zeros(NE1 + NE2)
    still = zeros(NC)
    now = zeros(NC)
    by_friction = zeros(NT, NC)
    motion = zeros(NV)
    matrix = zeros(NT, NT)
    residual = zeros(NT)
    for j in range(NV):
        motion[j] = force[j]
    for c in range(NC):
        still[c] = factors.gamma[c]
    solve_augmented(factors, motion, still)
    rubbing(t, y, p, u, still, slips, amounts, normals, gradients)
    directions_of(p, slips, directions, speeds)
    for i in range(NT):
        factors.friction[i] = 0.0
        for j in range(NV):
            motion[j] = -rows[i, j]
        if directions[i] != 0.0:
            solve_augmented(factors, motion, by_friction[i])
    for _ in range(ITERATIONS):
        for c in range(NC):
            # λ = λ₀ + B λ_T, a row of `by_friction` for each row that slides.
            now[c] = still[c]
            for i in range(NT):
                now[c] += by_friction[i, c] * factors.friction[i]
        rubbing(t, y, p, u, now, slips, amounts, normals, gradients)
        size = 0.0
        for i in range(NT):
            k = element_of(i)
            wanted = directions[i] * limit_of(k, normals[k], speeds[k], amounts)
            residual[i] = wanted - factors.friction[i]
            size = max(size, abs(wanted))
            growth = directions[i] * derivative_of(k, speeds[k], amounts)
            for j in range(NT):
                coupling = 0.0
                for c in range(NC):
                    coupling += gradients[k, c] * by_friction[j, c]
                matrix[i, j] = (1.0 if i == j else 0.0) - growth * coupling
        factors.stiffening = eliminate_friction(matrix, residual)
        change = 0.0
        for i in range(NT):
            factors.friction[i] += residual[i]
            change = max(change, abs(residual[i]))
        if change <= CONVERGED * size:
            break


@routine
def eliminate_friction(matrix: Annotated[Array, NT, NT], right: Array) -> float:
    """The right-hand side becomes the solution, by Gauss's method with row exchanges; the determinant."""
    determinant = 1.0
    for k in range(NT):
        best = k
        for i in range(k + 1, NT):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        if best != k:
            determinant = -determinant
            for j in range(NT):
                kept = matrix[k, j]
                matrix[k, j] = matrix[best, j]
                matrix[best, j] = kept
            kept = right[k]
            right[k] = right[best]
            right[best] = kept
        pivot = matrix[k, k]
        # 1 where nothing couples, 0 where friction jams: the factors keep it as `stiffening`.
        determinant *= pivot
        for i in range(k + 1, NT):
            part = matrix[i, k] / pivot if pivot != 0.0 else 0.0
            for j in range(k, NT):
                matrix[i, j] -= part * matrix[k, j]
            right[i] -= part * right[k]
    for k in range(NT - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, NT):
            total -= matrix[k, j] * right[j]
        pivot = matrix[k, k]
        right[k] = total / pivot if pivot != 0.0 else 0.0
    return determinant
