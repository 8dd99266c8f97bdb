"""Routines of the direct method: x and all its changes u as one state (x, u) of the integrator.

u stands row by row, so that the loops over the parameters run along memory and become vector operations.
"""

from __future__ import annotations

from torseur.codegen.routine import Array, External, Static, routine, static_range, zeros

NX: int = Static("NX")  # entries of x
NY: int = Static("NY")  # states of the system, at the head of x
NPAR: int = Static("NPAR")  # parameters of the study
NM: int = Static("NM")  # constants that vary
LEADING: int = Static("LEADING")  # slopes at the head of x' that are states themselves
FROM: int = Static("FROM")  # the first of these states

tangent = External("tangent", "t: float, y: Array, p: Array, dy: Array, by_states: Array, by_parameters: Array")
project_state = External("project_state", "t: float, y: Array, p: Array, out: Array")
settled_change = External("settled_change", "t: float, y: Array, p: Array, w: Array, out: Array")


@routine
def tangent_slope(t: float, y: Array, p: Array, dy: Array) -> None:
    """(x', u') with u' = f_y u + f_p."""
    by_states = zeros((NX - LEADING) * NY)
    by_parameters = zeros((NX - LEADING) * NPAR)
    tangent(t, y, p, dy, by_states, by_parameters)
    u = y[NX:]
    du = dy[NX:]
    for i in range(LEADING * NPAR):
        du[i] = u[FROM * NPAR + i]
    for i in range(NX - LEADING):
        slopes = by_states[i * NY :]
        own = by_parameters[i * NPAR :]
        out = du[(LEADING + i) * NPAR :]
        for k in range(NPAR):
            total = own[k]
            for j in static_range(NY):
                total += slopes[j] * u[j * NPAR + k]
            out[k] = total


@routine
def project_with_changes(t: float, y: Array, p: Array, out: Array) -> None:
    """The state brought back on its manifold, with its changes."""
    before = zeros(NY)
    after = zeros(NY)
    for i in range(NX + NX * NPAR):
        out[i] = y[i]
    project_state(t, y, p, out)
    for k in range(NPAR):
        for i in range(NY):
            before[i] = y[NX + i * NPAR + k]
        settled_change(t, y, p, before, after)
        for i in range(NY):
            out[NX + i * NPAR + k] = after[i]
