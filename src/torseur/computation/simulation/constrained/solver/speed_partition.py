"""The choice of independent speeds: those the user prefers while they are good, then the best conditioned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.regularity import selected_by
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.errors import TorseurError, unknown_name

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
        # Where even the best choice has a fast dependent speed, a limit of ten would ask for another one at every step.
        limit = LARGEST if self.size < LARGEST / BETTER else BETTER * self.size
        order = [*self.rows, *others, *self.dependent, *self.independent]
        return [*map(float, order), float(len(self.rows)), limit, self.pivot]


def choose_partition(
    numbers: StateNumbers, t: float, y: Vector, preferred: Sequence[int] = (), rows: Sequence[int] | None = None
) -> Partition:
    """The partition at a state; `rows` are the independent constraints where they are known."""
    constraints = numbers.of(numbers.programs.velocities, t, y)["rows"]
    scaled = constraints * numbers.scales
    among = list(range(len(scaled))) if rows is None else list(rows)
    kept = [among[k] for k in selected_by(numbers, (scaled / numbers.row_scales[:, None])[among])]
    null = _null_space(scaled[kept]) if kept else np.eye(scaled.shape[1])
    independent = sorted(independent_rows(null, preferred))
    dependent = [k for k in range(scaled.shape[1]) if k not in independent]
    size = float(np.abs(null @ np.linalg.inv(null[independent])).max()) if independent else 0.0
    pivot = _smallest_pivot(constraints[np.ix_(kept, dependent)])
    return Partition(tuple(kept), tuple(dependent), tuple(independent), size, pivot)


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
    numbered = []
    for name in names:
        match = [k for k, speed in enumerate(speeds) if speed in (name, f"{name}'")]
        if not match:
            raise TorseurError(unknown_name("speed", name, speeds, "independent: "))
        numbered += match
    return numbered
