"""Steps that end on an event, and what happens there."""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, routine, zeros
from torseur.computation.simulation.events.event_search import NG, event_rate, events, is_wanted, side_of
from torseur.computation.simulation.explicit.dop853 import interpolate_at
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.explicit.step_control import RESOLUTION
from torseur.computation.simulation.loop.memory import Events, Motion, Tolerance
from torseur.computation.simulation.loop.settling import settle
from torseur.computation.simulation.loop.step import Step, take_step

LANDINGS = 24  # most steps taken to refine the time of one event


@routine
def land(x: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step, watched: Events) -> float:
    """Length of a step from y that ends where the fired event function vanishes; `step` holds that step.

    Starts at fraction x of the piece and corrects the length by the secant rule, each time with a real step, until
    the time no longer changes. Returns 0 when the event is too close to the start for a step.
    """
    g = zeros(NG)
    t = motion.time
    whole = step.piece.length
    resolution = 2.0 * RESOLUTION * max(abs(t), abs(whole))
    rate = event_rate(x, watched.fired, step.piece, p)
    h = x * whole
    before = 0.0
    after = whole
    last_h = 0.0
    last_g = 0.0
    for landing in range(LANDINGS):
        if abs(h) <= resolution:
            return 0.0
        step_to(h, motion, y, p, tolerance, step)
        events(t + h, step.y_next, p, g)
        value = g[watched.fired]
        if landing > 0 and value != last_g:
            rate = (value - last_g) / (h - last_h)
        if side_of(value) == watched.fired_side:
            after = h
        else:
            before = h
        next_h = h - value / rate if rate != 0.0 else h
        if abs(next_h - h) <= resolution or landing == LANDINGS - 1:
            break
        if not (min(before, after) < next_h and next_h < max(before, after)):
            next_h = 0.5 * (before + after)
        if abs(next_h - h) <= resolution:
            break
        last_h = h
        last_g = value
        h = next_h
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
    sides = watched.sides
    directions = watched.directions
    g_end = zeros(NG)
    events(t, y, p, g_end)
    stops = False
    for i in range(NG):
        if i == watched.fired or is_passed(g_start[i], g_end[i], sides[i], directions[i]):
            write_mark(t, i, y, watched)
            watched.limits[i] -= 1
            stops = stops or watched.limits[i] == 0
        if i == watched.fired:
            sides[i] = watched.fired_side
        elif g_end[i] != g_start[i] and is_left(g_start[i], g_end[i], sides[i], directions[i]):
            # Without a step between, two events at one time would arm each other again and again.
            sides[i] = side_of(g_end[i])
        g_start[i] = g_end[i]
    return stops


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
