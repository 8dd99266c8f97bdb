"""The stages of an implicit step: starting values, and a simplified Newton iteration in the method's own eigenvectors.

With z the stages relative to the state at the start, (A⁻¹ ⊗ 1/h) z = F(z). The iteration, with one Jacobian J for all
stages, is decoupled by w = T⁻¹ z, where T⁻¹ A⁻¹ T is block diagonal (Hairer and Wanner, Solving Ordinary Differential
Equations II, IV.8): one real system and one complex system for each pair of eigenvalues.

    [γ/h - J                        ]        [Δw_0]
    [        (α_1 + iβ_1)/h - J     ]   times [Δw_1]   =   T⁻¹ F(z) - (T⁻¹ A⁻¹ T / h) w
    [                            ⋱  ]        [ ⋮  ]
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, External, flat, routine, static_range, zeros
from torseur.computation.simulation.explicit.dop853 import Piece, interpolate
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.implicit.newton_matrix import (
    RIDES,
    factor_complex,
    factor_real,
    solve_complex,
    solve_real,
)
from torseur.computation.simulation.implicit.radau_memory import NJ, NS, Newton
from torseur.computation.simulation.implicit.radau_tableau import (
    COMPLEX,
    FROM_STAGES,
    NODES,
    PIECE_WEIGHTS,
    REAL,
    TO_STAGES,
)
from torseur.computation.simulation.loop.memory import Motion, Tolerance

rhs_jacobian = External("rhs_jacobian", "t: float, y: Array, p: Array, jacobian: Array")

ROUNDING = 2.0**-52
NOTHING = 1e-2  # part of a correction small enough that needs no other to follow: those would be rounding
MORE_FOR_RIDERS = 6  # iterations beyond those of the states that riders may take
FARTHEST = 8.0  # length of a step, in lengths of the last one, beyond which that one says nothing about it


@routine
def make_factors(h: float, motion: Motion, y: Array, p: Array, newton: Newton) -> None:
    """Jacobian and factors for a step of length h, unless they are there."""
    k = (NS - 3) // 2
    if not newton.has_jacobian:
        rhs_jacobian(motion.time, y, p, newton.jacobian)
        motion.jacobians += 1
        newton.has_jacobian = True
        newton.is_fresh = True
        # Factors of another Jacobian are of no use, whatever step they were made for.
        newton.factored_step = 0.0
    if newton.factored_step != h:
        factor_real(REAL[k] / h, newton.jacobian, newton.real)
        for m in static_range((NS - 1) // 2):
            factor_complex(COMPLEX[k][m][0] / h, COMPLEX[k][m][1] / h, newton.jacobian, newton.pairs[m])
        motion.factorisations += 1
        newton.factored_step = h


@routine
def guess_stages(t: float, h: float, y: Array, piece: Piece, newton: Newton) -> None:
    """z and w to start from: the last piece of motion, continued; zero when it is missing or much shorter."""
    k = (NS - 3) // 2
    known = newton.has_piece and abs(h) <= FARTHEST * abs(piece.length)
    for s in static_range(NS):
        z = newton.z[s]
        if known:
            interpolate(t + NODES[k][s] * h, piece, z)
            for i in range(N):
                z[i] -= y[i]
        else:
            for i in range(N):
                z[i] = 0.0
    for q in static_range(NS):
        for i in range(N):
            total = 0.0
            for s in static_range(NS):
                total += FROM_STAGES[k][q][s] * newton.z[s, i]
            newton.w[q, i] = total


@routine
def evaluate_implicit_stages(h: float, motion: Motion, y: Array, p: Array, newton: Newton) -> None:
    """Derivatives of the stages, transformed by T⁻¹, in the place of the correction."""
    k = (NS - 3) // 2
    gathered = zeros(NS)
    for s in static_range(NS):
        for i in range(N):
            newton.y_stage[i] = y[i] + newton.z[s, i]
        rhs(motion.time + NODES[k][s] * h, newton.y_stage, p, newton.correction[s])
    motion.evaluations += NS
    for i in range(N):
        for s in static_range(NS):
            # A column at a time: the transform reads all stages of the rows that it overwrites.
            gathered[s] = newton.correction[s, i]
        for q in static_range(NS):
            total = 0.0
            for s in static_range(NS):
                total += FROM_STAGES[k][q][s] * gathered[s]
            newton.correction[q, i] = total


@routine
def correct_stages(h: float, newton: Newton) -> None:
    """Newton's correction of w from the transformed derivatives, then w and z corrected."""
    k = (NS - 3) // 2
    w = newton.w
    # With z = (T ⊗ 1) w the equations z = h (A ⊗ 1) f(y + z) fall apart (IV.8 of Hairer and Wanner): T⁻¹ A⁻¹ T is
    #
    #     [ γ             ]      c = γ/h, and c_re, c_im = α/h, β/h for each complex pair.
    #     [    α  -β      ]
    #     [    β   α      ]      Newton: (c 1 - J) Δw = (T⁻¹ f) - c w, with complex c for each pair,
    #     [          …    ]      so that one real and (NS - 1) / 2 complex systems of size N stand for one of NS · N.
    b = newton.correction
    c = REAL[k] / h
    for i in range(N):
        b[0, i] -= c * w[0, i]
    solve_real(c, newton.jacobian, newton.real, b[0])
    for m in static_range((NS - 1) // 2):
        c_re = COMPLEX[k][m][0] / h
        c_im = COMPLEX[k][m][1] / h
        for i in range(N):
            b[1 + 2 * m, i] -= c_re * w[1 + 2 * m, i] - c_im * w[2 + 2 * m, i]
            b[2 + 2 * m, i] -= c_im * w[1 + 2 * m, i] + c_re * w[2 + 2 * m, i]
        solve_complex(c_re, c_im, newton.jacobian, newton.pairs[m], b[1 + 2 * m], b[2 + 2 * m])
    w_all = flat(w)
    b_all = flat(b)
    for i in range(NS * N):
        w_all[i] += b_all[i]
    for s in static_range(NS):
        for i in range(N):
            total = 0.0
            for q in static_range(NS):
                total += TO_STAGES[k][s][q] * w[q, i]
            newton.z[s, i] = total


@routine
def correction_size(y: Array, tolerance: Tolerance, newton: Newton, first: int, last: int) -> float:
    """Root mean square of the last correction of some states in units of the tolerance."""
    total = 0.0
    for i in range(first, last):
        scale = tolerance.atol[i] + tolerance.rtol * abs(y[i])
        for q in static_range(NS):
            ratio = newton.correction[q, i] / scale
            total += ratio * ratio
    return math.sqrt(total / (NS * max(last - first, 1)))


@routine
def solve_stages(
    h: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, piece: Piece, newton: Newton
) -> bool:
    """Solves for the stages of a step of length h; false when the iteration does not converge fast enough.

    How fast is judged by the states whose Jacobian is taken. Riders follow them, and must have arrived too.
    """
    # Iterations: 7 of three stages, 12 of five.
    most = 7 + (NS - 3) * 5 // 2
    rtol = tolerance.rtol
    # In units of the tolerance: the iteration's error is to stay far below that of the step, but above rounding.
    enough = max(10.0 * ROUNDING / rtol, min(0.03, math.sqrt(rtol)))
    make_factors(h, motion, y, p, newton)
    guess_stages(motion.time, h, y, piece, newton)
    last = 0.0
    solved = False
    for iteration in range(most + MORE_FOR_RIDERS * RIDES):
        evaluate_implicit_stages(h, motion, y, p, newton)
        correct_stages(h, newton)
        size = correction_size(y, tolerance, newton, 0, NJ)
        newton.iterations = iteration + 1
        newton.last_size = size
        if not math.isfinite(size):
            return False
        if size <= NOTHING * enough:
            solved = True
        if iteration > 0 and not solved:
            # Corrections fall off as a geometric series: what is left after this one is rate / (1 - rate) of it, and at
            # the end of all iterations that are allowed rate^left / (1 - rate) of it.
            rate = size / last
            left = max(most - 1 - iteration, 0)
            if rate >= 1.0 or math.pow(rate, left) / (1.0 - rate) * size > enough:
                return False
            solved = rate / (1.0 - rate) * size < enough
        if solved and (RIDES == 0 or correction_size(y, tolerance, newton, NJ, N) < enough):
            return True
        last = size
    return False


@routine
def implicit_piece(t: float, h: float, y: Array, piece: Piece, newton: Newton) -> None:
    """The step as a piece of motion: its collocation polynomial."""
    k = (NS - 3) // 2
    piece.time = t
    piece.length = h
    newton.has_piece = True
    for i in range(N):
        piece.state[i] = y[i]
        for r in static_range(7):
            total = 0.0
            # A piece has the seven terms of DOP853's; those beyond the collocation polynomial are zero.
            if r < NS:
                for s in static_range(NS):
                    total += PIECE_WEIGHTS[k][r][s] * newton.z[s, i]
            piece.coefficients[r, i] = total
