"""What the integrator remembers between two calls of its compiled loop, and the answers of the loop.

Constant data stands apart from what a motion changes: `Tolerance` is given, `Motion` is where the motion stands,
`Output` and `Events` are what it leaves behind. All of them lie in memory that Python reads and sets by name.
"""

from __future__ import annotations

from typing import Annotated

from torseur.computation.codegen.routine import Array, IntArray, Record
from torseur.computation.simulation.explicit.dop853 import Stages
from torseur.computation.simulation.explicit.dop853_tableau import STAGES
from torseur.computation.simulation.explicit.runge_kutta import LANES, N

FIRST_LAST_ERROR = 1e-4  # that the first step is taken to have been preceded by
STIFF = 4.0  # h |eigenvalue| above which explicit steps are limited by stability, not by accuracy (near 6)


class Tolerance(Record):
    """How well states are to be known: |error of state i| ≤ atol[i] + rtol |y[i]|."""

    rtol: float
    atol: Array


class Motion(Record):
    """Where a motion stands, how its steps went, and what is asked of the loop."""

    time: float
    t_end: float
    t_stop: float  # where the equations switch next, or the end
    direction: float = 1.0  # +1 forward in time, -1 backward
    step: float = 0.0  # length of the next step to try, positive; 0 before the first
    max_step: float
    last_error: float = FIRST_LAST_ERROR  # of the last accepted step, in units of the tolerance
    stiffness: float  # running mean of h |eigenvalue|
    milestone: float  # time after which progress is counted anew

    # Beside a singular configuration of a constrained mechanism.
    distance: float = 1.0  # of the last step's end from one; 1 when none is near
    start_distance: float = 1.0  # of its start
    asked_at: float = 1.0  # distance at which other constraints were asked for, 1 when they were not
    holding: bool  # accelerations are held for its passage
    retries: int  # steps tried anew beside it since the last accepted one

    steps: int
    rejected: int
    evaluations: int
    attempts: int  # steps tried, whatever became of them
    jacobians: int  # evaluated by the implicit method
    factorisations: int  # made by the implicit method
    at_milestone: int  # attempts made when the milestone was passed
    after_rejection: bool
    not_finite: bool  # the last rejected step met a number that is not finite
    worst: int  # state with the largest error in the last rejected step

    pause_at: int  # attempts after which the loop hands back control
    watches_stiffness: bool  # the explicit method hands back control when the system turns out to be stiff
    can_select: bool  # other constraints can be selected where those in use are a bad choice
    can_hold: bool  # accelerations can be held for the passage of a singular configuration


class Output(Record):
    """What is kept of a motion: states at times that are asked for, and the steps themselves."""

    sample: int  # samples written
    sample_count: int  # samples asked for
    keep: int  # what is kept of each step: KEEP_NOTHING, KEEP_STATES, KEEP_DENSE or KEEP_STAGES
    row: int  # steps kept in the present buffer
    row_room: int
    derivative: Annotated[Array, N]  # of the present state, where the loop asks for it to be held
    times: Array
    samples: Annotated[Array, ..., N]
    rows: Array  # one after another; their length depends on `keep`


class Events(Record):
    """The event functions of a motion: on which side of zero they are, and what happened."""

    fired: int  # event the step lands on, or -1
    fired_side: int  # sign of that event's function after it
    followed: float  # length of the part of a step in which the last search ended; 0 before the first
    landed: bool  # the present step was taken anew, to end on an event
    coarse_parts: int  # parts of steps in a row that were too coarse although they were the shortest
    unresolved: int = -1  # event function that changes faster than the search can follow, or -1
    mark: int  # events written in the present buffer
    mark_room: int
    sides: IntArray  # sign of each function in force; 0 before the first step
    directions: IntArray  # changes of sign that count: towards +1, towards -1, or 0 for both
    limits: IntArray  # occurrences of each event that are left before it stops the motion
    marks: Annotated[Array, ..., 2 + N]  # time, number of the event, state


class KeptStep(Record):
    """A step as it is kept for the way back: its start, and the derivatives of its stages.

    Of an implicit step, k[0] is the derivative at its start and its stages follow (relative to y).
    """

    time: Annotated[Array, LANES]
    length: Annotated[Array, LANES]
    y: Annotated[Array, N]
    k: Stages


def row_width(keep: int, states: int) -> int:
    """Numbers that are kept of a step: time and length, then vectors of the states' size."""
    return 2 + {KEEP_DENSE: 8, KEEP_STAGES: 1 + STAGES}.get(keep, 1) * states


KEEP_NOTHING = 0
KEEP_STATES = 1
KEEP_DENSE = 2  # the step as a piece of motion
KEEP_STAGES = 3  # the state at its start, and its stages

# Answers of the loop.
DONE = 0
STOPPED = 1  # by an event
PAUSED = 2  # a buffer is full, or `pause_at` is reached: call again to go on
NONFINITE = 3
STEP_TOO_SMALL = 4
RAISED = 5  # a Python function called by the loop raised an error
STIFFENED = 6  # the system is stiff: go on with the implicit method
REPARTITION = 7  # the independent speeds have become a bad choice: choose others and go on
HOLD = 8  # a singular configuration is near: keep the accelerations of the present state and go on
RESELECT = 9  # the constraints in use have become a bad choice: select others if possible and go on
LET_GO = 10  # the singular configuration is passed: forget the accelerations that were held and go on

GOES_ON = (PAUSED, STIFFENED, REPARTITION, HOLD, RESELECT, LET_GO)
