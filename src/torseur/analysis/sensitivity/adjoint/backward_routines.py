"""Routines of the discrete adjoint: adjoints carried back through the very steps that the integrator took.

A step is y₊ = y + h Σ bᵢ kᵢ with kᵢ = f(t + cᵢ h, Yᵢ), Yᵢ = y + h Σ aᵢⱼ kⱼ. Backwards, for the adjoint λ of its end,

    k̄ᵢ = h (bᵢ λ + Σⱼ aⱼᵢ Ȳⱼ),  Ȳᵢ = f_yᵀ k̄ᵢ,  μ += f_pᵀ k̄ᵢ,  λ += Σ Ȳᵢ

from the last stage to the first. Step lengths count as fixed. What goes back may be more than adjoints: second
derivatives carry the tangents of λ and μ by each parameter along, in a pullback of their own.
"""

from __future__ import annotations

from typing import Annotated

from torseur.analysis.sensitivity.direct.tangent_routines import NX
from torseur.computation.codegen.routine import Array, External, Static, routine, static_range, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ
from torseur.computation.simulation.explicit.dop853 import evaluate_stages, solution
from torseur.computation.simulation.explicit.dop853_tableau import STAGES, A, B, C
from torseur.computation.simulation.explicit.runge_kutta import N, rhs
from torseur.computation.simulation.loop.memory import KeptStep
from torseur.computation.simulation.loop.settling import PROJECT, settle

NW: int = Static("NW")  # number of criteria
GAINS: int = Static("GAINS")  # entries of μ

pullback = External("pullback", "t: float, y: Array, p: Array, a: Array, w: Array, ybar: Array, pbar: Array")
settle_back = External("settle_back", "t: float, y: Array, settled: Array, p: Array, w: Array, pbar: Array")


@routine
def repeat_steps(count: int, y: Array, p: Array, rows: Annotated[Array, ..., 2 + (1 + STAGES) * N]) -> None:
    """Takes steps again whose times and lengths stand in `rows`, and keeps their stages; y moves to their end."""
    y_stage = zeros(N)
    y_end = zeros(N)
    for step in range(count):
        kept = KeptStep.view(rows[step])
        for i in range(N):
            kept.y[i] = y[i]
        rhs(kept.time[0], y, p, kept.k[0])
        evaluate_stages(kept.time, kept.length, y, p, kept.k, y_stage)
        solution(kept.length, y, kept.k, y_end)
        settle(kept.time[0] + kept.length[0], y_end, p, y)


# Why back through the integrator's own steps: docs/decisions/0035-sensitivities-on-the-integrators-loop.md.
@routine
def steps_back(
    count: int,
    rows: Annotated[Array, ..., 2 + (1 + STAGES) * N],
    settled: Array,
    p: Array,
    adjoints: Annotated[Array, ..., N],
    pbar: Annotated[Array, ..., GAINS],
) -> None:
    """Adjoints at the end of these steps become those at their start, for each criterion.

    pbar gathers the adjoints of the parameters; `settled` is the state at the end, and becomes that at the start.
    """
    y_end = zeros(N)
    for step in range(count - 1, -1, -1):
        kept = KeptStep.view(rows[step])
        if PROJECT != 0:
            # The state before its projection is summed again from the stages, so that it need not be kept.
            solution(kept.length, kept.y, kept.k, y_end)
        for c in range(NW):
            if PROJECT != 0:
                settle_back(kept.time[0] + kept.length[0], y_end, settled, p, adjoints[c], pbar[c])
            step_back(kept, p, adjoints[c], pbar[c])
        for i in range(N):
            settled[i] = kept.y[i]


@routine
def step_back(kept: KeptStep, p: Array, adjoint: Array, pbar: Array) -> None:
    """One step back, for one criterion."""
    stage = zeros(N)
    kbar = zeros(N)
    ybar = zeros(STAGES, N)
    part = zeros(GAINS)
    h = kept.length[0]
    # The method is explicit, a_ji = 0 for j <= i: going from the last stage to the first, every Ȳⱼ that stage s needs
    # is known. Stage states are formed again from the kept k; keeping them as well would nearly double the recording.
    for s in static_range(STAGES - 1, -1, -1):
        for i in range(N):
            total = 0.0
            for j in static_range(s):
                if A[s][j] != 0.0:
                    total += A[s][j] * kept.k[j, i]
            stage[i] = kept.y[i] + h * total
        for i in range(N):
            total = B[s] * adjoint[i]
            for j in static_range(s + 1, STAGES):
                if A[j][s] != 0.0:
                    total += A[j][s] * ybar[j, i]
            kbar[i] = h * total
        # The pullback of a mechanism takes its accelerations as known (see open_systems.py): they are k itself, behind
        # the rates of the coordinates.
        accelerations = kept.k[s]
        pullback(kept.time[0] + C[s] * h, stage, p, accelerations[NQ:], kbar, ybar[s], part)
        for i in range(GAINS):
            pbar[i] += part[i]
    for i in range(N):
        total = 0.0
        for s in static_range(STAGES):
            total += ybar[s, i]
        adjoint[i] += total


@routine
def project_back(t: float, y: Array, settled: Array, p: Array, w: Array, pbar: Array) -> None:
    """Adjoints of a state that a formula brought back on its manifold become those of the state before."""
    out = zeros(NX)
    for i in range(NX):
        out[i] = w[i]
    settled_adjoint(t, y, p, w, out)
    for i in range(NX):
        w[i] = out[i]


settled_adjoint = External("settled_adjoint", "t: float, y: Array, p: Array, w: Array, out: Array")
