"""A step with its working memory: its stages, its end, its piece of motion."""

from __future__ import annotations

import math

from torseur.codegen.routine import Array, IntArray, Static, routine
from torseur.simulation.constrained.sizes import NQ
from torseur.simulation.control import is_beside, lengthen, must_pass_by, shorten
from torseur.simulation.dop853 import (
    PIECE_STATE,
    N,
    dense_output,
    error_norm,
    evaluate_stages,
    largest_error,
    rhs,
    solution,
    solution_of_order_5,
    step_stiffness,
)
from torseur.simulation.memory import DISTANCE, EVALUATIONS, RTOL, STIFF, STIFFNESS, TIME
from torseur.simulation.radau.control import (
    implicit_error,
    largest_correction,
    lengthen_implicit,
    piece_error,
    shorten_implicit,
    start_afresh,
)
from torseur.simulation.radau.memory import HAS_PIECE, NS, newton_size
from torseur.simulation.radau.stages import implicit_piece, solve_stages
from torseur.simulation.settling import PROJECT, settle
from torseur.simulation.tableau import ALL_STAGES, STAGES

NEWTON: int = Static("NEWTON")  # place of the memory of the implicit method, behind everything else
WORK: int = Static("WORK")  # size of the working memory

# The working memory `work`: sixteen slopes first (or stages of the implicit method), then, each from N times its
# number on:
Y_STAGE = ALL_STAGES  # the state of the last stage
Y_END = ALL_STAGES + 1  # the state at the end of the step
Y_NEXT = ALL_STAGES + 2  # the same, settled
PIECE = ALL_STAGES + 3  # the step as a piece of motion

JUMP = 1e4  # move by settling, in units of the tolerance, that no error explains
STIFFNESS_MEMORY = 50.0  # steps over which the stiffness is averaged


@routine
def take_step(t: float, h: float, y: Array, p: Array, clock: Array, count: IntArray, atol: Array, work: Array) -> bool:
    """A step from y: its stages, the state at its end, and that state settled; false when it could not be solved."""
    y_end = work[Y_END * N :]
    if NS == 0:
        evaluate_stages(t, h, y, p, work, work[Y_STAGE * N :])
        solution(h, y, work, y_end)
        count[EVALUATIONS] += STAGES - 1
    else:
        piece = work[PIECE * N :]
        newton = work[NEWTON:]
        solved = solve_stages(t, h, y, p, clock, count, atol, work[Y_STAGE * N :], piece, work, newton)
        if not solved:
            return False
        for i in range(N):
            y_end[i] = y[i] + work[NS * N + i]
    clock[DISTANCE] = settle(t + h, y_end, p, work[Y_NEXT * N :])
    return True


@routine
def step_error(h: float, y: Array, p: Array, clock: Array, count: IntArray, atol: Array, work: Array) -> float:
    """Estimated error of the step in units of the tolerance; not a number when it left the domain of the equations."""
    y_end = work[Y_END * N :]
    if PROJECT != 0 and first_not_finite(work[Y_NEXT * N :]) >= 0:
        return math.nan
    other = work[(ALL_STAGES - 1) * N :]
    if PROJECT == 2 and not is_beside(clock) and moved_by_settling(y, clock, atol, work) > JUMP:
        return JUMP
    if NS == 0:
        error = error_norm(h, y, y_end, work, clock[RTOL], atol)
        if PROJECT == 2 and error > 1.0 and is_beside(clock):
            solution_of_order_5(h, y_end, work, other)
            error = error * part_on_manifold(h, y, p, clock, atol, work)
        return error
    else:
        newton = work[NEWTON:]
        error = implicit_error(clock[TIME], h, y, y_end, p, clock, count, atol, work, newton)
        if PROJECT == 2 and error > 1.0 and is_beside(clock):
            for i in range(N):
                other[i] = y_end[i] + work[(1 + 2 * NS) * N + i]
            error = error * part_on_manifold(h, y, p, clock, atol, work)
        return error


@routine
def moved_by_settling(y: Array, clock: Array, atol: Array, work: Array) -> float:
    """How far settling moved a coordinate at most, in units of its tolerance: far more only where a driver jumps."""
    largest = 0.0
    for i in range(NQ):
        scale = atol[i] + clock[RTOL] * max(abs(y[i]), abs(work[Y_END * N + i]))
        largest = max(largest, abs(work[Y_NEXT * N + i] - work[Y_END * N + i]) / scale)
    return largest


@routine
def part_on_manifold(h: float, y: Array, p: Array, clock: Array, atol: Array, work: Array) -> float:
    """The part of the step's error that settling does not take away; the solution to compare with is given.

    Beside a singular configuration most of it stands across the constraints, and is noise.
    """
    y_end = work[Y_END * N :]
    other = work[(ALL_STAGES - 1) * N :]
    settled = work[(ALL_STAGES - 2) * N :]
    settle(clock[TIME] + h, other, p, settled)
    whole = 0.0
    left = 0.0
    for i in range(N):
        scale = atol[i] + clock[RTOL] * max(abs(y[i]), abs(y_end[i]))
        a = (other[i] - y_end[i]) / scale
        b = (settled[i] - work[Y_NEXT * N + i]) / scale
        whole += a * a
        left += b * b
    if not math.isfinite(left) or whole == 0.0:
        return 1.0
    return min(1.0, math.sqrt(left / whole))


