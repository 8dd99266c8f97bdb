"""Polak-Ribière conjugate gradient with exact step on symmetric matrices, projected on the positive cone.

After Monnet (2007), chapter 2, with positivity tested on eigenvalues and the direction restarted after a projection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.identification.segments.poinsot_cost import PoinsotCost
from torseur.errors import IdentificationError

# Dykstra's alternating projections, where some entries are held.
_ROUNDS = 200
_CLOSE = 1e-13


def smallest_eigenvalue(J: Array, inside: Mask) -> float:
    """Of the part of J that is identified: the rows whose diagonal entry is."""
    part = _part(inside)
    return float(np.linalg.eigvalsh(J[np.ix_(part, part)])[0]) if len(part) else 0.0


def project(J: Array, inside: Mask) -> Array:
    """J with its identified part brought to the nearest positive matrix; entries outside `inside` stay as they are."""
    part = _part(inside)
    block = np.ix_(part, part)
    result = J.copy()
    held = ~inside[block]
    result[block] = _nearest_keeping(J[block], held) if held.any() else nearest_positive(J[block])
    return result


def nearest_positive(J: Array) -> Array:
    """The nearest matrix without negative eigenvalues: (B + H) / 2, H the polar factor of B (Higham 1988)."""
    B = (J + J.T) / 2
    values, vectors = np.linalg.eigh(B)
    H = (vectors * np.abs(values)) @ vectors.T
    return (B + H) / 2


def _nearest_keeping(J: Array, held: Mask) -> Array:
    """The nearest positive matrix that keeps some entries: Dykstra's alternating projections."""
    # Plain alternation ends at some matrix in both sets, with the correction at the nearest (Boyle and Dykstra 1986).
    X, correction = J, np.zeros_like(J)
    for _ in range(_ROUNDS):
        positive = nearest_positive(X + correction)
        correction = X + correction - positive
        nearer = np.where(held, J, positive)
        if float(np.max(np.abs(nearer - positive))) < _CLOSE * max(1.0, float(np.max(np.abs(J)))):
            return nearer
        X = nearer
    return X


def _part(inside: Mask) -> list[int]:
    return [int(k) for k in np.flatnonzero(np.diag(inside))]


@dataclass(frozen=True)
class Stopping:
    """When to stop: the first rule that holds. A rule that is None is not used.

    gradient   |∇f| below this part of its first value
    cost       change of f below this part of f's first value
    change     change of every entry of J below this
    iterations at most
    """

    gradient: float | None = 1e-13
    cost: float | None = None
    change: float | None = None
    iterations: int = 1000


@dataclass(frozen=True, eq=False)
class Iterate:
    """One step: J, its cost, the norm of the gradient, its smallest eigenvalue, and whether it was projected."""

    J: Array
    cost: float
    gradient: float
    smallest: float
    projected: bool


@dataclass(frozen=True, eq=False)
class Descent:
    """The iterates from the start to the last, and the rule that ended them."""

    iterates: tuple[Iterate, ...]
    reason: str
    converged: bool

    @property
    def J(self) -> Array:
        return self.iterates[-1].J

    @property
    def iterations(self) -> int:
        return len(self.iterates) - 1

    @property
    def projections(self) -> int:
        return sum(step.projected for step in self.iterates)


def descend(
    cost: PoinsotCost,
    start: Array | None = None,
    *,
    free: Mask | None = None,
    positive: bool = True,
    stopping: Stopping | None = None,
    progress: Callable[[float], None] | None = None,
) -> Descent:
    """The matrix that minimises a cost, with the iterates that lead to it.

    Entries where `free` is False (known zero blocks) keep the value they start with, and so does what the motion does
    not excite. `positive` projects every iterate that leaves the positive cone.
    """
    J = np.eye(cost.size) if start is None else np.array(start, dtype=float)
    mask = np.ones((cost.size, cost.size), dtype=bool) if free is None else np.asarray(free, dtype=bool)
    _check(cost, J, mask)
    rules = stopping or Stopping()
    inside = mask & cost.excited_entries
    G = np.where(inside, cost.gradient(J), 0.0)
    D = -G
    steps = [_iterate(cost, J, G, inside, False)]
    while (reason := _reason(steps, rules)) is None:
        J, projected = _line_step(cost, J, G, D, inside, positive)
        G_new = np.where(inside, cost.gradient(J), 0.0)
        # After a projection the new point is no minimum along D, and conjugacy is lost.
        D = -G_new if projected else -G_new + _polak_ribiere(G_new, G) * D
        # A direction that does not descend, after rounding or a projection: begin again with the gradient.
        if float(np.sum(D * G_new)) >= 0:
            D = -G_new
        G = G_new
        steps.append(_iterate(cost, J, G, inside, projected))
        if progress is not None:
            progress(min(1.0, len(steps) / rules.iterations))
    return Descent(tuple(steps), reason, reason != _EXHAUSTED)


_EXHAUSTED = "the greatest number of iterations was reached"


def _line_step(cost: PoinsotCost, J: Array, G: Array, D: Array, inside: Mask, positive: bool) -> tuple[Array, bool]:
    """The exact minimum along D, brought back to the cone where it left it."""
    # f(J + s D) = f + s G:D + ½ s² D:H D. The step printed in Monnet (2007) lacks transposes; by the product with the
    # Hessian none are written.
    bend = float(np.sum(D * np.where(inside, cost.hessian_product(D), 0.0)))
    # The cost is quadratic: the minimum along D in closed form.
    step = -float(np.sum(G * D)) / bend if bend > 0 else 0.0
    moved = J + step * D
    if positive and smallest_eigenvalue(moved, inside) < 0:
        return project(moved, inside), True
    return moved, False


def _polak_ribiere(new: Array, old: Array) -> float:
    square = float(np.sum(old * old))
    return float(np.sum(new * (new - old))) / square if square > 0 else 0.0


def _iterate(cost: PoinsotCost, J: Array, G: Array, inside: Mask, projected: bool) -> Iterate:
    smallest = smallest_eigenvalue(J, inside)
    return Iterate(J, cost.value(J), float(np.linalg.norm(G)), smallest, projected)


def _reason(steps: Sequence[Iterate], rules: Stopping) -> str | None:
    """Which rule ends the descent now, in words."""
    last = steps[-1]
    if rules.gradient is not None and last.gradient <= rules.gradient * max(steps[0].gradient, 1e-300):
        return f"the gradient fell below {rules.gradient:g} of its first value"
    if len(steps) > 1:
        before = steps[-2]
        if rules.cost is not None and abs(before.cost - last.cost) <= rules.cost * max(steps[0].cost, 1e-300):
            return f"the cost changed by less than {rules.cost:g} of its first value"
        if rules.change is not None and float(np.max(np.abs(last.J - before.J))) <= rules.change:
            return f"no entry changed by more than {rules.change:g}"
    return _EXHAUSTED if len(steps) > rules.iterations else None


def _check(cost: PoinsotCost, J: Array, mask: Mask) -> None:
    shape = (cost.size, cost.size)
    if J.shape != shape or mask.shape != shape:
        raise IdentificationError(f"the start and the mask of free entries need the shape {shape}.")
    if not np.all(np.isfinite(J)) or not np.allclose(J, J.T) or not np.array_equal(mask, mask.T):
        raise IdentificationError("the start and the mask of free entries must be symmetric and finite.")
