"""Error of an implicit step, and the lengths of the next ones (Gustafsson's predictive control).

The error is that of an embedded solution of order s, filtered by (γ/h - J)⁻¹ so that stiff parts, which the step damps,
do not count (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8).
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, routine, static_range
from torseur.computation.simulation.explicit.dop853 import Piece
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.implicit.newton_matrix import RIDES, solve_real
from torseur.computation.simulation.implicit.radau_memory import NS, Newton
from torseur.computation.simulation.implicit.radau_tableau import ERROR, REAL
from torseur.computation.simulation.loop.memory import Motion, Tolerance

MOST_GROWTH = 8.0
MOST_REDUCTION = 5.0
KEPT_GROWTH = 1.2  # growth that is not worth new factors
FEW_ITERATIONS = 2.5  # up to which the Jacobian is good enough for the next step


@routine
def implicit_error(
    h: float, motion: Motion, y: Array, y_end: Array, p: Array, tolerance: Tolerance, f: Array, newton: Newton
) -> float:
    """Estimated error of the step in units of the tolerance; f is the derivative at its start.

    Rows of the correction, which is of no more use, hold the estimate, its part from the stages, and a trial state.
    """
    k = (NS - 3) // 2
    # ŷ - y = (γ₀/h 1 - J)⁻¹ (f + Σ e_s z_s / h), an embedded solution of lower order. The filter (γ₀/h 1 - J)⁻¹ keeps
    # stiff components, which the estimate exaggerates, from shortening the step (IV.8 of Hairer and Wanner).
    estimate = newton.correction[0]
    of_stages = newton.correction[1]
    trial = newton.correction[2]
    for i in range(N):
        total = 0.0
        for s in static_range(NS):
            total += ERROR[k][s] * newton.z[s, i]
        of_stages[i] = total / h
        estimate[i] = f[i] + of_stages[i]
    size = filtered_size(h, y, y_end, tolerance, estimate, newton)
    # What couples riders to the states is not in the filter: a second estimate, which knows it, decides about them.
    if size > 1.0 and (RIDES != 0 or motion.after_rejection or motion.steps == 0):
        for i in range(N):
            trial[i] = y[i] + estimate[i]
        rhs(motion.time, trial, p, estimate)
        motion.evaluations += 1
        for i in range(N):
            estimate[i] += of_stages[i]
        size = filtered_size(h, y, y_end, tolerance, estimate, newton)
    return size


@routine
def filtered_size(h: float, y: Array, y_end: Array, tolerance: Tolerance, estimate: Array, newton: Newton) -> float:
    """Solves for the filtered estimate in place; its root mean square in units of the tolerance."""
    k = (NS - 3) // 2
    solve_real(REAL[k] / h, newton.jacobian, newton.real, estimate)
    total = 0.0
    for i in range(N):
        ratio = estimate[i] / (tolerance.atol[i] + tolerance.rtol * max(abs(y[i]), abs(y_end[i])))
        total += ratio * ratio
    return math.sqrt(total / max(N, 1))


@routine
def piece_error(y: Array, tolerance: Tolerance, piece: Piece) -> float:
    """Estimated error of the collocation polynomial in units of the tolerance.

    The ends of stiff steps are far more accurate than what lies between. The first term left out is guessed from the
    last two that are there: they fall off as a geometric series.
    """
    # With NS odd the next function is x^m (1-x)^m, m = (NS + 1)/2, whose maximum is at one half.
    largest = 1.0 / 4.0 ** ((NS + 1) // 2)  # of x(1-x)…, the basis function that is left out
    last = piece.coefficients[NS - 1]
    before = piece.coefficients[NS - 2]
    total = 0.0
    for i in range(N):
        size = max(abs(last[i]), abs(before[i]))
        term = last[i] * last[i] / size if size > 0.0 else 0.0
        ratio = largest * term / (tolerance.atol[i] + tolerance.rtol * abs(y[i]))
        total += ratio * ratio
    return math.sqrt(total / max(N, 1))


@routine
def largest_correction(y: Array, tolerance: Tolerance, newton: Newton) -> int:
    """The state whose last correction was largest in units of its tolerance; the first that is not a number, if any."""
    worst = 0
    largest = -1.0
    for i in range(N):
        ratio = abs(newton.correction[0, i]) / (tolerance.atol[i] + tolerance.rtol * abs(y[i]))
        if not math.isfinite(ratio):
            return i
        if ratio > largest:
            largest = ratio
            worst = i
    return worst


@routine
def step_factor(h: float, error: float, newton: Newton) -> float:
    """By how much the next step may be longer, from the errors of this step and the one before."""
    # The iterations that are allowed, as in solve_stages.
    most = 7.0 + (NS - 3) * 2.5
    # A step that took many iterations should not grow: the next would take more, or fail.
    safety = 0.9 * (2.0 * most + 1.0) / (2.0 * most + newton.iterations)
    bounded = max(error, 1e-10)
    trend = 1.0
    # Gustafsson's predictive controller (1994): if the error grew from the last step to this one, so it will again.
    if newton.last_step > 0.0:
        trend = abs(h) / newton.last_step * math.pow(newton.last_error / bounded, 1.0 / (NS + 1.0))
    return safety * min(1.0, trend) * math.pow(bounded, -1.0 / (NS + 1.0))


@routine
def lengthen_implicit(motion: Motion, h: float, error: float, newton: Newton) -> None:
    """Sets the next step after one of length h was accepted, and decides what is kept of the Jacobian."""
    factor = min(MOST_GROWTH, step_factor(h, error, newton))
    if motion.after_rejection:
        factor = min(factor, 1.0)
    # The same step keeps the factors, which cost more than a few per cent of length bring.
    keeps = factor >= 1.0 and factor < KEPT_GROWTH
    if keeps:
        factor = 1.0
    motion.step = min(abs(h) * factor, motion.max_step)
    newton.last_step = abs(h)
    newton.last_error = max(error, 1e-10)
    newton.is_fresh = False
    # Few iterations show that the Jacobian still holds, though the state has moved on.
    if not keeps or newton.iterations > FEW_ITERATIONS:
        newton.has_jacobian = False
    motion.after_rejection = False


@routine
def start_afresh(newton: Newton) -> None:
    """Asks for the Jacobian of the present state when the last one was made for another, and drops the last piece."""
    if not newton.is_fresh:
        newton.has_jacobian = False
    newton.has_piece = False


@routine
def shorten_implicit(motion: Motion, h: float, error: float, newton: Newton) -> None:
    """Sets the next step after one of length h had too large an error, or (not a number) could not be solved."""
    motion.not_finite = False
    if math.isfinite(error):
        motion.step = abs(h) * max(1.0 / MOST_REDUCTION, step_factor(h, error, newton))
    # Not solved: with an old Jacobian that may be its fault, so that the same step is tried with a new one first.
    elif not newton.is_fresh:
        newton.has_jacobian = False
        motion.step = abs(h)
    else:
        motion.not_finite = not math.isfinite(newton.last_size)
        newton.has_piece = False
        motion.step = 0.5 * abs(h)
    motion.after_rejection = True
