"""Levenberg and Marquardt's method, frame after frame, each starting where the one before ended.

Matrices are lower triangles by rows: entry (i, j), j <= i, stands at i (i + 1) / 2 + j.

    0
    1  2
    3  4  5        row i begins at i (i + 1) / 2 and ends with its diagonal entry

Coordinates at a limit take no part in a step that would push them beyond it.
"""

from __future__ import annotations

import math
from typing import Annotated

from torseur.computation.codegen.routine import Array, External, IntArray, Record, Static, routine, zeros

N: int = Static("N")  # speeds
NQ: int = Static("NQ")  # coordinates
NM: int = Static("NM")  # markers

START, LEAST, MOST = 1e-9, 1e-12, 1e10  # damping, as a part of the diagonal
LONGEST = 1.0  # rad or m: longer steps leave the region in which the equations are linear
UNLIKE = 1e-12  # smallest diagonal entry that counts, beside the greatest
RESULTS = 4  # numbers kept of each frame: converged, rounds, cost, weakest pivot


class Recording(Record):
    """Recorded points of the markers and their weights, a row per frame."""

    count: int
    time: Array
    points: Annotated[Array, ..., 3 * NM]
    weights: Annotated[Array, ..., NM]


class Bounds(Record):
    """Limits by speed, and the coordinate that each limited speed is the rate of (-1: none).

    `above` is the tree of speeds: the next one towards the earth, -1 at the root.
    """

    low: Array
    high: Array
    slots: IntArray
    above: IntArray


class Search(Record):
    """When a frame is done: its last step is shorter than `tolerance` (rad or m), or after so many rounds."""

    tolerance: float
    rounds: int


class Tracks(Record):
    """What comes out, a row per frame: coordinates, and how the search went."""

    q: Annotated[Array, ..., NQ]
    quality: Annotated[Array, ..., RESULTS]


# (Σ w Jᵀ J) δ = Σ w Jᵀ (m - x) at some coordinates, and the cost Σ w |m - x|² there.
normal = External(
    "normal",
    "t: float, q: Array, p: Array, points: Array, weights: Array, matrix: Array, right: Array, cost: Array",
)
step = External("step", "t: float, q: Array, p: Array, change: Array, moved: Array")


