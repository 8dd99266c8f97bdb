"""Impulses from the linear equations of what presses, sticks and slides now: one step of Newton's method.

Sweeps find quickly what presses and what sticks, and slowly how much each carries where several share a load. With that
choice the impulses solve linear equations: rate = target of what presses, slip = 0 of what sticks, and the limit along
the present direction of what slides. The result is a guess for the next sweep, which judges it.
"""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, Static, routine
from torseur.computation.simulation.constrained.solver.constrained_sizes import NV
from torseur.computation.simulation.constrained.stepping.stepping_memory import CONTACTS, Stepping, Structure
from torseur.computation.simulation.constrained.stepping.stepping_rows import (
    friction_row,
    friction_rows,
    least_rate,
    limit_now,
    push,
    rate_change,
    start_impulses,
)

MOST: int = Static("MOST")  # unknown impulses beyond which sweeps go on alone
INSIDE = 1e-9  # part of its limit by which friction that sticks stays below
SHARED = 1e-11  # part of its own size that each row gives way by, so that rows which share a load have one solution


@routine
def polish_impulses(part: float, structure: Structure, work: Stepping) -> None:
    """Impulses that solve the linear equations of the present choice; untouched where there are too many."""
    choose_unknowns(structure, work)
    n = work.unknown_count
    if n == 0 or n > MOST:
        return
    for a in range(n):
        r = work.unknown[a]
        work.residual[a] = -work.base[r] - rate_change(r, structure, work)
        if r < CONTACTS:
            work.residual[a] += least_rate(r, part, work)
    fill_matrix(n, structure, work)
    solve_dense(n, work.matrix, work.residual)
    for a in range(n):
        # A singular choice: the sweeps go on from what they had.
        if not math.isfinite(work.residual[a]):
            return
    for a in range(n):
        work.impulses[work.unknown[a]] += work.residual[a]
    slide_with_pressure(structure, work)
    # Impulses were changed behind ζ's back: it is summed afresh.
    start_impulses(structure, work)


@routine
def choose_unknowns(structure: Structure, work: Stepping) -> None:
    """Contacts that press, and rows of friction that stays below its limit."""
    count = 0
    for k in range(work.taking_count):
        c = work.taking[k]
        if work.impulses[c] > 0.0:
            work.unknown[count] = c
            count += 1
    for m in range(work.rubbing_count):
        k = work.rubbing[m]
        row = friction_row(k)
        size = 0.0
        for j in range(friction_rows(k)):
            size += work.impulses[row + j] * work.impulses[row + j]
        limit = limit_now(k, structure, work)
        work.slides[k] = 1 if math.sqrt(size) >= limit * (1.0 - INSIDE) else 0
        for j in range(friction_rows(k)):
            if work.slides[k] == 0 and work.square[row + j] > 0.0:
                work.unknown[count] = row + j
                count += 1
    work.unknown_count = count


@routine
def fill_matrix(n: int, structure: Structure, work: Stepping) -> None:
    """How each unknown impulse changes the rates of all, with the friction that slides with it."""
    for i in range(NV):
        # `push` writes to `change`: it is lent as the column under construction, and given back at the end.
        work.shifts[i] = work.change[i]
    for b in range(n):
        for i in range(NV):
            work.change[i] = 0.0
        r = work.unknown[b]
        push(r, 1.0, structure, work)
        if r < CONTACTS:
            for m in range(work.rubbing_count):
                k = work.rubbing[m]
                if work.slides[k] == 1 and structure.pressed_by[k] == r:
                    push_along(k, work.coefficients[k], structure, work)
        for a in range(n):
            work.matrix[a * n + b] = rate_change(work.unknown[a], structure, work)
        # Four legs on a plane have no unique shares: each gives way by the same tiny part, and they share alike.
        work.matrix[b * n + b] += SHARED * work.square[r]
    for i in range(NV):
        work.change[i] = work.shifts[i]


@routine
def push_along(k: int, impulse: float, structure: Structure, work: Stepping) -> None:
    """Pushes friction element k along the direction in which it pushes already."""
    row = friction_row(k)
    size = 0.0
    for j in range(friction_rows(k)):
        size += work.impulses[row + j] * work.impulses[row + j]
    if size > 0.0:
        for j in range(friction_rows(k)):
            push(row + j, impulse * work.impulses[row + j] / math.sqrt(size), structure, work)


@routine
def slide_with_pressure(structure: Structure, work: Stepping) -> None:
    """Friction that slides takes its limit by what presses now, in its present direction."""
    for m in range(work.rubbing_count):
        k = work.rubbing[m]
        if work.slides[k] == 1:
            row = friction_row(k)
            size = 0.0
            for j in range(friction_rows(k)):
                size += work.impulses[row + j] * work.impulses[row + j]
            if size > 0.0:
                part = limit_now(k, structure, work) / math.sqrt(size)
                for j in range(friction_rows(k)):
                    work.impulses[row + j] *= part


@routine
def solve_dense(n: int, matrix: Array, x: Array) -> None:
    """The right-hand side becomes the solution, by Gauss's method with row exchanges."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(matrix[i * n + k]) > abs(matrix[best * n + k]):
                best = i
        if best != k:
            for j in range(k, n):
                kept = matrix[k * n + j]
                matrix[k * n + j] = matrix[best * n + j]
                matrix[best * n + j] = kept
            kept = x[k]
            x[k] = x[best]
            x[best] = kept
        for i in range(k + 1, n):
            part = matrix[i * n + k] / matrix[k * n + k]
            for j in range(k + 1, n):
                matrix[i * n + j] -= part * matrix[k * n + j]
            x[i] -= part * x[k]
    for k in range(n - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, n):
            total -= matrix[k * n + j] * x[j]
        x[k] = total / matrix[k * n + k]
