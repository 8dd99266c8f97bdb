"""The choice of independent speeds: those the user prefers while they are good, then the best conditioned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.errors import TorseurError, unknown_name

DEPENDENT = 1e-8  # sine of the angle to the constraints before, below which one depends on them
LARGEST = 10.0  # speed of a dependent coordinate per independent one from which another choice is looked for
BETTER = 2.0  # how much better it must be


@dataclass(frozen=True)
class Partition:
    """Numbers of the independent constraints and of the speeds.

    `size` is the largest entry of N, `pivot` the smallest one met when it is computed.
    """

    rows: tuple[int, ...]
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    size: float
    pivot: float

    def settings(self, constraints: int) -> list[float]:
        """As the routines take it: see sizes.py."""
        others = [c for c in range(constraints) if c not in self.rows]
        limit = LARGEST if self.size < LARGEST / BETTER else BETTER * self.size
        order = [*self.rows, *others, *self.dependent, *self.independent]
        return [*map(float, order), float(len(self.rows)), limit, self.pivot]


def choose_partition(
    numbers: StateNumbers, t: float, y: Vector, preferred: Sequence[int] = (), rows: Sequence[int] | None = None
) -> Partition:
    """The partition at a state; `rows` are the independent constraints where they are known."""
    found = numbers.of(numbers.programs.velocities, t, y)
    scaled = found["rows"] * numbers.scales
    kept = independent_constraints(scaled)
    if rows is not None:
        kept = [rows[k] for k in independent_constraints(scaled[list(rows)])]
    null = _null_space(scaled[kept]) if kept else np.eye(scaled.shape[1])
    independent = sorted(independent_rows(null, preferred))
    dependent = [k for k in range(scaled.shape[1]) if k not in independent]
    size = float(np.abs(null @ np.linalg.inv(null[independent])).max()) if independent else 0.0
    pivot = _smallest_pivot(found["rows"][np.ix_(kept, dependent)])
    return Partition(tuple(kept), tuple(dependent), tuple(independent), size, pivot)


def independent_constraints(rows: Vector) -> list[int]:
    """Constraints that do not depend on those before them."""
    found: list[Vector] = []
    kept = []
    for k, row in enumerate(rows):
        size = np.linalg.norm(row)
        rest = row / size if size > 0.0 else row
        for _ in range(2):
            for unit in found:
                rest = rest - (unit @ rest) * unit
        left = np.linalg.norm(rest)
        if left > DEPENDENT:
            found.append(rest / left)
            kept.append(k)
    return kept


def _smallest_pivot(matrix: Vector) -> float:
    """The smallest pivot of an elimination with row exchanges, 1 without equations."""
    from scipy.linalg import lu

    return float(np.abs(np.diag(lu(matrix, permute_l=False)[2])).min()) if len(matrix) else 1.0


def _null_space(rows: Vector) -> Vector:
    _, _, vt = np.linalg.svd(rows)
    basis: Vector = vt[len(rows) :].T
    return basis


def speeds_named(numbers: StateNumbers, names: Sequence[str]) -> list[int]:
    """Numbers of speeds by their own name or that of their coordinate."""
    speeds = numbers.equations.layout.speed_names
    found = []
    for name in names:
        match = [k for k, speed in enumerate(speeds) if speed in (name, f"{name}'")]
        if not match:
            raise TorseurError(unknown_name("speed", name, speeds, "independent: "))
        found += match
    return found
