"""Rows of contacts and friction in the metric of the mass matrix, and what impulses along them change."""

from __future__ import annotations

import math

from torseur.computation.codegen.routine import Array, routine
from torseur.computation.simulation.constrained.stepping.block_factors import along_rows, solve_block
from torseur.computation.simulation.constrained.stepping.stepping_memory import (
    CONTACTS,
    LINES,
    NB,
    NR,
    Stepping,
    Structure,
)

OPEN = 0
CLOSED = 1
REBOUNDS = 2
STUCK = 1
SLIDING = 2
# Of a contact that lasting constraints hold already: an impulse divided by its square would be noise.
LEFT_OF_ROW = 1e-20  # square of the part of a row that lasting constraints leave, below which it holds nothing


@routine
def rates_of_rows(structure: Structure, work: Stepping, v: Array, result: Array) -> None:
    """Rates of all gaps and slips for speeds."""
    for r in range(NR):
        total = work.drifts[r]
        for e in range(structure.first_entry[r], structure.first_entry[r + 1]):
            total += work.entries[e] * v[structure.column[e]]
        result[r] = total


@routine
def friction_row(k: int) -> int:
    """The first row of a friction element."""
    return CONTACTS + k if k < LINES else CONTACTS + LINES + 2 * (k - LINES)


@routine
def friction_rows(k: int) -> int:
    """How many rows it has."""
    return 1 if k < LINES else 2


@routine
def whiten_row(r: int, structure: Structure, work: Stepping) -> None:
    """A row in the metric, without what lasting constraints hold already, and its square."""
    place = structure.row_at[r]
    e = structure.first_entry[r]
    end = structure.first_entry[r + 1]
    whole = 0.0
    left = 0.0
    for s in range(structure.first_block[r], structure.first_block[r + 1]):
        b = structure.blocks[s]
        first = structure.first_speed[b]
        n = structure.first_speed[b + 1] - first
        x = work.white[place:]
        for i in range(n):
            x[i] = 0.0
        while e < end and structure.column[e] < first + n:
            x[structure.column[e] - first] = work.entries[e]
            e += 1
        solve_block(n, work.lower[structure.mass_at[b] :], x)
        for i in range(n):
            whole += x[i] * x[i]
        along_rows(structure, work, b, x)
        for i in range(n):
            left += x[i] * x[i]
        place += n
    work.square[r] = left if left > LEFT_OF_ROW * whole else 0.0


@routine
def gather_row(r: int, structure: Structure, work: Stepping) -> None:
    """A row in the metric without its zeros, with the speeds of its entries: sweeps spend their time on these."""
    place = structure.row_at[r]
    count = 0
    seen = place
    for s in range(structure.first_block[r], structure.first_block[r + 1]):
        b = structure.blocks[s]
        first = structure.first_speed[b]
        for i in range(structure.first_speed[b + 1] - first):
            value = work.white[seen]
            seen += 1
            if value != 0.0:
                # In place: what is written never stands behind what is read.
                work.white[place + count] = value
                work.white_column[place + count] = first + i
                count += 1
    work.white_count[r] = count


@routine
def rate_change(r: int, structure: Structure, work: Stepping) -> float:
    """w·ζ"""
    place = structure.row_at[r]
    total = 0.0
    for k in range(place, place + work.white_count[r]):
        total += work.white[k] * work.change[work.white_column[k]]
    return total


@routine
def push(r: int, impulse: float, structure: Structure, work: Stepping) -> None:
    """ζ becomes ζ + w p."""
    place = structure.row_at[r]
    for k in range(place, place + work.white_count[r]):
        work.change[work.white_column[k]] += impulse * work.white[k]


@routine
def product_of_rows(r: int, structure: Structure, work: Stepping) -> float:
    """w·w of a row and the next one, which touches the same blocks, before they are gathered."""
    size = structure.row_at[r + 1] - structure.row_at[r]
    total = 0.0
    for i in range(size):
        total += work.white[structure.row_at[r] + i] * work.white[structure.row_at[r + 1] + i]
    return total


@routine
def least_rate(c: int, part: float, work: Stepping) -> float:
    """What the rate of a contact must reach at the end of the step."""
    least = work.target[c]
    if work.state[NR + c] == REBOUNDS:
        # Behind the impulse, in the middle of the step, forces act for the other half of it.
        least = part * least + work.base[c] - work.middle[c]
    return least


@routine
def limit_now(k: int, structure: Structure, work: Stepping) -> float:
    """What a friction element may give at most, with what presses it now."""
    pressing = 0.0
    if structure.pressed_by[k] >= 0:
        pressing = work.coefficients[k] * work.impulses[structure.pressed_by[k]]
    return max(work.limits[k] + pressing, 0.0)


@routine
def start_impulses(structure: Structure, work: Stepping) -> float:
    """ζ of the impulses that are guessed; the fastest approach."""
    for i in range(structure.first_speed[NB]):
        work.change[i] = 0.0
    fastest = 0.0
    for k in range(work.taking_count):
        c = work.taking[k]
        push(c, work.impulses[c], structure, work)
        fastest = max(fastest, abs(work.base[c] - least_rate(c, 1.0, work)) / math.sqrt(work.square[c]))
    for m in range(work.rubbing_count):
        k = work.rubbing[m]
        row = friction_row(k)
        for j in range(friction_rows(k)):
            if work.square[row + j] > 0.0:
                push(row + j, work.impulses[row + j], structure, work)
                fastest = max(fastest, abs(work.base[row + j]) / math.sqrt(work.square[row + j]))
    return fastest
