"""Events: the first time within a step at which a function g(t, y) changes sign.

The search runs on the dense output, from the start of a step to its end, part by part:

    a ───── c ───── d ──── b         values of g at a, c, d and b, its derivatives at a and b

A part is short enough when the cubic through both ends foretells g at c and d; a function that is faster than the step
gets shorter parts. Then each stretch between two values is checked for a change of sign, and by the derivatives of the
cubic at its ends for a dip that may cross zero and come back. The root is a guess that real steps refine
(`landing.py`).

A function that touches zero without changing sign is no event. Zero counts as positive. The threads of a GPU run the
same search (`computation/simulation/rollouts/watched_rollouts.py`), in single precision too.
"""

from __future__ import annotations

from typing import Annotated

from torseur.computation.codegen.routine import Array, External, IntArray, Record, Static, routine, static_range, zeros
from torseur.computation.simulation.explicit.dop853 import PIECE_N, Piece, interpolate_at
from torseur.computation.simulation.explicit.step_control import RESOLUTION
from torseur.computation.simulation.loop.memory import Events

NG: int = Static("NG")  # number of event functions
SINGLE: int = Static("SINGLE", 0)  # 1 where numbers have single precision
GIVES_DERIVATIVES: int = Static("GIVES_DERIVATIVES", 0)  # 1 where event functions take the derivatives of the state

events = External("events", "t: float, y: Array, p: Array, g: Array")
watch_within = External("watch_within", "x: float, piece: Piece, p: Array, g: Array", Piece)

PARTS = 3  # into which a step is cut at least
NARROWEST = 2.0**-16  # part of a step: functions with up to about 10,000 periods in it are followed
MOST_UNRESOLVED = 16  # narrowest parts in a row that may be too coarse: a function that jumps has one for its jump
COARSE = 0.125  # error of the cubic, by the size of the function, above which a part is too long
# Not at even distances: with the middle among them, a wave that is odd about it would agree there, however fast it is.
# Two of them, because one may agree by chance, in one of a hundred parts that are far too long.
CHECKED = 0.35
CHECKED_AGAIN = 0.7
OFFSET = 1.0 / 16.0  # fraction of a part over which derivatives of g are taken
NO_EVENT = 2.0  # a fraction beyond the step
ROOT_ITERATIONS = 80
DIP_ITERATIONS = 50
GOLDEN = 0.3819660112501051


class Part(Record):
    """A part of a step: event functions at its ends and between them, and their derivatives at the ends."""

    a: float
    b: float
    g: Annotated[Array, 4, NG]  # at a, c, d and b
    rate_a: Annotated[Array, NG]
    rate_b: Annotated[Array, NG]
    sides: Annotated[IntArray, NG]  # in force at a


class Stretch(Record):
    """One event function between two fractions of a piece, where it changes its sign once or dips through zero."""

    function: int
    side: int  # in force at a
    direction: int  # of the changes of sign that count
    a: float
    b: float
    g_a: float
    g_b: float
    rate_a: float
    rate_b: float


@routine
def precision() -> float:
    """The spacing of numbers near one."""
    return RESOLUTION if SINGLE == 0 else 2.0**-23


@routine
def after_start() -> float:
    """Fraction of a step at which the side of a function that starts at zero is read."""
    return 1e-6 if SINGLE == 0 else 1e-3


@routine
def time_resolution(piece: Piece) -> float:
    """The shortest time that counts within a piece."""
    return 2.0 * precision() * max(abs(piece.time), abs(piece.length))


@routine
def side_of(value: float) -> int:
    """The sign of an event function."""
    return 1 if value >= 0.0 else -1


@routine
def is_wanted(direction: int, side: int) -> bool:
    """Whether an event asks for changes of sign towards this side."""
    return direction == 0 or direction == side


@routine
def entry_of(g: Array, i: int) -> float:
    """g[i]; on a GPU an index that only the thread knows would move the whole array out of its registers."""
    value = g[0]
    for j in range(1, NG):
        if j == i:
            value = g[j]
    return value


@routine
def events_within(x: float, piece: Piece, p: Array, g: Array) -> None:
    """All event functions at fraction x of a piece of motion."""
    if GIVES_DERIVATIVES:
        watch_within(x, piece, p, g)
    else:
        state = zeros(PIECE_N)
        interpolate_at(x, piece, state)
        events(piece.time + x * piece.length, state, p, g)


@routine
def event_within(x: float, i: int, piece: Piece, p: Array) -> float:
    """Event function i at fraction x of a piece of motion."""
    g = zeros(NG)
    events_within(x, piece, p, g)
    return entry_of(g, i)


