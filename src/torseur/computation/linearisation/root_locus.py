"""Root loci: how the eigenvalues of small motions move with a parameter or a speed, and where stability changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.computation.linearisation.modes import RESOLUTION
from torseur.computation.linearisation.operating_point import Laws, Model, kinematics_of, point_of
from torseur.computation.linearisation.small_motions import SmallMotions, small_motions
from torseur.computation.linearisation.verification import Check
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

Eigenvalues: TypeAlias = NDArray[np.complex128]
Choice: TypeAlias = Callable[[float], Mapping[str, float]]

BISECTIONS = 200
ROUNDING = 1e-12  # real part of a root, in units of the largest, that may be an error of its computation


@dataclass(frozen=True)
class Crossing:
    """A value at which a root crosses the imaginary axis: `growing` beyond it when the values increase."""

    value: float
    eigenvalue: complex
    growing: bool


@dataclass(frozen=True, eq=False)
class RootLocus:
    """Eigenvalues (a row per value, a column per branch followed)."""

    name: str
    values: Vector
    eigenvalues: Eigenvalues
    at: Callable[[float], Eigenvalues] = field(repr=False)
    motions_at: Callable[[float], SmallMotions] = field(repr=False)

    @cached_property
    def check(self) -> Check:
        """The worst check of the linearisations at both ends and in the middle; computed when it is asked for."""
        # The equations are the same everywhere: a fault of theirs shows at any value at which it is felt.
        places = sorted({0, len(self.values) // 2, len(self.values) - 1})
        return max((self.motions_at(float(self.values[k])).check for k in places), key=lambda check: check.error)

    @property
    def trusted(self) -> bool:
        """Whether the check agrees."""
        return self.check.agrees

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where stability changes, located by bisection."""
        crossings = self._across()
        return tuple(sorted([*crossings, *self._along(crossings)], key=lambda crossing: crossing.value))

    def _across(self) -> list[Crossing]:
        """Roots that cross the imaginary axis."""
        crossings = []
        sizes = np.abs(self.eigenvalues).max(axis=1, initial=0.0)
        for branch in self.eigenvalues.T:
            sure = np.flatnonzero(np.abs(branch.real) > ROUNDING * sizes)  # the others are on the axis
            for k, after in pairwise(sure.tolist()):
                if branch[k].real * branch[after].real < 0.0 and branch[k].imag >= 0.0:
                    crossings.append(self._bisect((k, after), branch[k], branch[after]))
        return crossings

    def _along(self, crossings: Sequence[Crossing]) -> list[Crossing]:
        """Roots that come to the axis or leave it, and stay on it on one side, as those of a top that spins up."""
        tangencies = []
        for low, high in pairwise(self.values.tolist()):
            # Conservative systems have their roots on the axis itself, where they meet and leave it in pairs: no real
            # part changes its sign, only the largest one ceases to be zero.
            unstable = _growing(self.at(low)) is not None
            if unstable == (_growing(self.at(high)) is not None) or any(low <= c.value <= high for c in crossings):
                continue
            root, stable, other = 0j, *((high, low) if unstable else (low, high))
            for _ in range(BISECTIONS):
                middle = 0.5 * (stable + other)
                if middle in (stable, other):
                    break
                grown = _growing(self.at(middle))
                stable, other, root = (middle, other, root) if grown is None else (stable, middle, grown)
            tangencies.append(Crossing(0.5 * (stable + other), root, not unstable))
        return tangencies

    def _bisect(self, between: tuple[int, int], first: complex, last: complex) -> Crossing:
        low, high = (float(self.values[k]) for k in between)
        growing = last.real > 0.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            roots = self.at(middle)
            # The one between both ends: others may cross in the same interval.
            root = roots[int(np.argmin(np.abs(roots - 0.5 * (first + last))))]
            if (root.real > 0.0) == growing:
                high, last = middle, complex(root)
            else:
                low, first = middle, complex(root)
        return Crossing(0.5 * (low + high), 0.5 * (first + last), growing)

    def plot(self, path: str | Path) -> Path:
        """Draws the roots in the complex plane, and their real and imaginary parts over the values, into a file."""
        from torseur.computation.linearisation.plot_small_motions import draw_root_locus

        return draw_root_locus(self, Path(path))


def _growing(roots: Eigenvalues) -> complex | None:
    """The root that grows most; None when none grows."""
    root = complex(roots[int(np.argmax(roots.real))])
    return root if root.real > RESOLUTION * np.abs(roots).max() else None


def root_locus(
    model: Model,
    values: Sequence[float],
    *,
    at: Choice | None = None,
    parameters: Choice | None = None,
    states: Sequence[str] = (),
    independent: Sequence[str] = (),
    laws: Laws | None = None,
    name: str = "value",
) -> RootLocus:
    """Eigenvalues of small motions for each value.

    `at` and `parameters` give, for a value, the initial values and parameters that go with it. `states` keeps only
    part of the small motions, when it does not depend on the rest.
    """
    if at is None and parameters is None:
        raise TorseurError("a root locus needs at=... or parameters=..., functions of the value, to know what varies.")
    wanted = [*independent, *(name for name in states if name not in independent)]

    # Programs are made once, only numbers differ along the locus.
    kinematics = kinematics_of(model)

    def motions_at(value: float) -> SmallMotions:
        point = point_of(kinematics, at(value) if at else None, parameters(value) if parameters else None, laws)
        return small_motions(point, [state.removesuffix("'") for state in wanted])

    def eigenvalues(value: float) -> Eigenvalues:
        motions = motions_at(value)
        matrix = motions.block(states) if states else motions.state_matrix
        return np.linalg.eigvals(matrix).astype(complex)

    rows = [eigenvalues(float(value)) for value in values]
    return RootLocus(name, np.array(values, dtype=float), _follow_branches(rows), eigenvalues, motions_at)


def _follow_branches(rows: Sequence[Eigenvalues]) -> Eigenvalues:
    """Eigenvalues ordered so that each column continues its own past."""
    from scipy.optimize import linear_sum_assignment

    ordered = [np.sort_complex(rows[0])]
    for k, row in enumerate(rows[1:], 1):
        # Extrapolated linearly: branches that meet go on in their own directions, where the nearest root would swap
        # them.
        expected = 2.0 * ordered[-1] - ordered[-2] if k > 1 else ordered[-1]
        _, columns = linear_sum_assignment(np.abs(expected[:, None] - row[None, :]))
        ordered.append(row[columns])
    return np.array(ordered)
