"""The motion from one time to another: the whole loop as one routine, so that it runs in compiled code.

It can be left and entered again: everything it needs to go on lies in the records of `memory.py` and in the state y.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, External, Static, routine, zeros
from torseur.computation.simulation.events.event_search import NG, NO_EVENT, events, first_event
from torseur.computation.simulation.events.landing import land, mark_events
from torseur.computation.simulation.explicit.dop853_tableau import STAGES
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.explicit.step_control import (
    first_step,
    has_passed,
    is_worth_holding,
    signed_step,
    time_after,
    wants_selection,
)
from torseur.computation.simulation.implicit.radau_control import start_afresh
from torseur.computation.simulation.implicit.radau_memory import NS
from torseur.computation.simulation.loop.memory import (
    DONE,
    HOLD,
    KEEP_DENSE,
    KEEP_NOTHING,
    LET_GO,
    NONFINITE,
    PAUSED,
    REPARTITION,
    RESELECT,
    STEP_TOO_SMALL,
    STIFF,
    STIFFENED,
    STOPPED,
    Events,
    Motion,
    Output,
    Tolerance,
)
from torseur.computation.simulation.loop.record import samples_before, write_row, write_samples, write_samples_at
from torseur.computation.simulation.loop.settling import PROJECT, copy
from torseur.computation.simulation.loop.step import (
    Step,
    between_error,
    choose_next,
    complete_step,
    evaluate_next,
    first_not_finite,
    prepare_search,
    step_error,
    take_step,
    worst_state,
)
from torseur.computation.simulation.loop.switching import cross_switch, is_at_switch, look_ahead

STUCK_ATTEMPTS = 20_000
STUCK_PART = 1e-7  # part of the time left that so many attempts must cover

PARTITIONED: int = Static("PARTITIONED")  # 1 when the accelerations depend on a choice of independent speeds

is_regular = External("is_regular", "t: float, y: Array, p: Array -> bool")


@routine
def integrate(motion: Motion, y: Array, p: Array, tolerance: Tolerance, output: Output, watched: Events) -> int:
    """Moves the state y to the end of the time span, or as far as it can; the answer tells which."""
    step = Step()
    g = zeros(NG)
    if NG > 0:
        events(motion.time, y, p, g)
    rhs(motion.time, y, p, step.k[0])
    motion.evaluations += 1
    look_ahead(motion, p)
    if motion.step == 0.0:
        # A length of zero says that nothing has been done yet; entered again after a pause, the loop goes on with its
        # own.
        motion.worst = first_not_finite(step.k[0])
        if motion.worst >= 0:
            return NONFINITE
        motion.step = first_step(motion, y, p, tolerance, step.k[0], step.y_stage, step.y_end)
        motion.evaluations += 1
        write_samples_at(motion.time, y, output)
    while motion.time != motion.t_end:
        if must_pause(motion, output, watched):
            return PAUSED
        if NS == 0 and motion.watches_stiffness and motion.stiffness > STIFF:
            return STIFFENED
        h = signed_step(motion)
        if h == 0.0 or is_stuck(motion):
            return NONFINITE if motion.not_finite else STEP_TOO_SMALL
        wants_piece = output.keep == KEEP_DENSE or samples_before(motion.time + h, motion, output)
        if not attempt(h, wants_piece, motion, y, p, tolerance, step):
            continue
        watched.fired = -1
        if NG > 0:
            h = stop_at_event(h, motion, y, p, tolerance, step, watched)
        if h != 0.0:
            accept(h, motion, y, p, step, output, watched)
        # h = 0: the event lies at the start of the step, where the state is known. It is marked, and nothing moves.
        if NG > 0 and mark_events(motion.time, y, p, g, watched):
            return STOPPED
        if is_at_switch(motion):
            cross_switch(motion, y, p, step.k[0])
            if NS != 0:
                start_afresh(step.newton)
        if PROJECT == 2 and wants_selection(motion):
            return RESELECT
        if PROJECT == 2 and is_worth_holding(motion):
            copy(step.k[0], output.derivative, N)
            return HOLD
        if PROJECT == 2 and has_passed(motion):
            return LET_GO
        if PARTITIONED != 0 and not is_regular(motion.time, y, p):
            return REPARTITION
    return DONE


@routine
def must_pause(motion: Motion, output: Output, watched: Events) -> bool:
    """Whether Python has to make room, or asked for a pause."""
    if motion.attempts >= motion.pause_at:
        return True
    if output.keep != KEEP_NOTHING and output.row >= output.row_room:
        return True
    return watched.mark + NG > watched.mark_room


@routine
def is_stuck(motion: Motion) -> bool:
    """Whether very many attempts have led nowhere, as they do on the way into a singularity."""
    if abs(motion.time - motion.milestone) > STUCK_PART * abs(motion.t_end - motion.milestone):
        motion.milestone = motion.time
        motion.at_milestone = motion.attempts
    return motion.attempts - motion.at_milestone > STUCK_ATTEMPTS


@routine
def attempt(h: float, wants_piece: bool, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step) -> bool:
    """Takes a step of length h and chooses the next length; false when its error is too large."""
    motion.attempts += 1
    error = math.nan
    solved = take_step(h, motion, y, p, tolerance, step)
    if solved:
        error = step_error(h, motion, y, p, tolerance, step)
    # Stages of a Radau method are accurate at their nodes only; between them, where samples and events are read, the
    # collocation polynomial may err more than the step's end does.
    if NS != 0 and error <= 1.0 and wants_piece:
        error = max(error, between_error(h, motion, y, tolerance, step))
    if choose_next(h, error, motion, step):
        return True
    motion.rejected += 1
    motion.worst = worst_state(y, tolerance, step)
    return False


@routine
def stop_at_event(
    h: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step, watched: Events
) -> float:
    """The step's length, shortened to end on its first event; 0 for an event at its very start."""
    prepare_search(h, motion, y, p, step)
    x = first_event(step.piece, p, watched)
    watched.landed = x != NO_EVENT
    if x == NO_EVENT:
        return h
    return land(x, motion, y, p, tolerance, step, watched)


@routine
def accept(h: float, motion: Motion, y: Array, p: Array, step: Step, output: Output, watched: Events) -> None:
    """Makes the end of the step the present state, after writing what was asked for within it."""
    t = time_after(h, motion)
    is_new = NG == 0 or watched.landed
    needs_piece = output.keep == KEEP_DENSE or samples_before(t, motion, output)
    complete_step(h, is_new, needs_piece, motion, y, p, step)
    write_samples(t, motion, p, step, output)
    if output.keep != KEEP_NOTHING:
        write_row(h, motion, y, step, output)
    evaluate_next(h, is_new, needs_piece, motion, p, step)
    copy(step.y_next, y, N)
    copy(step.k[STAGES], step.k[0], N)
    motion.time = t
    motion.steps += 1
