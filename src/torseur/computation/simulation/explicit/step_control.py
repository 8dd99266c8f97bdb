"""Choice of the step length: the first step, and proportional-integral control of the error afterwards.

After an accepted step of error e, with the error e' of the one before, both in units of the tolerance, the next has
the length

    h · SAFETY · e'^BETA / e^(1/8 - 0.2 BETA)

within limits (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I and II, sections II.4 and IV.2).
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, routine
from torseur.computation.simulation.constrained.solver.accelerations import VANISHING
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.loop.memory import FIRST_LAST_ERROR, Motion, Tolerance

ORDER = 8
BETA = 0.05  # weight of the previous error; 0 is proportional control
EXPONENT = 1.0 / ORDER - 0.2 * BETA
SAFETY = 0.87
MOST_GROWTH = 6.0
MOST_REDUCTION = 3.0
NONFINITE_REDUCTION = 10.0
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
    return math.sqrt(total / max(N, 1))


@routine
def first_step(
    motion: Motion, y: Array, p: Array, tolerance: Tolerance, f: Array, y_trial: Array, f_trial: Array
) -> float:
    """Length of the first step, such that the terms of first and second order stay near 1 % of the tolerance's scale.

    The rule of Hairer, Nørsett and Wanner, section II.4; f is the derivative at y. At rest or from the origin it has
    nothing to compare: a small part of the time span takes its place and the growth from there is limited.
    """
    rtol = tolerance.rtol
    size = scaled_norm(y, y, rtol, tolerance.atol)
    speed = scaled_norm(f, y, rtol, tolerance.atol)
    span = abs(motion.t_end - motion.time)
    trial = 1e-5 * span
    if size > 1e-5 and speed > 1e-5:
        trial = min(0.01 * size / speed, motion.max_step)
    for i in range(N):
        y_trial[i] = y[i] + motion.direction * trial * f[i]
    rhs(motion.time + motion.direction * trial, y_trial, p, f_trial)
    for i in range(N):
        f_trial[i] = (f_trial[i] - f[i]) / trial
    curvature = max(speed, scaled_norm(f_trial, y, rtol, tolerance.atol))
    if not math.isfinite(curvature):
        return 0.01 * trial
    if curvature <= 1e-15:
        return min(100.0 * trial, motion.max_step)
    return min(min(100.0 * trial, math.pow(0.01 / curvature, 1.0 / ORDER)), motion.max_step)


@routine
def signed_step(motion: Motion) -> float:
    """The next step, shortened or stretched by 1 % to end exactly at `t_stop`; 0 when it cannot move time."""
    left = abs(motion.t_stop - motion.time)
    if 1.01 * motion.step >= left:
        return motion.t_stop - motion.time
    if 0.1 * motion.step <= RESOLUTION * abs(motion.time):
        return 0.0
    return motion.direction * motion.step


@routine
def time_after(h: float, motion: Motion) -> float:
    """Time at the end of the step, exactly `t_stop` when it gets there."""
    t = motion.time + h
    arrives = h == motion.t_stop - motion.time or (motion.t_stop - t) * motion.direction <= 0.0
    return motion.t_stop if arrives else t


@routine
def lengthen(motion: Motion, h: float, error: float) -> None:
    """Sets the next step after one of length h was accepted with this error."""
    bounded = max(error, 1e-10)
    factor = SAFETY * math.pow(motion.last_error, BETA) / math.pow(bounded, EXPONENT)
    factor = min(MOST_GROWTH, max(1.0 / MOST_REDUCTION, factor))
    if motion.after_rejection:
        factor = min(factor, 1.0)
    motion.step = min(abs(h) * factor, motion.max_step)
    motion.last_error = max(error, FIRST_LAST_ERROR)
    motion.after_rejection = False


@routine
def shorten(motion: Motion, h: float, error: float) -> None:
    """Sets the next step after one of length h was refused."""
    motion.not_finite = not math.isfinite(error)
    if motion.not_finite:
        motion.step = abs(h) / NONFINITE_REDUCTION
    else:
        motion.step = abs(h) / min(MOST_REDUCTION, math.pow(error, EXPONENT) / SAFETY)
    motion.after_rejection = True


# -- beside singular configurations of constrained mechanisms ------------------------------------------------


@routine
def is_beside(motion: Motion) -> bool:
    """Whether the step starts or ends beside a singular configuration."""
    return min(motion.distance, motion.start_distance) < BESIDE


@routine
def is_worth_holding(motion: Motion) -> bool:
    """Whether the accelerations at the end of the step are those to go on with across a singular configuration."""
    worth = motion.can_hold and motion.distance > VANISHING and motion.distance < WORTH_HOLDING
    if worth:
        motion.holding = True
    return worth


@routine
def has_passed(motion: Motion) -> bool:
    """Whether accelerations are held although no singular configuration is near any more."""
    passed = motion.holding and motion.distance >= WORTH_HOLDING
    if passed:
        motion.holding = False
    return passed


@routine
def wants_selection(motion: Motion) -> bool:
    """Whether it is time to look for other constraints among redundant ones, and again where it gets much worse."""
    if not motion.can_select or motion.distance > BADLY_SELECTED:
        motion.asked_at = 1.0
        return False
    asks = motion.distance < ASKED_AGAIN * motion.asked_at
    if asks:
        motion.asked_at = motion.distance
    return asks


@routine
def must_pass_by(h: float, accepted: bool, motion: Motion) -> bool:
    """Whether the step is to be tried again a little shorter, because of a singular configuration beside it.

    There, errors come from the place of a few stages and not from the length of the step, and a step that ends too
    close leads nowhere. Ever shorter steps would walk into the singularity instead of across it.
    """
    too_close = TOO_CLOSE if motion.holding else VANISHING
    if is_beside(motion) and motion.retries < MOST_RETRIES and not (accepted and motion.distance > too_close):
        motion.retries += 1
        motion.step = abs(h) * PASSING_REDUCTION
        return True
    if accepted:
        motion.retries = 0
        motion.start_distance = motion.distance
    return False
