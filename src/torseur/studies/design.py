"""The points of a study: all of a grid, or samples of the axes' distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from torseur.errors import TorseurError, unknown_name
from torseur.studies.axes import Axis, Vector

KINDS = ("grid", "random", "latin_hypercube", "sobol", "saltelli", "morris")


@dataclass(frozen=True)
class Design:
    """How points are chosen: every combination of a grid, or `count` samples with a seed.

    saltelli is the design of Sobol's indices, with count (k + 2) points; morris that of elementary effects, with
    count (k + 1) points on a grid of four levels.
    """

    kind: str = "grid"
    count: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TorseurError(unknown_name("design", self.kind, KINDS))
        if self.kind != "grid" and self.count < 1:
            raise TorseurError(f"design '{self.kind}': count is {self.count}, expected how many samples.")

    def size(self, axes: Sequence[Axis]) -> int:
        """The number of points."""
        if self.kind == "grid":
            return prod(len(axis.numbers) for axis in axes)
        return self.count * {"saltelli": len(axes) + 2, "morris": len(axes) + 1}.get(self.kind, 1)

    def points(self, axes: Sequence[Axis]) -> Vector:
        """One row per point, one column per axis."""
        if self.kind == "grid":
            return _grid(axes)
        parts = self.parts(len(axes))
        return np.column_stack([axis.at(parts[:, k]) for k, axis in enumerate(axes)])

    def parts(self, dimensions: int) -> Vector:
        """Samples of the unit cube."""
        from scipy.stats import qmc

        if self.kind == "random":
            return np.random.default_rng(self.seed).uniform(size=(self.count, dimensions))
        if self.kind == "latin_hypercube":
            return np.asarray(qmc.LatinHypercube(dimensions, rng=self.seed).random(self.count))
        if self.kind == "morris":
            return _trajectories(dimensions, self.count, self.seed)
        if self.kind == "saltelli":
            return _saltelli(_low_discrepancy(2 * dimensions, self.count, self.seed), dimensions)
        return _low_discrepancy(dimensions, self.count, self.seed)


def _grid(axes: Sequence[Axis]) -> Vector:
    for axis in axes:
        if not axis.is_listed:
            raise TorseurError(f"axis '{axis.name}': a grid needs from, to and count, or values.")
    mesh = np.meshgrid(*[np.array(axis.numbers) for axis in axes], indexing="ij")
    return np.column_stack([each.ravel() for each in mesh])


def _low_discrepancy(dimensions: int, count: int, seed: int) -> Vector:
    """Scrambled points of Sobol's sequence; powers of two are its best counts."""
    from scipy.stats import qmc

    sampler = qmc.Sobol(dimensions, rng=seed)
    return np.asarray(sampler.random_base2(int(np.ceil(np.log2(count)))))[:count]


def _saltelli(parts: Vector, k: int) -> Vector:
    """A, B, and for each axis A with that column from B."""
    a, b = parts[:, :k], parts[:, k:]
    mixed = []
    for axis in range(k):
        one = a.copy()
        one[:, axis] = b[:, axis]
        mixed.append(one)
    return np.vstack([a, b, *mixed])


def _trajectories(k: int, count: int, seed: int) -> Vector:
    """Morris' paths: from a random place of four levels, one axis after the other moves by two thirds."""
    random = np.random.default_rng(seed)
    jump, rows = 2.0 / 3.0, []
    for _ in range(count):
        place = random.integers(0, 2, k) / 3.0
        signs = random.choice([-1.0, 1.0], k)
        place = np.where(signs > 0, place, place + jump)
        rows.append(place.copy())
        for axis in random.permutation(k):
            place[axis] += signs[axis] * jump
            rows.append(place.copy())
    # The ends of a distribution without bounds are infinite.
    return np.clip(np.array(rows), 1e-3, 1.0 - 1e-3)