@routine
def root_between(stretch: Stretch, piece: Piece, p: Array) -> float:
    """Fraction of the piece at which a function leaves its side within a stretch: regula falsi, Illinois variant."""
    i = stretch.function
    side = stretch.side
    a = stretch.a
    b = stretch.b
    g_a = stretch.g_a
    g_b = stretch.g_b
    if side_of(g_a) != side:
        return a
    for iteration in range(ROOT_ITERATIONS):
        if b - a <= 4.0 * precision():
            break
        x = b - g_b * (b - a) / (g_b - g_a)
        # Where a function is flat on one side and steep on the other regula falsi creeps: every eighth step halves.
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
def crossing_in_dip(stretch: Stretch, piece: Piece, p: Array) -> float:
    """Fraction of the first wanted of the two roots of a dip within a stretch, or NO_EVENT without roots.

    A golden section looks for a place on the other side; the stretch is cut there.
    """
    side = stretch.side
    a = stretch.a
    b = stretch.b
    x = a + GOLDEN * (b - a)
    lowest = side * event_within(x, stretch.function, piece, p)
    for _ in range(DIP_ITERATIONS):
        if side_of(side * lowest) != side or b - a <= 4.0 * precision():
            break
        other = x + GOLDEN * (b - x) if b - x > x - a else x - GOLDEN * (x - a)
        value = side * event_within(other, stretch.function, piece, p)
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
    if side_of(side * lowest) == side:
        return NO_EVENT
    if is_wanted(stretch.direction, -side):
        stretch.b = x
        stretch.g_b = side * lowest
    else:
        stretch.a = x
        stretch.g_a = side * lowest
        stretch.side = -side
    return root_between(stretch, piece, p)


@routine
def crossing_between(stretch: Stretch, piece: Piece, p: Array) -> float:
    """Fraction of the first wanted change of sign within a stretch, or NO_EVENT."""
    side = stretch.side
    if side_of(stretch.g_b) != side:
        return root_between(stretch, piece, p) if is_wanted(stretch.direction, -side) else NO_EVENT
    if side * stretch.rate_a < 0.0 and side * stretch.rate_b > 0.0:
        return crossing_in_dip(stretch, piece, p)
    return NO_EVENT


@routine
def place_of(k: int) -> float:
    """Where value k of a part stands: 0 at a, 1 at b."""
    return 0.0 if k == 0 else CHECKED if k == 1 else CHECKED_AGAIN if k == 2 else 1.0


@routine
def evaluate_part(part: Part, piece: Piece, p: Array) -> None:
    """The event functions within a part and at its end; those at its start are given."""
    g_before = zeros(NG)
    width = part.b - part.a
    for k in range(1, 4):
        events_within(part.a + place_of(k) * width, piece, p, part.g[k])
    events_within(part.b - OFFSET * width, piece, p, g_before)
    for i in range(NG):
        part.rate_b[i] = (part.g[3, i] - g_before[i]) / (OFFSET * width)


@routine
def coarse_function(part: Part) -> int:
    """An event function of which the cubic through both ends misses the values between them, or -1."""
    width = part.b - part.a
    coarse = -1
    for i in range(NG):
        size = max(max(abs(part.g[0, i]), abs(part.g[1, i])), max(abs(part.g[2, i]), abs(part.g[3, i])))
        for k in static_range(1, 3):
            s = CHECKED if k == 1 else CHECKED_AGAIN
            # Hermite's cubic: g_a + s² (3 - 2 s) (g_b - g_a) + w s (1 - s) ((1 - s) g'_a - s g'_b).
            foretold = part.g[0, i] + s * s * (3.0 - 2.0 * s) * (part.g[3, i] - part.g[0, i])
            foretold += width * s * (1.0 - s) * ((1.0 - s) * part.rate_a[i] - s * part.rate_b[i])
            if abs(part.g[k, i] - foretold) > COARSE * size:
                coarse = i
    return coarse


@routine
def cubic_rate(i: int, s: float, part: Part) -> float:
    """Derivative of the cubic through both ends of a part, at its fraction s."""
    change = 6.0 * s * (1.0 - s) * (part.g[3, i] - part.g[0, i]) / (part.b - part.a)
    return change + (1.0 - s) * (1.0 - 3.0 * s) * part.rate_a[i] - s * (2.0 - 3.0 * s) * part.rate_b[i]


