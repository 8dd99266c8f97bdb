"""What an FMU asks of its model, as one routine: slopes, outputs, a state on its manifold, or a motion.

The motion is computed by the explicit method of order 8 with control of its error, as in `simulate`, but from one
communication point to the next without events or records.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, IntArray, Static, izeros, routine, zeros
from torseur.simulation.along import NZ, outputs
from torseur.simulation.control import FIRST_LAST_ERROR, first_step, lengthen, shorten, signed_step
from torseur.simulation.dop853 import N, error_norm, evaluate_stages, rhs, solution
from torseur.simulation.memory import CLOCK_SIZE, COUNT_SIZE, DIRECTION, LAST_ERROR, MAX_STEP, RTOL, STEP, T_END, TIME
from torseur.simulation.settling import copy, settle
from torseur.simulation.tableau import STAGES

SLOPES = 0
OUTPUTS = 1
SETTLE = 2
ADVANCE = 3

DONE = 0
STUCK = 1
MOST_ATTEMPTS = 1_000_000  # in one communication step

NL: int = Static("NL")  # number of laws, which are inputs of the FMU
NT: int = Static("NT")  # number of slopes and outputs that have a derivative; 0 for constrained systems

tangent = External("tangent", "t: float, y: Array, p: Array, d: Array, z: Array")


@routine
def held(t: float, a: Array, u: Array) -> None:
    """Laws as inputs: their values are given, and stay as they are between communication points."""
    for i in range(NL):
        u[i] = a[i]


@routine
def task(
    number: int, t: float, t_end: float, rtol: float, step: Array, y: Array, p: Array, atol: Array, out: Array
) -> int:
    """Does what the number stands for; 0 is success. A tangent finds its direction in atol."""
    if number == SLOPES:
        rhs(t, y, p, out)
        return DONE
    if number == OUTPUTS:
        if NZ > 0:
            outputs(t, y, p, out)
        return DONE
    if number == SETTLE:
        distance = settle(t, y, p, out)
        return DONE if distance >= 0.0 else STUCK
    if number == ADVANCE:
        return advance(t, t_end, rtol, step, y, p, atol)
    if NT > 0:
        tangent(t, y, p, atol, out)
    return DONE if NT > 0 else STUCK


@routine
def advance(t: float, t_end: float, rtol: float, step: Array, y: Array, p: Array, atol: Array) -> int:
    """Moves y to t_end; `step` remembers the length of the steps from one call to the next."""
    clock = zeros(CLOCK_SIZE)
    count = izeros(COUNT_SIZE)
    slopes = zeros(STAGES * N)
    trial = zeros(3 * N)
    set_clock(clock, t, t_end, rtol, step[0])
    rhs(t, y, p, slopes)
    if clock[STEP] == 0.0:
        clock[STEP] = first_step(clock, y, p, atol, slopes, trial, trial[N:])
    attempts = 0
    while clock[TIME] != t_end:
        h = signed_step(clock)
        attempts += 1
        if h == 0.0 or attempts > MOST_ATTEMPTS:
            return STUCK
        if attempt(h, clock, count, y, p, atol, slopes, trial):
            copy(trial[2 * N :], y, N)
            clock[TIME] = t_end if h == t_end - clock[TIME] else clock[TIME] + h
            rhs(clock[TIME], y, p, slopes)
    step[0] = clock[STEP]
    return DONE


@routine
def set_clock(clock: Array, t: float, t_end: float, rtol: float, step: float) -> None:
    clock[TIME] = t
    clock[T_END] = t_end
    clock[DIRECTION] = 1.0 if t_end >= t else -1.0
    clock[RTOL] = rtol
    clock[MAX_STEP] = abs(t_end - t)
    clock[LAST_ERROR] = FIRST_LAST_ERROR
    clock[STEP] = step


@routine
def attempt(
    h: float, clock: Array, count: IntArray, y: Array, p: Array, atol: Array, slopes: Array, trial: Array
) -> bool:
    """Takes a step and chooses the length of the next; false when its error is too large.

    `trial` holds the state of the last stage, the end of the step, and that end on its manifold.
    """
    proposed = clock[STEP]
    end = trial[N:]
    settled = trial[2 * N :]
    evaluate_stages(clock[TIME], h, y, p, slopes, trial)
    solution(h, y, slopes, end)
    error = error_norm(h, y, end, slopes, clock[RTOL], atol)
    if error <= 1.0:
        settle(clock[TIME] + h, end, p, settled)
        error = error if all_finite(settled) else math.nan
    if not error <= 1.0:
        shorten(clock, count, h, error)
        return False
    lengthen(clock, count, h, error)
    if abs(h) < proposed:  # cut at the communication point: the next may be as long as this was meant to be
        clock[STEP] = max(clock[STEP], proposed)
    return True


@routine
def all_finite(values: Array) -> bool:
    total = 0.0
    for i in range(N):
        total += abs(values[i])
    return math.isfinite(total)
