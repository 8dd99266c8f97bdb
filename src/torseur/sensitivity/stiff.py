"""Stiff motions: changes of the states in the implicit method's iteration, and the way back through its steps.

A step of Radau IIA is y₊ = y + Z_s with (A⁻¹/h) Z = F(y + Z), stage by stage. Integrals and changes ride behind the
states with the same factors. Backwards, for weights λ of its end, with the Jacobians Jᵢ of the stages themselves,

    (A⁻¹ ⊗ 1/h - diag Jᵢ)ᵀ ζ = e_s ⊗ λ,   λ += Σ Jᵢᵀ ζᵢ,   μ += Σ f_pᵀ ζᵢ
"""

from __future__ import annotations

import numpy as np

from torseur.codegen.routine import Array, Static, routine, static_range, zeros
from torseur.sensitivity.backward import NW, WIDTH, pullback, settle_back
from torseur.sensitivity.tangent import NPAR, NX, NY
from torseur.simulation.constrained.sizes import NQ
from torseur.simulation.dop853 import PIECE_LENGTH, PIECE_STATE, PIECE_TIME, rhs
from torseur.simulation.radau.elimination import eliminate, substitute
from torseur.simulation.radau.memory import NS
from torseur.simulation.radau.newton_matrix import HALF, solve_own_complex, solve_own_real
from torseur.simulation.radau.stages import slope_jacobian
from torseur.simulation.radau.tableau import NODES
from torseur.simulation.settling import PROJECT

CARRIED: int = Static("CARRIED")  # parameters whose changes ride behind the states, a row per state


def _inverses() -> tuple[tuple[tuple[float, ...], ...], ...]:
    """A⁻¹ of the methods, from ∫ of the Lagrange polynomials of their nodes."""
    found = []
    for nodes in NODES:
        powers = np.array(nodes)[:, None] ** np.arange(len(nodes))
        integrals = np.array(nodes)[:, None] ** np.arange(1, len(nodes) + 1) / np.arange(1, len(nodes) + 1)
        found.append(tuple(map(tuple, (powers @ np.linalg.inv(integrals)).tolist())))
    return tuple(found)


INVERSE = _inverses()
WEIGHTS = tuple(tuple(np.linalg.inv(np.array(inverse))[-1].tolist()) for inverse in INVERSE)


@routine
def riders_real(c: float, jacobian: Array, a: Array, pivots: Array, b: Array) -> None:
    """Integrals and changes, for a real c."""
    column = zeros(NY)
    for i in range(NY, NX):
        b[i] /= c
    u = b[NX:]
    for k in range(CARRIED):
        for i in range(NY):
            column[i] = u[i * CARRIED + k]
        solve_own_real(c, jacobian, a, pivots, column)
        for i in range(NY):
            u[i * CARRIED + k] = column[i]
    for i in range(NY * CARRIED, NX * CARRIED):
        u[i] /= c


@routine
def riders_complex(
    c_re: float, c_im: float, jacobian: Array, re: Array, im: Array, pivots: Array, b_re: Array, b_im: Array
) -> None:
    """Integrals and changes, for a complex c."""
    column_re = zeros(NY)
    column_im = zeros(NY)
    divide(NY, NX, c_re, c_im, b_re, b_im)
    u_re = b_re[NX:]
    u_im = b_im[NX:]
    for k in range(CARRIED):
        for i in range(NY):
            column_re[i] = u_re[i * CARRIED + k]
            column_im[i] = u_im[i * CARRIED + k]
        solve_own_complex(c_re, c_im, jacobian, re, im, pivots, column_re, column_im)
        for i in range(NY):
            u_re[i * CARRIED + k] = column_re[i]
            u_im[i * CARRIED + k] = column_im[i]
    divide(NY * CARRIED, NX * CARRIED, c_re, c_im, u_re, u_im)


@routine
def divide(first: int, last: int, c_re: float, c_im: float, b_re: Array, b_im: Array) -> None:
    """Entries of b over c."""
    square = c_re * c_re + c_im * c_im
    for i in range(first, last):
        part = (b_re[i] * c_re + b_im[i] * c_im) / square
        b_im[i] = (b_im[i] * c_re - b_re[i] * c_im) / square
        b_re[i] = part


