"""One motion in a thread of a GPU: its steps, and the loop around them.

Fixed steps of Runge-Kutta 4 or semi-implicit Euler, or own steps of Dormand and Prince's method of order 5(4). The
loops are not those of a single motion on a CPU: there are no buffers to fill and nobody to hand back control to, and
every number that a thread keeps costs a register of all of them. What they share are the stages of `runge_kutta`.

States lie in registers: loops over entries are unrolled when they are printed, loops around the equations of motion are
not, because code that is four times as long does not fit where instructions are kept near.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, External, Record, Static, routine, static_range, zeros
from torseur.computation.simulation.explicit.dopri5_tableau import STAGES, A, B, C, D, E
from torseur.computation.simulation.explicit.runge_kutta import N, explicit_method, rhs

NQ: int = Static("NQ")  # coordinates, with their changes by parameters
SEEN: int = Static("SEEN", 0)  # numbers that are recorded of a state
KEPT: int = Static("KEPT")  # derivatives that are kept of a step: the first at its start, the last at its end
BASE: int = Static("BASE", 0)  # states without changes and integrals, which events look at; 0 where there are none
NQ0: int = Static("NQ0", 0)  # coordinates among them
SETTLES: int = Static("SETTLES", 0)  # 1 when states are brought back to constraints after each step

MOST_STEPS = 100_000
FIRST_PART = 0.01  # of the time between two records, which the first step takes
SAFETY = 0.9
MOST_GROWTH = 5.0
LEAST_GROWTH = 0.2
ORDER = 5

settle_state = External("settle_state", "t: float, x: Array, p: Array")
record = External("record", "t: float, x: Array, p: Array, out: Array, stride: int")
advance = External("advance", "t: float, h: float, x: Array, p: Array")

METHOD = explicit_method(A, B, C)
evaluate_stages = METHOD.evaluate_stages
solution = METHOD.solution


class Plan(Record):
    """When states are recorded, and how exactly own steps follow the motion."""

    start: float
    h: float
    rtol: float
    longest: float
    steps: int
    every: int
    atol: Array


class Trial(Record):
    """A step that may be taken: its derivatives, its end, and what its dense output needs besides them."""

    k: Annotated[Array, KEPT, N]
    y_next: Annotated[Array, N]
    bend: Annotated[Array, BASE]


@routine
def advance_rk4(t: float, h: float, x: Array, p: Array) -> None:
    """The classical Runge-Kutta method of order 4, in place."""
    at = zeros(N)
    dx = zeros(N)
    total = zeros(N)
    for j in range(N):
        at[j] = x[j]
    for stage in range(4):
        rhs(t + (0.0 if stage == 0 else h if stage == 3 else 0.5 * h), at, p, dx)
        weight = 2.0 if stage == 1 or stage == 2 else 1.0
        reach = h if stage == 2 else 0.5 * h
        for j in range(N):
            # Weights 1 2 2 1 of the four stages, which stand at 0, h/2, h/2 and h.
            total[j] += weight * dx[j]
            at[j] = x[j] + reach * dx[j]
    for j in range(N):
        x[j] += h * (1.0 / 6.0) * total[j]


@routine
def advance_semi_implicit(t: float, h: float, x: Array, p: Array) -> None:
    """Speeds first, then coordinates with the new speeds: order 1, but the energy of a closed system does not drift."""
    dx = zeros(N)
    rhs(t, x, p, dx)
    for j in range(NQ, N):
        x[j] += h * dx[j]
    rhs(t, x, p, dx)
    for j in range(NQ):
        x[j] += h * dx[j]


@routine
def move_fixed(x: Array, p: Array, plan: Plan, out: Array, stride: int) -> None:
    """One motion with steps of one length; every `every`-th state is recorded, the last one always."""
    left = plan.every
    for step in range(1, plan.steps + 1):
        advance(plan.start + plan.h * (step - 1), plan.h, x, p)
        if SETTLES:
            settle_state(plan.start + plan.h * step, x, p)
        left -= 1
        if left == 0 or step == plan.steps:
            record(plan.start + plan.h * step, x, p, out, stride)
            out = out[SEEN * stride :]
            left = plan.every


@routine
def attempt_rk4(t: float, h: float, x: Array, p: Array, plan: Plan, trial: Trial) -> float:
    """A step of Runge-Kutta 4 to a settled state, with the derivative there; not a number where it fails."""
    total = zeros(N)
    y_next = trial.y_next
    f_next = trial.k[1]
    for j in range(N):
        total[j] = trial.k[0, j]
        y_next[j] = x[j] + 0.5 * h * trial.k[0, j]
    for stage in range(1, 5):
        rhs(t + (0.5 * h if stage < 3 else h), y_next, p, f_next)
        if stage < 4:
            weight = 1.0 if stage == 3 else 2.0
            reach = 0.5 * h if stage == 1 else h
            for j in range(N):
                total[j] += weight * f_next[j]
                y_next[j] = x[j] + (h * (1.0 / 6.0) * total[j] if stage == 3 else reach * f_next[j])
        if SETTLES != 0 and stage == 3:
            settle_state(t + h, y_next, p)
    return failure_of(y_next)


@routine
def attempt_semi_implicit(t: float, h: float, x: Array, p: Array, plan: Plan, trial: Trial) -> float:
    """Speeds first, then coordinates with the new speeds; settled, with the derivative there."""
    y_next = trial.y_next
    f_next = trial.k[1]
    for j in range(NQ):
        y_next[j] = x[j]
    for j in range(NQ, N):
        y_next[j] = x[j] + h * trial.k[0, j]
    for stage in range(2):
        rhs(t + stage * h, y_next, p, f_next)
        if stage == 0:
            for j in range(NQ):
                y_next[j] += h * f_next[j]
            if SETTLES:
                settle_state(t + h, y_next, p)
    return failure_of(y_next)


@routine
def failure_of(x: Array) -> float:
    """Zero for numbers, not a number for anything else."""
    total = 0.0
    for j in range(N):
        total += x[j] - x[j]
    return total


@routine
def attempt_dopri5(t: float, h: float, x: Array, p: Array, plan: Plan, trial: Trial) -> float:
    """A step of order 5 and its error of order 4 in units of the tolerance; settled where it is good enough."""
    start = zeros(1)
    length = zeros(1)
    y_stage = zeros(N)
    start[0] = t
    length[0] = h
    evaluate_stages(start, length, x, p, trial.k, y_stage)
    solution(length, x, trial.k, trial.y_next)
    rhs(t + h, trial.y_next, p, trial.k[STAGES])
    total = 0.0
    for j in range(N):
        error = 0.0
        for s in static_range(STAGES + 1):
            if E[s] != 0.0:
                error += E[s] * trial.k[s, j]
        part = h * error / (plan.atol[j] + plan.rtol * max(abs(x[j]), abs(trial.y_next[j])))
        total += part * part
    size = math.sqrt(total * (1.0 / N))
    for j in range(BASE):
        i = j if j < NQ0 else NQ - NQ0 + j
        bend = 0.0
        for s in static_range(STAGES + 1):
            if D[s] != 0.0:
                bend += D[s] * trial.k[s, i]
        trial.bend[j] = h * bend
    if SETTLES != 0 and size <= 1.0:
        settle_state(t + h, trial.y_next, p)
        rhs(t + h, trial.y_next, p, trial.k[STAGES])
    return size


@routine
def next_length(step: float, error: float, last: bool, length: float, plan: Plan) -> float:
    """Length of the next own step after one with this error; `last` when the step was cut to end at a record."""
    factor = SAFETY * (math.exp(-1.0 / ORDER * math.log(error)) if error > 1e-10 else 10.0)
    if not error <= 1.0:
        length = step * max(factor, LEAST_GROWTH)
    elif not last or factor < 1.0:
        length = step * min(factor, MOST_GROWTH)
    return min(length, plan.longest)


@routine
def move_adaptive(x: Array, p: Array, plan: Plan, out: Array, stride: int) -> None:
    """One motion with its own steps, recorded at intervals of `every` * h, where steps end.

    Where it cannot be continued its records are not a number.
    """
    trial = Trial()
    t = plan.start
    length = min(plan.h * plan.every * FIRST_PART, plan.longest)
    count = 0
    failed = False
    rhs(t, x, p, trial.k[0])
    for k in range(1, plan.steps // plan.every + 1):
        goal = plan.start + plan.h * (plan.every * k)
        while not failed and t < goal:
            last = t + length * 1.01 >= goal
            step = goal - t if last else length
            error = attempt_dopri5(t, step, x, p, plan, trial)
            count += 1
            length = next_length(step, error, last, length, plan)
            if error <= 1.0:
                for j in range(N):
                    x[j] = trial.y_next[j]
                    trial.k[0, j] = trial.k[STAGES, j]
                t = goal if last else t + step
            failed = not error < 1e30 or count > MOST_STEPS or not t + length > t
        if failed:
            for j in range(N):
                x[j] = math.nan
        record(goal, x, p, out, stride)
        out = out[SEEN * stride :]
