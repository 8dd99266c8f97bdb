"""Routines of the discrete adjoint: weights carried back through the very steps that the integrator took.

A step is y₊ = y + h Σ bᵢ kᵢ with kᵢ = f(t + cᵢ h, Yᵢ), Yᵢ = y + h Σ aᵢⱼ kⱼ. Backwards, for weights λ of its end,

    k̄ᵢ = h (bᵢ λ + Σⱼ aⱼᵢ Ȳⱼ),  Ȳᵢ = f_yᵀ k̄ᵢ,  μ += f_pᵀ k̄ᵢ,  λ += Σ Ȳᵢ

from the last stage to the first. Step lengths count as fixed. What goes back may be more than weights: second
derivatives carry the changes of λ and μ with each parameter along, in a pullback of their own.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, External, Static, routine, static_range, zeros
from torseur.sensitivity.tangent import NX
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_STATE, PIECE_TIME, N, evaluate_stages, rhs, solution
from torseur.simulation.settling import PROJECT, settle
from torseur.simulation.tableau import STAGES, A, B, C

NQ: int = Static("NQ")  # coordinates: slopes behind them are accelerations
NW: int = Static("NW")  # number of criteria
WIDTH: int = Static("WIDTH")  # numbers that are kept of a step
LENGTH: int = Static("LENGTH")  # entries of λ, and of the state that the steps moved
GAINS: int = Static("GAINS")  # entries of μ

pullback = External("pullback", "t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array")
settle_back = External("settle_back", "t: float, y: Array, settled: Array, p: Array, w: Array, pbar: Array")


@routine
def repeat_steps(count: int, y: Array, p: Array, rows: Array) -> None:
    """Takes steps again whose times and lengths stand in `rows`, and keeps their slopes; y moves to their end."""
    y_stage = zeros(N)
    y_end = zeros(N)
    for step in range(count):
        row = rows[step * WIDTH :]
        t = row[PIECE_TIME]
        h = row[PIECE_LENGTH]
        k = row[PIECE_STATE + N :]
        for i in range(N):
            row[PIECE_STATE + i] = y[i]
        rhs(t, y, p, k)
        evaluate_stages(t, h, y, p, k, y_stage)
        solution(h, y, k, y_end)
        settle(t + h, y_end, p, y)


@routine
def steps_back(count: int, rows: Array, settled: Array, p: Array, weights: Array, pbar: Array) -> None:
    """Weights at the end of these steps become weights at their start, for each criterion.

    pbar gathers the weights of the parameters; `settled` is the state at the end, and becomes that at the start.
    """
    y_end = zeros(LENGTH)
    for step in range(count - 1, -1, -1):
        row = rows[step * WIDTH :]
        y = row[PIECE_STATE:]
        h = row[PIECE_LENGTH]
        k = row[PIECE_STATE + LENGTH :]
        if PROJECT != 0:
            solution(h, y, k, y_end)
        for c in range(NW):
            if PROJECT != 0:
                settle_back(row[PIECE_TIME] + h, y_end, settled, p, weights[c * LENGTH :], pbar[c * GAINS :])
            step_back(row[PIECE_TIME], h, y, k, p, weights[c * LENGTH :], pbar[c * GAINS :])
        for i in range(LENGTH):
            settled[i] = y[i]


@routine
def step_back(t: float, h: float, y: Array, k: Array, p: Array, weights: Array, pbar: Array) -> None:
    """One step back, for one criterion."""
    stage = zeros(LENGTH)
    kbar = zeros(LENGTH)
    ybar = zeros(STAGES * LENGTH)
    part = zeros(GAINS)
    for s in static_range(STAGES - 1, -1, -1):
        for i in range(LENGTH):
            total = 0.0
            for j in static_range(s):
                if A[s][j] != 0.0:
                    total += A[s][j] * k[j * LENGTH + i]
            stage[i] = y[i] + h * total
        for i in range(LENGTH):
            total = B[s] * weights[i]
            for j in static_range(s + 1, STAGES):
                if A[j][s] != 0.0:
                    total += A[j][s] * ybar[j * LENGTH + i]
            kbar[i] = h * total
        pullback(t + C[s] * h, stage, p, k[s * LENGTH + NQ :], kbar, ybar[s * LENGTH :], part)
        for i in range(GAINS):
            pbar[i] += part[i]
    for i in range(LENGTH):
        total = 0.0
        for s in static_range(STAGES):
            total += ybar[s * LENGTH + i]
        weights[i] += total


@routine
def weigh_manifold(t: float, y: Array, settled: Array, p: Array, w: Array, pbar: Array) -> None:
    """Weights of a state that a formula brought back on its manifold become weights of the state before."""
    out = zeros(NX)
    for i in range(NX):
        out[i] = w[i]
    settled_weights(t, y, p, w, out)
    for i in range(NX):
        w[i] = out[i]


settled_weights = External("settled_weights", "t: float, y: Array, p: Array, w: Array, out: Array")
