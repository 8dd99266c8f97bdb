"""What an FMU asks of its model, as one routine: derivatives, outputs, a state on its manifold, or a motion.

The motion is computed by the explicit method of order 8 with control of its error, as in `simulate`, but from one
communication point to the next without events or records.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, External, Static, routine, zeros
from torseur.computation.simulation.explicit.dop853 import estimate_errors, evaluate_stages, solution
from torseur.computation.simulation.explicit.runge_kutta import LANES, N, rhs
from torseur.computation.simulation.explicit.step_control import first_step, lengthen, shorten, signed_step, time_after
from torseur.computation.simulation.loop.memory import Motion, Tolerance
from torseur.computation.simulation.loop.settling import copy, settle
from torseur.computation.simulation.loop.step import Step
from torseur.computation.simulation.loop.switching import (
    GAP,
    SWITCHES,
    cross_switch,
    is_at_switch,
    look_ahead,
    next_switch,
)
from torseur.computation.simulation.output.along_motion import NZ, outputs

DERIVATIVES = 0
OUTPUTS = 1
SETTLE = 2
ADVANCE = 3
TANGENT = 4
SWITCH = 5

DONE = 0
STUCK = 1
NEVER = 1e300  # seconds
MOST_ATTEMPTS = 1_000_000  # in one communication step

NL: int = Static("NL")  # number of laws, which are inputs of the FMU
NT: int = Static("NT")  # number of state derivatives and outputs that have a derivative; 0 for constrained systems

tangent = External("tangent", "t: float, y: Array, p: Array, d: Array, z: Array")


@routine
def laws_from_inputs(t: float, a: Array, u: Array) -> None:
    """Laws as inputs: their values are given, and stay as they are between communication points."""
    for i in range(NL):
        u[i] = a[i]


@routine
def task(number: int, t: float, t_end: float, pace: Array, y: Array, p: Array, atol: Array, out: Array) -> int:
    """Does what the number stands for; 0 is success. A tangent finds its direction in atol."""
    if number == DERIVATIVES:
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
        return advance(t, t_end, pace, y, p, atol)
    if number == SWITCH:
        out[0] = switch_after(t, p)
        return DONE
    if NT > 0 and number == TANGENT:
        tangent(t, y, p, atol, out)
        return DONE
    return STUCK


@routine
def switch_after(t: float, p: Array) -> float:
    """The next time at which the equations switch; a host that integrates them by itself must not step over it."""
    ahead = zeros(1)
    ahead[0] = NEVER
    if SWITCHES:
        next_switch(t + GAP * abs(t), 1.0, p, ahead)
    return t + ahead[0]


@routine
def advance(t: float, t_end: float, pace: Array, y: Array, p: Array, atol: Array) -> int:
    """Moves y to t_end. `pace` is the relative tolerance and, from one call to the next, the length of the steps."""
    tolerance = Tolerance(atol, rtol=pace[0])
    motion = Motion(time=t, t_end=t_end, max_step=abs(t_end - t), step=pace[1])
    motion.direction = 1.0 if t_end >= t else -1.0
    step = Step()
    rhs(t, y, p, step.k[0])
    look_ahead(motion, p)
    if motion.step == 0.0:
        motion.step = first_step(motion, y, p, tolerance, step.k[0], step.y_stage, step.y_end)
    attempts = 0
    while motion.time != t_end:
        h = signed_step(motion)
        attempts += 1
        if h == 0.0 or attempts > MOST_ATTEMPTS:
            return STUCK
        if attempt(h, motion, y, p, tolerance, step):
            copy(step.y_next, y, N)
            motion.time = time_after(h, motion)
            rhs(motion.time, y, p, step.k[0])
            if is_at_switch(motion):
                cross_switch(motion, y, p, step.k[0])
    pace[1] = motion.step
    return DONE


@routine
def attempt(h: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step) -> bool:
    """Takes a step and chooses the length of the next; false when its error is too large."""
    proposed = motion.step
    error = zeros(LANES)
    step.time[0] = motion.time
    step.length[0] = h
    evaluate_stages(step.time, step.length, y, p, step.k, step.y_stage)
    solution(step.length, y, step.k, step.y_end)
    estimate_errors(step.length, y, step.y_end, step.k, tolerance.rtol, tolerance.atol, error)
    if error[0] <= 1.0:
        settle(motion.time + h, step.y_end, p, step.y_next)
        error[0] = error[0] if all_finite(step.y_next) else math.nan
    if not error[0] <= 1.0:
        shorten(motion, h, error[0])
        return False
    lengthen(motion, h, error[0])
    if abs(h) < proposed:  # cut at the communication point: the next may be as long as this was meant to be
        motion.step = max(motion.step, proposed)
    return True


@routine
def all_finite(values: Array) -> bool:
    total = 0.0
    for i in range(N):
        total += abs(values[i])
    return math.isfinite(total)
