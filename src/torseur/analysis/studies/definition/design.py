"""The points of a study: all of a grid, or samples of the axes' distributions, made range by range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from torseur.analysis.studies.definition.axes import Axis, Vector
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import TorseurError, unknown_name

KINDS = ("grid", "random", "latin_hypercube", "sobol", "saltelli", "morris")
MOST_OF_SEQUENCE = 2**30  # points of a Sobol sequence, from the bits of SciPy's
CLIPPED = 1e-3  # part of the probability that Morris' paths stay away from the ends, which may be infinite


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
        for name, value in (("count", self.count), ("seed", self.seed)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise TorseurError(f"design '{self.kind}': {name} is {value!r}, expected a whole number.")
        if self.kind != "grid" and self.count < 1:
            raise TorseurError(f"design '{self.kind}': count is {self.count}, expected how many samples.")
        if self.kind in ("sobol", "saltelli") and self.count > MOST_OF_SEQUENCE:
            raise TorseurError(f"design '{self.kind}': count is {self.count}, expected at most 2^30. Use random.")

    def size(self, axes: Sequence[Axis]) -> int:
        """The number of points."""
        if self.kind == "grid":
            return prod(len(_require_list(axis).numbers) for axis in axes)
        return self.count * {"saltelli": len(axes) + 2, "morris": len(axes) + 1}.get(self.kind, 1)

    def points(self, axes: Sequence[Axis], start: int = 0, stop: int | None = None) -> Vector:
        """The points from `start` on to before `stop`, one row each, one column per axis.

        Any range is made without those before it, but for latin_hypercube and morris, which are made whole.
        """
        stop = self.size(axes) if stop is None else stop
        require_memory(stop - start, 2 * NUMBER * max(len(axes), 1), f"a design of {stop - start} points at once")
        if self.kind == "grid":
            return _grid(axes, start, stop)
        parts = self.parts(len(axes), start, stop)
        return np.column_stack([axis.at(parts[:, k]) for k, axis in enumerate(axes)])

    def parts(self, dimensions: int, start: int, stop: int) -> Vector:
        """Samples of the unit cube."""
        if self.kind == "random":
            # The generator jumps ahead: any range of points without those before it, the same on every worker.
            generator = np.random.PCG64(self.seed).advance(start * dimensions)
            return np.random.Generator(generator).uniform(size=(stop - start, dimensions))
        if self.kind == "sobol":
            return _low_discrepancy(dimensions, self.seed, start, stop)
        if self.kind == "saltelli":
            return _saltelli(dimensions, self.count, self.seed, start, stop)
        require_memory(self.count, 4 * NUMBER * dimensions, f"design '{self.kind}': count = {self.count}, made whole,")
        made = _latin_hypercube if self.kind == "latin_hypercube" else _trajectories
        return made(dimensions, self.count, self.seed)[start:stop]


def _require_list(axis: Axis) -> Axis:
    if not axis.is_listed:
        raise TorseurError(f"axis '{axis.name}': a grid needs from, to and count, or values.")
    return axis


def _grid(axes: Sequence[Axis], start: int, stop: int) -> Vector:
    """All combinations; the last axis varies fastest."""
    lengths = [len(_require_list(axis).numbers) for axis in axes]
    places = np.unravel_index(np.arange(start, stop), lengths) if lengths else []
    columns = [np.array(axis.numbers)[place] for axis, place in zip(axes, places, strict=True)]
    return np.column_stack(columns) if columns else np.empty((stop - start, 0))


def _low_discrepancy(dimensions: int, seed: int, start: int, stop: int) -> Vector:
    """Scrambled points of Sobol's sequence; powers of two are its best counts."""
    import warnings

    from scipy.stats import qmc

    sampler = qmc.Sobol(dimensions, rng=seed)
    if start:
        sampler.fast_forward(start)
    with warnings.catch_warnings():  # SciPy warns of ranges that are no power of two
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(sampler.random(stop - start))


@lru_cache(maxsize=2)
def _latin_hypercube(dimensions: int, count: int, seed: int) -> Vector:
    from scipy.stats import qmc

    return np.asarray(qmc.LatinHypercube(dimensions, rng=seed).random(count))


def _saltelli(k: int, count: int, seed: int, start: int, stop: int) -> Vector:
    """A, B, and for each axis A with that column from B, one block after the other."""
    parts = []
    for block in range(start // count, (stop - 1) // count + 1):
        first, last = max(start - block * count, 0), min(stop - block * count, count)
        both = _low_discrepancy(2 * k, seed, first, last)
        a, b = both[:, :k], both[:, k:]
        # Blocks: A | B | A with column 1 of B | A with column 2 of B | ... (Saltelli et al. 2010).
        mixed = (b if block == 1 else a).copy()
        if block >= 2:
            mixed[:, block - 2] = b[:, block - 2]
        parts.append(mixed)
    return np.vstack(parts)


@lru_cache(maxsize=2)
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
    return np.clip(np.array(rows), CLIPPED, 1.0 - CLIPPED)
