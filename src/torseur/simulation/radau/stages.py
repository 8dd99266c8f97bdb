"""The stages of an implicit step: starting values, and a simplified Newton iteration in the method's own eigenvectors.

In `work`, from N times its number on: the slope at the start (0), the stages Z relative to the state at the start
(1 to NS), their transforms W, and room for the slopes of the stages.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, IntArray, routine, static_range, zeros
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_STATE, PIECE_TIME, N, interpolate, rhs
from torseur.simulation.memory import EVALUATIONS, FACTORISATIONS, JACOBIANS, RTOL
from torseur.simulation.radau.elimination import NE
from torseur.simulation.radau.memory import (
    FACTORED_STEP,
    FRESH,
    HAS_JACOBIAN,
    HAS_PIECE,
    ITERATIONS,
    LAST_SIZE,
    MATRICES,
    NS,
)
from torseur.simulation.radau.newton_matrix import NJ, RIDES, factor_complex, factor_real, solve_complex, solve_real
from torseur.simulation.radau.tableau import COMPLEX, FROM_STAGES, NODES, PIECE_WEIGHTS, REAL, TO_STAGES

slope_jacobian = External("slope_jacobian", "t: float, y: Array, p: Array, jacobian: Array")

ROUNDING = 2.0**-52
NOTHING = 1e-2  # part of a correction small enough that needs no other to follow: those would be rounding
MORE_FOR_RIDERS = 6  # iterations beyond those of the states that riders may take
FARTHEST = 8.0  # length of a step, in lengths of the last one, beyond which that one says nothing about it


@routine
def make_factors(t: float, h: float, y: Array, p: Array, count: IntArray, newton: Array) -> None:
    """Jacobian and factors for a step of length h, unless they are there."""
    k = (NS - 3) // 2
    jacobian = newton[MATRICES:]
    if newton[HAS_JACOBIAN] == 0.0:
        slope_jacobian(t, y, p, jacobian)
        count[JACOBIANS] += 1
        newton[HAS_JACOBIAN] = 1.0
        newton[FRESH] = 1.0
        newton[FACTORED_STEP] = 0.0
    if newton[FACTORED_STEP] != h:
        factors = jacobian[NE * NJ :]
        factor_real(REAL[k] / h, jacobian, factors, factors[NE * NE :])
        for m in static_range((NS - 1) // 2):
            re = factors[(1 + 2 * m) * NE * NE + (1 + m) * NE :]
            im = re[NE * NE :]
            factor_complex(COMPLEX[k][m][0] / h, COMPLEX[k][m][1] / h, jacobian, re, im, im[NE * NE :])
        count[FACTORISATIONS] += 1
        newton[FACTORED_STEP] = h


@routine
def guess_stages(t: float, h: float, y: Array, piece: Array, work: Array, newton: Array) -> None:
    """Z and W to start from: the last piece of motion, continued; zero when it is missing or much shorter."""
    k = (NS - 3) // 2
    known = newton[HAS_PIECE] != 0.0 and abs(h) <= FARTHEST * abs(piece[PIECE_LENGTH])
    for s in static_range(NS):
        z = work[(1 + s) * N :]
        if known:
            interpolate((t + NODES[k][s] * h - piece[PIECE_TIME]) / piece[PIECE_LENGTH], piece, z)
            for i in range(N):
                z[i] -= y[i]
        else:
            for i in range(N):
                z[i] = 0.0
    for q in static_range(NS):
        for i in range(N):
            total = 0.0
            for s in static_range(NS):
                total += FROM_STAGES[k][q][s] * work[(1 + s) * N + i]
            work[(1 + NS + q) * N + i] = total


@routine
def stage_slopes(t: float, h: float, y: Array, p: Array, count: IntArray, y_stage: Array, work: Array) -> None:
    """Slopes of the stages, transformed by T⁻¹."""
    k = (NS - 3) // 2
    slopes = work[(1 + 2 * NS) * N :]
    gathered = zeros(NS)
    for s in static_range(NS):
        for i in range(N):
            y_stage[i] = y[i] + work[(1 + s) * N + i]
        rhs(t + NODES[k][s] * h, y_stage, p, slopes[s * N :])
    count[EVALUATIONS] += NS
    for i in range(N):
        for s in static_range(NS):
            gathered[s] = slopes[s * N + i]
        for q in static_range(NS):
            total = 0.0
            for s in static_range(NS):
                total += FROM_STAGES[k][q][s] * gathered[s]
            slopes[q * N + i] = total


@routine
def correct_stages(h: float, work: Array, newton: Array) -> None:
    """Newton's correction of W, left in the place of the transformed slopes, then W and Z corrected."""
    k = (NS - 3) // 2
    jacobian = newton[MATRICES:]
    factors = jacobian[NE * NJ :]
    w = work[(1 + NS) * N :]
    b = work[(1 + 2 * NS) * N :]
    c = REAL[k] / h
    for i in range(N):
        b[i] -= c * w[i]
    solve_real(c, jacobian, factors, factors[NE * NE :], b)
    for m in static_range((NS - 1) // 2):
        re = factors[(1 + 2 * m) * NE * NE + (1 + m) * NE :]
        im = re[NE * NE :]
        c_re = COMPLEX[k][m][0] / h
        c_im = COMPLEX[k][m][1] / h
        w_re = w[(1 + 2 * m) * N :]
        w_im = w[(2 + 2 * m) * N :]
        b_re = b[(1 + 2 * m) * N :]
        b_im = b[(2 + 2 * m) * N :]
        for i in range(N):
            b_re[i] -= c_re * w_re[i] - c_im * w_im[i]
            b_im[i] -= c_im * w_re[i] + c_re * w_im[i]
        solve_complex(c_re, c_im, jacobian, re, im, im[NE * NE :], b_re, b_im)
    for i in range(NS * N):
        w[i] += b[i]
    for s in static_range(NS):
        for i in range(N):
            total = 0.0
            for q in static_range(NS):
                total += TO_STAGES[k][s][q] * w[q * N + i]
            work[(1 + s) * N + i] = total


@routine
def correction_size(y: Array, rtol: float, atol: Array, work: Array, first: int, last: int) -> float:
    """Root mean square of the last correction of some states in units of the tolerance."""
    b = work[(1 + 2 * NS) * N :]
    total = 0.0
    for i in range(first, last):
        scale = atol[i] + rtol * abs(y[i])
        for q in static_range(NS):
            ratio = b[q * N + i] / scale
            total += ratio * ratio
    return math.sqrt(total / (NS * (last - first)))


@routine
def solve_stages(
    t: float,
    h: float,
    y: Array,
    p: Array,
    clock: Array,
    count: IntArray,
    atol: Array,
    y_stage: Array,
    piece: Array,
    work: Array,
    newton: Array,
) -> bool:
    """Solves for the stages of a step of length h; false when the iteration does not converge fast enough.

    How fast is judged by the states whose Jacobian is taken. Riders follow them, and must have arrived too.
    """
    most = 7 + (NS - 3) * 5 // 2
    rtol = clock[RTOL]
    enough = max(10.0 * ROUNDING / rtol, min(0.03, math.sqrt(rtol)))
    make_factors(t, h, y, p, count, newton)
    guess_stages(t, h, y, piece, work, newton)
    last = 0.0
    solved = False
    for iteration in range(most + MORE_FOR_RIDERS * RIDES):
        stage_slopes(t, h, y, p, count, y_stage, work)
        correct_stages(h, work, newton)
        size = correction_size(y, rtol, atol, work, 0, NJ)
        newton[ITERATIONS] = iteration + 1.0
        newton[LAST_SIZE] = size
        if not math.isfinite(size):
            return False
        if size <= NOTHING * enough:
            solved = True
        if iteration > 0 and not solved:
            rate = size / last
            left = max(most - 1 - iteration, 0)
            if rate >= 1.0 or math.pow(rate, left) / (1.0 - rate) * size > enough:
                return False
            solved = rate / (1.0 - rate) * size < enough
        if solved and (RIDES == 0 or correction_size(y, rtol, atol, work, NJ, N) < enough):
            return True
        last = size
    return False


@routine
def implicit_piece(t: float, h: float, y: Array, work: Array, piece: Array) -> None:
    """The step as a piece of motion: its collocation polynomial."""
    k = (NS - 3) // 2
    piece[PIECE_TIME] = t
    piece[PIECE_LENGTH] = h
    for i in range(N):
        piece[PIECE_STATE + i] = y[i]
        for r in static_range(7):
            total = 0.0
            if r < NS:
                for s in static_range(NS):
                    total += PIECE_WEIGHTS[k][r][s] * work[(1 + s) * N + i]
            piece[PIECE_STATE + (1 + r) * N + i] = total
