"""Eight motions side by side: the steps of the explicit method in vector lanes, each lane with a length of its own.

Numbers of a lane lie eight apart, so that loops over lanes become vector operations; the slopes are one program of
eight motions, whose equal operations the C compiler joins. A lane whose motion ends takes the next point at once.
Only for motions without events, manifolds, outputs and slopes by parameters.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, IntArray, Static, izeros, routine, static_range, zeros
from torseur.simulation.control import first_step, lengthen, shorten, signed_step
from torseur.simulation.dop853 import N, rhs
from torseur.simulation.integrate import is_stuck, time_after
from torseur.simulation.memory import (
    ATTEMPTS,
    CLOCK_SIZE,
    COUNT_SIZE,
    DONE,
    NONFINITE,
    NOT_FINITE,
    PAUSED,
    STEP,
    STEP_TOO_SMALL,
    STIFF,
    STIFFENED,
    STIFFNESS,
    T_END,
    TIME,
)
from torseur.simulation.step import STIFFNESS_MEMORY, first_not_finite
from torseur.simulation.tableau import E3, E5, STAGES, A, B, C
from torseur.studies.batch.motions import GIVEN, MOST_STEPS, OBSERVED, PREPARED, TOLERANCE, observe, prepare, wind

LANES = 8
NY: int = Static("NY")  # states of the system, before the integrals
IDLE = -1

rhs_lanes = External("rhs_lanes", "t: Array, y: Array, p: Array, dy: Array")


@routine
def lane_motions(
    rows: int, settings: Array, states: Array, given: Array, tolerances: Array, out: Array, answers: IntArray
) -> None:
    """Values at the end of a motion from each row of `states`, integrals behind them, and the answer to each."""
    clock = zeros(LANES * CLOCK_SIZE)
    count = izeros(LANES * COUNT_SIZE)
    row = izeros(LANES)
    y = zeros(N * LANES)
    y_end = zeros(N * LANES)
    y_stage = zeros(N * LANES)
    atol = zeros(N * LANES)
    p = zeros(PREPARED * LANES)
    k = zeros((STAGES + 1) * N * LANES)
    h = zeros(LANES)
    error = zeros(LANES)
    stiffness = zeros(LANES)
    following = 0
    active = 0
    for lane in range(LANES):
        row[lane] = IDLE
        following = load(
            lane, following, rows, settings, states, given, tolerances, clock, count, row, y, atol, p, k, answers
        )
        if row[lane] != IDLE:
            active += 1
    while active > 0:
        for lane in range(LANES):
            while row[lane] != IDLE and ended(lane, settings, clock, count, row, y, p, h, out, answers):
                following = load(
                    lane,
                    following,
                    rows,
                    settings,
                    states,
                    given,
                    tolerances,
                    clock,
                    count,
                    row,
                    y,
                    atol,
                    p,
                    k,
                    answers,
                )
                if row[lane] == IDLE:
                    active -= 1
        if active > 0:
            take_steps(clock, h, y, p, k, y_stage, y_end)
            judge(h, y, y_end, y_stage, k, atol, settings[TOLERANCE], error, stiffness)
            for lane in range(LANES):
                if row[lane] != IDLE:
                    settle_step(lane, error[lane], stiffness[lane], h[lane], clock, count, y, y_end, k)


@routine
def load(
    lane: int,
    following: int,
    rows: int,
    settings: Array,
    states: Array,
    given: Array,
    tolerances: Array,
    clock: Array,
    count: IntArray,
    row: IntArray,
    y: Array,
    atol: Array,
    p: Array,
    k: Array,
    answers: IntArray,
) -> int:
    """Puts the next point that can start into a lane, or leaves it idle; the row after it."""
    own = zeros(PREPARED)
    f = zeros(N)
    y_trial = zeros(N)
    f_trial = zeros(N)
    row[lane] = IDLE
    while following < rows and row[lane] == IDLE:
        y_one = states[following * N :]
        atol_one = tolerances[following * N :]
        prepare(given[following * GIVEN :], own)
        clear(clock[lane * CLOCK_SIZE :], count[lane * COUNT_SIZE :])
        wind(settings, clock[lane * CLOCK_SIZE :], count[lane * COUNT_SIZE :])
        rhs(clock[lane * CLOCK_SIZE + TIME], y_one, own, f)
        if first_not_finite(f) >= 0:
            answers[following] = NONFINITE
        else:
            row[lane] = following
            first = first_step(clock[lane * CLOCK_SIZE :], y_one, own, atol_one, f, y_trial, f_trial)
            clock[lane * CLOCK_SIZE + STEP] = first
            for i in range(N):
                y[i * LANES + lane] = y_one[i]
                atol[i * LANES + lane] = atol_one[i]
                k[i * LANES + lane] = f[i]
            for i in range(PREPARED):
                p[i * LANES + lane] = own[i]
        following += 1
    return following


@routine
def clear(clock: Array, count: IntArray) -> None:
    for i in range(CLOCK_SIZE):
        clock[i] = 0.0
    for i in range(COUNT_SIZE):
        count[i] = 0


@routine
def ended(
    lane: int,
    settings: Array,
    clock: Array,
    count: IntArray,
    row: IntArray,
    y: Array,
    p: Array,
    h: Array,
    out: Array,
    answers: IntArray,
) -> bool:
    """Whether the motion of a lane is over, written then; else h holds the lane's next step."""
    own = clock[lane * CLOCK_SIZE :]
    counts = count[lane * COUNT_SIZE :]
    answer = PAUSED
    if own[TIME] == own[T_END]:
        answer = DONE
        write(lane, own[TIME], y, p, out[row[lane] * (OBSERVED + N - NY) :])
    elif own[STIFFNESS] > STIFF:
        answer = STIFFENED
    elif counts[ATTEMPTS] < int(settings[MOST_STEPS]):
        h[lane] = signed_step(own)
        if h[lane] != 0.0 and not is_stuck(own, counts):
            return False
        answer = NONFINITE if counts[NOT_FINITE] != 0 else STEP_TOO_SMALL
    answers[row[lane]] = answer
    h[lane] = 0.0
    return True