# Elimination of a symmetric matrix along a tree, leaves first, without filling in: entry (i, j) can differ from zero
# only where j is above i (Featherstone 2008, section 6.5). `above[k]` is the next speed towards the earth, -1 at the
# root; k - 1 everywhere makes it the ordinary dense elimination.
@routine
def factor_tree(a: Array, above: IntArray) -> None:
    """Lᵀ L = A in place, L lower triangular with the inverses of its diagonal on the diagonal."""
    for k in range(N - 1, -1, -1):
        row = a[k * (k + 1) // 2 :]
        inverse = 1.0 / math.sqrt(row[k]) if row[k] > 0.0 else 0.0
        row[k] = inverse
        i = above[k]
        while i >= 0:
            row[i] *= inverse
            i = above[i]
        i = above[k]
        while i >= 0:
            other = a[i * (i + 1) // 2 :]
            j = i
            while j >= 0:
                other[j] -= row[i] * row[j]
                j = above[j]
            i = above[i]


@routine
def solve_tree(a: Array, above: IntArray, x: Array) -> None:
    """x becomes A⁻¹ x: first Lᵀ, leaves first, then L."""
    for k in range(N - 1, -1, -1):
        row = a[k * (k + 1) // 2 :]
        x[k] *= row[k]
        i = above[k]
        while i >= 0:
            x[i] -= row[i] * x[k]
            i = above[i]
    for k in range(N):
        row = a[k * (k + 1) // 2 :]
        total = x[k]
        i = above[k]
        while i >= 0:
            total -= row[i] * x[i]
            i = above[i]
        x[k] = total * row[k]


@routine
def weakest_pivot(a: Array, above: IntArray, low: Array, high: Array) -> float:
    """The smallest pivot as a part of its own diagonal entry: 0 where some motion changes nothing.

    Speeds without room between their limits do not count.
    """
    factor = zeros(N * (N + 1) // 2)
    for k in range(N * (N + 1) // 2):
        factor[k] = a[k]
    weakest = 1.0
    for k in range(N - 1, -1, -1):
        row = factor[k * (k + 1) // 2 :]
        whole = a[k * (k + 1) // 2 + k]
        left = row[k]
        inverse = 0.0
        if low[k] < high[k]:
            weakest = min(weakest, left / whole) if whole > 0.0 else 0.0
            inverse = 1.0 / left if left > 1e-13 * whole else 0.0
        i = above[k]
        while i >= 0:
            other = factor[i * (i + 1) // 2 :]
            part = row[i] * inverse
            j = i
            while j >= 0:
                other[j] -= part * row[j]
                j = above[j]
            i = above[i]
    return weakest


# Parameters stay outside of the records: what programs compute of an argument that is passed through unchanged is
# computed once per call of `track`, not in every round.
@routine
def track(recording: Recording, p: Array, bounds: Bounds, search: Search, q: Array, tracks: Tracks) -> None:
    """Coordinates of every frame from q on; a frame without markers keeps those of the one before."""
    for f in range(recording.count):
        seen = 0.0
        for k in range(NM):
            seen += recording.weights[f, k]
        if seen > 0.0:
            fit(f, recording, p, bounds, search, q, tracks.quality[f])
        for k in range(NQ):
            tracks.q[f, k] = q[k]


@routine
def fit(f: int, recording: Recording, p: Array, bounds: Bounds, search: Search, q: Array, quality: Array) -> None:
    """The coordinates nearest to one frame's markers, in place."""
    # Arrays of their own, not records: the program then writes them without a look at what they might overlap (a
    # quarter of the time for Human36).
    matrix = zeros(N * (N + 1) // 2)
    right = zeros(N)
    cost = zeros(1)
    next_matrix = zeros(N * (N + 1) // 2)
    next_right = zeros(N)
    next_cost = zeros(1)
    change = zeros(N)
    trial = zeros(NQ)
    t = recording.time[f]
    keep_inside(q, bounds)
    normal(t, q, p, recording.points[f], recording.weights[f], matrix, right, cost)
    damping = START
    converged = 0.0
    done = 0
    while done < search.rounds and converged == 0.0 and damping < MOST:
        done += 1
        propose(q, matrix, right, damping, bounds, change)
        longest = shorten(change)
        step(t, q, p, change, trial)
        keep_inside(trial, bounds)
        normal(t, trial, p, recording.points[f], recording.weights[f], next_matrix, next_right, next_cost)
        # A step below the tolerance is taken even if rounding makes its cost the greater: it ends the search.
        if next_cost[0] <= cost[0] or longest < search.tolerance:
            accept(trial, next_matrix, next_right, next_cost, q, matrix, right, cost)
            damping = max(0.1 * damping, LEAST)
            if longest < search.tolerance:
                converged = 1.0
        else:
            damping = max(10.0 * damping, 1e-4)
    quality[0] = converged
    quality[1] = done
    quality[2] = cost[0]
    quality[3] = weakest_pivot(matrix, bounds.above, bounds.low, bounds.high)


@routine
def propose(q: Array, matrix: Array, right: Array, damping: float, bounds: Bounds, change: Array) -> None:
    """The damped step of the coordinates that limits leave free.

    An active set that only grows: what the step would push beyond a limit is held, and the rest solved again.
    """
    held = zeros(N)
    factor = zeros(N * (N + 1) // 2)
    for k in range(N):
        held[k] = outward(q, right[k], k, bounds)
    again = True
    while again:
        again = False
        damp(matrix, damping, held, factor)
        for k in range(N):
            change[k] = right[k] if held[k] == 0.0 else 0.0
        factor_tree(factor, bounds.above)
        solve_tree(factor, bounds.above, change)
        for k in range(N):
            if held[k] == 0.0 and outward(q, change[k], k, bounds) > 0.0:
                held[k] = 1.0
                again = True


@routine
def outward(q: Array, direction: float, k: int, bounds: Bounds) -> float:
    """1 where speed k in this direction pushes a coordinate at its limit beyond it."""
    s = bounds.slots[k]
    if s >= 0 and ((q[s] <= bounds.low[k] and direction < 0.0) or (q[s] >= bounds.high[k] and direction > 0.0)):
        return 1.0
    return 0.0


@routine
def damp(matrix: Array, damping: float, held: Array, factor: Array) -> None:
    """The matrix with its diagonal enlarged, and held coordinates taken out."""
    greatest = 0.0
    for i in range(N):
        greatest = max(greatest, matrix[i * (i + 1) // 2 + i])
    for i in range(N):
        for j in range(i + 1):
            k = i * (i + 1) // 2 + j
            factor[k] = matrix[k] if held[i] == 0.0 and held[j] == 0.0 else 0.0
        d = i * (i + 1) // 2 + i
        # A coordinate that no marker seen depends on stays where it is.
        factor[d] += damping * max(matrix[d], UNLIKE * greatest) if held[i] == 0.0 else 1.0
        if not factor[d] > 0.0:
            factor[d] = 1.0


@routine
def shorten(change: Array) -> float:
    """Scales a long step down; its largest component."""
    longest = 0.0
    for k in range(N):
        longest = max(longest, abs(change[k]))
    if not math.isfinite(longest):
        for k in range(N):
            change[k] = 0.0
        return LONGEST
    if longest > LONGEST:
        for k in range(N):
            change[k] *= LONGEST / longest
    return longest


@routine
def keep_inside(q: Array, bounds: Bounds) -> None:
    for k in range(N):
        s = bounds.slots[k]
        if s >= 0:
            q[s] = min(max(q[s], bounds.low[k]), bounds.high[k])


@routine
def accept(
    trial: Array, next_matrix: Array, next_right: Array, next_cost: Array, q: Array, matrix: Array, right: Array,
    cost: Array,
) -> None:  # fmt: skip
    """The step is taken: its coordinates and its equations are the present ones."""
    for k in range(NQ):
        q[k] = trial[k]
    for k in range(N * (N + 1) // 2):
        matrix[k] = next_matrix[k]
    for k in range(N):
        right[k] = next_right[k]
    cost[0] = next_cost[0]
