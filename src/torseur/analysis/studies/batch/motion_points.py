"""The loop over points, as one routine around the integrator's own loop.

Each motion is watched by criteria: values at its end, largest and smallest values, values at events and their times,
each with derivatives by the parameters where they are asked for. Integrals are states.
"""

from __future__ import annotations

from typing import Annotated

from torseur.analysis.sensitivity.direct.tangent_routines import NPAR, NX, NY
from torseur.computation.codegen.routine import Array, External, IntArray, Record, Static, izeros, routine, zeros
from torseur.computation.simulation.events.event_search import NG
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.loop.integrate import integrate
from torseur.computation.simulation.loop.memory import DONE, FIRST_LAST_ERROR, PAUSED, Events, Motion, Output, Tolerance
from torseur.computation.simulation.loop.settling import copy
from torseur.computation.simulation.output.along_motion import outputs

OBSERVED: int = Static("OBSERVED")  # criteria that are formulas of the state at some time
WHENS: int = Static("WHENS")  # of these, how many have an event function of their own; they come first
GIVEN: int = Static("GIVEN")  # parameters of a point
OUTPUTS: int = Static("OUTPUTS")  # formulas that are kept at samples of every motion
PREPARED: int = Static("PREPARED")  # numbers that are computed of them once per point, which programs take as p


class Task(Record):
    """What a motion needs besides its point."""

    start: float
    until: float
    rtol: float
    max_step: float
    most_steps: int
    watches_stiffness: bool
    sample_count: int  # samples that are kept of every motion


class Criteria(Record):
    """What is asked of every motion: kind, event and occurrence of each criterion, and the directions of the events."""

    kinds: IntArray
    watched: IntArray
    occurrences: IntArray
    directions: IntArray


class Points(Record):
    """Where motions start, a row each, and what came of them."""

    count: int
    states: Annotated[Array, ..., N]
    given: Annotated[Array, ..., GIVEN]
    atol: Annotated[Array, ..., N]
    out: Annotated[Array, ..., (OBSERVED + NX - NY) * (1 + NPAR)]  # criteria, each with its derivatives
    answers: IntArray  # of the integrator


class Samples(Record):
    """Formulas that are kept at certain times of every motion; `states` is room for one motion."""

    times: Array
    states: Annotated[Array, ..., N]
    kept: Array  # motion by motion, time by time


class Observation(Record):
    """Formulas at an instant, those of criteria and then of their events, with derivatives; programs know the names."""

    z: Annotated[Array, OBSERVED + WHENS]
    by_states: Annotated[Array, OBSERVED + WHENS, NY]
    by_parameters: Annotated[Array, OBSERVED + WHENS, NPAR]
    rates: Annotated[Array, OBSERVED + WHENS]


prepare = External("prepare", "given: Array, p: Array")
observe = External("observe", "t: float, y: Array, p: Array, z: Array")
observe_derivatives = External("observe_derivatives", "t: float, y: Array, p: Array, seen: Observation", Observation)

# Kinds of criteria; those from EVENT on wait for an event function of their own.
VALUE = 0
MAXIMUM = 1
MINIMUM = 2
EVENT = 3
EVENT_TIME = 4

# Instants at which criteria are noted, besides the events, which count from 0.
AT_START = -2
AT_END = -1

ROOM = 32  # events that are noted together
MISSED = 100  # the answer when an event that a criterion asks for did not happen


# Why the loop over points is compiled, too: docs/decisions/0043-a-sweep-is-one-routine.md.
@routine
def motions(points: Points, task: Task, criteria: Criteria, samples: Samples) -> None:
    """Criteria of a motion from each point, what is kept of it, and the integrator's answer to each."""
    room = task.sample_count * OUTPUTS
    for row in range(points.count):
        points.answers[row] = move(row, points, task, criteria, samples, samples.kept[row * room :])