@routine
def write(lane: int, t: float, y: Array, p: Array, out: Array) -> None:
    """The criteria of a motion that is done: formulas, then integrals."""
    state = zeros(N)
    own = zeros(PREPARED)
    z = zeros(OBSERVED + 1)
    for i in range(N):
        state[i] = y[i * LANES + lane]
    for i in range(PREPARED):
        own[i] = p[i * LANES + lane]
    if OBSERVED > 0:
        observe(t, state, own, z)
    for i in range(OBSERVED):
        out[i] = z[i]
    for i in range(N - NY):
        out[OBSERVED + i] = state[NY + i]


@routine
def take_steps(clock: Array, h: Array, y: Array, p: Array, k: Array, y_stage: Array, y_end: Array) -> None:
    """Slopes 1 to 12 of all lanes and their states at the end; slope 0 is given."""
    t = zeros(LANES)
    for s in static_range(1, STAGES):
        for i in range(N):
            for lane in range(LANES):
                total = 0.0
                for j in static_range(s):
                    if A[s][j] != 0.0:
                        total += A[s][j] * k[(j * N + i) * LANES + lane]
                y_stage[i * LANES + lane] = y[i * LANES + lane] + h[lane] * total
        for lane in range(LANES):
            t[lane] = clock[lane * CLOCK_SIZE + TIME] + C[s] * h[lane]
        rhs_lanes(t, y_stage, p, k[s * N * LANES :])
    for i in range(N):
        for lane in range(LANES):
            total = 0.0
            for j in static_range(STAGES):
                if B[j] != 0.0:
                    total += B[j] * k[(j * N + i) * LANES + lane]
            y_end[i * LANES + lane] = y[i * LANES + lane] + h[lane] * total
    rhs_lanes(t, y_end, p, k[STAGES * N * LANES :])


@routine
def judge(
    h: Array,
    y: Array,
    y_end: Array,
    y_stage: Array,
    k: Array,
    atol: Array,
    rtol: float,
    error: Array,
    stiffness: Array,
) -> None:
    """Errors of all lanes in units of the tolerance, as for one motion, and h times the largest |eigenvalue|."""
    square5 = zeros(LANES)
    square3 = zeros(LANES)
    size = zeros(LANES)
    slopes = zeros(LANES)
    moved = zeros(LANES)
    for i in range(N):
        for lane in range(LANES):
            e5 = 0.0
            e3 = 0.0
            for j in static_range(STAGES):
                if E5[j] != 0.0:
                    e5 += E5[j] * k[(j * N + i) * LANES + lane]
                if E3[j] != 0.0:
                    e3 += E3[j] * k[(j * N + i) * LANES + lane]
            at = i * LANES + lane
            scale = atol[at] + rtol * max(abs(y[at]), abs(y_end[at]))
            square5[lane] += (e5 / scale) * (e5 / scale)
            square3[lane] += (e3 / scale) * (e3 / scale)
            size[lane] += scale
            df = k[(12 * N + i) * LANES + lane] - k[(11 * N + i) * LANES + lane]
            dy = y_end[at] - y_stage[at]
            slopes[lane] += df * df
            moved[lane] += dy * dy
    for lane in range(LANES):
        denominator = square5[lane] + 0.01 * square3[lane]
        error[lane] = 0.0
        if not math.isfinite(size[lane]):
            error[lane] = math.nan
        elif denominator != 0.0:
            error[lane] = abs(h[lane]) * square5[lane] / math.sqrt(denominator * N)
        stiffness[lane] = 0.0
        if moved[lane] != 0.0:
            stiffness[lane] = abs(h[lane]) * math.sqrt(slopes[lane] / moved[lane])


@routine
def settle_step(
    lane: int,
    error: float,
    stiffness: float,
    h: float,
    clock: Array,
    count: IntArray,
    y: Array,
    y_end: Array,
    k: Array,
) -> None:
    """Accepts or refuses the step of a lane, and sets the length of its next."""
    own = clock[lane * CLOCK_SIZE :]
    counts = count[lane * COUNT_SIZE :]
    counts[ATTEMPTS] += 1
    if error <= 1.0:
        lengthen(own, counts, h, error)
        own[STIFFNESS] += (min(stiffness, 2.0 * STIFF) - own[STIFFNESS]) / STIFFNESS_MEMORY
        own[TIME] = time_after(h, own)
        for i in range(N):
            y[i * LANES + lane] = y_end[i * LANES + lane]
            k[i * LANES + lane] = k[(STAGES * N + i) * LANES + lane]
    else:
        shorten(own, counts, h, error)
