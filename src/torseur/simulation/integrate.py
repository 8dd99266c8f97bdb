"""The motion from one time to another: the whole loop as one routine, so that it runs in compiled code.

It can be left and entered again: everything it needs to go on lies in `clock`, `count`, `y`, `sides` and `limits`.
"""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, IntArray, routine, zeros
from torseur.simulation.control import first_step, lengthen, shorten, signed_step
from torseur.simulation.dop853 import PIECE_STATE, N, error_norm, largest_error, rhs
from torseur.simulation.events import NG, NO_EVENT, events, first_event
from torseur.simulation.landing import land, mark_events
from torseur.simulation.memory import (
    ATTEMPTS,
    DIRECTION,
    DONE,
    EVALUATIONS,
    FIRED,
    KEEP,
    KEEP_DENSE,
    KEEP_NOTHING,
    MARK,
    MARKS,
    NONFINITE,
    NOT_FINITE,
    PAUSE_AT,
    PAUSED,
    REJECTED,
    ROW,
    ROWS,
    RTOL,
    STEP,
    STEP_TOO_SMALL,
    STEPS,
    STOPPED,
    T_END,
    TIME,
    WORST,
)
from torseur.simulation.record import samples_before, write_row, write_samples, write_samples_at
from torseur.simulation.step import (
    PIECE,
    PROJECT,
    Y_END,
    Y_NEXT,
    Y_STAGE,
    copy,
    end_slope,
    first_not_finite,
    make_piece,
    note_stiffness,
    take_step,
)
from torseur.simulation.tableau import STAGES


@routine
def integrate(
    clock: Array, count: IntArray, y: Array, p: Array, atol: Array, times: Array, samples: Array, rows: Array,
    sides: IntArray, directions: IntArray, limits: IntArray, marks: Array,
) -> int:
    """Moves the state y to the end of the time span, or as far as it can; the answer tells which."""
    work = zeros((PIECE + 8) * N + PIECE_STATE)
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
        h = signed_step(clock)
        if h == 0.0:
            return NONFINITE if count[NOT_FINITE] != 0 else STEP_TOO_SMALL
        if not attempt(h, clock, count, y, p, atol, work):
            continue
        count[FIRED] = -1
        if NG > 0:
            h = stop_at_event(h, clock, count, y, p, work, sides, directions)
        if h != 0.0:
            accept(h, clock, count, y, p, work, times, samples, rows)
        if NG > 0 and mark_events(clock[TIME], y, p, count, g, sides, directions, limits, marks):
            return STOPPED
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
def attempt(h: float, clock: Array, count: IntArray, y: Array, p: Array, atol: Array, work: Array) -> bool:
    """Takes a step of length h and chooses the next length; false when its error is too large."""
    y_end = work[Y_END * N :]
    take_step(clock[TIME], h, y, p, count, work)
    count[ATTEMPTS] += 1
    error = error_norm(h, y, y_end, work, clock[RTOL], atol)
    if PROJECT != 0 and first_not_finite(work[Y_NEXT * N :]) >= 0:
        error = math.nan
    if error <= 1.0:
        lengthen(clock, count, h, error)
        return True
    count[REJECTED] += 1
    count[WORST] = largest_error(y, y_end, work, clock[RTOL], atol)
    shorten(clock, count, h, error)
    return False


@routine
def stop_at_event(
    h: float, clock: Array, count: IntArray, y: Array, p: Array, work: Array, sides: IntArray, directions: IntArray
) -> float:
    """The step's length, shortened to end on its first event; 0 for an event at its very start."""
    end_slope(h, clock, count, work[Y_END * N :], p, work)
    note_stiffness(h, clock, work)
    make_piece(h, clock, count, y, p, work)
    x = first_event(count, work[PIECE * N :], p, sides, directions)
    if x == NO_EVENT:
        return h
    return land(x, y, p, count, work)


@routine
def accept(
    h: float, clock: Array, count: IntArray, y: Array, p: Array, work: Array,
    times: Array, samples: Array, rows: Array,
) -> None:
    """Makes the end of the step the present state, after writing what was asked for within it."""
    t = time_after(h, clock)
    is_new = NG == 0 or count[FIRED] >= 0
    needs_piece = count[KEEP] == KEEP_DENSE or samples_before(t, clock, count, times)
    if is_new and (PROJECT == 0 or needs_piece):
        end_slope(h, clock, count, work[Y_END * N :], p, work)
        note_stiffness(h, clock, work)
    if is_new and needs_piece:
        make_piece(h, clock, count, y, p, work)
    write_samples(t, clock, count, p, work, times, samples)
    if count[KEEP] != KEEP_NOTHING:
        write_row(h, clock, count, y, work, rows)
    if PROJECT:
        end_slope(h, clock, count, work[Y_NEXT * N :], p, work)
        if is_new and not needs_piece:
            note_stiffness(h, clock, work)
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