@routine
def between_error(h: float, y: Array, clock: Array, atol: Array, work: Array) -> float:
    """Estimated error between the ends of an implicit step, in units of the tolerance."""
    implicit_piece(clock[TIME], h, y, work, work[PIECE * N :])
    work[NEWTON + HAS_PIECE] = 1.0
    return piece_error(y, clock[RTOL], atol, work[PIECE * N :])


@routine
def choose_next(h: float, error: float, clock: Array, count: IntArray, work: Array) -> bool:
    """Sets the length of the next step; whether this one is accepted."""
    accepted = error <= 1.0
    if PROJECT == 2 and must_pass_by(h, accepted, clock, count):
        if NS != 0:
            start_afresh(work[NEWTON:])
        return False
    if NS == 0:
        if accepted:
            lengthen(clock, count, h, error)
        else:
            shorten(clock, count, h, error)
    else:
        newton = work[NEWTON:]
        if accepted:
            lengthen_implicit(clock, count, h, error, newton)
        else:
            shorten_implicit(clock, count, h, error, newton)
    return accepted


@routine
def worst_state(y: Array, clock: Array, atol: Array, work: Array) -> int:
    """The state that made the step fail."""
    if NS == 0:
        return largest_error(y, work[Y_END * N :], work, clock[RTOL], atol)
    else:
        return largest_correction(y, clock[RTOL], atol, work)


def work_size(states: int, stages: int, equations: int, of_jacobian: int | None = None) -> dict[str, int]:
    """Where the memory of the implicit method starts, and the size of the whole."""
    start, own = (PIECE + 8) * states + PIECE_STATE, states if of_jacobian is None else of_jacobian
    return {"NEWTON": start, "WORK": start + (newton_size(own, stages, equations) if stages else 0)}


@routine
def end_slope(h: float, clock: Array, count: IntArray, y_end: Array, p: Array, work: Array) -> None:
    """Slope 12, at the end of the step."""
    rhs(clock[TIME] + h, y_end, p, work[STAGES * N :])
    count[EVALUATIONS] += 1


@routine
def note_stiffness(h: float, clock: Array, work: Array) -> None:
    """Takes the step into the running mean; its end slope is given, and no stage came after it.

    A single step counts for little: close to a singular configuration slopes vary fast for a moment.
    """
    stiffness = min(step_stiffness(h, work[Y_END * N :], work[Y_STAGE * N :], work), 2.0 * STIFF)
    clock[STIFFNESS] += (stiffness - clock[STIFFNESS]) / STIFFNESS_MEMORY


@routine
def make_piece(h: float, clock: Array, count: IntArray, y: Array, p: Array, work: Array) -> None:
    """The step as a piece of motion; the end slope of an explicit step is given."""
    piece = work[PIECE * N :]
    if NS == 0:
        dense_output(clock[TIME], h, y, work[Y_END * N :], p, work, work[Y_STAGE * N :], piece)
        count[EVALUATIONS] += ALL_STAGES - STAGES - 1
    else:
        implicit_piece(clock[TIME], h, y, work, piece)
        work[NEWTON + HAS_PIECE] = 1.0


@routine
def step_to_search(h: float, clock: Array, count: IntArray, y: Array, p: Array, work: Array) -> None:
    """The step as a piece of motion, before it is known whether it is accepted whole."""
    if NS == 0:
        end_slope(h, clock, count, work[Y_END * N :], p, work)
        note_stiffness(h, clock, work)
    make_piece(h, clock, count, y, p, work)


@routine
def complete_step(
    h: float, is_new: bool, needs_piece: bool, clock: Array, count: IntArray, y: Array, p: Array, work: Array
) -> None:
    """What an accepted step still lacks of its end slope and its piece; `is_new` when the step was not searched."""
    if NS == 0:
        if is_new and (PROJECT == 0 or needs_piece):
            end_slope(h, clock, count, work[Y_END * N :], p, work)
            note_stiffness(h, clock, work)
        if is_new and needs_piece:
            make_piece(h, clock, count, y, p, work)
    elif is_new:
        make_piece(h, clock, count, y, p, work)


@routine
def next_slope(h: float, is_new: bool, needs_piece: bool, clock: Array, count: IntArray, p: Array, work: Array) -> None:
    """The slope at the settled end of the step, where the next one starts."""
    if PROJECT != 0 or NS != 0:
        end_slope(h, clock, count, work[Y_NEXT * N :], p, work)
    if PROJECT != 0 and NS == 0 and is_new and not needs_piece:
        note_stiffness(h, clock, work)


@routine
def first_not_finite(values: Array) -> int:
    """The first of N numbers that is not finite, or -1."""
    for i in range(N):
        if not math.isfinite(values[i]):
            return i
    return -1
