"""Levenberg and Marquardt's method, frame after frame, each starting where the one before ended.

Matrices are lower triangles by rows. Coordinates at a limit take no part in a step that would push them beyond it.
"""

from __future__ import annotations

import math

from torseur.biomechanics.tracking.elimination import factor_tree, solve_tree, weakest_pivot
from torseur.codegen.routine import Array, External, IntArray, Static, routine, zeros

N: int = Static("N")  # speeds
NQ: int = Static("NQ")  # coordinates
NM: int = Static("NM")  # markers

normal = External(
    "normal",
    "t: float, q: Array, p: Array, points: Array, weights: Array, matrix: Array, right: Array, cost: Array",
)
step = External("step", "t: float, q: Array, p: Array, change: Array, moved: Array")

START, LEAST, MOST = 1e-9, 1e-12, 1e10  # damping, as a part of the diagonal
LONGEST = 1.0  # rad or m: longer steps leave the region in which the equations are linear
UNLIKE = 1e-12  # smallest diagonal entry that counts, beside the greatest
RESULTS = 4  # numbers told about each frame: converged, rounds, cost, weakest pivot


@routine
def track(
    frames: int, time: Array, points: Array, weights: Array, p: Array, low: Array, high: Array, slots: IntArray,
    above: IntArray, tolerance: float, rounds: int, q: Array, found: Array, told: Array,
) -> None:  # fmt: skip
    """Coordinates of every frame in `found`, from q on; `told` says how it went."""
    for f in range(frames):
        seen = 0.0
        own = weights[f * NM :]
        for k in range(NM):
            seen += own[k]
        if seen > 0.0:
            fit(time[f], points[3 * NM * f :], own, p, low, high, slots, above, tolerance, rounds, q,
                told[RESULTS * f :])  # fmt: skip
        for k in range(NQ):
            found[NQ * f + k] = q[k]


@routine
def fit(
    t: float, points: Array, weights: Array, p: Array, low: Array, high: Array, slots: IntArray, above: IntArray,
    tolerance: float, rounds: int, q: Array, told: Array,
) -> None:  # fmt: skip
    """The coordinates nearest to one frame's markers, in place."""
    matrix = zeros(N * (N + 1) // 2)
    right = zeros(N)
    cost = zeros(1)
    next_matrix = zeros(N * (N + 1) // 2)
    next_right = zeros(N)
    next_cost = zeros(1)
    change = zeros(N)
    trial = zeros(NQ)
    keep_inside(q, low, high, slots)
    normal(t, q, p, points, weights, matrix, right, cost)
    damping = START
    converged = 0.0
    done = 0
    while done < rounds and converged == 0.0 and damping < MOST:
        done += 1
        propose(q, matrix, right, damping, low, high, slots, above, change)
        longest = shorten(change)
        step(t, q, p, change, trial)
        keep_inside(trial, low, high, slots)
        normal(t, trial, p, points, weights, next_matrix, next_right, next_cost)
        if next_cost[0] <= cost[0] or longest < tolerance:
            accept(trial, next_matrix, next_right, next_cost, q, matrix, right, cost)
            damping = max(0.1 * damping, LEAST)
            if longest < tolerance:
                converged = 1.0
        else:
            damping = max(10.0 * damping, 1e-4)
    told[0] = converged
    told[1] = done
    told[2] = cost[0]
    told[3] = weakest_pivot(matrix, above, low, high)


@routine
def propose(
    q: Array, matrix: Array, right: Array, damping: float, low: Array, high: Array, slots: IntArray, above: IntArray,
    change: Array,
) -> None:  # fmt: skip
    """The damped step of the coordinates that limits leave free."""
    held = zeros(N)
    factor = zeros(N * (N + 1) // 2)
    for k in range(N):
        held[k] = outward(q, right[k], k, low, high, slots)
    again = True
    while again:
        again = False
        damped(matrix, damping, held, factor)
        for k in range(N):
            change[k] = right[k] if held[k] == 0.0 else 0.0
        factor_tree(factor, above)
        solve_tree(factor, above, change)
        for k in range(N):
            if held[k] == 0.0 and outward(q, change[k], k, low, high, slots) > 0.0:
                held[k] = 1.0
                again = True


@routine
def outward(q: Array, direction: float, k: int, low: Array, high: Array, slots: IntArray) -> float:
    """1 where speed k in this direction pushes a coordinate at its limit beyond it."""
    s = slots[k]
    if s >= 0 and ((q[s] <= low[k] and direction < 0.0) or (q[s] >= high[k] and direction > 0.0)):
        return 1.0
    return 0.0


@routine
def damped(matrix: Array, damping: float, held: Array, factor: Array) -> None:
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
def keep_inside(q: Array, low: Array, high: Array, slots: IntArray) -> None:
    for k in range(N):
        s = slots[k]
        if s >= 0:
            q[s] = min(max(q[s], low[k]), high[k])


@routine
def accept(
    trial: Array, next_matrix: Array, next_right: Array, next_cost: Array, q: Array, matrix: Array, right: Array,
    cost: Array,
) -> None:  # fmt: skip
    for k in range(NQ):
        q[k] = trial[k]
    for k in range(N * (N + 1) // 2):
        matrix[k] = next_matrix[k]
    for k in range(N):
        right[k] = next_right[k]
    cost[0] = next_cost[0]