@routine
def implicit_steps_back(count: int, rows: Array, settled: Array, p: Array, weights: Array, pbar: Array) -> None:
    """Weights at the end of implicit steps become weights at their start, for each criterion (see steps_back)."""
    y_end = zeros(NX)
    matrix = zeros(NS * NY * NS * NY)
    pivots = zeros(NS * NY)
    for step in range(count - 1, -1, -1):
        row = rows[step * WIDTH :]
        y = row[PIECE_STATE:]
        z = row[PIECE_STATE + 2 * NX :]
        h = row[PIECE_LENGTH]
        for i in range(NX):
            y_end[i] = y[i] + z[(NS - 1) * NX + i]
        fill_transposed(row[PIECE_TIME], h, y, z, p, matrix)
        eliminate(matrix, pivots)
        for c in range(NW):
            w = weights[c * NX :]
            if PROJECT != 0:
                settle_back(row[PIECE_TIME] + h, y_end, settled, p, w, pbar[c * NPAR :])
            implicit_step_back(row[PIECE_TIME], h, y, z, p, matrix, pivots, w, pbar[c * NPAR :])
        for i in range(NX):
            settled[i] = y[i]


@routine
def fill_transposed(t: float, h: float, y: Array, z: Array, p: Array, matrix: Array) -> None:
    """(A⁻¹ ⊗ 1/h - diag Jᵢ)ᵀ."""
    k = (NS - 3) // 2
    stage = zeros(NX)
    jacobian = zeros(NY * NY)
    size = NS * NY
    first = NQ if HALF else 0
    for i in range(size * size):
        matrix[i] = 0.0
    for s in static_range(NS):
        for i in range(NX):
            stage[i] = y[i] + z[s * NX + i]
        slope_jacobian(t + NODES[k][s] * h, stage, p, jacobian)
        for a in range(NY):
            row = matrix[(s * NY + a) * size + s * NY :]
            for b in range(first, NY):
                row[b] = -jacobian[(b - first) * NY + a]
            if HALF != 0 and a >= NQ:
                row[a - NQ] = -1.0
        for r in static_range(NS):
            for a in range(NY):
                matrix[(s * NY + a) * size + r * NY + a] += INVERSE[k][r][s] / h


@routine
def implicit_step_back(
    t: float, h: float, y: Array, z: Array, p: Array, matrix: Array, pivots: Array, weights: Array, pbar: Array
) -> None:
    """One implicit step back, for one criterion."""
    zeta = zeros(NS * NY)
    total = zeros(NX)
    part = zeros(NPAR)
    if NX > NY:
        weigh_stages(t, h, y, z, p, 0.0, zeta, weights, total, part)
    for i in range(NY):
        zeta[(NS - 1) * NY + i] += weights[i]
    substitute(matrix, pivots, zeta)
    weigh_stages(t, h, y, z, p, 1.0, zeta, weights, total, part)
    for i in range(NX):
        weights[i] += total[i]
    for i in range(NPAR):
        pbar[i] += part[i]


@routine
def weigh_stages(
    t: float, h: float, y: Array, z: Array, p: Array, own: float, zeta: Array, weights: Array, total: Array, part: Array
) -> None:
    """Pulls back ζ of all stages (own = 1) to weights of y and parameters, or puts those of the integrals into ζ (0).

    Integrals do not act back, so that the weights of their stages are known: h bᵢ λ.
    """
    k = (NS - 3) // 2
    stage = zeros(NX)
    slope = zeros(NX)
    kbar = zeros(NX)
    ybar = zeros(NX)
    gained = zeros(NPAR)
    for s in static_range(NS):
        for i in range(NX):
            stage[i] = y[i] + z[s * NX + i]
        for i in range(NY):
            kbar[i] = own * zeta[s * NY + i]
        for i in range(NY, NX):
            kbar[i] = h * WEIGHTS[k][s] * weights[i]
        rhs(t + NODES[k][s] * h, stage, p, slope)
        pullback(t + NODES[k][s] * h, stage, p, slope[NQ:], kbar, ybar, gained)
        if own == 0.0:
            for i in range(NY):
                zeta[s * NY + i] = ybar[i]
        else:
            for i in range(NX):
                total[i] += ybar[i]
            for i in range(NPAR):
                part[i] += gained[i]
