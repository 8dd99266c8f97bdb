"""One step of the explicit Runge-Kutta pair of Dormand and Prince, order 8(5,3), and its dense output.

The method of Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.5 and II.6. Its stages are those
of `runge_kutta`, for several motions at once where lanes are asked for.
"""

from __future__ import annotations

import math
from typing import Annotated, TypeAlias

from torseur.computation.codegen.routine import Array, Record, Static, routine, static_range, zeros
from torseur.computation.simulation.explicit.dop853_tableau import ALL_STAGES, E3, E5, STAGES, A, B, C, D
from torseur.computation.simulation.explicit.runge_kutta import LANES, Lanes, N, State, explicit_method, rhs

Stages: TypeAlias = Annotated[Array, STAGES, N * LANES]
StagesAndEnd: TypeAlias = Annotated[Array, STAGES + 1, N * LANES]
AllStages: TypeAlias = Annotated[Array, ALL_STAGES, N * LANES]

PIECE_N: int = Static("PIECE_N", N)  # states of a piece of motion; fewer where only some of them are looked at
TERMS: int = Static("TERMS", 7)  # of its interpolant; fewer for methods of lower order

METHOD = explicit_method(A, B, C)
evaluate_stages = METHOD.evaluate_stages
solution = METHOD.solution


class Piece(Record):
    """A step as a piece of motion: an interpolant (here of order 7) in the basis x, x(1-x), x²(1-x), x²(1-x)², …"""

    time: float  # at its start
    length: float
    state: Annotated[Array, PIECE_N]  # at its start
    coefficients: Annotated[Array, TERMS, PIECE_N]


@routine
def solution_of_order_5(h: float, y_end: State, k: Stages, out: State) -> None:
    """The state of order 5 that the error estimate compares with."""
    for i in range(N):
        total = 0.0
        for j in static_range(STAGES):
            if E5[j] != 0.0:
                total += E5[j] * k[j, i]
        out[i] = y_end[i] - h * total


@routine
def estimate_errors(h: Lanes, y: State, y_end: State, k: Stages, rtol: float, atol: State, error: Lanes) -> None:
    """Estimated error of the step of each lane in units of the tolerance, root mean square over the states.

    Combines the differences to the solutions of order 5 and 3: |h| e5² / sqrt(e5² + 0.01 e3²), which behaves as an
    error of order 8. Not a number when the step left the domain of the equations.
    """
    square5 = zeros(LANES)
    square3 = zeros(LANES)
    size = zeros(LANES)
    for i in range(N):
        for lane in range(LANES):
            at = i * LANES + lane
            e5 = 0.0
            e3 = 0.0
            for j in static_range(STAGES):
                if E5[j] != 0.0:
                    e5 += E5[j] * k[j, at]
                if E3[j] != 0.0:
                    e3 += E3[j] * k[j, at]
            scale = atol[at] + rtol * max(abs(y[at]), abs(y_end[at]))
            square5[lane] += (e5 / scale) * (e5 / scale)
            square3[lane] += (e3 / scale) * (e3 / scale)
            size[lane] += scale
    for lane in range(LANES):
        denominator = square5[lane] + 0.01 * square3[lane]
        error[lane] = 0.0
        if not math.isfinite(size[lane]):
            error[lane] = math.nan
        elif denominator != 0.0:
            error[lane] = abs(h[lane]) * square5[lane] / math.sqrt(denominator * N)


@routine
def largest_error(y: State, y_end: State, k: Stages, rtol: float, atol: State) -> int:
    """The state whose error is largest in units of its tolerance; the first that is not a number, if any."""
    worst = 0
    largest = -1.0
    for i in range(N):
        e5 = 0.0
        for j in static_range(STAGES):
            if E5[j] != 0.0:
                e5 += E5[j] * k[j, i]
        ratio = abs(e5) / (atol[i] + rtol * max(abs(y[i]), abs(y_end[i])))
        if not math.isfinite(ratio):
            return i
        if ratio > largest:
            largest = ratio
            worst = i
    return worst


@routine
def estimate_stiffness(h: Lanes, y_end: State, y_stage: State, k: StagesAndEnd, stiffness: Lanes) -> None:
    """h times an estimate of the largest |eigenvalue|, from stages 11 and 12, both at the end of the step (IV.2)."""
    of_derivatives = zeros(LANES)
    of_states = zeros(LANES)
    for i in range(N):
        for lane in range(LANES):
            at = i * LANES + lane
            # f at two states near one another at the same time: |Δf| / |Δy| is a lower bound of |∂f/∂y| there.
            df = k[12, at] - k[11, at]
            dy = y_end[at] - y_stage[at]
            of_derivatives[lane] += df * df
            of_states[lane] += dy * dy
    for lane in range(LANES):
        stiffness[lane] = 0.0
        if of_states[lane] != 0.0:
            stiffness[lane] = abs(h[lane]) * math.sqrt(of_derivatives[lane] / of_states[lane])


@routine
def evaluate_dense_stages(t: float, h: float, y: State, p: Array, k: AllStages, y_stage: State) -> None:
    """Derivatives k[13] to k[15], which only the dense output needs; k[12] is given."""
    for s in static_range(STAGES + 1, ALL_STAGES):
        for i in range(N):
            total = 0.0
            for j in static_range(s):
                if A[s][j] != 0.0:
                    total += A[s][j] * k[j, i]
            y_stage[i] = y[i] + h * total
        rhs(t + C[s] * h, y_stage, p, k[s])


@routine
def dense_output(t: float, h: float, y: State, y_end: State, k: AllStages, piece: Piece) -> None:
    """The step as a piece of motion, from its sixteen derivatives (II.6)."""
    piece.time = t
    piece.length = h
    for i in range(N):
        change = y_end[i] - y[i]
        piece.state[i] = y[i]
        # The first three terms take the values and derivatives of both ends:
        #     y(0) = y,  y'(0) = c₀ + c₁ = h k₀,  y(1) = y + c₀,  y'(1) = c₀ - c₁ - c₂ = h k₁₂
        # The others, from x² (1-x)² on, vanish there with their derivatives.
        piece.coefficients[0, i] = change
        piece.coefficients[1, i] = h * k[0, i] - change
        piece.coefficients[2, i] = 2.0 * change - h * (k[12, i] + k[0, i])
        for r in static_range(4):
            total = 0.0
            for j in static_range(ALL_STAGES):
                if D[r][j] != 0.0:
                    total += D[r][j] * k[j, i]
            piece.coefficients[3 + r, i] = h * total


@routine
def interpolate(t: float, piece: Piece, out: Array) -> None:
    """State at a time within a piece of motion."""
    interpolate_at((t - piece.time) / piece.length, piece, out)


@routine
def interpolate_at(x: float, piece: Piece, out: Array) -> None:
    """State at fraction x of a piece of motion, by Horner's rule with the factors x and 1 - x in turn."""
    left = 1.0 - x
    for i in range(PIECE_N):
        value = piece.coefficients[TERMS - 1, i]
        for r in static_range(TERMS - 2, -1, -1):
            value = piece.coefficients[r, i] + (left if r % 2 == 0 else x) * value
        out[i] = piece.state[i] + x * value
