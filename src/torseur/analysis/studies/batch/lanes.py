"""Eight motions side by side: the explicit method in vector lanes, each lane with a step length of its own.

The steps are those of `dop853` for LANES motions at once, and each lane is controlled as a single motion is. The
derivatives are one program of eight motions, whose equal operations the C compiler joins. A lane whose motion ends
takes the next point at once. Only for motions without events, manifolds, outputs and derivatives by parameters.
"""

from __future__ import annotations

from typing import Annotated

from torseur.analysis.sensitivity.direct.tangent_routines import NY
from torseur.analysis.studies.batch.motion_points import OBSERVED, PREPARED, Points, Task, begin, observe, prepare
from torseur.computation.codegen.routine import Array, IntArray, Record, izeros, routine, zeros
from torseur.computation.simulation.explicit.dop853 import (
    estimate_errors,
    estimate_stiffness,
    evaluate_stages,
    solution,
)
from torseur.computation.simulation.explicit.dop853_tableau import STAGES
from torseur.computation.simulation.explicit.runge_kutta import LANES, N, rhs, rhs_lanes
from torseur.computation.simulation.explicit.step_control import first_step, lengthen, shorten, signed_step, time_after
from torseur.computation.simulation.loop.integrate import is_stuck
from torseur.computation.simulation.loop.memory import (
    DONE,
    NONFINITE,
    PAUSED,
    STEP_TOO_SMALL,
    STIFF,
    STIFFENED,
    Motion,
    Tolerance,
)
from torseur.computation.simulation.loop.step import average_stiffness, first_not_finite
from torseur.computation.simulation.loop.switching import cross_switch, is_at_switch, look_ahead

EIGHT = 8  # lanes: those of a vector register of 512 bits
IDLE = -1


class Lanes(Record):
    """Motions side by side: number i of all of them stands together (see runge_kutta).

    The vectors are references to arrays of their own: in one block with the others, a compiler could not tell that
    what is written to one leaves the rest as it is, and loops over lanes would not become vector operations.
    """

    motions: Annotated[list[Motion], LANES]
    following: int  # point that is next
    active: int  # lanes that are not idle
    row: IntArray  # point that each lane moves, or IDLE
    y: Array
    atol: Array
    p: Array
    time: Array
    length: Array
    error: Array
    stiffness: Array
    k: Annotated[Array, ..., N * LANES]
    y_stage: Array
    y_end: Array


@routine
def lane_motions(points: Points, task: Task) -> None:
    """Values at the end of a motion from each point, integrals behind them, and the answer to each."""
    row = izeros(LANES)
    y = zeros(N * LANES)
    atol = zeros(N * LANES)
    p = zeros(PREPARED * LANES)
    time = zeros(LANES)
    length = zeros(LANES)
    error = zeros(LANES)
    stiffness = zeros(LANES)
    k = zeros(STAGES + 1, N * LANES)
    y_stage = zeros(N * LANES)
    y_end = zeros(N * LANES)
    lanes = Lanes(row, y, atol, p, time, length, error, stiffness, k, y_stage, y_end)
    for lane in range(LANES):
        load(lane, lanes, points, task)
        if lanes.row[lane] != IDLE:
            lanes.active += 1
    while lanes.active > 0:
        for lane in range(LANES):
            while lanes.row[lane] != IDLE and has_ended(lane, lanes, points, task):
                load(lane, lanes, points, task)
                if lanes.row[lane] == IDLE:
                    lanes.active -= 1
        if lanes.active > 0:
            take_steps(task.rtol, lanes)
            for lane in range(LANES):
                if lanes.row[lane] != IDLE:
                    choose_next(lane, lanes)


@routine
def load(lane: int, lanes: Lanes, points: Points, task: Task) -> None:
    """Puts the next point that can start into a lane, or leaves it idle."""
    p = zeros(PREPARED)
    f = zeros(N)
    y_trial = zeros(N)
    f_trial = zeros(N)
    motion = lanes.motions[lane]
    lanes.row[lane] = IDLE
    while lanes.following < points.count and lanes.row[lane] == IDLE:
        row = lanes.following
        y = points.states[row]
        tolerance = Tolerance(points.atol[row], rtol=task.rtol)
        prepare(points.given[row], p)
        begin(task, motion)
        rhs(motion.time, y, p, f)
        if first_not_finite(f) >= 0:
            points.answers[row] = NONFINITE
        else:
            lanes.row[lane] = row
            look_ahead(motion, p)
            motion.step = first_step(motion, y, p, tolerance, f, y_trial, f_trial)
            for i in range(N):
                lanes.y[i * LANES + lane] = y[i]
                lanes.atol[i * LANES + lane] = tolerance.atol[i]
                lanes.k[0, i * LANES + lane] = f[i]
            for i in range(PREPARED):
                lanes.p[i * LANES + lane] = p[i]
        lanes.following += 1


