"""Steps that end on an event, and what happens there."""

from __future__ import annotations

from torseur.codegen.routine import Array, IntArray, routine, zeros
from torseur.simulation.control import RESOLUTION
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_TIME, N, interpolate
from torseur.simulation.events import NG, event_rate, events, is_wanted, side_of
from torseur.simulation.memory import FIRED, FIRED_SIDE, MARK
from torseur.simulation.settling import settle
from torseur.simulation.step import PIECE, Y_END, Y_NEXT, take_step

LANDINGS = 24  # most steps taken to refine the time of one event


@routine
def land(x: float, y: Array, p: Array, clock: Array, count: IntArray, atol: Array, work: Array) -> float:
    """Length of a step from y that ends where the fired event function vanishes; `work` holds that step.

    Starts at fraction x of the piece and corrects the length by the secant rule, each time with a real step, until
    the time no longer changes. Returns 0 when the event is too close to the start for a step.
    """
    g = zeros(NG)
    piece = work[PIECE * N :]
    t = piece[PIECE_TIME]
    whole = piece[PIECE_LENGTH]
    resolution = 2.0 * RESOLUTION * max(abs(t), abs(whole))
    rate = event_rate(x, count[FIRED], piece, p)
    h = x * whole
    before = 0.0
    after = whole
    last_h = 0.0
    last_g = 0.0
    for landing in range(LANDINGS):
        if abs(h) <= resolution:
            return 0.0
        step_to(t, h, y, p, clock, count, atol, work)
        events(t + h, work[Y_NEXT * N :], p, g)
        value = g[count[FIRED]]
        if landing > 0 and value != last_g:
            rate = (value - last_g) / (h - last_h)
        if side_of(value) == count[FIRED_SIDE]:
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
def step_to(t: float, h: float, y: Array, p: Array, clock: Array, count: IntArray, atol: Array, work: Array) -> None:
    """A step from y, or its place on the piece when it cannot be solved."""
    solved = take_step(t, h, y, p, clock, count, atol, work)
    if not solved:
        piece = work[PIECE * N :]
        interpolate(h / piece[PIECE_LENGTH], piece, work[Y_END * N :])
        settle(t + h, work[Y_END * N :], p, work[Y_NEXT * N :])


@routine
def mark_events(
    t: float,
    y: Array,
    p: Array,
    count: IntArray,
    g_start: Array,
    sides: IntArray,
    directions: IntArray,
    limits: IntArray,
    marks: Array,
) -> bool:
    """Writes the event landed on and any other the step just passed; true when one of them stops the motion.

    g_start holds the event functions at the start of the step and is moved to its end. limits[i] counts down the
    occurrences of event i that are left before it stops the motion.
    """
    g_end = zeros(NG)
    events(t, y, p, g_end)
    stops = False
    for i in range(NG):
        if i == count[FIRED] or is_passed(g_start[i], g_end[i], sides[i], directions[i]):
            write_mark(t, i, y, count, marks)
            limits[i] -= 1
            stops = stops or limits[i] == 0
        if i == count[FIRED]:
            sides[i] = count[FIRED_SIDE]
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
def write_mark(t: float, i: int, y: Array, count: IntArray, marks: Array) -> None:
    """An event as a row of its time, its number and the state."""
    mark = marks[count[MARK] * (2 + N) :]
    mark[0] = t
    mark[1] = i
    for j in range(N):
        mark[2 + j] = y[j]
    count[MARK] += 1
