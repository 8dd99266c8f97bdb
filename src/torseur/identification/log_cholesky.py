"""Parameters that a real mechanism can have, by a change of variables: J = U Uᵀ with positive diagonal.

Any ten numbers θ = (α, d₁, d₂, d₃, s₁₂, s₂₃, s₁₃, t₁, t₂, t₃) give a body (Rucker and Wensing 2022); non-negative
parameters are exponentials. The least-squares problem in θ is solved by Levenberg-Marquardt with exact derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torseur.errors import IdentificationError
from torseur.identification.arrays import Array, triangular
from torseur.identification.consistent import NON_NEGATIVE, ConeProblem
from torseur.identification.linear_model import LinearModel
from torseur.identification.pseudo_inertia import parameters_of_pseudo_inertia, pseudo_inertia

_PLACES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))


@dataclass(frozen=True, eq=False)
class CholeskySolution:
    """Parameters, the cost at every step, and whether it settled."""

    parameters: Array
    history: tuple[float, ...]
    converged: bool


def body_parameters(theta: Array) -> tuple[Array, Array]:
    """Ten parameters of a body and their derivatives by θ, (10, 10)."""
    size = np.exp(theta[0])
    U = np.zeros((4, 4))
    U[0, 0], U[1, 1], U[2, 2], U[3, 3] = *np.exp(theta[1:4]), 1.0
    for value, (i, j) in zip(theta[4:], _PLACES, strict=True):
        U[i, j] = value
    U *= size
    columns = [parameters_of_pseudo_inertia(2 * U @ U.T)]
    for k in range(3):
        dU = np.zeros((4, 4))
        dU[k, k] = U[k, k]
        columns.append(parameters_of_pseudo_inertia(dU @ U.T + U @ dU.T))
    for i, j in _PLACES:
        dU = np.zeros((4, 4))
        dU[i, j] = size
        columns.append(parameters_of_pseudo_inertia(dU @ U.T + U @ dU.T))
    return parameters_of_pseudo_inertia(U @ U.T), np.stack(columns, axis=1)


def body_theta(parameters: Array) -> Array:
    """θ of a body's parameters."""
    J = pseudo_inertia(parameters)
    try:
        # J = U Uᵀ with U upper triangular: Cholesky's factor of the matrix read backward.
        U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
    except np.linalg.LinAlgError as problem:
        raise IdentificationError("log-Cholesky needs the parameters of a real body to start from.") from problem
    size = U[3, 3]
    U = U / size
    return np.array([np.log(size), *np.log(np.diag(U)[:3]), *(U[i, j] for i, j in _PLACES)])


def solve_log_cholesky(
    problem: ConeProblem, start: Array, *, rounds: int = 300, progress: Callable[[float], None] | None = None
) -> CholeskySolution:
    """The parameters of real bodies that fit data and prior best, from parameters of real bodies."""
    model = problem.model
    A, b = problem.prior
    M, m = np.vstack([problem.R @ problem.combination, A]), np.concatenate([problem.c, b])
    theta, damping = _theta(model, start), 1e-3
    pi, D = _parameters(model, theta)
    residual = M @ pi - m
    history = [float(residual @ residual)]
    settled = False
    for turn in range(rounds):
        step = _step(M @ D, residual, damping)
        tried, D_tried = _parameters(model, theta + step)
        new = M @ tried - m
        cost = float(new @ new)
        if np.isfinite(cost) and cost < history[-1]:
            settled = history[-1] - cost <= 1e-12 * history[-1] and float(np.max(np.abs(step))) < 1e-6
            theta, pi, D, residual = theta + step, tried, D_tried, new
            damping = max(damping * 0.1, 1e-15)
            history.append(cost)
        else:
            damping *= 10
        if progress is not None:
            progress((turn + 1) / rounds)
        if settled or damping > 1e10:
            break
    return CholeskySolution(pi, tuple(history), settled or damping > 1e10)


def _step(jacobian: Array, residual: Array, damping: float) -> Array:
    """The damped Gauss-Newton step, by columns of equal size; no variable moves by more than 2."""
    scale = np.linalg.norm(jacobian, axis=0)
    scale[scale == 0] = 1.0
    n = jacobian.shape[1]
    stacked = np.vstack([jacobian / scale, np.sqrt(damping) * np.eye(n)])
    upper = triangular(np.column_stack([stacked, np.concatenate([-residual, np.zeros(n)])]))
    step: Array = np.linalg.solve(upper[:n, :n], upper[:n, n]) / scale
    return step / max(1.0, float(np.max(np.abs(step))) / 2.0)


def _theta(model: LinearModel, start: Array) -> Array:
    theta = start.copy()
    for where in model.bodies.values():
        theta[where] = body_theta(start[where])
    for k, column in enumerate(model.columns):
        if column.kind in NON_NEGATIVE:
            theta[k] = np.log(max(float(start[k]), 1e-8))
    return theta


def _parameters(model: LinearModel, theta: Array) -> tuple[Array, Array]:
    """π and its derivatives by θ."""
    pi, D = theta.copy(), np.eye(len(theta))
    for where in model.bodies.values():
        pi[where], D[where, where] = body_parameters(theta[where])
    for k, column in enumerate(model.columns):
        if column.kind in NON_NEGATIVE:
            pi[k] = D[k, k] = np.exp(min(theta[k], 50.0))
    return pi, D