@routine
def has_ended(lane: int, lanes: Lanes, points: Points, task: Task) -> bool:
    """Whether the motion of a lane is over, written then; else the lane's next step is known."""
    motion = lanes.motions[lane]
    row = lanes.row[lane]
    answer = PAUSED
    if motion.time == motion.t_end:
        answer = DONE
        write(lane, lanes, points.out[row])
    elif motion.stiffness > STIFF:
        answer = STIFFENED
    elif motion.attempts < task.most_steps:
        h = signed_step(motion)
        lanes.time[lane] = motion.time
        lanes.length[lane] = h
        if h != 0.0 and not is_stuck(motion):
            return False
        answer = NONFINITE if motion.not_finite else STEP_TOO_SMALL
    points.answers[row] = answer
    lanes.length[lane] = 0.0
    return True


@routine
def write(lane: int, lanes: Lanes, out: Array) -> None:
    """The criteria of a motion that is done: formulas, then integrals."""
    state = zeros(N)
    p = zeros(PREPARED)
    z = zeros(OBSERVED + 1)
    gather(lane, lanes, state, p)
    if OBSERVED > 0:
        observe(lanes.motions[lane].time, state, p, z)
    for i in range(OBSERVED):
        out[i] = z[i]
    for i in range(N - NY):
        out[OBSERVED + i] = state[NY + i]


@routine
def take_steps(rtol: float, lanes: Lanes) -> None:
    """A step of every lane, with its derivative at the end, its error and its stiffness."""
    t_end = zeros(LANES)
    evaluate_stages(lanes.time, lanes.length, lanes.y, lanes.p, lanes.k, lanes.y_stage)
    solution(lanes.length, lanes.y, lanes.k, lanes.y_end)
    for lane in range(LANES):
        t_end[lane] = lanes.time[lane] + lanes.length[lane]
    rhs_lanes(t_end, lanes.y_end, lanes.p, lanes.k[STAGES])
    estimate_errors(lanes.length, lanes.y, lanes.y_end, lanes.k, rtol, lanes.atol, lanes.error)
    estimate_stiffness(lanes.length, lanes.y_end, lanes.y_stage, lanes.k, lanes.stiffness)


@routine
def cross_in_lane(lane: int, lanes: Lanes) -> None:
    """Goes on just behind a switch of the equations."""
    y = zeros(N)
    p = zeros(PREPARED)
    f = zeros(N)
    gather(lane, lanes, y, p)
    for i in range(N):
        f[i] = lanes.k[0, i * LANES + lane]
    cross_switch(lanes.motions[lane], y, p, f)
    for i in range(N):
        lanes.y[i * LANES + lane] = y[i]
        lanes.k[0, i * LANES + lane] = f[i]


@routine
def gather(lane: int, lanes: Lanes, y: Array, p: Array) -> None:
    """State and parameters of one lane."""
    for i in range(N):
        y[i] = lanes.y[i * LANES + lane]
    for i in range(PREPARED):
        p[i] = lanes.p[i * LANES + lane]


@routine
def choose_next(lane: int, lanes: Lanes) -> None:
    """Accepts or refuses the step of a lane, and sets the length of its next."""
    motion = lanes.motions[lane]
    h = lanes.length[lane]
    motion.attempts += 1
    if lanes.error[lane] <= 1.0:
        lengthen(motion, h, lanes.error[lane])
        average_stiffness(lanes.stiffness[lane], motion)
        motion.time = time_after(h, motion)
        for i in range(N):
            at = i * LANES + lane
            lanes.y[at] = lanes.y_end[at]
            lanes.k[0, at] = lanes.k[STAGES, at]
        if is_at_switch(motion):
            cross_in_lane(lane, lanes)
    else:
        shorten(motion, h, lanes.error[lane])
