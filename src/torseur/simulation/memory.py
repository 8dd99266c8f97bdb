"""What the integrator remembers between two calls of its compiled loop: slots of two flat arrays, and its answers."""

from __future__ import annotations

# Slots of `clock`, the real numbers.
TIME = 0
STEP = 1  # length of the next step to try, positive; 0 before the first
LAST_ERROR = 2  # of the last accepted step, in units of the tolerance
T_END = 3
DIRECTION = 4  # +1 forward in time, -1 backward
RTOL = 5
MAX_STEP = 6
STIFFNESS = 7  # running mean of h |eigenvalue|; explicit steps are limited by stability near 6
DISTANCE = 8  # of the last step's end from a singular configuration; 1 when none is near
START_DISTANCE = 9  # of its start
MILESTONE = 10  # time after which progress is counted anew
ASKED = 11  # distance at which other constraints were asked for, 1 when they were not
HOLDING = 12  # 1 while accelerations are held for the passage of a singular configuration
CLOCK_SIZE = 13  # behind it, room for the slope of the present state

STIFF = 4.0  # h |eigenvalue| above which explicit steps are limited by stability, not by accuracy

# Slots of `count`, the whole numbers.
STEPS = 0
REJECTED = 1
EVALUATIONS = 2
PAUSE_AT = 3  # attempts after which the loop hands back control
AFTER_REJECTION = 4
NOT_FINITE = 5  # whether the last rejected step met a number that is not finite
WORST = 6  # state with the largest error in the last rejected step
SAMPLE = 7  # samples written
SAMPLES = 8  # samples asked for
KEEP = 9  # what is kept of each step: KEEP_NOTHING, KEEP_STATES, KEEP_DENSE or KEEP_SLOPES
ROW = 10  # steps kept in the present buffer
ROWS = 11  # room for steps
MARK = 12  # events written in the present buffer
MARKS = 13  # room for events
FIRED = 14  # event the step lands on, or -1
FIRED_SIDE = 15  # sign of that event's function after it
ATTEMPTS = 16  # steps tried, whatever became of them
JACOBIANS = 17  # evaluated by the implicit method
FACTORISATIONS = 18  # made by the implicit method
WATCH = 19  # whether the explicit method hands back control when the system turns out to be stiff
RETRIES = 20  # steps tried anew beside a singular configuration since the last accepted one
AT_MILESTONE = 21  # attempts made when the milestone was passed
SELECTS = 22  # whether other constraints can be selected where those in use are a bad choice
COUNT_SIZE = 23

KEEP_NOTHING = 0
KEEP_STATES = 1
KEEP_DENSE = 2  # the step as a piece of motion
KEEP_SLOPES = 3  # the state at its start, and the slopes of its stages

# Answers of the loop.
DONE = 0
STOPPED = 1  # by an event
PAUSED = 2  # a buffer is full, or PAUSE_AT is reached: call again to go on
NONFINITE = 3
STEP_TOO_SMALL = 4
RAISED = 5  # a Python function called by the loop raised an error
STIFFENED = 6  # the system is stiff: go on with the implicit method
REPARTITION = 7  # the independent speeds have become a bad choice: choose others and go on
LET_GO = 10  # the singular configuration is passed: forget the accelerations that were held and go on
HOLD = 8  # a singular configuration is near: keep the accelerations of the present state and go on
RESELECT = 9  # the constraints in use have become a bad choice: select others if possible and go on

GOES_ON = (PAUSED, STIFFENED, REPARTITION, HOLD, RESELECT, LET_GO)
