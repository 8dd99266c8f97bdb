"""Polak-Ribière conjugate gradient with exact step on symmetric matrices, projected on the positive cone.

After Monnet (2007), chapter 2, with positivity tested on eigenvalues and the direction restarted after a projection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.errors import IdentificationError
from torseur.identification.arrays import Array, Mask
from torseur.identification.segments.cone import project, smallest_eigenvalue
from torseur.identification.segments.cost import PoinsotCost


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
    inside = mask & cost.excited
    G = np.where(inside, cost.gradient(J), 0.0)
    D = -G
    steps = [_iterate(cost, J, G, inside, False)]
    while (reason := _reason(steps, rules)) is None:
        J, projected = _moved(cost, J, G, D, inside, positive)
        G_new = np.where(inside, cost.gradient(J), 0.0)
        D = -G_new if projected else -G_new + _polak_ribiere(G_new, G) * D
        if float(np.sum(D * G_new)) >= 0:
            D = -G_new
        G = G_new
        steps.append(_iterate(cost, J, G, inside, projected))
        if progress is not None:
            progress(min(1.0, len(steps) / rules.iterations))
    return Descent(tuple(steps), reason, reason != _EXHAUSTED)


_EXHAUSTED = "the greatest number of iterations was reached"


def _moved(cost: PoinsotCost, J: Array, G: Array, D: Array, inside: Mask, positive: bool) -> tuple[Array, bool]:
    """The exact minimum along D, brought back to the cone where it left it."""
    bend = float(np.sum(D * np.where(inside, cost.bent(D), 0.0)))
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
