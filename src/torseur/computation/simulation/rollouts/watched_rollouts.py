"""One motion in a thread of a GPU, watched: criteria are taken at its start, at its end, and at events between.

Events are looked for and landed on by the routines of a single motion (`computation/simulation/events`), on the dense
output of the rollout's own method. Event functions take the derivatives of the state, which the dense output has too:
an extremum of a speed then takes no dynamics.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from torseur.computation.codegen.routine import (
    Array,
    External,
    IntArray,
    Record,
    Routine,
    Static,
    izeros,
    routine,
    static_range,
    zeros,
)
from torseur.computation.codegen.targets.cuda.rollout.rollout_source import RolloutMethod, Watch
from torseur.computation.simulation.events.event_search import NG, NO_EVENT, entry_of, first_event, time_resolution
from torseur.computation.simulation.events.landing import Landing, aim, has_happened, has_landed
from torseur.computation.simulation.explicit.dop853 import TERMS, Piece, interpolate_at
from torseur.computation.simulation.explicit.dopri5_tableau import STAGES
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.loop.memory import Events
from torseur.computation.simulation.rollouts.rollout_routines import (
    BASE,
    FIRST_PART,
    KEPT,
    MOST_STEPS,
    NQ,
    NQ0,
    SEEN,
    Plan,
    Trial,
    advance_rk4,
    advance_semi_implicit,
    attempt_dopri5,
    attempt_rk4,
    attempt_semi_implicit,
    move_adaptive,
    move_fixed,
    next_length,
    record,
)

ADAPTIVE: int = Static("ADAPTIVE", 0)  # 1 for methods that choose their steps
SMOOTH: int = Static("SMOOTH", 1)  # 0 where states and derivatives go evenly from the start of a step to its end
CRITERIA: int = Static("CRITERIA", 0)
WIDTH: int = Static("WIDTH", 1)  # numbers of a criterion: its value and its derivatives
NOTED: int = Static("NOTED", 1)  # most numbers that are noted at one instant

# Instants besides the events, which count from 0.
AT_START = NG
AT_END = NG + 1
AT_STOP = NG + 2

ORDERS = {"maximum": 1, "minimum": -1}

attempt_step = External(
    "attempt_step", "t: float, h: float, x: Array, p: Array, plan: Plan, trial: Trial -> float", Plan, Trial
)
watch = External("watch", "t: float, x: Array, dx: Array, p: Array, g: Array")
noted_at = External("noted_at", "instant: int, t: float, x: Array, dx: Array, p: Array, noted: Array")


class Taken(Record):
    """What is known of the criteria so far: the best values, and how often their events happened."""

    best: Annotated[Array, CRITERIA]
    seen: Annotated[IntArray, CRITERIA]


begin_events = External("begin_events", "watched: Events", Events)
must_follow = External("must_follow", "i: int -> bool")
note = External(
    "note", "instant: int, t: float, x: Array, dx: Array, p: Array, taken: Taken, judged: Array, stride: int", Taken
)


@routine
def watch_within(x: float, piece: Piece, p: Array, g: Array) -> None:
    """All event functions at fraction x of a piece of motion, from its states and their derivatives."""
    state = zeros(BASE)
    derivative = zeros(BASE)
    if SMOOTH:
        interpolate_at(x, piece, state)
    left = 1.0 - x
    for j in range(BASE):
        if SMOOTH:
            # The derivative of Horner's rule in `interpolate_at`: its factors are 1 - x and x in turn.
            value = piece.coefficients[TERMS - 1, j]
            growth = 0.0
            for r in static_range(TERMS - 2, -1, -1):
                growth = (left if r % 2 == 0 else x) * growth + (-1.0 if r % 2 == 0 else 1.0) * value
                value = piece.coefficients[r, j] + (left if r % 2 == 0 else x) * value
            derivative[j] = (value + x * growth) / piece.length
        else:
            state[j] = piece.state[j] + x * piece.coefficients[0, j]
            derivative[j] = piece.coefficients[1, j] + x * piece.coefficients[2, j]
    watch(piece.time + x * piece.length, state, derivative, p, g)


@routine
def watched_piece(t: float, h: float, x: Array, trial: Trial, piece: Piece) -> None:
    """A step as a piece of motion, of the states that events look at."""
    piece.time = t
    piece.length = h
    for j in range(BASE):
        i = j if j < NQ0 else NQ - NQ0 + j
        change = trial.y_next[i] - x[i]
        piece.state[j] = x[i]
        piece.coefficients[0, j] = change
        if SMOOTH:
            piece.coefficients[1, j] = h * trial.k[0, i] - change
            piece.coefficients[2, j] = 2.0 * change - h * (trial.k[0, i] + trial.k[KEPT - 1, i])
            if TERMS > 3:
                piece.coefficients[3, j] = trial.bend[j]
        else:
            piece.coefficients[1, j] = trial.k[0, i]
            piece.coefficients[2, j] = trial.k[KEPT - 1, i] - trial.k[0, i]


@routine
def watch_state(t: float, x: Array, dx: Array, p: Array, g: Array) -> None:
    """All event functions at a state that holds derivatives by parameters and integrals, too."""
    state = zeros(BASE)
    derivative = zeros(BASE)
    for j in range(BASE):
        i = j if j < NQ0 else NQ - NQ0 + j
        state[j] = x[i]
        derivative[j] = dx[i]
    watch(t, state, derivative, p, g)


@routine
def move_watched(x: Array, p: Array, plan: Plan, out: Array, judged: Array, stride: int) -> None:
    """One motion with criteria; records as without them.

    Where it cannot be continued, all that is kept of it is not a number. A motion that an event stopped is recorded as
    it was then. A step that lands on an event goes through the one place where steps are taken, so that threads that
    land run together with those that do not (docs/decisions/0044-landing-on-an-event-is-a-step.md).
    """
    trial = Trial()
    piece = Piece()
    landing = Landing()
    taken = Taken()
    sides = izeros(NG)
    directions = izeros(NG)
    limits = izeros(NG)
    nothing = zeros(1, 2 + N)
    watched = Events(sides, directions, limits, nothing, fired=-1)
    g_start = zeros(NG)
    g_end = zeros(NG)
    spacing = plan.h * plan.every if ADAPTIVE else plan.h
    goals = plan.steps // plan.every if ADAPTIVE else plan.steps
    most = MOST_STEPS if ADAPTIVE else MOST_STEPS + 50 * plan.steps
    length = min(FIRST_PART * spacing, plan.longest) if ADAPTIVE else 2.0 * spacing
    t = plan.start
    count = 0
    failed = False
    stopped = False
    rhs(t, x, p, trial.k[0])
    for j in range(CRITERIA * WIDTH):
        judged[j * stride] = math.nan
    note(AT_START, t, x, trial.k[0], p, taken, judged, stride)
    if NG > 0:
        begin_events(watched)
        watch_state(t, x, trial.k[0], p, g_start)
    for k in range(1, goals + 1):
        goal = plan.start + spacing * k
        while not failed and not stopped and t < goal:
            lands = watched.fired >= 0
            last = not lands and t + length * 1.01 >= goal
            step = landing.reach if lands else goal - t if last else length
            error = attempt_step(t, step, x, p, plan, trial)
            count += 1
            good = error <= 1.0
            accepted = good
            at_once = False
            if NG > 0:
                if lands:
                    watch_state(t + step, trial.y_next, trial.k[KEPT - 1], p, g_end)
                    value = entry_of(g_end, watched.fired)
                    accepted = has_landed(landing, step, value, watched.fired_side, time_resolution(piece))
                    if accepted and landing.past:
                        watched.fired = -1
                elif good:
                    watched_piece(t, step, x, trial, piece)
                    s = first_event(piece, p, watched)
                    accepted = s == NO_EVENT
                    if accepted:
                        watch_state(t + step, trial.y_next, trial.k[KEPT - 1], p, g_end)
                    else:
                        aim(s, piece, p, watched, landing)
                        at_once = landing.reach <= time_resolution(piece)
            if ADAPTIVE != 0 and not lands and (accepted or not good):
                length = next_length(step, error, last, length, plan)
            if accepted:
                for j in range(N):
                    x[j] = trial.y_next[j]
                    trial.k[0, j] = trial.k[KEPT - 1, j]
                t = goal if last else t + step
            if NG > 0 and (accepted or at_once):
                if goal - t <= time_resolution(piece):
                    t = goal
                for i in static_range(NG):
                    g_now = g_start[i] if at_once else g_end[i]
                    if has_happened(i, g_start[i], g_now, watched):
                        note(i, t, x, trial.k[0], p, taken, judged, stride)
                        stopped = stopped or watched.limits[i] == 0
                    g_start[i] = g_now
                watched.fired = -1
                if stopped:
                    note(AT_STOP, t, x, trial.k[0], p, taken, judged, stride)
            failed = not error < 1e30 or count > most or not t + length > t
        if SEEN > 0:
            if failed:
                for j in range(N):
                    x[j] = math.nan
            if ADAPTIVE != 0 or k == goals or k % plan.every == 0:
                record(t if stopped else goal, x, p, out, stride)
                out = out[SEEN * stride :]
    if NG > 0 and watched.unresolved >= 0:
        failed = failed or must_follow(watched.unresolved)
    if failed:
        for j in range(CRITERIA * WIDTH):
            judged[j * stride] = math.nan
    elif not stopped:
        note(AT_END, t, x, trial.k[0], p, taken, judged, stride)


def watch_routines(asked: Watch) -> dict[str, Routine]:
    """What depends on the criteria: where events begin, and what is noted at each instant."""
    instants = asked.instants
    counts = tuple(len(takes) for takes in instants)
    criteria = tuple(tuple(take.criterion for take in takes) for takes in instants)
    occurrences = tuple(tuple(take.occurrence for take in takes) for takes in instants)
    orders = tuple(tuple(ORDERS.get(take.kind, 0) for take in takes) for takes in instants)
    total, start = len(instants), len(asked.directions)
    directions, followed = asked.directions, asked.followed
    stop, occurrence = asked.stop if asked.stop is not None else (-1, 0)

    @routine
    def begin_events(watched: Events) -> None:
        """Directions and limits of the events, before the first step."""
        for i in static_range(NG):
            watched.directions[i] = directions[i]
            watched.limits[i] = occurrence if i == stop else 0

    @routine
    def must_follow(i: int) -> bool:
        """Whether an answer needs every change of sign of event function i."""
        needed = False
        for k in static_range(NG):
            if followed[k] and i == k:
                needed = True
        return needed

    @routine
    def note(instant: int, t: float, x: Array, dx: Array, p: Array, taken: Taken, judged: Array, stride: int) -> None:
        """Takes what counts at an instant: a value, the best one so far, or that of a certain occurrence."""
        noted = zeros(NOTED)
        for k in static_range(total):
            if counts[k] > 0 and instant == k:
                noted_at(k, t, x, dx, p, noted)
                for j in static_range(counts[k]):
                    c = criteria[k][j]
                    value = noted[j * WIDTH]
                    counts_now = True
                    if occurrences[k][j] > 0:
                        taken.seen[c] += 1
                        counts_now = taken.seen[c] == occurrences[k][j]
                    elif orders[k][j] != 0:
                        counts_now = k == start or orders[k][j] * (value - taken.best[c]) > 0.0
                    if counts_now:
                        taken.best[c] = value
                        for w in range(WIDTH):
                            judged[(c * WIDTH + w) * stride] = noted[j * WIDTH + w]

    return {"begin_events": begin_events, "must_follow": must_follow, "note": note}


def _method(move: Routine, attempt: Routine, **options: Any) -> RolloutMethod:
    externals = {"attempt_step": attempt, "watch_within": watch_within, **options.pop("externals", {})}
    return RolloutMethod(move, move_watched, Plan, externals=externals, **options)


METHODS = {
    "rk4": _method(move_fixed, attempt_rk4, kept=2, terms=3, externals={"advance": advance_rk4}),
    "semi_implicit": _method(
        move_fixed,
        attempt_semi_implicit,
        kept=2,
        terms=3,
        is_smooth=False,
        externals={"advance": advance_semi_implicit},
    ),
    "dopri5": _method(move_adaptive, attempt_dopri5, kept=STAGES + 1, terms=4, is_adaptive=True),
}
