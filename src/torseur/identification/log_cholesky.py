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

_LITTLE = 0.1
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
    """The parameters of real bodies that fit data and prior best, from parameters of real bodies.

    Precise data make a narrow curved valley, so that the first rounds take them as less precise than they are.
    """
    follow = progress or (lambda part: None)
    theta, history = _theta(problem.model, start), []
    stages = [part for part in _STAGES if part == 1.0 or float(np.linalg.norm(problem.c)) * part > 1.0]
    converged = False
    for number, part in enumerate(stages):
        most = rounds if part == 1.0 else rounds // 6
        theta, costs, converged = _descended(problem, theta, part, most)
        history += costs
        follow((number + 1) / len(stages))
    return CholeskySolution(_parameters(problem.model, theta)[0], tuple(history), converged)


_STAGES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def _descended(problem: ConeProblem, theta: Array, part: float, rounds: int) -> tuple[Array, list[float], bool]:
    """Levenberg-Marquardt with the data at a part of their weight: variables, costs, and whether it settled."""
    A, b = problem.prior
    M = np.vstack([part * problem.R @ problem.combination, A])
    m = np.concatenate([part * problem.c, b])
    damping, settled = 1e-3, False
    pi, D = _parameters(problem.model, theta)
    residual = M @ pi - m
    least, told = float(residual @ residual), [_cost(problem, pi)]
    for _ in range(rounds):
        step = _step(M @ D, residual, damping)
        tried, D_tried = _parameters(problem.model, theta + step)
        new = M @ tried - m
        cost = float(new @ new)
        if np.isfinite(cost) and cost < least:
            settled = least - cost <= 1e-12 * least and float(np.max(np.abs(step))) < 1e-6
            theta, D, residual = theta + step, D_tried, new
            damping = max(damping * 0.1, 1e-15)
            least = cost
            told.append(_cost(problem, tried))
        else:
            damping *= 10
        if settled or damping > 1e10:
            break
    return theta, told, settled or damping > 1e10


def _cost(problem: ConeProblem, pi: Array) -> float:
    """What data and prior cost together, at their full weight."""
    data, prior = problem.R @ (problem.combination @ pi) - problem.c, problem.prior[0] @ pi - problem.prior[1]
    return float(data @ data + prior @ prior)


def _step(jacobian: Array, residual: Array, damping: float) -> Array:
    """The damped Gauss-Newton step; no variable moves by more than 2.

    Variables that hardly matter, as those of a body thin as a needle, are damped as if they mattered a little.
    """
    scale = np.maximum(np.linalg.norm(jacobian, axis=0), _LITTLE)
    n = jacobian.shape[1]
    stacked = np.vstack([jacobian / scale, np.sqrt(damping) * np.eye(n)])
    upper = triangular(np.column_stack([stacked, np.concatenate([-residual, np.zeros(n)])]))
    step: Array = np.linalg.solve(upper[:n, :n], upper[:n, n]) / scale
    return np.clip(step, -2.0, 2.0)


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
