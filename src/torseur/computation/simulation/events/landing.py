"""Steps that end on an event, and what happens there.

The search gives a length; `aim` starts from it, and every real step of that length goes to `has_landed`, which says
whether it ends on the event or proposes another length. A single motion on a CPU takes these steps in a loop (`land`).
A thread of a GPU takes them in its loop of ordinary steps, so that threads that land do not wait for the others.
"""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, Record, routine, zeros
from torseur.computation.simulation.events.event_search import (
    NG,
    events,
    events_within,
    is_wanted,
    side_of,
    time_resolution,
)
from torseur.computation.simulation.explicit.dop853 import Piece, interpolate_at
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.loop.memory import Events, Motion, Tolerance
from torseur.computation.simulation.loop.settling import settle
from torseur.computation.simulation.loop.step import Step, take_step

LANDINGS = 64  # most steps taken to refine the time of one event: three do, but a function that jumps is halved upon
BACK = 0.9999  # part of a step's length that is tried next, to see the function on the side that it comes from
RATE_OFFSET = 1.0 / 256.0  # part of the piece over which the rate of the event function is taken


class Landing(Record):
    """Steps of different lengths from one state, towards an event.

    A function that was on the other side when the step began, and is behind the event when it ends, has an event for
    certain. One that only dips there, within the dense output, must be seen on that side by a real step; else there is
    none, and the step goes on as it was. So it is with a gap that has just opened: it is so small at first that the
    dense output may take it for closed.
    """

    reach: float  # length of the step that is tried next
    first: float  # length that the search gave
    before: float  # longest step known to end before the event
    after: float  # shortest step known to end behind it
    last_length: float
    last_value: float
    rate: float  # of the event function, by time
    tries: int
    armed: bool  # the function was on the other side at the start
    reached: bool  # it was seen behind the event, at the end of the piece or by a real step
    past: bool  # there is no event: the next step is the last


@routine
def aim(x: float, piece: Piece, p: Array, watched: Events, landing: Landing) -> None:
    """The first length to try for an event at fraction x of the piece."""
    g = zeros(NG)
    g_before = zeros(NG)
    events_within(1.0, piece, p, g)
    for i in range(NG):
        if i == watched.fired:
            landing.reached = side_of(g[i]) == watched.fired_side
    # The rate from both sides of x, on the dense output: the secant rule starts with it, real steps correct it.
    events_within(x + 0.5 * RATE_OFFSET, piece, p, g)
    events_within(x - 0.5 * RATE_OFFSET, piece, p, g_before)
    landing.reach = x * piece.length
    landing.first = landing.reach
    landing.before = 0.0
    landing.after = piece.length
    landing.tries = 0
    landing.past = False
    for i in range(NG):
        if i == watched.fired:
            landing.armed = watched.sides[i] != watched.fired_side
            landing.rate = (g[i] - g_before[i]) / (RATE_OFFSET * piece.length)


@routine
def has_landed(landing: Landing, h: float, value: float, side: int, resolution: float) -> bool:
    """Whether a real step of length h, behind which the event function has this value, is the last one to be tried.

    Else `reach` is the next length, by the secant rule within what is known before and behind the event.
    """
    if landing.past:
        return True
    if landing.tries > 0 and value != landing.last_value:
        landing.rate = (value - landing.last_value) / (h - landing.last_length)
    if side_of(value) == side:
        landing.after = h
        landing.reached = True
    else:
        landing.before = h
    seen = landing.armed or landing.before != 0.0
    better = h - value / landing.rate if landing.rate != 0.0 else h
    arrived = abs(better - h) <= resolution
    landing.tries += 1
    if landing.tries < LANDINGS and not (seen and arrived):
        if not seen and arrived:
            better = BACK * h
        # The secant left what is known: halve it. A function never seen behind the event has none.
        elif not (min(landing.before, landing.after) < better and better < max(landing.before, landing.after)):
            if not landing.reached:
                landing.past = True
                landing.reach = landing.first
                return False
            better = 0.5 * (landing.before + landing.after)
        landing.last_length = h
        landing.last_value = value
        landing.reach = better
        return seen and abs(better - h) <= resolution
    if not seen:
        landing.past = True
        landing.reach = landing.first
    return seen


@routine
def land(x: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step, watched: Events) -> float:
    """Length of a step from y that ends where the fired event function vanishes; `step` holds that step.

    Returns 0 when the event is too close to the start for a step.
    """
    g = zeros(NG)
    landing = Landing()
    resolution = time_resolution(step.piece)
    aim(x, step.piece, p, watched, landing)
    h = landing.reach
    landed = False
    while not landed:
        h = landing.reach
        if abs(h) <= resolution:
            return 0.0
        step_to(h, motion, y, p, tolerance, step)
        events(motion.time + h, step.y_next, p, g)
        landed = has_landed(landing, h, g[watched.fired], watched.fired_side, resolution)
    if landing.past:
        watched.fired = -1
    return h


@routine
def step_to(h: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step) -> None:
    """A step from y, or its place on the piece when it cannot be solved."""
    solved = take_step(h, motion, y, p, tolerance, step)
    if not solved:
        interpolate_at(h / step.piece.length, step.piece, step.y_end)
        settle(motion.time + h, step.y_end, p, step.y_next)


@routine
def mark_events(t: float, y: Array, p: Array, g_start: Array, watched: Events) -> bool:
    """Writes the event landed on and any other the step just passed; true when one of them stops the motion.

    g_start holds the event functions at the start of the step and is moved to its end.
    """
    g_end = zeros(NG)
    events(t, y, p, g_end)
    stops = False
    for i in range(NG):
        if has_happened(i, g_start[i], g_end[i], watched):
            write_mark(t, i, y, watched)
            stops = stops or watched.limits[i] == 0
        g_start[i] = g_end[i]
    return stops


@routine
def has_happened(i: int, g_start: float, g_end: float, watched: Events) -> bool:
    """Whether event i happened in the step that just ended, counted then; takes over the side of its function."""
    side = watched.sides[i]
    direction = watched.directions[i]
    happened = i == watched.fired or is_passed(g_start, g_end, side, direction)
    if happened:
        watched.limits[i] -= 1
    if i == watched.fired:
        watched.sides[i] = watched.fired_side
    elif g_end != g_start and is_left(g_start, g_end, side, direction):
        # Without a step between, two events at one time would arm each other again and again.
        watched.sides[i] = side_of(g_end)
    return happened


@routine
def is_left(g_start: float, g_end: float, side: int, direction: int) -> bool:
    """Whether the side in force is that of the step's end from now on."""
    return side_of(g_start) == side or not is_wanted(direction, side_of(g_end))


@routine
def is_passed(g_start: float, g_end: float, side: int, direction: int) -> bool:
    """Whether a function changed sign in the step.

    Right after its event a function is zero up to rounding, on either side: then only `first_event` can tell.
    """
    return side_of(g_start) == side and side_of(g_end) != side and is_wanted(direction, side_of(g_end))


@routine
def write_mark(t: float, i: int, y: Array, watched: Events) -> None:
    """An event as a row of its time, its number and the state."""
    mark = watched.marks[watched.mark]
    mark[0] = t
    mark[1] = i
    for j in range(N):
        mark[2 + j] = y[j]
    watched.mark += 1
