"""Events: the first time within a step at which a function g(t, y) changes sign.

The search runs on the dense output. Each part of a step is checked at its ends for a change of sign, and by the
derivatives at its ends for a dip that may cross zero and come back (two roots within the part). The root is a guess
that `landing.py` refines with real steps.

A function that touches zero without changing sign is no event. Zero counts as positive.
"""

from __future__ import annotations

from torseur.computation.codegen.routine import Array, External, Static, izeros, routine, zeros
from torseur.computation.simulation.explicit.dop853 import Piece, interpolate_at
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.explicit.step_control import RESOLUTION
from torseur.computation.simulation.loop.memory import Events

NG: int = Static("NG")  # number of event functions

events = External("events", "t: float, y: Array, p: Array, g: Array")

PARTS = 6  # parts of a step that are searched one after the other
AFTER_START = 1e-6  # fraction of a step at which the side of a function that starts at zero is read
OFFSET = 1e-4  # fraction of a step over which derivatives of g are taken
NO_EVENT = 2.0  # a fraction beyond the step
ROOT_ITERATIONS = 80
DIP_ITERATIONS = 50
GOLDEN = 0.3819660112501051


@routine
def side_of(value: float) -> int:
    """The sign of an event function."""
    return 1 if value >= 0.0 else -1


@routine
def is_wanted(direction: int, side: int) -> bool:
    """Whether an event asks for changes of sign towards this side."""
    return direction == 0 or direction == side


@routine
def events_within(x: float, piece: Piece, p: Array, g: Array) -> None:
    """All event functions at fraction x of a piece of motion."""
    state = zeros(N)
    interpolate_at(x, piece, state)
    events(piece.time + x * piece.length, state, p, g)


@routine
def event_within(x: float, i: int, piece: Piece, p: Array) -> float:
    """Event function i at fraction x of a piece of motion."""
    g = zeros(NG)
    events_within(x, piece, p, g)
    return g[i]


@routine
def event_rate(x: float, i: int, piece: Piece, p: Array) -> float:
    """Time derivative of event function i at fraction x of a piece of motion."""
    before = event_within(x - OFFSET, i, piece, p)
    after = event_within(x + OFFSET, i, piece, p)
    return (after - before) / (2.0 * OFFSET * piece.length)


@routine
def root_between(i: int, side: int, a: float, b: float, piece: Piece, p: Array) -> float:
    """Fraction of the piece at which g[i] leaves `side`, between a and b: regula falsi, Illinois variant."""
    g_a = event_within(a, i, piece, p)
    g_b = event_within(b, i, piece, p)
    if side_of(g_a) != side:
        return a
    for iteration in range(ROOT_ITERATIONS):
        if b - a <= 4.0 * RESOLUTION:
            break
        x = b - g_b * (b - a) / (g_b - g_a)
        if iteration % 8 == 7 or not (a < x and x < b):
            x = 0.5 * (a + b)
        g_x = event_within(x, i, piece, p)
        if side_of(g_x) == side:
            a = x
            g_a = g_x
            g_b = 0.5 * g_b
        else:
            b = x
            g_b = g_x
            g_a = 0.5 * g_a
    return b


@routine
def dip_between(i: int, side: int, a: float, b: float, piece: Piece, p: Array) -> float:
    """A fraction between a and b at which g[i] is on the other side, or NO_EVENT: golden section."""
    x = a + GOLDEN * (b - a)
    lowest = side * event_within(x, i, piece, p)
    for _ in range(DIP_ITERATIONS):
        if side_of(side * lowest) != side:
            return x
        other = x + GOLDEN * (b - x) if b - x > x - a else x - GOLDEN * (x - a)
        value = side * event_within(other, i, piece, p)
        if value >= lowest:
            if other > x:
                b = other
            else:
                a = other
        else:
            if other > x:
                a = x
            else:
                b = x
            x = other
            lowest = value
    return NO_EVENT


@routine
def crossing_in_dip(i: int, side: int, direction: int, a: float, b: float, piece: Piece, p: Array) -> float:
    """Fraction of the first wanted of the two roots of a dip of g[i] between a and b, or NO_EVENT without roots."""
    middle = dip_between(i, side, a, b, piece, p)
    if middle == NO_EVENT:
        return NO_EVENT
    if is_wanted(direction, -side):
        return root_between(i, side, a, middle, piece, p)
    return root_between(i, -side, middle, b, piece, p)


@routine
def first_event(piece: Piece, p: Array, watched: Events) -> float:
    """Fraction of the piece at which the first wanted event happens, or NO_EVENT; `watched.fired` tells which.

    sides[i] is the sign of g[i] in force at the start; 0, before the first step, lets it be read just after the start.
    Right after an event its function is zero up to rounding, so that its sign at the start says nothing.
    """
    g = zeros(NG)
    g_before = zeros(NG)
    rising = zeros(NG)
    side = izeros(NG)
    events_within(AFTER_START, piece, p, g)
    for i in range(NG):
        if watched.sides[i] == 0:
            watched.sides[i] = side_of(g[i])
        side[i] = watched.sides[i]
    first = NO_EVENT
    a = 0.0
    for part in range(PARTS + 1):
        b = part / PARTS if part > 0 else AFTER_START
        events_within(max(b - OFFSET, 0.0), piece, p, g_before)
        events_within(b, piece, p, g)
        for i in range(NG):
            x = NO_EVENT
            change = g[i] - g_before[i]
            if side_of(g[i]) != side[i]:
                if is_wanted(watched.directions[i], -side[i]):
                    x = root_between(i, side[i], a, b, piece, p)
            elif side[i] * rising[i] < 0.0 and side[i] * change > 0.0:
                x = crossing_in_dip(i, side[i], watched.directions[i], a, b, piece, p)
            if x < first:
                first = x
                watched.fired = i
                watched.fired_side = watched.directions[i] if watched.directions[i] != 0 else -side[i]
            side[i] = side_of(g[i])
            rising[i] = change
        if first < NO_EVENT:
            break
        a = b
    return first
