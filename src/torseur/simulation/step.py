"""A step with its working memory: its stages, its end, its piece of motion."""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, External, IntArray, Static, routine
from torseur.simulation.dop853 import N, dense_output, evaluate_stages, rhs, solution, step_stiffness
from torseur.simulation.memory import EVALUATIONS, STIFFNESS, TIME
from torseur.simulation.tableau import ALL_STAGES, STAGES

PROJECT: int = Static("PROJECT")  # 1 when states are brought back on their manifold, 0 otherwise

project = External("project", "t: float, y: Array, p: Array, out: Array")

# The working memory `work`: sixteen slopes first, then, each from N times its number on:
Y_STAGE = ALL_STAGES  # the state of the last stage
Y_END = ALL_STAGES + 1  # the state at the end of the step
Y_NEXT = ALL_STAGES + 2  # the same, settled
PIECE = ALL_STAGES + 3  # the step as a piece of motion

STIFFNESS_MEMORY = 50.0  # steps over which the stiffness is averaged


@routine
def copy(source: Array, target: Array, size: int) -> None:
    for i in range(size):
        target[i] = source[i]


@routine
def settle(t: float, state: Array, p: Array, out: Array) -> None:
    """The state brought back on its manifold: unit quaternions, closed loops."""
    if PROJECT:
        project(t, state, p, out)
    else:
        copy(state, out, N)


@routine
def take_step(t: float, h: float, y: Array, p: Array, count: IntArray, work: Array) -> None:
    """A step from y: its slopes, the state at its end, and that state settled."""
    y_end = work[Y_END * N :]
    evaluate_stages(t, h, y, p, work, work[Y_STAGE * N :])
    solution(h, y, work, y_end)
    settle(t + h, y_end, p, work[Y_NEXT * N :])
    count[EVALUATIONS] += STAGES - 1


@routine
def end_slope(h: float, clock: Array, count: IntArray, y_end: Array, p: Array, work: Array) -> None:
    """Slope 12, at the end of the step."""
    rhs(clock[TIME] + h, y_end, p, work[STAGES * N :])
    count[EVALUATIONS] += 1


@routine
def note_stiffness(h: float, clock: Array, work: Array) -> None:
    """Takes the step into the running mean; its end slope is given, and no stage came after it."""
    stiffness = step_stiffness(h, work[Y_END * N :], work[Y_STAGE * N :], work)
    clock[STIFFNESS] += (stiffness - clock[STIFFNESS]) / STIFFNESS_MEMORY


@routine
def make_piece(h: float, clock: Array, count: IntArray, y: Array, p: Array, work: Array) -> None:
    """The step as a piece of motion; its end slope is given."""
    dense_output(clock[TIME], h, y, work[Y_END * N :], p, work, work[Y_STAGE * N :], work[PIECE * N :])
    count[EVALUATIONS] += ALL_STAGES - STAGES - 1


@routine
def first_not_finite(values: Array) -> int:
    """The first of N numbers that is not finite, or -1."""
    for i in range(N):
        if not math.isfinite(values[i]):
            return i
    return -1
