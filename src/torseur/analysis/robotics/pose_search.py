"""Levenberg and Marquardt's method for coordinates that put frames where they are wanted, as one compiled routine.

Of each frame the position (m) and the rotation (rad, the vector of R_goal Rᵀ) may be missing, and closed loops may be
open. The errors stand in one row, those of a frame first to last and then those of loops:

    position of frame 0 | rotation of frame 0 | position of frame 1 | ... | residuals of loops
    0                   3                     6                           6 NF

A coordinate at a limit that the step would leave is held there. What does not arrive from the given start is tried from
other ones, which all problems share, so that an answer does not depend on the problems solved beside it.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, External, IntArray, Record, Static, routine, zeros
from torseur.computation.simulation.constrained.solver.partitioned_accelerations import solve_positive

NQ: int = Static("NQ")  # coordinates
NV: int = Static("NV")  # speeds
NF: int = Static("NF")  # frames
NC: int = Static("NC")  # equations that close loops
NB: int = Static("NB")  # quaternions

ROUNDS = 60
LARGEST_STEP = 1.0
DAMPING, LEAST_DAMPING, HOPELESS = 1e-2, 1e-12, 1e8
PLACE = 12  # a position and the rows of a rotation matrix

# Places of the frames and residuals of loops, and the derivatives of the errors (their signs changed) by the speeds.
kinematics = External("kinematics", "q: Array, p: Array, places: Array, residuals: Array, rows: Array")
displaced = External("displaced", "q: Array, p: Array, change: Array, moved: Array")


class Space(Record):
    """Where coordinates may be, and how they move.

    `own` is the coordinate whose rate a speed is, -1 for the others; `still` marks coordinates that no speed moves;
    `balls` has the four slots of each quaternion.
    """

    low: Annotated[Array, NQ]
    high: Annotated[Array, NQ]
    own: Annotated[IntArray, NV]
    still: Annotated[IntArray, NQ]
    balls: Annotated[IntArray, 4 * NB]


class Aim(Record):
    """What every problem asks for: weights of the errors (0: not wanted), and how hard to try."""

    weights: Annotated[Array, 6 * NF + NC]
    tolerance: float
    starts: int


class Problems(Record):
    """A row per problem: places of the frames, a start; and the other starts, the same for all."""

    goals: Annotated[Array, ..., PLACE * NF]
    start: Annotated[Array, ..., NQ]
    others: Annotated[Array, ..., NQ]


class Answers(Record):
    """A row per problem: coordinates, the largest error there, and how many starts were tried."""

    q: Annotated[Array, ..., NQ]
    error: Array
    starts: IntArray


class Point(Record):
    """The equations at some coordinates: errors, rows of their derivatives, and the sum of the squares."""

    error: Annotated[Array, 6 * NF + NC]
    rows: Annotated[Array, 6 * NF + NC, NV]
    cost: float


@routine
def search(first: int, last: int, p: Array, space: Space, aim: Aim, problems: Problems, answers: Answers) -> None:
    """Solves the problems from row `first` on to before `last`."""
    for k in range(first, last):
        solve(k, p, space, aim, problems, answers)


@routine
def solve(k: int, p: Array, space: Space, aim: Aim, problems: Problems, answers: Answers) -> None:
    """The coordinates of one problem with the least error of all starts, up to the first that arrives."""
    q = zeros(NQ)
    least = math.inf
    tried = 0
    while tried < aim.starts and not least <= aim.tolerance:
        for i in range(NQ):
            # The first start stands where the answer will: it is what stays if nothing is better.
            q[i] = problems.start[k, i] if tried == 0 or space.still[i] != 0 else problems.others[tried - 1, i]
        keep_inside(q, space)
        if tried == 0:
            for i in range(NQ):
                answers.q[k, i] = q[i]
        error = descend(q, p, space, aim, problems.goals[k])
        tried += 1
        if error < least:
            least = error
            for i in range(NQ):
                answers.q[k, i] = q[i]
    answers.error[k] = least
    answers.starts[k] = tried


@routine
def descend(q: Array, p: Array, space: Space, aim: Aim, goal: Array) -> float:
    """Where a start leads, in place; the largest error there."""
    here = Point()
    there = Point()
    matrix = zeros(NV, NV)
    right = zeros(NV)
    change = zeros(NV)
    trial = zeros(NQ)
    evaluate(q, p, aim, goal, here)
    normal_equations(q, space, aim, here, matrix, right)
    size = largest(here)
    damping = DAMPING
    done = 0
    while done < ROUNDS and size > aim.tolerance and damping < HOPELESS:
        done += 1
        propose(matrix, right, damping, change)
        displaced(q, p, change, trial)
        keep_inside(trial, space)
        evaluate(trial, p, aim, goal, there)
        if there.cost < here.cost:
            take(trial, there, q, here)
            normal_equations(q, space, aim, here, matrix, right)
            size = largest(here)
            damping = max(0.2 * damping, LEAST_DAMPING)
        else:
            damping *= 5.0
    return size


@routine
def evaluate(q: Array, p: Array, aim: Aim, goal: Array, point: Point) -> None:
    """The weighted errors at some coordinates, and the rows of their derivatives, not weighted."""
    places = zeros(PLACE * NF)
    residuals = zeros(NC + 1)
    kinematics(q, p, places, residuals, point.rows)
    for f in range(NF):
        for i in range(3):
            point.error[6 * f + i] = goal[PLACE * f + i] - places[PLACE * f + i]
        if aim.weights[6 * f + 3] != 0.0:
            rotation_between(places[PLACE * f + 3 :], goal[PLACE * f + 3 :], point.error[6 * f + 3 :])
    for c in range(NC):
        point.error[6 * NF + c] = -residuals[c]
    point.cost = 0.0
    for i in range(6 * NF + NC):
        point.error[i] = aim.weights[i] * point.error[i] if aim.weights[i] != 0.0 else 0.0
        point.cost += point.error[i] * point.error[i]


@routine
def largest(point: Point) -> float:
    """The largest error; infinite where some error is not a number."""
    size = 0.0
    for i in range(6 * NF + NC):
        size = max(size, abs(point.error[i]))
    return size if math.isfinite(point.cost) else math.inf


@routine
def rotation_between(start: Array, end: Array, vector: Array) -> None:
    """The rotation vector of R_end R_startᵀ, matrices by rows, through the quaternion with the safest divisor."""
    r = zeros(3, 3)
    for i in range(3):
        for j in range(3):
            r[i, j] = end[3 * i] * start[3 * j] + end[3 * i + 1] * start[3 * j + 1] + end[3 * i + 2] * start[3 * j + 2]
    # 4 w (w, x, y, z), or the same with x, y or z for w: whichever is largest.
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    if trace >= r[0, 0] and trace >= r[1, 1] and trace >= r[2, 2]:
        w = 1.0 + trace
        x = r[2, 1] - r[1, 2]
        y = r[0, 2] - r[2, 0]
        z = r[1, 0] - r[0, 1]
    elif r[0, 0] >= r[1, 1] and r[0, 0] >= r[2, 2]:
        w = r[2, 1] - r[1, 2]
        x = 1.0 + 2.0 * r[0, 0] - trace
        y = r[1, 0] + r[0, 1]
        z = r[0, 2] + r[2, 0]
    elif r[1, 1] >= r[2, 2]:
        w = r[0, 2] - r[2, 0]
        x = r[1, 0] + r[0, 1]
        y = 1.0 + 2.0 * r[1, 1] - trace
        z = r[2, 1] + r[1, 2]
    else:
        w = r[1, 0] - r[0, 1]
        x = r[0, 2] + r[2, 0]
        y = r[2, 1] + r[1, 2]
        z = 1.0 + 2.0 * r[2, 2] - trace
    sine = math.sqrt(x * x + y * y + z * z)
    # Of the two turns the one by at most half a turn.
    factor = 2.0 * math.atan2(sine, abs(w)) / sine if sine > 0.0 else 0.0
    if w < 0.0:
        factor = -factor
    vector[0] = factor * x
    vector[1] = factor * y
    vector[2] = factor * z


@routine
def normal_equations(q: Array, space: Space, aim: Aim, point: Point, matrix: Annotated[Array, NV, NV], right: Array
                     ) -> None:  # fmt: skip
    """Jᵀ J and Jᵀ e, without coordinates that the gradient would push beyond their limits."""
    for i in range(NV):
        right[i] = 0.0
        for j in range(i + 1):
            matrix[i, j] = 0.0
    for m in range(6 * NF + NC):
        weight = aim.weights[m]
        if weight != 0.0:
            row = point.rows[m]
            for i in range(NV):
                part = weight * row[i]
                if part != 0.0:
                    right[i] += part * point.error[m]
                    for j in range(i + 1):
                        matrix[i, j] += part * weight * row[j]
    for k in range(NV):
        s = space.own[k]
        if s >= 0 and ((q[s] <= space.low[s] and right[k] < 0.0) or (q[s] >= space.high[s] and right[k] > 0.0)):
            right[k] = 0.0
            for j in range(NV):
                matrix[max(j, k), min(j, k)] = 0.0


@routine
def propose(matrix: Annotated[Array, NV, NV], right: Array, damping: float, change: Array) -> None:
    """(Jᵀ J + λ) δ = Jᵀ e, no component longer than the largest step."""
    factor = zeros(NV, NV)
    for i in range(NV):
        change[i] = right[i]
        for j in range(i + 1):
            factor[i, j] = matrix[i, j]
        factor[i, i] += damping
    solve_positive(factor, change, NV)
    longest = 0.0
    for i in range(NV):
        longest = max(longest, abs(change[i]))
    if longest > LARGEST_STEP:
        for i in range(NV):
            change[i] *= LARGEST_STEP / longest


@routine
def keep_inside(q: Array, space: Space) -> None:
    """Coordinates cut at their limits, and quaternions of length one."""
    for i in range(NQ):
        q[i] = min(max(q[i], space.low[i]), space.high[i])
    for b in range(NB):
        square = 0.0
        for i in range(4):
            square += q[space.balls[4 * b + i]] ** 2
        for i in range(4):
            s = space.balls[4 * b + i]
            if square > 0.0:
                q[s] /= math.sqrt(square)
            else:
                q[s] = 1.0 if i == 0 else 0.0


@routine
def take(trial: Array, there: Point, q: Array, here: Point) -> None:
    """The step is taken: its coordinates and equations are the present ones."""
    for i in range(NQ):
        q[i] = trial[i]
    here.cost = there.cost
    for m in range(6 * NF + NC):
        here.error[m] = there.error[m]
        for i in range(NV):
            here.rows[m, i] = there.rows[m, i]


class States(Record):
    """A row per state: coordinates and goals, and the weighted errors and rows there."""

    q: Annotated[Array, ..., NQ]
    goals: Annotated[Array, ..., PLACE * NF]
    errors: Annotated[Array, ..., 6 * NF + NC]
    rows: Annotated[Array, ..., (6 * NF + NC) * NV]


@routine
def linearise(first: int, last: int, p: Array, aim: Aim, states: States) -> None:
    """Errors and rows of the states from row `first` on to before `last`."""
    point = Point()
    for k in range(first, last):
        evaluate(states.q[k], p, aim, states.goals[k], point)
        for m in range(6 * NF + NC):
            states.errors[k, m] = point.error[m]
            for i in range(NV):
                states.rows[k, m * NV + i] = aim.weights[m] * point.rows[m, i]
