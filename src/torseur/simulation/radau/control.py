"""Error of an implicit step, and the lengths of the next ones (Gustafsson's predictive control)."""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, IntArray, routine, static_range
from torseur.simulation.dop853 import PIECE_STATE, N, rhs
from torseur.simulation.memory import AFTER_REJECTION, EVALUATIONS, MAX_STEP, NOT_FINITE, RTOL, STEP, STEPS
from torseur.simulation.radau.elimination import NE
from torseur.simulation.radau.memory import (
    FRESH,
    HAS_JACOBIAN,
    HAS_PIECE,
    ITERATIONS,
    LAST_ERROR,
    LAST_SIZE,
    LAST_STEP,
    MATRICES,
    NS,
)
from torseur.simulation.radau.newton_matrix import NJ, RIDES, solve_real
from torseur.simulation.radau.tableau import ERROR, REAL

MOST_GROWTH = 8.0
MOST_REDUCTION = 5.0
KEPT_GROWTH = 1.2  # growth that is not worth new factors
FEW_ITERATIONS = 2.5  # up to which the Jacobian is good enough for the next step


@routine
def implicit_error(
    t: float,
    h: float,
    y: Array,
    y_end: Array,
    p: Array,
    clock: Array,
    count: IntArray,
    atol: Array,
    work: Array,
    newton: Array,
) -> float:
    """Estimated error of the step in units of the tolerance, filtered so that stiff parts do not count twice."""
    k = (NS - 3) // 2
    estimate = work[(1 + 2 * NS) * N :]
    of_stages = work[(2 + 2 * NS) * N :]
    trial = work[(3 + 2 * NS) * N :]
    for i in range(N):
        total = 0.0
        for s in static_range(NS):
            total += ERROR[k][s] * work[(1 + s) * N + i]
        of_stages[i] = total / h
        estimate[i] = work[i] + of_stages[i]
    size = filtered_size(h, y, y_end, clock[RTOL], atol, estimate, newton)
    # What couples riders to the states is not in the filter: a second estimate, which knows it, decides about them.
    if size > 1.0 and (RIDES != 0 or count[AFTER_REJECTION] != 0 or count[STEPS] == 0):
        for i in range(N):
            trial[i] = y[i] + estimate[i]
        rhs(t, trial, p, estimate)
        count[EVALUATIONS] += 1
        for i in range(N):
            estimate[i] += of_stages[i]
        size = filtered_size(h, y, y_end, clock[RTOL], atol, estimate, newton)
    return size


@routine
def filtered_size(h: float, y: Array, y_end: Array, rtol: float, atol: Array, estimate: Array, newton: Array) -> float:
    """Solves for the filtered estimate in place; its root mean square in units of the tolerance."""
    k = (NS - 3) // 2
    jacobian = newton[MATRICES:]
    factors = jacobian[NE * NJ :]
    solve_real(REAL[k] / h, jacobian, factors, factors[NE * NE :], estimate)
    total = 0.0
    for i in range(N):
        ratio = estimate[i] / (atol[i] + rtol * max(abs(y[i]), abs(y_end[i])))
        total += ratio * ratio
    return math.sqrt(total / N)


@routine
def piece_error(y: Array, rtol: float, atol: Array, piece: Array) -> float:
    """Estimated error of the collocation polynomial in units of the tolerance.

    The ends of stiff steps are far more accurate than what lies between. The first term left out is guessed from the
    last two that are there: they fall off as a geometric series.
    """
    largest = 1.0 / 4.0 ** ((NS + 1) // 2)
    last = piece[PIECE_STATE + NS * N :]
    before = piece[PIECE_STATE + (NS - 1) * N :]
    total = 0.0
    for i in range(N):
        size = max(abs(last[i]), abs(before[i]))
        term = last[i] * last[i] / size if size > 0.0 else 0.0
        ratio = largest * term / (atol[i] + rtol * abs(y[i]))
        total += ratio * ratio
    return math.sqrt(total / N)


@routine
def largest_correction(y: Array, rtol: float, atol: Array, work: Array) -> int:
    """The state whose last correction was largest in units of its tolerance; the first that is not a number, if any."""
    worst = 0
    largest = -1.0
    for i in range(N):
        ratio = abs(work[(1 + 2 * NS) * N + i]) / (atol[i] + rtol * abs(y[i]))
        if not math.isfinite(ratio):
            return i
        if ratio > largest:
            largest = ratio
            worst = i
    return worst


@routine
def step_factor(h: float, error: float, newton: Array) -> float:
    """By how much the next step may be longer, from the errors of this step and the one before."""
    most = 7.0 + (NS - 3) * 2.5
    safety = 0.9 * (2.0 * most + 1.0) / (2.0 * most + newton[ITERATIONS])
    bounded = max(error, 1e-10)
    trend = 1.0
    if newton[LAST_STEP] > 0.0:
        trend = abs(h) / newton[LAST_STEP] * math.pow(newton[LAST_ERROR] / bounded, 1.0 / (NS + 1.0))
    return safety * min(1.0, trend) * math.pow(bounded, -1.0 / (NS + 1.0))


@routine
def lengthen_implicit(clock: Array, count: IntArray, h: float, error: float, newton: Array) -> None:
    """Sets the next step after one of length h was accepted, and decides what is kept of the Jacobian."""
    factor = min(MOST_GROWTH, step_factor(h, error, newton))
    if count[AFTER_REJECTION] != 0:
        factor = min(factor, 1.0)
    keeps = factor >= 1.0 and factor < KEPT_GROWTH
    if keeps:
        factor = 1.0
    clock[STEP] = min(abs(h) * factor, clock[MAX_STEP])
    newton[LAST_STEP] = abs(h)
    newton[LAST_ERROR] = max(error, 1e-10)
    newton[FRESH] = 0.0
    if not keeps or newton[ITERATIONS] > FEW_ITERATIONS:
        newton[HAS_JACOBIAN] = 0.0
    count[AFTER_REJECTION] = 0


@routine
def start_afresh(newton: Array) -> None:
    """Asks for the Jacobian of the present state when the last one was made for another, and drops the last piece."""
    if newton[FRESH] == 0.0:
        newton[HAS_JACOBIAN] = 0.0
    newton[HAS_PIECE] = 0.0


@routine
def shorten_implicit(clock: Array, count: IntArray, h: float, error: float, newton: Array) -> None:
    """Sets the next step after one of length h had too large an error, or (not a number) could not be solved."""
    count[NOT_FINITE] = 0
    if math.isfinite(error):
        clock[STEP] = abs(h) * max(1.0 / MOST_REDUCTION, step_factor(h, error, newton))
    elif newton[FRESH] == 0.0:
        newton[HAS_JACOBIAN] = 0.0
        clock[STEP] = abs(h)
    else:
        count[NOT_FINITE] = 0 if math.isfinite(newton[LAST_SIZE]) else 1
        newton[HAS_PIECE] = 0.0
        clock[STEP] = 0.5 * abs(h)
    count[AFTER_REJECTION] = 1
