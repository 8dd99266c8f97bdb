"""Parameters that a real mechanism can have, by a change of variables: J = U Uᵀ with positive diagonal.

Any ten numbers θ = (α, d₁, d₂, d₃, s₁₂, s₂₃, s₁₃, t₁, t₂, t₃) give a body (Rucker and Wensing 2022); non-negative
parameters are exponentials. The least-squares problem in θ is solved by damped Newton steps along the central path of a
barrier, which also keeps limits of masses, ellipsoids and densities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, triangular_factor
from torseur.analysis.identification.estimators.barrier import Barrier
from torseur.analysis.identification.estimators.semidefinite import ConeProblem, known_rows, non_negative, unsatisfiable
from torseur.analysis.identification.model.pseudo_inertia import parameters_of_pseudo_inertia, pseudo_inertia
from torseur.errors import IdentificationError

_PLACES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))


@dataclass(frozen=True, eq=False)
class CholeskySolution:
    """Parameters, the cost at every step, and whether it settled."""

    parameters: Array
    history: tuple[float, ...]
    converged: bool


def body_parameters(theta: Array) -> tuple[Array, Array]:
    """Ten parameters of a body and their derivatives by θ, (10, 10)."""
    U, derivatives = _factor(theta)
    changes = [parameters_of_pseudo_inertia(dU @ U.T + U @ dU.T) for dU in derivatives]
    return parameters_of_pseudo_inertia(U @ U.T), np.stack(changes, axis=1)


def _factor(theta: Array) -> tuple[Array, list[Array]]:
    """U of θ and its ten derivatives."""
    # U = e^α [ e^d₁  s₁₂   s₁₃   t₁ ]
    #         [       e^d₂  s₂₃   t₂ ]
    #         [             e^d₃  t₃ ]
    #         [                   1  ]
    size = np.exp(theta[0])
    U = np.zeros((4, 4))
    U[0, 0], U[1, 1], U[2, 2], U[3, 3] = *np.exp(theta[1:4]), 1.0
    for value, (i, j) in zip(theta[4:], _PLACES, strict=True):
        U[i, j] = value
    U *= size
    derivatives = [U]
    for place in ((0, 0), (1, 1), (2, 2), *_PLACES):
        dU = np.zeros((4, 4))
        dU[place] = U[place] if place[0] == place[1] else size
        derivatives.append(dU)
    return U, derivatives


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


# Why a central path: docs/decisions/0041-constrained-fits-follow-a-central-path.md.
def solve_log_cholesky(
    problem: ConeProblem, start: Array, *, rounds: int = 60, progress: Callable[[float], None] | None = None
) -> CholeskySolution:
    """The parameters of real bodies that fit data and prior best within the limits, from parameters of real bodies.

    A barrier keeps bodies away from needles and plates, from which no step leads back, and becomes weaker and weaker:
    `rounds` steps at most at each of its weights.
    """
    follow = progress or (lambda part: None)
    path = _Path.of(problem, start)
    history: list[float] = []
    theta, weight = _theta(problem, start), path.first_weight(start)
    theta, path = _enter_limits(path, theta, weight, rounds)
    first, settled = weight, False
    # On the central path the cost is within weight times degree of the best one: the gap that ends the search.
    while not history or weight * path.barrier.degree > _GAP * (1 + history[-1]):
        weight /= _WEAKER
        theta, settled = path.descend(theta, weight, rounds)
        pi = _parameters(problem, theta)[0]
        # As in an augmented Lagrangian: the targets overshoot by what the data pull away, so that known values are met
        # before the tolerance vanishes.
        path = path.correct_targets(pi, weight)
        history.append(_cost(problem, pi))
        follow(min(1.0, np.log(first / weight) / np.log(first / _GAP)))
    _require_known_values(problem, pi)
    return CholeskySolution(pi, tuple(history), settled)


def _require_known_values(problem: ConeProblem, pi: Array) -> None:
    """Refuses parameters that known values could not be brought to."""
    rows, right = known_rows(problem)
    for name, reached, value in zip(problem.known, rows @ pi, right, strict=True):
        if abs(reached - value) > 1e-3 * max(abs(value), 1e-3):
            raise unsatisfiable(f"{name} = {value:g} cannot be met")


_WEAKER, _GAP, _STALLED = 4.0, 1e-8, 0.999
_PARTS = 0.5 ** np.arange(30)
_LONGEST = 2.0


def _enter_limits(path: _Path, theta: Array, weight: float, rounds: int) -> tuple[Array, _Path]:
    """Parameters within all limits, which are tightened to where they belong as the parameters follow."""
    before = np.inf
    while path.barrier.shift > 0.0:
        if path.barrier.shift > _STALLED * before:
            raise unsatisfiable(f"one is missed by {100 * path.barrier.shift:.2g} % of the size of what it limits")
        before = path.barrier.shift
        theta, _ = path.descend(theta, weight, rounds)
        path = replace(path, barrier=path.barrier.tighten(_parameters(path.problem, theta)[0]))
    return theta, path


@dataclass(frozen=True, eq=False)
class _Path:
    """|M π - m|² of data and prior with the barrier: the central path to the best parameters."""

    problem: ConeProblem
    barrier: Barrier
    M: Array
    m: Array
    targets: Array  # of known values: beyond them, by what the data pull them away

    @staticmethod
    def of(problem: ConeProblem, start: Array) -> _Path:
        A, b = problem.prior
        M, m = np.vstack([problem.R @ problem.combination, A]), np.concatenate([problem.c, b])
        return _Path(problem, Barrier.of(problem, start), M, m, known_rows(problem)[1])

    def first_weight(self, start: Array) -> float:
        """A weight of the barrier with which the parameters stay about where they start."""
        residual = self.M @ start - self.m
        return max(float(residual @ residual), 1.0)

    def known_values(self, weight: float) -> tuple[Array, Array]:
        """Rows and right-hand side of known values."""
        rows, sizes = known_rows(self.problem)[0], self._tolerances(weight)
        return rows / sizes[:, None], self.targets / sizes

    def _tolerances(self, weight: float) -> Array:
        """What of a known value counts one: the less the weaker the barrier, yet no less than makes data bend."""
        rows, right = known_rows(self.problem)
        bends = np.linalg.norm(self.M @ rows.T, axis=0)
        return np.maximum(np.sqrt(weight) * np.maximum(np.abs(right), 1e-3), 0.01 / np.maximum(bends, 1e-6))

    def correct_targets(self, pi: Array, weight: float) -> _Path:
        """The path with targets moved by what known values miss, for a barrier weaker by one stage."""
        rows, right = known_rows(self.problem)
        stiffer = (self._tolerances(weight / _WEAKER) / self._tolerances(weight)) ** 2
        return replace(self, targets=right + (self.targets - rows @ pi) * stiffer)

    def merit(self, pi: Array, weight: float) -> float:
        """What a step must lower."""
        rows, right = self.known_values(weight)
        residual, missed = self.M @ pi - self.m, rows @ pi - right
        return float(residual @ residual + missed @ missed) + 2 * weight * self.barrier.value(pi)

    def descend(self, theta: Array, weight: float, rounds: int) -> tuple[Array, bool]:
        """The minimiser at one weight of the barrier by Newton steps in the logarithmic variables.

        They are Newton's at the minimiser; away from it what is left out bends upward only.
        """
        for _ in range(rounds):
            pi, D = _parameters(self.problem, theta)
            step, promised = _step(*self._linearise(pi, D, weight))
            if promised <= 1e-4 * weight:
                return theta, True
            moved = self._line_search(theta, pi, (step, D @ step), promised, weight)
            if moved is None:
                return theta, False
            theta = moved
        return theta, False

    def _line_search(
        self, theta: Array, pi: Array, steps: tuple[Array, Array], promised: float, weight: float
    ) -> Array | None:
        """The variables after a step, straight in themselves or straight in the parameters: near limits one or the
        other is the longer way."""
        least = self.merit(pi, weight)
        for part in _PARTS:
            straight = pi + part * steps[1]
            logarithmic = theta + np.clip(part * steps[0], -_LONGEST, _LONGEST)
            # In θ a body can become thin by steps of equal ratio, in π it leaves a thin shape at once.
            choices = [(self.merit(_parameters(self.problem, logarithmic)[0], weight), False)]
            choices.append((self.merit(straight, weight), True))
            cost, in_parameters = min(choices)
            if cost <= least - 1e-3 * part * promised:
                return _theta(self.problem, straight) if in_parameters else logarithmic
        return None

    def _linearise(self, pi: Array, D: Array, weight: float) -> tuple[Array, Array]:
        """Derivatives by the logarithmic variables, and residuals, of data, prior, known values and barrier."""
        (rows, right), (derivatives, ones) = self.known_values(weight), self.barrier.rows(pi)
        derivatives, root = np.vstack([rows, self.M, np.sqrt(weight) * derivatives]), np.sqrt(weight)
        return derivatives @ D, np.concatenate([rows @ pi - right, self.M @ pi - self.m, root * ones])


def _cost(problem: ConeProblem, pi: Array) -> float:
    """What data and prior cost together, at their full weight."""
    data, prior = problem.R @ (problem.combination @ pi) - problem.c, problem.prior[0] @ pi - problem.prior[1]
    return float(data @ data + prior @ prior)


def _step(derivatives: Array, residual: Array) -> tuple[Array, float]:
    """The Gauss-Newton step, and the decrease it promises at first order."""
    scale = np.linalg.norm(derivatives, axis=0)
    n = derivatives.shape[1]
    upper = triangular_factor(np.column_stack([derivatives / scale, -residual]))
    step: Array = np.linalg.solve(upper[:n, :n], upper[:n, n]) / scale
    return step, -2 * float((derivatives @ step) @ residual)


def _theta(problem: ConeProblem, start: Array) -> Array:
    theta = start.copy()
    for where in problem.model.bodies.values():
        theta[where] = body_theta(start[where])
    for k in non_negative(problem.model):
        theta[k] = np.log(max(float(start[k]), 1e-8))
    return theta


def _parameters(problem: ConeProblem, theta: Array) -> tuple[Array, Array]:
    """π and its derivatives by θ."""
    pi, D = theta.copy(), np.eye(len(theta))
    for where in problem.model.bodies.values():
        pi[where], D[where, where] = body_parameters(theta[where])
    for k in non_negative(problem.model):
        pi[k] = D[k, k] = np.exp(min(theta[k], 50.0))
    return pi, D
