"""The loop over points, as one routine around the integrator's own loop.

Each motion is watched by criteria: values at its end, largest and smallest values, values at events and their times,
each with slopes by the parameters where they are asked for. Integrals are states.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, External, IntArray, Static, izeros, routine, zeros
from torseur.sensitivity.tangent import NPAR, NX, NY
from torseur.simulation.along import outputs
from torseur.simulation.control import FIRST_LAST_ERROR
from torseur.simulation.dop853 import N
from torseur.simulation.events import NG
from torseur.simulation.integrate import integrate
from torseur.simulation.memory import (
    ASKED,
    ATTEMPTS,
    CLOCK_SIZE,
    COUNT_SIZE,
    DIRECTION,
    DISTANCE,
    DONE,
    LAST_ERROR,
    MARK,
    MARKS,
    MAX_STEP,
    MILESTONE,
    PAUSE_AT,
    PAUSED,
    RTOL,
    SAMPLES,
    START_DISTANCE,
    T_END,
    TIME,
    WATCH,
)
from torseur.simulation.settling import copy

OBSERVED: int = Static("OBSERVED")  # criteria that are formulas of the state at some time
WHENS: int = Static("WHENS")  # of these, how many have an event function of their own; they come first
GIVEN: int = Static("GIVEN")  # parameters of a point
OUTPUTS: int = Static("OUTPUTS")  # formulas that are kept at samples of every motion
PREPARED: int = Static("PREPARED")  # numbers that are computed of them once per point, which programs take as p

prepare = External("prepare", "given: Array, p: Array")
observe = External("observe", "t: float, y: Array, p: Array, z: Array")
observe_slopes = External(
    "observe_slopes", "t: float, y: Array, p: Array, z: Array, by_states: Array, by_parameters: Array, rates: Array"
)

# What a motion needs besides its point: slots of `settings`.
START = 0
UNTIL = 1
TOLERANCE = 2
LONGEST_STEP = 3
MOST_STEPS = 4
LOOKS_FOR_STIFFNESS = 5
TIMES = 6  # how many samples are kept

# Kinds of criteria; those from EVENT on wait for an event function of their own.
VALUE = 0
MAXIMUM = 1
MINIMUM = 2
EVENT = 3
EVENT_TIME = 4

# Moments at which criteria are noted, besides the events, which count from 0.
AT_START = -2
AT_END = -1

ROOM = 32  # events that are noted together
MISSED = 100  # the answer when an event that a criterion asks for did not happen


@routine
def motions(
    rows: int,
    settings: Array,
    times: Array,
    states: Array,
    given: Array,
    tolerances: Array,
    kinds: IntArray,
    watched: IntArray,
    occurrences: IntArray,
    directions: IntArray,
    samples: Array,
    out: Array,
    kept: Array,
    answers: IntArray,
) -> None:
    """Criteria of a motion from each row of `states`, what is kept of it, and the integrator's answer to each.

    `samples` is room for the states of one motion at `times`.
    """
    width = (OBSERVED + NX - NY) * (1 + NPAR)
    room = int(settings[TIMES]) * OUTPUTS
    for row in range(rows):
        answers[row] = motion(
            settings,
            times,
            samples,
            kept[row * room :],
            states[row * N :],
            given[row * GIVEN :],
            tolerances[row * N :],
            kinds,
            watched,
            occurrences,
            directions,
            out[row * width :],
        )


@routine
def motion(
    settings: Array,
    times: Array,
    samples: Array,
    kept: Array,
    state: Array,
    given: Array,
    atol: Array,
    kinds: IntArray,
    watched: IntArray,
    occurrences: IntArray,
    directions: IntArray,
    out: Array,
) -> int:
    """Criteria of one motion."""
    clock = zeros(CLOCK_SIZE + N)
    count = izeros(COUNT_SIZE)
    y = zeros(N)
    p = zeros(PREPARED)
    nothing = zeros(1)
    sides = izeros(NG + 1)
    limits = izeros(NG + 1)
    seen = izeros(OBSERVED + 1)
    marks = zeros((ROOM + NG) * (2 + N) if NG > 0 else 1)
    prepare(given, p)
    copy(state, y, N)
    wind(settings, clock, count)
    if NG > 0:
        note(clock[TIME], y, p, AT_START, kinds, watched, occurrences, seen, out)
    answer = PAUSED
    while answer == PAUSED and count[ATTEMPTS] < count[PAUSE_AT]:
        count[MARK] = 0
        answer = integrate(clock, count, y, p, atol, times, samples, nothing, sides, directions, limits, marks)
        for k in range(count[MARK]):
            mark = marks[k * (2 + N) :]
            note(mark[0], mark[2:], p, int(mark[1]), kinds, watched, occurrences, seen, out)
    if answer == DONE:
        if OUTPUTS > 0:
            for k in range(count[SAMPLES]):
                outputs(times[k], samples[k * N :], p, kept[k * OUTPUTS :])
        note(clock[TIME], y, p, AT_END, kinds, watched, occurrences, seen, out)
        write_integrals(y, out[OBSERVED * (1 + NPAR) :])
        if has_missed(kinds, occurrences, seen):
            return MISSED
    return answer


@routine
def wind(settings: Array, clock: Array, count: IntArray) -> None:
    """The integrator's memory at the start of a motion."""
    clock[TIME] = settings[START]
    clock[MILESTONE] = settings[START]
    clock[T_END] = settings[UNTIL]
    clock[DIRECTION] = 1.0 if settings[UNTIL] > settings[START] else -1.0
    clock[RTOL] = settings[TOLERANCE]
    clock[MAX_STEP] = settings[LONGEST_STEP]
    clock[LAST_ERROR] = FIRST_LAST_ERROR
    clock[DISTANCE] = 1.0
    clock[START_DISTANCE] = 1.0
    clock[ASKED] = 1.0
    count[PAUSE_AT] = int(settings[MOST_STEPS])
    count[MARKS] = ROOM + NG
    count[SAMPLES] = int(settings[TIMES])
    count[WATCH] = int(settings[LOOKS_FOR_STIFFNESS])


