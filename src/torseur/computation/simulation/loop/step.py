"""A step with its working memory: its stages, its end, its piece of motion.

An explicit step (NS = 0) is one of `dop853`, an implicit one of `radau`; what differs between them is decided when the
routines are translated.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, Record, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ
from torseur.computation.simulation.explicit.dop853 import (
    AllStages,
    Piece,
    dense_output,
    estimate_errors,
    estimate_stiffness,
    evaluate_dense_stages,
    evaluate_stages,
    largest_error,
    solution,
    solution_of_order_5,
)
from torseur.computation.simulation.explicit.dop853_tableau import ALL_STAGES, STAGES
from torseur.computation.simulation.explicit.runge_kutta import LANES, N, State, rhs
from torseur.computation.simulation.explicit.step_control import is_beside, lengthen, must_pass_by, shorten
from torseur.computation.simulation.implicit.radau_control import (
    implicit_error,
    largest_correction,
    lengthen_implicit,
    piece_error,
    shorten_implicit,
    start_afresh,
)
from torseur.computation.simulation.implicit.radau_memory import NS, Newton
from torseur.computation.simulation.implicit.radau_stages import implicit_piece, solve_stages
from torseur.computation.simulation.loop.memory import STIFF, Motion, Tolerance
from torseur.computation.simulation.loop.settling import PROJECT, settle

JUMP = 1e4  # move by settling, in units of the tolerance, that no error explains
STIFFNESS_MEMORY = 50.0  # steps over which the stiffness is averaged


class Step(Record):
    """Working memory of one step.

    The loop hands over k[STAGES], the derivative at the end, as k[0] of the next step.
    """

    # The derivatives come first: vectors that start at odd places are slower to load.
    k: AllStages  # of its stages; an implicit step needs the first alone
    y_stage: State  # of the last stage that was evaluated
    y_end: State
    y_next: State  # the same, on its manifold
    other: State  # solution of lower order that the error is estimated by, beside singular configurations
    other_next: State
    time: Annotated[Array, LANES]  # at its start
    length: Annotated[Array, LANES]
    piece: Piece
    newton: Newton


@routine
def take_step(h: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step) -> bool:
    """A step from y: its stages, the state at its end, and that state settled; false when it could not be solved."""
    step.time[0] = motion.time
    step.length[0] = h
    if NS == 0:
        evaluate_stages(step.time, step.length, y, p, step.k, step.y_stage)
        solution(step.length, y, step.k, step.y_end)
        motion.evaluations += STAGES - 1
    else:
        solved = solve_stages(h, motion, y, p, tolerance, step.piece, step.newton)
        if not solved:
            return False
        for i in range(N):
            step.y_end[i] = y[i] + step.newton.z[NS - 1, i]
    motion.distance = settle(motion.time + h, step.y_end, p, step.y_next)
    return True


@routine
def step_error(h: float, motion: Motion, y: Array, p: Array, tolerance: Tolerance, step: Step) -> float:
    """Estimated error of the step in units of the tolerance; not a number when it left the domain of the equations."""
    if PROJECT != 0 and first_not_finite(step.y_next) >= 0:
        return math.nan
    if PROJECT == 2 and not is_beside(motion) and moved_by_settling(y, tolerance, step) > JUMP:
        return JUMP
    if NS == 0:
        estimate = zeros(LANES)
        estimate_errors(step.length, y, step.y_end, step.k, tolerance.rtol, tolerance.atol, estimate)
        error = estimate[0]
        if PROJECT == 2 and error > 1.0 and is_beside(motion):
            solution_of_order_5(h, step.y_end, step.k, step.other)
            error = error * part_on_manifold(motion.time + h, y, p, tolerance, step)
        return error
    else:
        error = implicit_error(h, motion, y, step.y_end, p, tolerance, step.k[0], step.newton)
        if PROJECT == 2 and error > 1.0 and is_beside(motion):
            for i in range(N):
                step.other[i] = step.y_end[i] + step.newton.correction[0, i]
            error = error * part_on_manifold(motion.time + h, y, p, tolerance, step)
        return error


@routine
def moved_by_settling(y: Array, tolerance: Tolerance, step: Step) -> float:
    """How far settling moved a coordinate at most, in units of its tolerance: far more only where a driver jumps."""
    largest = 0.0
    for i in range(NQ):
        scale = tolerance.atol[i] + tolerance.rtol * max(abs(y[i]), abs(step.y_end[i]))
        largest = max(largest, abs(step.y_next[i] - step.y_end[i]) / scale)
    return largest


@routine
def part_on_manifold(t_end: float, y: Array, p: Array, tolerance: Tolerance, step: Step) -> float:
    """The part of the step's error that settling does not take away; the solution to compare with is given.

    Beside a singular configuration most of it stands across the constraints, and is noise.
    """
    settle(t_end, step.other, p, step.other_next)
    whole = 0.0
    left = 0.0
    for i in range(N):
        scale = tolerance.atol[i] + tolerance.rtol * max(abs(y[i]), abs(step.y_end[i]))
        a = (step.other[i] - step.y_end[i]) / scale
        b = (step.other_next[i] - step.y_next[i]) / scale
        whole += a * a
        left += b * b
    if not math.isfinite(left) or whole == 0.0:
        return 1.0
    return min(1.0, math.sqrt(left / whole))


@routine
def between_error(h: float, motion: Motion, y: Array, tolerance: Tolerance, step: Step) -> float:
    """Estimated error between the ends of an implicit step, in units of the tolerance."""
    implicit_piece(motion.time, h, y, step.piece, step.newton)
    return piece_error(y, tolerance, step.piece)


@routine
def choose_next(h: float, error: float, motion: Motion, step: Step) -> bool:
    """Sets the length of the next step; whether this one is accepted."""
    accepted = error <= 1.0
    if PROJECT == 2 and must_pass_by(h, accepted, motion):
        if NS != 0:
            start_afresh(step.newton)
        return False
    if NS == 0:
        if accepted:
            lengthen(motion, h, error)
        else:
            shorten(motion, h, error)
    else:
        if accepted:
            lengthen_implicit(motion, h, error, step.newton)
        else:
            shorten_implicit(motion, h, error, step.newton)
    return accepted


@routine
def worst_state(y: Array, tolerance: Tolerance, step: Step) -> int:
    """The state that made the step fail."""
    if NS == 0:
        return largest_error(y, step.y_end, step.k, tolerance.rtol, tolerance.atol)
    else:
        return largest_correction(y, tolerance, step.newton)


@routine
def evaluate_end(t_end: float, state: Array, motion: Motion, p: Array, step: Step) -> None:
    """The derivative at the end of the step, k[12]."""
    rhs(t_end, state, p, step.k[STAGES])
    motion.evaluations += 1


@routine
def note_stiffness(motion: Motion, step: Step) -> None:
    """Takes the step into the running mean; its derivative at the end is given, and no stage came after it.

    A single step counts for little: close to a singular configuration derivatives vary fast for a short while.
    """
    stiffness = zeros(LANES)
    estimate_stiffness(step.length, step.y_end, step.y_stage, step.k, stiffness)
    average_stiffness(stiffness[0], motion)


@routine
def average_stiffness(stiffness: float, motion: Motion) -> None:
    """The running mean with one step more."""
    # Bounded, so that a single estimate moves the mean by a twenty-fifth of the limit at most.
    motion.stiffness += (min(stiffness, 2.0 * STIFF) - motion.stiffness) / STIFFNESS_MEMORY


@routine
def make_piece(h: float, motion: Motion, y: Array, p: Array, step: Step) -> None:
    """The step as a piece of motion; the derivative at the end of an explicit step is given."""
    if NS == 0:
        evaluate_dense_stages(motion.time, h, y, p, step.k, step.y_stage)
        dense_output(motion.time, h, y, step.y_end, step.k, step.piece)
        motion.evaluations += ALL_STAGES - STAGES - 1
    else:
        implicit_piece(motion.time, h, y, step.piece, step.newton)


@routine
def prepare_search(h: float, motion: Motion, y: Array, p: Array, step: Step) -> None:
    """The step as a piece of motion, before it is known whether it is accepted whole."""
    if NS == 0:
        evaluate_end(motion.time + h, step.y_end, motion, p, step)
        note_stiffness(motion, step)
    make_piece(h, motion, y, p, step)


@routine
def complete_step(h: float, is_new: bool, needs_piece: bool, motion: Motion, y: Array, p: Array, step: Step) -> None:
    """What an accepted step still lacks of its end and its piece; `is_new` when the step was not searched."""
    if NS == 0:
        if is_new and (PROJECT == 0 or needs_piece):
            evaluate_end(motion.time + h, step.y_end, motion, p, step)
            note_stiffness(motion, step)
        if is_new and needs_piece:
            make_piece(h, motion, y, p, step)
    elif is_new:
        make_piece(h, motion, y, p, step)


@routine
def evaluate_next(h: float, is_new: bool, needs_piece: bool, motion: Motion, p: Array, step: Step) -> None:
    """The derivative at the settled end of the step, where the next one starts."""
    if PROJECT != 0 or NS != 0:
        evaluate_end(motion.time + h, step.y_next, motion, p, step)
    if PROJECT != 0 and NS == 0 and is_new and not needs_piece:
        note_stiffness(motion, step)


@routine
def first_not_finite(values: Array) -> int:
    """The first of N numbers that is not finite, or -1."""
    for i in range(N):
        if not math.isfinite(values[i]):
            return i
    return -1
