"""Tangents of friction that slides: multipliers of its rows, which are given by what slides and what presses.

At fixed multipliers λ_T of friction the tangents (a', λ') are those of the constraints. With the law
λ_T = d limit(N(λ)), differentiated by states and parameters (E) and by the multipliers (D), and with the answers B of
(a, λ) to unit forces of its rows, all tangents of friction solve

    (1 - D B) λ_T' = E + D λ',   then   (a', λ') += B λ_T'

whose matrix is that of the motion itself (see friction_forces.py).
"""

from __future__ import annotations

from typing import Annotated

from torseur.analysis.sensitivity.direct.tangent_routines import NPAR, Tangents
from torseur.computation.codegen.routine import Array, External, routine, zeros
from torseur.computation.simulation.constrained.contacts.friction_forces import (
    Sliding,
    element_of,
    eliminate_friction,
)
from torseur.computation.simulation.constrained.solver.constrained_sizes import (
    NC,
    NE1,
    NP,
    NT,
    NV,
    Factors,
    Settings,
)
from torseur.computation.simulation.constrained.solver.factors import solve_augmented

friction_derivatives = External(
    "friction_derivatives",
    "t: float, y: Array, p: Array, l: Array, sliding: Array, creep: Array, law_derivatives: Array, "
    "by_multipliers: Array",
)


@routine
def slides(p: Array, row: int) -> bool:
    """Whether the element of a row slides; in a plane one component of its direction may vanish."""
    settings = Settings.view(p[NP:])
    first = row if row < NE1 else NE1 + 2 * (element_of(row) - NE1)
    last = first + 1 if row < NE1 else first + 2
    found = False
    for i in range(first, last):
        found = found or settings.sliding[i] != 0.0
    return found


@routine
def add_friction_tangents(
    p: Array,
    factors: Factors,
    rows: Sliding,
    by_multipliers: Annotated[Array, NT, NC],
    explicit: Annotated[Array, NT, NPAR],
    tangents: Tangents,
) -> None:
    """Adds to the tangents of (a, λ), a row each, what those of sliding friction do to them."""
    answers = zeros(NT, NV + NC)  # B, a row per row of friction
    matrix = zeros(NT, NT)
    copied = zeros(NT, NT)
    right = zeros(NT)
    for i in range(NT):
        if slides(p, i):
            answer = answers[i]
            for j in range(NV):
                # A unit of this multiplier pushes with -Tᵀ: M v' + Cᵀ λ = f - Tᵀ λ_T.
                answer[j] = -rows[i, j]
            solve_augmented(factors, answer, answer[NV:])
        else:  # what sticks or is open keeps the tangents it has
            for c in range(NC):
                by_multipliers[i, c] = 0.0
            for k in range(NPAR):
                explicit[i, k] = 0.0
    for i in range(NT):
        for j in range(NT):
            matrix[i, j] = 1.0 if i == j else 0.0
            for c in range(NC):
                matrix[i, j] -= by_multipliers[i, c] * answers[j, NV + c]
    for k in range(NPAR):
        for i in range(NT):
            right[i] = explicit[i, k]
            for c in range(NC):
                right[i] += by_multipliers[i, c] * tangents[NV + c, k]
            for j in range(NT):
                # Elimination works in place, and all parameters have the same matrix.
                copied[i, j] = matrix[i, j]
        eliminate_friction(copied, right)
        for i in range(NT):
            for j in range(NV + NC):
                tangents[j, k] += answers[i, j] * right[i]
            # Rows that slide are switched off in the factors, which leave their multipliers at zero: here is the given
            # one.
            tangents[NV + NC - NT + i, k] += right[i]