@routine
def crossing_in_part(i: int, direction: int, part: Part, piece: Piece, p: Array) -> float:
    """Fraction of the first wanted change of sign of function i within a part, or NO_EVENT."""
    x = NO_EVENT
    side = part.sides[i]
    for k in range(3):
        if x == NO_EVENT:
            stretch = Stretch(function=i, side=side, direction=direction, g_a=part.g[k, i], g_b=part.g[k + 1, i])
            stretch.a = part.a + place_of(k) * (part.b - part.a)
            stretch.b = part.a + place_of(k + 1) * (part.b - part.a)
            stretch.rate_a = cubic_rate(i, place_of(k), part)
            stretch.rate_b = cubic_rate(i, place_of(k + 1), part)
            x = crossing_between(stretch, piece, p)
            side = side_of(part.g[k + 1, i])
    return x


@routine
def read_start(part: Part, piece: Piece, p: Array, watched: Events) -> None:
    """The part that begins just after the start of the piece, up to where its functions are known.

    sides[i] is the sign of g[i] in force at the start; 0, before the first step, lets it be read there.
    """
    events_within(0.0, piece, p, part.g[3])
    events_within(after_start(), piece, p, part.g[0])
    part.a = after_start()
    for i in range(NG):
        part.rate_a[i] = (part.g[0, i] - part.g[3, i]) / part.a
        if watched.sides[i] == 0:
            watched.sides[i] = side_of(part.g[0, i])
        part.sides[i] = watched.sides[i]


@routine
def event_at_start(part: Part, piece: Piece, p: Array, watched: Events) -> float:
    """Fraction at which the first wanted event happens before the first part, or NO_EVENT.

    Right after an event its function is zero up to rounding, so that its sign at the start says nothing.
    """
    first = NO_EVENT
    for i in range(NG):
        side = part.sides[i]
        if side_of(part.g[0, i]) != side:
            if is_wanted(watched.directions[i], -side):
                start = Stretch(function=i, side=side, a=0.0, b=part.a, g_a=part.g[3, i], g_b=part.g[0, i])
                x = root_between(start, piece, p)
                if x < first:
                    first = x
                    watched.fired = i
                    watched.fired_side = -side
            part.sides[i] = -side
    return first


@routine
def event_in_part(part: Part, piece: Piece, p: Array, watched: Events) -> float:
    """Fraction at which the first wanted event of a part happens, or NO_EVENT; the part then moves on to its end."""
    first = NO_EVENT
    # At the very start of the step only a function that was on the other side before can have an event.
    least = time_resolution(piece) / abs(piece.length)
    for i in range(NG):
        direction = watched.directions[i]
        fired_side = direction if direction != 0 else -part.sides[i]
        x = crossing_in_part(i, direction, part, piece, p)
        if x < first and (x > least or watched.sides[i] != fired_side):
            first = x
            watched.fired = i
            watched.fired_side = fired_side
        part.sides[i] = side_of(part.g[3, i])
        part.g[0, i] = part.g[3, i]
        part.rate_a[i] = part.rate_b[i]
    part.a = part.b
    return first


@routine
def first_event(piece: Piece, p: Array, watched: Events) -> float:
    """Fraction of the piece at which the first wanted event happens, or NO_EVENT; `watched.fired` tells which.

    Parts begin as short as they were where the last search ended. `watched.unresolved` tells of a function that the
    shortest parts cannot follow.
    """
    part = Part()
    width = 1.0 / PARTS
    if watched.followed > 0.0:
        width = min(width, max(2.0 * watched.followed / abs(piece.length), NARROWEST))
    read_start(part, piece, p, watched)
    first = event_at_start(part, piece, p, watched)
    while first == NO_EVENT and part.a < 1.0:
        # One per cent more rather than a sliver at the end, whose differences would be rounding.
        part.b = 1.0 if part.a + 1.01 * width >= 1.0 else part.a + width
        evaluate_part(part, piece, p)
        coarse = coarse_function(part)
        if coarse >= 0 and width > NARROWEST and watched.coarse_parts < MOST_UNRESOLVED:
            width = 0.5 * width
        else:
            watched.followed = width * abs(piece.length)
            if coarse < 0:
                watched.coarse_parts = 0
                width = min(1.0 / PARTS, 2.0 * width)
            elif watched.coarse_parts < MOST_UNRESOLVED:
                watched.coarse_parts += 1
            else:
                # Given up, and said: long parts again, until the function is slow enough for them.
                watched.unresolved = coarse
                width = 1.0 / PARTS
            first = event_in_part(part, piece, p, watched)
    return first
