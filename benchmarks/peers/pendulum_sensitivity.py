"""Slopes of the orthogonal double pendulum by other programs: CasADi's CVODES, JAX with diffrax, SciPy's differences.

Every function takes a tolerance and gives the slopes with the seconds that its call took; solvers are made and compiled
before that, once per tolerance or, for JAX, once.
"""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import numpy as np

VALUES = {"m1": 4.0, "m2": 2.0, "l2": 2.0, "r2": 5.0}
START = [np.pi / 4, np.pi / 4, 0.0, 0.0]
UNTIL = 5.0


def accelerations(sin: Any, cos: Any, state: Any, values: Any) -> tuple[Any, Any, Any]:
    """Accelerations and kinetic energy in closed form, for numbers of any kind."""
    q1, q2, w1, w2 = state
    m1, m2, l2, r2 = values
    g, s1, c1, s2, c2 = 9.81, sin(q1), cos(q1), sin(q2), cos(q2)
    b2 = m2 * l2**2
    m11, m12, m22 = (m1 + m2) * r2**2 + b2 * c2**2, m2 * l2 * r2 * s2, b2
    f1 = 2 * b2 * w1 * w2 * s2 * c2 - g * (m1 + m2) * r2 * s1 + m2 * l2 * (g * c1 * c2 - w2**2 * r2 * c2)
    f2 = -b2 * w1**2 * s2 * c2 - g * l2 * m2 * s1 * s2
    d = m11 * m22 - m12 * m12
    energy = 0.5 * (m11 * w1**2 + m22 * w2**2) + m12 * w1 * w2
    return (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d, energy


@cache
def _cvodes(tolerance: float, adjoint: bool) -> Any:
    """States by the parameters, or the kinetic energy by them, at the end."""
    import casadi as ca

    x, p = ca.SX.sym("x", 4), ca.SX.sym("p", 4)
    a1, a2, energy = accelerations(ca.sin, ca.cos, ca.vertsplit(x), ca.vertsplit(p))
    options = {"abstol": tolerance, "reltol": tolerance, "fsens_err_con": True}
    options |= {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
    ode = {"x": x, "p": p, "ode": ca.vertcat(x[2], x[3], a1, a2)}
    solver, free = ca.integrator("F", "cvodes", ode, 0.0, UNTIL, options), ca.MX.sym("p", 4)
    end = solver(x0=START, p=free)["xf"]
    if not adjoint:
        return ca.Function("J", [free], [ca.jacobian(end, free)])
    return ca.Function("gradient", [free], [ca.gradient(ca.Function("T", [x, p], [energy])(end, free), free)])


def cvodes(tolerance: float, adjoint: bool) -> tuple[np.ndarray, float]:
    """CasADi's CVODES, by Adams' method with functional iteration."""
    solve = _cvodes(tolerance, adjoint)
    begin = time.perf_counter()
    found = np.array(solve(list(VALUES.values())))
    seconds = time.perf_counter() - begin
    return found.ravel() if adjoint else found, seconds


@cache
def _diffrax(adjoint: bool) -> Any:
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    way = diffrax.RecursiveCheckpointAdjoint() if adjoint else diffrax.ForwardMode()

    def slopes(t: Any, y: Any, p: Any) -> Any:
        a1, a2, _ = accelerations(jnp.sin, jnp.cos, y, p)
        return jnp.stack([y[2], y[3], a1, a2])

    def end(p: Any, tolerance: Any) -> Any:
        control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
        term, solver, start = diffrax.ODETerm(slopes), diffrax.Dopri8(), jnp.array(START)
        found = diffrax.diffeqsolve(
            term, solver, 0.0, UNTIL, None, start, p, stepsize_controller=control, adjoint=way, max_steps=4096
        )
        return found.ys[-1]

    def energy(p: Any, tolerance: Any) -> Any:
        return accelerations(jnp.sin, jnp.cos, end(p, tolerance), p)[2]

    compiled = jax.jit(jax.grad(energy) if adjoint else jax.jacfwd(end))
    compiled(np.array(list(VALUES.values())), 1e-6).block_until_ready()
    return compiled


def diffrax(tolerance: float, adjoint: bool) -> tuple[np.ndarray, float]:
    """JAX with diffrax: Dopri8, jitted, forward mode or the adjoint of its own steps with checkpoints."""
    solve, values = _diffrax(adjoint), np.array(list(VALUES.values()))
    begin = time.perf_counter()
    found = solve(values, tolerance).block_until_ready()
    return np.array(found), time.perf_counter() - begin


def scipy_differences(tolerance: float) -> tuple[np.ndarray, float]:
    """Central differences of order four of SciPy's DOP853, in plain Python numbers."""
    from scipy.integrate import solve_ivp

    def slopes(t: float, y: Any, *values: float) -> tuple[float, ...]:
        state = y.tolist()
        a1, a2, _ = accelerations(math.sin, math.cos, state, values)
        return state[2], state[3], a1, a2

    begin = time.perf_counter()
    columns = []
    for k, value in enumerate(VALUES.values()):
        step, near = 2e-3 * value, []
        for shift in (-2, -1, 1, 2):
            values = list(VALUES.values())
            values[k] += shift * step
            found = solve_ivp(slopes, (0.0, UNTIL), START, "DOP853", args=values, rtol=tolerance, atol=tolerance)
            near.append(found.y[:, -1])
        columns.append((8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * step))
    return np.array(columns).T, time.perf_counter() - begin
