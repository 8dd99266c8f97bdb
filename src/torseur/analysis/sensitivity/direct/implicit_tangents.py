"""Stiff motions: tangents of the states in the implicit method's iteration, and the way back through its steps.

A step of Radau IIA is y₊ = y + Z_s with (A⁻¹/h) Z = F(y + Z), stage by stage. Integrals and tangents ride behind the
states with the same factors. Backwards, for the adjoint λ of its end, with the Jacobians Jᵢ of the stages themselves,

    (A⁻¹ ⊗ 1/h - diag Jᵢ)ᵀ ζ = e_s ⊗ λ,   λ += Σ Jᵢᵀ ζᵢ,   μ += Σ f_pᵀ ζᵢ
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torseur.analysis.sensitivity.adjoint.backward_routines import NW, pullback, settle_back
from torseur.analysis.sensitivity.direct.tangent_routines import NPAR, NX, NY
from torseur.computation.codegen.routine import Array, Record, Static, flat, routine, static_range, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ
from torseur.computation.simulation.explicit.runge_kutta import rhs
from torseur.computation.simulation.implicit.elimination import eliminate, substitute
from torseur.computation.simulation.implicit.newton_matrix import HALF, solve_own_complex, solve_own_real
from torseur.computation.simulation.implicit.radau_memory import NS, ComplexFactors, Jacobian, RealFactors
from torseur.computation.simulation.implicit.radau_stages import rhs_jacobian
from torseur.computation.simulation.implicit.radau_tableau import NODES
from torseur.computation.simulation.loop.settling import PROJECT

CARRIED: int = Static("CARRIED")  # parameters whose tangents ride behind the states, a row per state


def _inverses() -> tuple[tuple[tuple[float, ...], ...], ...]:
    """A⁻¹ of the methods, from ∫ of the Lagrange polynomials of their nodes."""
    inverses = []
    for nodes in NODES:
        # With V the powers of the nodes and V_∫ their integrals, A V = V_∫ says that the method integrates polynomials
        # exactly; so A⁻¹ = V V_∫⁻¹.
        powers = np.array(nodes)[:, None] ** np.arange(len(nodes))
        integrals = np.array(nodes)[:, None] ** np.arange(1, len(nodes) + 1) / np.arange(1, len(nodes) + 1)
        inverses.append(tuple(map(tuple, (powers @ np.linalg.inv(integrals)).tolist())))
    return tuple(inverses)


INVERSE = _inverses()
# b is the last row of A: Radau IIA ends at its last node (Hairer and Wanner, Solving ODEs II, section IV.5).
WEIGHTS = tuple(tuple(np.linalg.inv(np.array(inverse))[-1].tolist()) for inverse in INVERSE)


class ImplicitStep(Record):
    """An implicit step as it is kept for the way back: its start, the derivative there, and its stages."""

    time: float
    length: float
    y: Annotated[Array, NX]
    f: Annotated[Array, NX]
    z: Annotated[Array, NS, NX]  # relative to y


# Why tangents use the factors of the states: docs/decisions/0038-tangents-in-the-implicit-iteration.md.
@routine
def riders_real(c: float, jacobian: Jacobian, factors: RealFactors, b: Array) -> None:
    """Integrals and tangents, for a real c."""
    # The Newton matrix c - J is that of the states. Integrals act on nothing, so that c alone is left of it for them;
    # how they, and tangents, depend on the states is left to the iteration.
    column = zeros(NY)
    for i in range(NY, NX):
        b[i] /= c
    u = b[NX:]
    for k in range(CARRIED):
        for i in range(NY):
            column[i] = u[i * CARRIED + k]
        solve_own_real(c, jacobian, factors, column)
        for i in range(NY):
            u[i * CARRIED + k] = column[i]
    for i in range(NY * CARRIED, NX * CARRIED):
        u[i] /= c


@routine
def riders_complex(
    c_re: float, c_im: float, jacobian: Jacobian, factors: ComplexFactors, b_re: Array, b_im: Array
) -> None:
    """Integrals and tangents, for a complex c."""
    column_re = zeros(NY)
    column_im = zeros(NY)
    divide(NY, NX, c_re, c_im, b_re, b_im)
    u_re = b_re[NX:]
    u_im = b_im[NX:]
    for k in range(CARRIED):
        for i in range(NY):
            column_re[i] = u_re[i * CARRIED + k]
            column_im[i] = u_im[i * CARRIED + k]
        solve_own_complex(c_re, c_im, jacobian, factors, column_re, column_im)
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
def implicit_steps_back(
    count: int,
    rows: Annotated[Array, ..., 2 + (2 + NS) * NX],
    settled: Array,
    p: Array,
    adjoints: Annotated[Array, ..., NX],
    pbar: Annotated[Array, ..., NPAR],
) -> None:
    """Adjoints at the end of implicit steps become those at their start, for each criterion (see steps_back)."""
    y_end = zeros(NX)
    factors = RealFactors()  # NE = NS NY: all stages at once
    for number in range(count - 1, -1, -1):
        step = ImplicitStep.view(rows[number])
        for i in range(NX):
            y_end[i] = step.y[i] + step.z[NS - 1, i]
        transpose_into(step, p, factors)
        eliminate(factors.a, factors.pivots)
        for c in range(NW):
            if PROJECT != 0:
                settle_back(step.time + step.length, y_end, settled, p, adjoints[c], pbar[c])
            implicit_step_back(step, p, factors, adjoints[c], pbar[c])
        for i in range(NX):
            settled[i] = step.y[i]


@routine
def transpose_into(step: ImplicitStep, p: Array, factors: RealFactors) -> None:
    """(A⁻¹ ⊗ 1/h - diag Jᵢ)ᵀ, block by block; where the rates are the speeds, J = [0 1; A B] and [A B] is given.

    [ a₁₁/h - J₁ᵀ   a₂₁/h         … ]
    [ a₁₂/h         a₂₂/h - J₂ᵀ   … ]      aᵢⱼ of A⁻¹
    [ …                             ]
    """
    k = (NS - 3) // 2
    stage = zeros(NX)
    jacobian = zeros(NY, NY)
    matrix = factors.a
    entries = flat(matrix)
    first = NQ if HALF else 0
    for i in range(NS * NY * NS * NY):
        entries[i] = 0.0
    for s in static_range(NS):
        for i in range(NX):
            stage[i] = step.y[i] + step.z[s, i]
        rhs_jacobian(step.time + NODES[k][s] * step.length, stage, p, jacobian)
        for a in range(NY):
            for b in range(first, NY):
                matrix[s * NY + a, s * NY + b] = -jacobian[b - first, a]
            if HALF != 0 and a >= NQ:
                # The half of J that is not stored, transposed: ∂q'/∂v = 1.
                matrix[s * NY + a, s * NY + a - NQ] = -1.0
        for r in static_range(NS):
            for a in range(NY):
                matrix[s * NY + a, r * NY + a] += INVERSE[k][r][s] / step.length


@routine
def implicit_step_back(step: ImplicitStep, p: Array, factors: RealFactors, adjoint: Array, pbar: Array) -> None:
    """One implicit step back, for one criterion."""
    zeta = zeros(NS, NY)
    total = zeros(NX)
    part = zeros(NPAR)
    if NX > NY:
        # Integrals first: what they ask of the states goes to the right-hand side of the system for ζ.
        pull_stages_back(step, p, 0.0, zeta, adjoint, total, part)
    for i in range(NY):
        # y₊ = y + Z_s: the adjoint of the end is that of the last stage.
        zeta[NS - 1, i] += adjoint[i]
    substitute(factors.a, factors.pivots, flat(zeta))
    pull_stages_back(step, p, 1.0, zeta, adjoint, total, part)
    for i in range(NX):
        adjoint[i] += total[i]
    for i in range(NPAR):
        pbar[i] += part[i]


@routine
def pull_stages_back(
    step: ImplicitStep,
    p: Array,
    own: float,
    zeta: Annotated[Array, NS, NY],
    adjoint: Array,
    total: Array,
    part: Array,
) -> None:
    """Pulls back ζ of all stages (own = 1) to adjoints of y and parameters, or puts those of the integrals into ζ (0).

    Integrals do not act back, so that the adjoints of their stages are known: h bᵢ λ.
    """
    k = (NS - 3) // 2
    stage = zeros(NX)
    derivative = zeros(NX)
    kbar = zeros(NX)
    ybar = zeros(NX)
    gained = zeros(NPAR)
    for s in static_range(NS):
        t = step.time + NODES[k][s] * step.length
        for i in range(NX):
            stage[i] = step.y[i] + step.z[s, i]
        for i in range(NY):
            kbar[i] = own * zeta[s, i]
        for i in range(NY, NX):
            kbar[i] = step.length * WEIGHTS[k][s] * adjoint[i]
        rhs(t, stage, p, derivative)
        pullback(t, stage, p, derivative[NQ:], kbar, ybar, gained)
        if own == 0.0:
            for i in range(NY):
                zeta[s, i] = ybar[i]
        else:
            for i in range(NX):
                total[i] += ybar[i]
            for i in range(NPAR):
                part[i] += gained[i]
