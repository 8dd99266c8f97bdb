"""The motion from one time to another: the whole loop as one routine, so that it runs in compiled code.

It can be left and entered again: everything it needs to go on lies in `clock`, `count`, `y`, `sides` and `limits`.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, IntArray, Static, routine, zeros
from torseur.simulation.control import first_step, has_passed, is_worth_holding, signed_step, wants_selection
from torseur.simulation.dop853 import N, rhs
from torseur.simulation.events import NG, NO_EVENT, events, first_event
from torseur.simulation.landing import land, mark_events
from torseur.simulation.memory import (
    AT_MILESTONE,
    ATTEMPTS,
    CLOCK_SIZE,
    DIRECTION,
    DONE,
    EVALUATIONS,
    FIRED,
    HOLD,
    KEEP,
    KEEP_DENSE,
    KEEP_NOTHING,
    LET_GO,
    MARK,
    MARKS,
    MILESTONE,
    NONFINITE,
    NOT_FINITE,
    PAUSE_AT,
    PAUSED,
    REJECTED,
    REPARTITION,
    RESELECT,
    ROW,
    ROWS,
    STEP,
    STEP_TOO_SMALL,
    STEPS,
    STIFF,
    STIFFENED,
    STIFFNESS,
    STOPPED,
    T_END,
    TIME,
    WATCH,
    WORST,
)
from torseur.simulation.radau.memory import NS
from torseur.simulation.record import samples_before, write_row, write_samples, write_samples_at
from torseur.simulation.settling import PROJECT, copy
from torseur.simulation.step import (
    PIECE,
    WORK,
    Y_END,
    Y_NEXT,
    Y_STAGE,
    between_error,
    choose_next,
    complete_step,
    first_not_finite,
    next_slope,
    step_error,
    step_to_search,
    take_step,
    worst_state,
)
from torseur.simulation.tableau import STAGES

STUCK_ATTEMPTS = 20_000
STUCK_PART = 1e-7  # part of the time left that so many attempts must cover

PARTITIONED: int = Static("PARTITIONED")  # 1 when the accelerations depend on a choice of independent speeds

is_regular = External("is_regular", "t: float, y: Array, p: Array -> bool")


@routine
def integrate(
    clock: Array,
    count: IntArray,
    y: Array,
    p: Array,
    atol: Array,
    times: Array,
    samples: Array,
    rows: Array,
    sides: IntArray,
    directions: IntArray,
    limits: IntArray,
    marks: Array,
) -> int:
    """Moves the state y to the end of the time span, or as far as it can; the answer tells which."""
    work = zeros(WORK)
    g = zeros(NG)
    if NG > 0:
        events(clock[TIME], y, p, g)
    rhs(clock[TIME], y, p, work)
    count[EVALUATIONS] += 1
    if clock[STEP] == 0.0:
        count[WORST] = first_not_finite(work)
        if count[WORST] >= 0:
            return NONFINITE
        clock[STEP] = first_step(clock, y, p, atol, work, work[Y_STAGE * N :], work[Y_END * N :])
        count[EVALUATIONS] += 1
        write_samples_at(clock[TIME], y, count, times, samples)
    while clock[TIME] != clock[T_END]:
        if must_pause(count):
            return PAUSED
        if NS == 0 and count[WATCH] != 0 and clock[STIFFNESS] > STIFF:
            return STIFFENED
        h = signed_step(clock)
        if h == 0.0 or is_stuck(clock, count):
            return NONFINITE if count[NOT_FINITE] != 0 else STEP_TOO_SMALL
        wants_piece = count[KEEP] == KEEP_DENSE or samples_before(clock[TIME] + h, clock, count, times)
        if not attempt(h, wants_piece, clock, count, y, p, atol, work):
            continue
        count[FIRED] = -1
        if NG > 0:
            h = stop_at_event(h, clock, count, y, p, atol, work, sides, directions)
        if h != 0.0:
            accept(h, clock, count, y, p, work, times, samples, rows)
        if NG > 0 and mark_events(clock[TIME], y, p, count, g, sides, directions, limits, marks):
            return STOPPED
        if PROJECT == 2 and wants_selection(clock, count):
            return RESELECT
        if PROJECT == 2 and is_worth_holding(clock):
            copy(work, clock[CLOCK_SIZE:], N)
            return HOLD
        if PROJECT == 2 and has_passed(clock):
            return LET_GO
        if PARTITIONED != 0 and not is_regular(clock[TIME], y, p):
            return REPARTITION
    return DONE


@routine
def must_pause(count: IntArray) -> bool:
    """Whether Python has to make room, or asked for a pause."""
    if count[ATTEMPTS] >= count[PAUSE_AT]:
        return True
    if count[KEEP] != KEEP_NOTHING and count[ROW] >= count[ROWS]:
        return True
    return count[MARK] + NG > count[MARKS]


@routine
def is_stuck(clock: Array, count: IntArray) -> bool:
    """Whether very many attempts have led nowhere, as they do on the way into a singularity."""
    if abs(clock[TIME] - clock[MILESTONE]) > STUCK_PART * abs(clock[T_END] - clock[MILESTONE]):
        clock[MILESTONE] = clock[TIME]
        count[AT_MILESTONE] = count[ATTEMPTS]
    return count[ATTEMPTS] - count[AT_MILESTONE] > STUCK_ATTEMPTS


@routine
def attempt(
    h: float, wants_piece: bool, clock: Array, count: IntArray, y: Array, p: Array, atol: Array, work: Array
) -> bool:
    """Takes a step of length h and chooses the next length; false when its error is too large."""
    count[ATTEMPTS] += 1
    error = math.nan
    solved = take_step(clock[TIME], h, y, p, clock, count, atol, work)
    if solved:
        error = step_error(h, y, p, clock, count, atol, work)
    if NS != 0 and error <= 1.0 and wants_piece:
        error = max(error, between_error(h, y, clock, atol, work))
    if choose_next(h, error, clock, count, work):
        return True
    count[REJECTED] += 1
    count[WORST] = worst_state(y, clock, atol, work)
    return False


@routine
def stop_at_event(
    h: float,
    clock: Array,
    count: IntArray,
    y: Array,
    p: Array,
    atol: Array,
    work: Array,
    sides: IntArray,
    directions: IntArray,
) -> float:
    """The step's length, shortened to end on its first event; 0 for an event at its very start."""
    step_to_search(h, clock, count, y, p, work)
    x = first_event(count, work[PIECE * N :], p, sides, directions)
    if x == NO_EVENT:
        return h
    return land(x, y, p, clock, count, atol, work)


@routine
def accept(
    h: float,
    clock: Array,
    count: IntArray,
    y: Array,
    p: Array,
    work: Array,
    times: Array,
    samples: Array,
    rows: Array,
) -> None:
    """Makes the end of the step the present state, after writing what was asked for within it."""
    t = time_after(h, clock)
    is_new = NG == 0 or count[FIRED] >= 0
    needs_piece = count[KEEP] == KEEP_DENSE or samples_before(t, clock, count, times)
    complete_step(h, is_new, needs_piece, clock, count, y, p, work)
    write_samples(t, clock, count, p, work, times, samples)
    if count[KEEP] != KEEP_NOTHING:
        write_row(h, clock, count, y, work, rows)
    next_slope(h, is_new, needs_piece, clock, count, p, work)
    copy(work[Y_NEXT * N :], y, N)
    copy(work[STAGES * N :], work, N)
    clock[TIME] = t
    count[STEPS] += 1


@routine
def time_after(h: float, clock: Array) -> float:
    """Time at the end of the step, exactly the end of the span when it gets there."""
    t = clock[TIME] + h
    arrives = h == clock[T_END] - clock[TIME] or (clock[T_END] - t) * clock[DIRECTION] <= 0.0
    return clock[T_END] if arrives else t
