"""One step of the explicit Runge-Kutta pair of Dormand and Prince, order 8(5,3), and its dense output.

Routines: they run as Python and are translated to compiled code. States and slopes are flat arrays: slope s of
state i is k[s * N + i]. The tableau loops are unrolled and their zeros dropped when a routine is translated.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, Static, routine, static_range
from torseur.simulation.tableau import ALL_STAGES, E3, E5, STAGES, A, B, C, D

N: int = Static("N")  # number of states

# Slots of a piece of motion, followed by seven coefficients per state.
PIECE_TIME = 0
PIECE_LENGTH = 1
PIECE_STATE = 2

rhs = External("rhs", "t: float, y: Array, p: Array, dy: Array")


@routine
def evaluate_stages(t: float, h: float, y: Array, p: Array, k: Array, y_stage: Array) -> None:
    """Slopes k[1] to k[11] of a step of length h; k[0] is given. y_stage ends as the state of stage 11."""
    for s in static_range(1, STAGES):
        for i in range(N):
            total = 0.0
            for j in static_range(s):
                if A[s][j] != 0.0:
                    total += A[s][j] * k[j * N + i]
            y_stage[i] = y[i] + h * total
        rhs(t + C[s] * h, y_stage, p, k[s * N :])


@routine
def solution(h: float, y: Array, k: Array, y_end: Array) -> None:
    """State of order 8 at the end of the step."""
    for i in range(N):
        total = 0.0
        for j in static_range(STAGES):
            if B[j] != 0.0:
                total += B[j] * k[j * N + i]
        y_end[i] = y[i] + h * total


@routine
def solution_of_order_5(h: float, y_end: Array, k: Array, out: Array) -> None:
    """The state of order 5 that the error estimate compares with."""
    for i in range(N):
        total = 0.0
        for j in static_range(STAGES):
            if E5[j] != 0.0:
                total += E5[j] * k[j * N + i]
        out[i] = y_end[i] - h * total


@routine
def error_norm(h: float, y: Array, y_end: Array, k: Array, rtol: float, atol: Array) -> float:
    """Estimated error of the step in units of the tolerance, root mean square over the states.

    Combines the differences to the solutions of order 5 and 3: |h| e5^2 / sqrt(e5^2 + 0.01 e3^2), which behaves as
    an error of order 8. Not a number when the step left the domain of the equations.
    """
    square5 = 0.0
    square3 = 0.0
    size = 0.0
    for i in range(N):
        e5 = 0.0
        e3 = 0.0
        for j in static_range(STAGES):
            if E5[j] != 0.0:
                e5 += E5[j] * k[j * N + i]
            if E3[j] != 0.0:
                e3 += E3[j] * k[j * N + i]
        scale = atol[i] + rtol * max(abs(y[i]), abs(y_end[i]))
        square5 += (e5 / scale) * (e5 / scale)
        square3 += (e3 / scale) * (e3 / scale)
        size += scale
    if not math.isfinite(size):
        return math.nan
    denominator = square5 + 0.01 * square3
    if denominator == 0.0:
        return 0.0
    return abs(h) * square5 / math.sqrt(denominator * N)


@routine
def largest_error(y: Array, y_end: Array, k: Array, rtol: float, atol: Array) -> int:
    """The state whose error is largest in units of its tolerance; the first that is not a number, if any."""
    worst = 0
    largest = -1.0
    for i in range(N):
        e5 = 0.0
        for j in static_range(STAGES):
            if E5[j] != 0.0:
                e5 += E5[j] * k[j * N + i]
        ratio = abs(e5) / (atol[i] + rtol * max(abs(y[i]), abs(y_end[i])))
        if not math.isfinite(ratio):
            return i
        if ratio > largest:
            largest = ratio
            worst = i
    return worst


@routine
def step_stiffness(h: float, y_end: Array, y_stage: Array, k: Array) -> float:
    """h times an estimate of the largest |eigenvalue|, from stages 11 and 12, both at the end of the step."""
    slopes = 0.0
    states = 0.0
    for i in range(N):
        df = k[12 * N + i] - k[11 * N + i]
        dy = y_end[i] - y_stage[i]
        slopes += df * df
        states += dy * dy
    if states == 0.0:
        return 0.0
    return abs(h) * math.sqrt(slopes / states)


@routine
def dense_output(t: float, h: float, y: Array, y_end: Array, p: Array, k: Array, y_stage: Array, piece: Array) -> None:
    """The step as a piece of motion, an interpolant of order 7, from three more stages; k[12] is given.

    A piece holds the time at its start, its length, the state at its start, and seven coefficients per state.
    """
    for s in static_range(STAGES + 1, ALL_STAGES):
        for i in range(N):
            total = 0.0
            for j in static_range(s):
                if A[s][j] != 0.0:
                    total += A[s][j] * k[j * N + i]
            y_stage[i] = y[i] + h * total
        rhs(t + C[s] * h, y_stage, p, k[s * N :])
    piece[PIECE_TIME] = t
    piece[PIECE_LENGTH] = h
    for i in range(N):
        piece[PIECE_STATE + i] = y[i]
    weigh_dense_output(h, y, y_end, k, piece[PIECE_STATE + N :])


@routine
def weigh_dense_output(h: float, y: Array, y_end: Array, k: Array, dense: Array) -> None:
    """The seven coefficients per state, from the sixteen slopes."""
    for i in range(N):
        change = y_end[i] - y[i]
        dense[i] = change
        dense[N + i] = h * k[i] - change
        dense[2 * N + i] = 2.0 * change - h * (k[12 * N + i] + k[i])
        for r in static_range(4):
            total = 0.0
            for j in static_range(ALL_STAGES):
                if D[r][j] != 0.0:
                    total += D[r][j] * k[j * N + i]
            dense[(3 + r) * N + i] = h * total


@routine
def interpolate(x: float, piece: Array, out: Array) -> None:
    """State at fraction x of a piece of motion."""
    dense = piece[PIECE_STATE + N :]
    left = 1.0 - x
    for i in range(N):
        value = dense[6 * N + i]
        for r in static_range(5, -1, -1):
            value = dense[r * N + i] + (left if r % 2 == 0 else x) * value
        out[i] = piece[PIECE_STATE + i] + x * value