@routine
def move(row: int, points: Points, task: Task, criteria: Criteria, samples: Samples, kept: Array) -> int:
    """Criteria of one motion."""
    motion = Motion()
    y = zeros(N)
    p = zeros(PREPARED)
    nothing = zeros(1)
    sides = izeros(NG + 1)
    limits = izeros(NG + 1)
    counted = izeros(OBSERVED + 1)
    marks = zeros(ROOM + NG if NG > 0 else 1, 2 + N)
    tolerance = Tolerance(points.atol[row], rtol=task.rtol)
    output = Output(samples.times, samples.states, nothing, sample_count=task.sample_count)
    watched = Events(sides, criteria.directions, limits, marks, mark_room=ROOM + NG)
    out = points.out[row]
    prepare(points.given[row], p)
    copy(points.states[row], y, N)
    begin(task, motion)
    if NG > 0:
        note(motion.time, y, p, AT_START, criteria, counted, out)
    answer = PAUSED
    while answer == PAUSED and motion.attempts < motion.pause_at:
        watched.mark = 0
        answer = integrate(motion, y, p, tolerance, output, watched)
        for k in range(watched.mark):
            mark = marks[k]
            note(mark[0], mark[2:], p, int(mark[1]), criteria, counted, out)
    if answer == DONE:
        if OUTPUTS > 0:
            for k in range(output.sample_count):
                outputs(output.times[k], output.samples[k], p, kept[k * OUTPUTS :])
        note(motion.time, y, p, AT_END, criteria, counted, out)
        write_integrals(y, out[OBSERVED * (1 + NPAR) :])
        if has_missed(criteria, counted):
            return MISSED
    return answer


@routine
def begin(task: Task, motion: Motion) -> None:
    """The start of a motion, in memory that another one may have used."""
    motion.time = task.start
    motion.milestone = task.start
    motion.t_end = task.until
    motion.direction = 1.0 if task.until > task.start else -1.0
    motion.step = 0.0
    motion.max_step = task.max_step
    motion.last_error = FIRST_LAST_ERROR
    motion.stiffness = 0.0
    motion.attempts = 0
    motion.at_milestone = 0
    motion.after_rejection = False
    motion.not_finite = False
    motion.pause_at = task.most_steps
    motion.watches_stiffness = task.watches_stiffness


@routine
def note(t: float, y: Array, p: Array, instant: int, criteria: Criteria, counted: IntArray, out: Array) -> None:
    """Takes what the criteria say at an instant: the start, the end or an event."""
    if OBSERVED > 0:
        seen = Observation()
        if NPAR > 0:
            observe_derivatives(t, y, p, seen)
        else:
            observe(t, y, p, seen.z)
        for c in range(OBSERVED):
            if is_asked_for(c, seen.z[c], instant, criteria, counted, out):
                out[c * (1 + NPAR)] = t if criteria.kinds[c] == EVENT_TIME else seen.z[c]
                if NPAR > 0:
                    write_derivatives(c, criteria.kinds[c], y, seen, out)


@routine
def is_asked_for(c: int, value: float, instant: int, criteria: Criteria, counted: IntArray, out: Array) -> bool:
    """Whether the instant is the one that a criterion asks for, as far as is known by then."""
    kind = criteria.kinds[c]
    if kind == VALUE:
        return instant == AT_END
    if kind < EVENT:
        if instant == AT_START:
            return True
        if instant != AT_END and instant != criteria.watched[c]:
            return False
        best = out[c * (1 + NPAR)]
        return value > best if kind == MAXIMUM else value < best
    if instant != criteria.watched[c]:
        return False
    counted[c] += 1
    return counted[c] == criteria.occurrences[c]


@routine
def write_derivatives(c: int, kind: int, y: Array, seen: Observation, out: Array) -> None:
    """Derivatives of criterion c by the parameters at an instant.

    The time of an event w = 0 moves by dt = -dw / w'; an extremum is where the value does not move with time.
    """
    for k in range(NPAR):
        change = derivative_at_fixed_time(c, k, y, seen)
        if kind >= EVENT:
            later = -derivative_at_fixed_time(OBSERVED + c, k, y, seen) / seen.rates[OBSERVED + c]
            change = later if kind == EVENT_TIME else change + seen.rates[c] * later
        out[c * (1 + NPAR) + 1 + k] = change


@routine
def derivative_at_fixed_time(row: int, k: int, y: Array, seen: Observation) -> float:
    """The derivative of an observed formula by parameter k, along the tangents that stand behind the states."""
    total = seen.by_parameters[row, k]
    for i in range(NY):
        total += seen.by_states[row, i] * y[NX + i * NPAR + k]
    return total


@routine
def write_integrals(y: Array, out: Array) -> None:
    """The integrals behind the states, with their derivatives."""
    for j in range(NX - NY):
        out[j * (1 + NPAR)] = y[NY + j]
        for k in range(NPAR):
            out[j * (1 + NPAR) + 1 + k] = y[NX + (NY + j) * NPAR + k]


@routine
def has_missed(criteria: Criteria, counted: IntArray) -> bool:
    """Whether an event that a criterion asks for did not happen."""
    missed = False
    for c in range(OBSERVED):
        missed = missed or (criteria.kinds[c] >= EVENT and counted[c] < criteria.occurrences[c])
    return missed
