"""Routines of the direct method: x and all its tangents u = ∂x/∂p as one state (x, u) of the integrator.

u stands row by row, so that the loops over the parameters run along memory and become vector operations:

    y = [ x_0 … x_NX-1 | u of x_0 by parameter 0, 1, … | u of x_1 … | … ]
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from torseur.computation.codegen.routine import Array, External, Static, routine, static_range, zeros

NX: int = Static("NX")  # entries of x
NY: int = Static("NY")  # states of the system, at the head of x
NPAR: int = Static("NPAR")  # parameters of the study
NM: int = Static("NM")  # constants that vary
LEADING: int = Static("LEADING")  # derivatives at the head of x' that are states themselves
FROM: int = Static("FROM")  # the first of these states

Tangents: TypeAlias = Annotated[Array, ..., NPAR]

tangent = External("tangent", "t: float, y: Array, p: Array, dy: Array, by_states: Array, by_parameters: Array")
project_state = External("project_state", "t: float, y: Array, p: Array, out: Array")
settled_tangent = External("settled_tangent", "t: float, y: Array, p: Array, w: Array, out: Array")


# Why tangents are further states of the integrator: docs/decisions/0035-sensitivities-on-the-integrators-loop.md.
@routine
def tangent_rhs(t: float, y: Array, p: Array, dy: Array) -> None:
    """(x', u') with u' = f_y u + f_p."""
    by_states = zeros(NX - LEADING, NY)
    by_parameters = zeros(NX - LEADING, NPAR)
    tangent(t, y, p, dy, by_states, by_parameters)
    u = y[NX:]
    du = dy[NX:]
    # Rates that are the speeds themselves need no product: their tangents are rows of u, moved up.
    for i in range(LEADING * NPAR):
        du[i] = u[FROM * NPAR + i]
    for i in range(NX - LEADING):
        row = by_states[i]
        own = by_parameters[i]
        out = du[(LEADING + i) * NPAR :]
        # Why along the parameters: docs/decisions/0039-tangent-products-along-parameters.md.
        for k in range(NPAR):
            total = own[k]
            for j in static_range(NY):
                total += row[j] * u[j * NPAR + k]
            out[k] = total


@routine
def project_with_tangents(t: float, y: Array, p: Array, out: Array) -> None:
    """The state brought back on its manifold, with its tangents."""
    before = zeros(NY)
    after = zeros(NY)
    for i in range(NX + NX * NPAR):
        out[i] = y[i]
    project_state(t, y, p, out)
    for k in range(NPAR):
        for i in range(NY):
            before[i] = y[NX + i * NPAR + k]
        settled_tangent(t, y, p, before, after)
        for i in range(NY):
            out[NX + i * NPAR + k] = after[i]
