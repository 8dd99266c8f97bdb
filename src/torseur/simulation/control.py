"""Choice of the step length: the first step, and proportional-integral control of the error afterwards."""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, IntArray, routine
from torseur.simulation.constrained.accelerations import VANISHING
from torseur.simulation.dop853 import N, rhs
from torseur.simulation.memory import (
    AFTER_REJECTION,
    ASKED,
    DIRECTION,
    DISTANCE,
    HOLDING,
    LAST_ERROR,
    MAX_STEP,
    NOT_FINITE,
    RETRIES,
    RTOL,
    SELECTS,
    START_DISTANCE,
    STEP,
    T_END,
    TIME,
)

ORDER = 8
BETA = 0.05  # weight of the previous error; 0 is proportional control
EXPONENT = 1.0 / ORDER - 0.2 * BETA
SAFETY = 0.87
MOST_GROWTH = 6.0
MOST_REDUCTION = 3.0
NONFINITE_REDUCTION = 10.0
FIRST_LAST_ERROR = 1e-4
RESOLUTION = 2.0**-52
BESIDE = 0.1  # distance from a singular configuration at which steps are retried
TOO_CLOSE = 1e-8  # distance at which no step should end, once accelerations are held
WORTH_HOLDING = 3e-2  # distance below which accelerations are kept for the passage
BADLY_SELECTED = 0.1  # distance below which other constraints are looked for
ASKED_AGAIN = 0.2
MOST_RETRIES = 10
PASSING_REDUCTION = 0.85


@routine
def scaled_norm(values: Array, y: Array, rtol: float, atol: Array) -> float:
    """Root mean square of a vector of states in units of the tolerance at y."""
    total = 0.0
    for i in range(N):
        ratio = values[i] / (atol[i] + rtol * abs(y[i]))
        total += ratio * ratio
    return math.sqrt(total / N)


@routine
def first_step(clock: Array, y: Array, p: Array, atol: Array, f: Array, y_trial: Array, f_trial: Array) -> float:
    """Length of the first step, such that the terms of first and second order stay near 1 % of the tolerance's scale.

    The rule of Hairer, Nørsett and Wanner, section II.4. At rest or from the origin it has nothing to compare: a
    small part of the time span takes its place and the growth from there is limited.
    """
    rtol = clock[RTOL]
    size = scaled_norm(y, y, rtol, atol)
    speed = scaled_norm(f, y, rtol, atol)
    span = abs(clock[T_END] - clock[TIME])
    trial = 1e-5 * span
    if size > 1e-5 and speed > 1e-5:
        trial = min(0.01 * size / speed, clock[MAX_STEP])
    for i in range(N):
        y_trial[i] = y[i] + clock[DIRECTION] * trial * f[i]
    rhs(clock[TIME] + clock[DIRECTION] * trial, y_trial, p, f_trial)
    for i in range(N):
        f_trial[i] = (f_trial[i] - f[i]) / trial
    curvature = max(speed, scaled_norm(f_trial, y, rtol, atol))
    if not math.isfinite(curvature):
        return 0.01 * trial
    if curvature <= 1e-15:
        return min(100.0 * trial, clock[MAX_STEP])
    return min(min(100.0 * trial, math.pow(0.01 / curvature, 1.0 / ORDER)), clock[MAX_STEP])


@routine
def signed_step(clock: Array) -> float:
    """The next step, shortened or stretched by 1 % to end exactly with the time span; 0 when it cannot move time."""
    left = abs(clock[T_END] - clock[TIME])
    h = clock[STEP]
    if 1.01 * h >= left:
        return clock[T_END] - clock[TIME]
    if 0.1 * h <= RESOLUTION * abs(clock[TIME]):
        return 0.0
    return clock[DIRECTION] * h


@routine
def lengthen(clock: Array, count: IntArray, h: float, error: float) -> None:
    """Sets the next step after one of length h was accepted with this error."""
    bounded = max(error, 1e-10)
    factor = SAFETY * math.pow(clock[LAST_ERROR], BETA) / math.pow(bounded, EXPONENT)
    factor = min(MOST_GROWTH, max(1.0 / MOST_REDUCTION, factor))
    if count[AFTER_REJECTION] != 0:
        factor = min(factor, 1.0)
    clock[STEP] = min(abs(h) * factor, clock[MAX_STEP])
    clock[LAST_ERROR] = max(error, FIRST_LAST_ERROR)
    count[AFTER_REJECTION] = 0


@routine
def is_beside(clock: Array) -> bool:
    """Whether the step starts or ends beside a singular configuration."""
    return min(clock[DISTANCE], clock[START_DISTANCE]) < BESIDE


@routine
def is_worth_holding(clock: Array) -> bool:
    """Whether the accelerations at the end of the step are those to go on with across a singular configuration."""
    worth = clock[DISTANCE] > VANISHING and clock[DISTANCE] < WORTH_HOLDING
    if worth:
        clock[HOLDING] = 1.0
    return worth


@routine
def has_passed(clock: Array) -> bool:
    """Whether accelerations are held although no singular configuration is near any more."""
    passed = clock[HOLDING] != 0.0 and clock[DISTANCE] >= WORTH_HOLDING
    if passed:
        clock[HOLDING] = 0.0
    return passed


@routine
def wants_selection(clock: Array, count: IntArray) -> bool:
    """Whether it is time to look for other constraints among redundant ones, and again where it gets much worse."""
    if count[SELECTS] == 0 or clock[DISTANCE] > BADLY_SELECTED:
        clock[ASKED] = 1.0
        return False
    asks = clock[DISTANCE] < ASKED_AGAIN * clock[ASKED]
    if asks:
        clock[ASKED] = clock[DISTANCE]
    return asks


@routine
def must_pass_by(h: float, accepted: bool, clock: Array, count: IntArray) -> bool:
    """Whether the step is to be tried again a little shorter, because of a singular configuration beside it.

    There, errors come from the place of a few stages and not from the length of the step, and a step that ends too
    close leads nowhere. Ever shorter steps would walk into the singularity instead of across it.
    """
    too_close = TOO_CLOSE if clock[HOLDING] != 0.0 else VANISHING
    if is_beside(clock) and count[RETRIES] < MOST_RETRIES and not (accepted and clock[DISTANCE] > too_close):
        count[RETRIES] += 1
        clock[STEP] = abs(h) * PASSING_REDUCTION
        return True
    if accepted:
        count[RETRIES] = 0
        clock[START_DISTANCE] = clock[DISTANCE]
    return False


@routine
def shorten(clock: Array, count: IntArray, h: float, error: float) -> None:
    """Sets the next step after one of length h was refused."""
    if math.isfinite(error):
        count[NOT_FINITE] = 0
        clock[STEP] = abs(h) / min(MOST_REDUCTION, math.pow(error, EXPONENT) / SAFETY)
    else:
        count[NOT_FINITE] = 1
        clock[STEP] = abs(h) / NONFINITE_REDUCTION
    count[AFTER_REJECTION] = 1