@routine
def note(
    t: float,
    y: Array,
    p: Array,
    moment: int,
    kinds: IntArray,
    watched: IntArray,
    occurrences: IntArray,
    seen: IntArray,
    out: Array,
) -> None:
    """Takes what the criteria say at a moment: the start, the end or an event."""
    if OBSERVED > 0:
        z = zeros(OBSERVED + WHENS)
        by_states = zeros((OBSERVED + WHENS) * NY * NPAR)
        by_parameters = zeros((OBSERVED + WHENS) * NPAR)
        rates = zeros((OBSERVED + WHENS) * NPAR)
        if NPAR > 0:
            observe_slopes(t, y, p, z, by_states, by_parameters, rates)
        else:
            observe(t, y, p, z)
        for c in range(OBSERVED):
            if is_taken(c, z[c], moment, kinds, watched, occurrences, seen, out):
                out[c * (1 + NPAR)] = t if kinds[c] == EVENT_TIME else z[c]
                if NPAR > 0:
                    write_slopes(c, kinds[c], y, by_states, by_parameters, rates, out)


@routine
def is_taken(
    c: int,
    value: float,
    moment: int,
    kinds: IntArray,
    watched: IntArray,
    occurrences: IntArray,
    seen: IntArray,
    out: Array,
) -> bool:
    """Whether the moment is the one that a criterion asks for, as far as is known by then."""
    kind = kinds[c]
    if kind == VALUE:
        return moment == AT_END
    if kind < EVENT:
        if moment == AT_START:
            return True
        if moment != AT_END and moment != watched[c]:
            return False
        best = out[c * (1 + NPAR)]
        return value > best if kind == MAXIMUM else value < best
    if moment != watched[c]:
        return False
    seen[c] += 1
    return seen[c] == occurrences[c]


@routine
def write_slopes(c: int, kind: int, y: Array, by_states: Array, by_parameters: Array, rates: Array, out: Array) -> None:
    """Slopes of criterion c at a moment.

    The time of an event w = 0 moves by dt = -dw / w'; an extremum is where the value does not move with time.
    """
    for k in range(NPAR):
        change = changed(c, k, y, by_states, by_parameters)
        if kind >= EVENT:
            later = -changed(OBSERVED + c, k, y, by_states, by_parameters) / rates[OBSERVED + c]
            change = later if kind == EVENT_TIME else change + rates[c] * later
        out[c * (1 + NPAR) + 1 + k] = change


@routine
def changed(row: int, k: int, y: Array, by_states: Array, by_parameters: Array) -> float:
    """The change of an observed formula with parameter k at a fixed time."""
    total = by_parameters[row * NPAR + k]
    for i in range(NY):
        total += by_states[row * NY + i] * y[NX + i * NPAR + k]
    return total


@routine
def write_integrals(y: Array, out: Array) -> None:
    """The integrals behind the states, with their slopes."""
    for j in range(NX - NY):
        out[j * (1 + NPAR)] = y[NY + j]
        for k in range(NPAR):
            out[j * (1 + NPAR) + 1 + k] = y[NX + (NY + j) * NPAR + k]


@routine
def has_missed(kinds: IntArray, occurrences: IntArray, seen: IntArray) -> bool:
    """Whether an event that a criterion asks for did not happen."""
    missed = False
    for c in range(OBSERVED):
        missed = missed or (kinds[c] >= EVENT and seen[c] < occurrences[c])
    return missed
